//! Erasing on a real store and media folder.

use kit::samples::{in_every_format, scene};
use media::PutError;
use schemas::command::{Command, CommandReply};
use schemas::picture::Form;
use schemas::record::PictureSource;
use serde_json::json;

use super::*;
use crate::project::PictureOutcome;
use crate::service::tests::WriteSide;

impl WriteSide {
    async fn done(&self, command: Command) {
        let reply = self.send(command).await;
        assert!(matches!(reply, CommandReply::Project(_)), "{reply:?}");
    }

    async fn select(&self, slug: &str) {
        let record = json!({"slug": slug, "name": slug, "category": "art"});
        self.done(Command::Select { record: record.as_object().unwrap().clone() }).await;
    }

    async fn take(&self, bytes: &[u8]) -> PictureId {
        self.pictures.store_bytes(bytes.to_vec()).await.unwrap().id
    }

    async fn attach(&self, slug: &str, kept: PictureId) -> CommandReply {
        let picture = PictureSource::of("front.jpg");
        self.send(Command::Attach { slug: slug.parse().unwrap(), picture, kept: Some(kept), as_named: false })
            .await
    }

    /// The streams in which the log says that a picture is erased, with who said so.
    async fn erased(&self) -> Vec<(StreamId, String)> {
        let log = self.store.read_all(Position::START, 1_000).await.unwrap();
        let of_it = log.iter().filter(|event| event.kind == "loggia.curation.picture_erased.v1");
        of_it.map(|event| (event.stream.clone(), event.actor.to_string())).collect()
    }
}

fn erasure(reply: CommandReply) -> PictureErasure {
    let CommandReply::PictureErased(erasure) = reply else { panic!("{reply:?}") };
    erasure
}

fn detail(reply: CommandReply) -> String {
    let CommandReply::Failed(failure) = reply else { panic!("{reply:?}") };
    failure.detail
}

#[tokio::test]
async fn an_erased_picture_is_erased_in_every_project_and_rejected_afterwards() {
    let side = WriteSide::start().await;
    let [(_, bytes), (_, other), ..] = in_every_format(&scene(90, 90));
    let (picture, next) = (side.take(&bytes).await, side.take(&other).await);
    for slug in ["former", "gone", "shown", "without"] {
        side.select(slug).await;
    }
    for (slug, kept) in
        [("former", picture), ("former", next), ("gone", picture), ("shown", picture), ("without", next)]
    {
        let reply = side.attach(slug, kept).await;
        assert!(matches!(reply, CommandReply::Project(_)), "{reply:?}");
    }
    side.done(Command::Withdraw { slug: "gone".parse().unwrap(), reason: "sold".into() }).await;

    let before = side.store.head().await.unwrap().position;
    let message = side.message(Command::ErasePicture { picture });
    let erased = erasure(side.commands.execute(message.clone()).await);
    assert_eq!((erased.picture, erased.projects, erased.changed), (picture, 3, true));
    assert_eq!(erased.position, Position(before.0 + 3));
    let said = side.erased().await;
    assert_eq!((said.len(), said.iter().all(|(_, actor)| actor == "Ada")), (3, true), "{said:?}");
    let media = side.pictures.store().clone();
    assert!(!media.contains(picture) && media.read(next, Form::Original).unwrap().is_some());
    let shown = side.store.holder(event_log::Namespace::SLUG, "shown").await.unwrap().unwrap();
    let project = side.pictures.projects().project(&shown).await.unwrap();
    assert_eq!(project.listing().unwrap().pictures["front.jpg"], PictureOutcome::Erased(picture));

    // The same command again is answered as before; another one finds nothing to do.
    assert_eq!(erasure(side.commands.execute(message).await), erased);
    let again = erasure(side.send(Command::ErasePicture { picture }).await);
    assert_eq!(again, PictureErasure { changed: false, ..erased });
    assert_eq!(side.erased().await.len(), 3);
    let reason = format!(
        "It was taken down on {} and is not kept again; use another picture.",
        erased.erased_at.to_string().split('T').next().unwrap()
    );
    assert!(detail(side.attach("without", picture).await).ends_with(&reason));
    let Err(PutError::Refused(fault)) = media.put(&bytes) else { panic!("it was taken") };
    assert_eq!(fault.to_string(), reason);
    // Another picture may take its place.
    assert!(matches!(side.attach("shown", next).await, CommandReply::Project(_)));
    let unknown = PictureId([7; 32]);
    let refused = detail(side.send(Command::ErasePicture { picture: unknown }).await);
    assert!(refused.contains("is kept nowhere here, and no project shows it"), "{refused}");
    assert_eq!(media.erased_at(unknown).unwrap(), None);
}

#[tokio::test]
async fn a_picture_that_no_project_shows_is_erased_too() {
    let side = WriteSide::start().await;
    let picture = side.take(&in_every_format(&scene(90, 90))[0].1).await;
    let erased = erasure(side.send(Command::ErasePicture { picture }).await);
    assert_eq!((erased.projects, erased.position, erased.changed), (0, Position::START, true));
    assert!(!side.pictures.store().contains(picture));
}

#[tokio::test]
async fn erasures_of_the_journal_are_recorded_after_a_crash_and_a_restore() {
    let side = WriteSide::start().await;
    let [(_, bytes), (_, other), ..] = in_every_format(&scene(90, 90));
    let (picture, other) = (side.take(&bytes).await, side.take(&other).await);
    for (slug, kept) in [("a", picture), ("b", other)] {
        side.select(slug).await;
        assert!(matches!(side.attach(slug, kept).await, CommandReply::Project(_)));
    }
    // The journal is ahead of the log, as after a crash, and after a restore of an older backup with a newer journal.
    let erased = ErasedPicture { picture, erased_at: side.clock.now() };
    side.pictures.store().erase(std::slice::from_ref(&erased)).unwrap();
    let actor = "loggia".parse().unwrap();
    let finish = async |in_log: &[PictureId]| {
        side.pictures.finish_erasures(&in_log.iter().copied().collect(), &actor).await.unwrap()
    };
    assert_eq!((finish(&[]).await, finish(&[]).await), (1, 0));
    assert_eq!(side.erased().await.len(), 1);
}
