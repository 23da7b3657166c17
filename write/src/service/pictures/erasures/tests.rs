//! Erasing on a real store and media folder.

use std::sync::Arc;

use event_log::EventLog;
use kit::samples::{in_every_format, scene};
use media::{MediaStore, PutError};
use pictures::fetch::{FetchRules, Fetcher};
use schemas::clock::Clock;
use schemas::command::{Command, CommandReply};
use schemas::ids::CommandId;
use schemas::picture::Form;
use schemas::record::PictureSource;
use serde_json::json;

use super::*;
use crate::project::PictureOutcome;
use crate::service::{CommandDispatcher, ProjectService};

/// A write side whose media folder can be exchanged.
struct WriteSide {
    _folder: tempfile::TempDir,
    store: Arc<EventLog>,
    clock: Clock,
    pictures: Arc<PictureService>,
    commands: CommandDispatcher,
}

impl WriteSide {
    async fn open() -> WriteSide {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let media = Arc::new(MediaStore::open(&folder.path().join("media")).unwrap());
        let fetcher = Fetcher::new(FetchRules::default(), "tests", || None);
        let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
        let pictures = Arc::new(PictureService::new(projects.clone(), media, fetcher));
        let commands = CommandDispatcher::new(projects).register(pictures.clone());
        WriteSide { _folder: folder, store, clock, pictures, commands }
    }

    async fn send_as(&self, id: CommandId, command: Command) -> CommandReply {
        let actor = "Ada".parse().unwrap();
        let message = CommandMessage { id, actor, correlation: id, command, not_after: None };
        self.commands.execute(message).await
    }

    async fn send(&self, command: Command) -> CommandReply {
        self.send_as(self.clock.command_id(), command).await
    }

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
        let picture = PictureSource { source: "front.jpg".into(), alt: None };
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
    let side = WriteSide::open().await;
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

    let (id, before) = (side.clock.command_id(), side.store.head().await.unwrap().position);
    let erased = erasure(side.send_as(id, Command::ErasePicture { picture }).await);
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
    assert_eq!(erasure(side.send_as(id, Command::ErasePicture { picture }).await), erased);
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
    let side = WriteSide::open().await;
    let picture = side.take(&in_every_format(&scene(90, 90))[0].1).await;
    let erased = erasure(side.send(Command::ErasePicture { picture }).await);
    assert_eq!((erased.projects, erased.position, erased.changed), (0, Position::START, true));
    assert!(!side.pictures.store().contains(picture));
}

#[tokio::test]
async fn erasures_of_the_journal_are_recorded_after_a_crash_and_a_restore() {
    let side = WriteSide::open().await;
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
