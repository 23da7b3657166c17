//! The worker on a real event store.

use embeddings::EncoderChoice;
use event_log::{EventLog, Namespace};
use kit::samples;
use pictures::fetch::{FetchRules, Fetcher};
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply, ImportLine, ImportOptions};
use schemas::ids::StreamVersion;
use schemas::record::PictureSource;
use tempfile::TempDir;
use write::service::{CommandDispatcher, ProjectService};

use super::*;

const TIMEOUT: Duration = Duration::from_secs(20);

struct Catalog {
    _folder: TempDir,
    store: Arc<EventLog>,
    pictures: Arc<PictureService>,
    commands: CommandDispatcher,
    clock: Clock,
}

impl Catalog {
    async fn new() -> Catalog {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let media = MediaStore::open(&folder.path().join("media")).unwrap();
        let fetcher = Fetcher::new(FetchRules::default(), "tests", || None);
        let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
        let pictures = Arc::new(PictureService::new(projects.clone(), Arc::new(media), fetcher));
        let commands = CommandDispatcher::new(projects).register(pictures.clone());
        Catalog { _folder: folder, store, pictures, commands, clock }
    }

    fn start_worker(&self) -> tokio_util::sync::DropGuard {
        let encoder = Encoder::open(&EncoderChoice::BuiltIn).unwrap();
        let mut worker = EmbeddingWorker::new(self.pictures.clone(), encoder).unwrap();
        worker.unreadable_pause = Duration::from_millis(50);
        let stop = CancellationToken::new();
        #[expect(clippy::disallowed_methods, reason = "the returned guard stops it")]
        tokio::spawn(worker.run(stop.clone()));
        stop.drop_guard()
    }

    async fn send(&self, command: Command) {
        let id = self.clock.command_id();
        let message =
            CommandMessage { id, actor: "Ada".parse().unwrap(), correlation: id, command, not_after: None };
        let answer = self.commands.execute(message).await;
        assert!(
            matches!(
                answer,
                CommandReply::Project(_) | CommandReply::Imported { .. } | CommandReply::PictureErased(_)
            ),
            "{answer:?}"
        );
    }

    async fn import(&self, text: &str) {
        let lines = vec![ImportLine { number: 1, text: text.into() }];
        self.send(Command::Import { lines, options: ImportOptions::default() }).await;
    }

    /// All vectors that were recorded for the project, with their actors.
    async fn recorded(&self, slug: &str) -> Vec<(String, VectorsRecorded)> {
        let stream = self.store.holder(Namespace::SLUG, slug).await.unwrap().unwrap();
        let events = self.store.read_stream(&stream, StreamVersion(0)).await.unwrap();
        let vectors = events.iter().filter_map(|recorded| match recorded.decode().unwrap() {
            Decoded::Known(event) => match *event {
                Event::VectorsRecorded(vectors) => Some((recorded.actor.as_str().to_owned(), vectors)),
                _ => None,
            },
            Decoded::Unknown => None,
        });
        vectors.collect()
    }

    async fn wait_for(&self, slug: &str, count: usize) -> Vec<(String, VectorsRecorded)> {
        let mut recorded = Vec::new();
        let what = format!("{count} recordings of {slug}");
        kit::wait_until(TIMEOUT, &what, async || {
            recorded = self.recorded(slug).await;
            recorded.len() >= count
        })
        .await;
        recorded
    }
}

#[tokio::test]
async fn texts_are_embedded_at_once_and_again_when_they_change() {
    let catalog = Catalog::new().await;
    catalog.import(r#"{"slug":"a","name":"A","category":"art","taste":{"material":"oak"}}"#).await;
    let _worker = catalog.start_worker();
    let first = catalog.wait_for("a", 1).await.remove(0);
    assert_eq!((first.0.as_str(), first.1.model.as_str(), &first.1.visual), (COMPUTED_BY, "loggia-1", &None));
    catalog.import(r#"{"slug":"a","name":"A","category":"art","taste":{"material":"steel"}}"#).await;
    let second = catalog.wait_for("a", 2).await.remove(1);
    assert_ne!(first.1.semantic, second.1.semantic);
    // Vectors are not recorded again for a change that the encoder does not read: here only the day changes.
    let same =
        r#"{"slug":"a","name":"A","category":"art","taste":{"material":"steel"},"published":"2024-05-01"}"#;
    catalog.import(same).await;
    catalog.import(r#"{"slug":"b","name":"B","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    assert_eq!(catalog.recorded("a").await.len(), 2);
}

#[tokio::test]
async fn a_picture_adds_the_visual_side() {
    let catalog = Catalog::new().await;
    let _worker = catalog.start_worker();
    catalog.import(r#"{"slug":"a","name":"Stair","category":"art"}"#).await;
    let alone = catalog.wait_for("a", 1).await.remove(0).1;
    let pixels = image::RgbImage::from_fn(64, 48, |x, y| image::Rgb([x as u8 * 4, y as u8 * 5, 90]));
    let mut png = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut png, image::ImageFormat::Png).unwrap();
    let kept = catalog.pictures.store_bytes(png.into_inner()).await.unwrap();
    let picture = PictureSource { source: "a.png".into(), alt: None };
    catalog
        .send(Command::Attach { slug: "a".parse().unwrap(), picture, kept: Some(kept.id), as_named: false })
        .await;
    let both = catalog.wait_for("a", 2).await.remove(1).1;
    assert_eq!((&both.semantic, both.visual.is_some()), (&alone.semantic, true));
    // Without its picture it has no visual side again.
    catalog.send(Command::ErasePicture { picture: kept.id }).await;
    assert_eq!(catalog.wait_for("a", 3).await.remove(2).1, alone);
}

#[tokio::test]
async fn a_picture_that_is_unreadable_for_a_moment_keeps_its_vector() {
    let catalog = Catalog::new().await;
    let _worker = catalog.start_worker();
    catalog.import(r#"{"slug":"a","name":"Stair","category":"art"}"#).await;
    let png = samples::encoded(samples::scene(64, 48), image::ImageFormat::Png);
    let kept = catalog.pictures.store_bytes(png).await.unwrap();
    let attach = |slug: &str| {
        let picture = PictureSource { source: "a.png".into(), alt: None };
        Command::Attach { slug: slug.parse().unwrap(), picture, kept: Some(kept.id), as_named: false }
    };
    catalog.send(attach("a")).await;
    let both = catalog.wait_for("a", 2).await.remove(1).1;
    let (media, aside) = (catalog._folder.path().join("media"), catalog._folder.path().join("aside"));
    let subfolder = &kept.id.to_string()[..2];
    std::fs::create_dir(&aside).unwrap();
    std::fs::rename(media.join(subfolder), aside.join(subfolder)).unwrap();
    catalog.import(r#"{"slug":"a","name":"Stair of oak","category":"art","pictures":["a.png"]}"#).await;
    let without = catalog.wait_for("a", 3).await.remove(2).1;
    assert_ne!(without.semantic, both.semantic, "the semantic side follows the texts");
    assert_eq!(without.visual, both.visual, "the visual side stays");
    std::fs::rename(aside.join(subfolder), media.join(subfolder)).unwrap();

    catalog.import(r#"{"slug":"b","name":"Door","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    let picture = catalog.pictures.store().get(kept.id).unwrap();
    assert_eq!(picture, Some(kept.clone()));
    let forms = media.join(subfolder).join(kept.id.to_string());
    std::fs::rename(forms.join("64.webp"), aside.join("64.webp")).unwrap();
    catalog.send(attach("b")).await;
    catalog.import(r#"{"slug":"b","name":"Door of oak","category":"art","pictures":["a.png"]}"#).await;
    assert_eq!(catalog.wait_for("b", 2).await.remove(1).1.visual, None);
    std::fs::rename(aside.join("64.webp"), forms.join("64.webp")).unwrap();
    assert_eq!(
        catalog.wait_for("b", 3).await.remove(2).1.visual,
        both.visual,
        "the worker retries by itself"
    );
}

#[tokio::test]
async fn supplied_vectors_take_precedence() {
    let catalog = Catalog::new().await;
    let supplied =
        r#"{"slug":"a","name":"A","category":"art","vectors":{"semantic":[1,2]},"vector_model":"m"}"#;
    catalog.import(supplied).await;
    let _worker = catalog.start_worker();
    catalog.import(r#"{"slug":"b","name":"B","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    let recorded = catalog.recorded("a").await;
    assert_eq!(recorded.len(), 1);
    assert_eq!((recorded[0].0.as_str(), recorded[0].1.model.as_str()), ("Ada", "m"));
}

#[tokio::test]
async fn the_side_that_is_not_supplied_is_computed_and_updated() {
    let catalog = Catalog::new().await;
    let supplied = |name: &str| {
        format!(
            r#"{{"slug":"a","name":"{name}","category":"art","vectors":{{"visual":[1,2]}},"vector_model":"m"}}"#
        )
    };
    catalog.import(&supplied("Stair")).await;
    let worker = catalog.start_worker();
    let (actor, first) = catalog.wait_for("a", 2).await.remove(1);
    assert_eq!((actor.as_str(), first.visual().unwrap().0), (COMPUTED_BY, "m"));
    assert_eq!((first.semantic().unwrap().0, &first.semantic), ("loggia-1", &None));

    // The same line changes nothing; another text changes the side that follows it.
    catalog.import(&supplied("Stair")).await;
    catalog.import(&supplied("Door of oak")).await;
    let second = catalog.wait_for("a", 3).await.remove(2).1;
    assert_eq!(second.visual(), first.visual());
    assert_ne!(second.semantic(), first.semantic());
    drop(worker);
    let worker = catalog.start_worker();
    catalog.import(r#"{"slug":"b","name":"B","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    assert_eq!(catalog.recorded("a").await.len(), 3, "a restart records nothing again");
    drop(worker);
    let mut pending = PendingProjects { model: "another".into(), ..PendingProjects::default() };
    let log = catalog.store.read_all(schemas::ids::Position::START, 1_000).await.unwrap();
    log.iter().for_each(|event| pending.apply(event));
    assert_eq!(pending.projects.len(), 2, "another encoder computes both again");
}

#[tokio::test]
async fn a_computed_side_is_removed_with_its_picture_and_the_supplied_one_stays() {
    let catalog = Catalog::new().await;
    let supplied = r#"{"slug":"a","name":"Stair","category":"art","pictures":["a.png"],"vectors":{"semantic":[1,2]},"vector_model":"m"}"#;
    catalog.import(supplied).await;
    let png = samples::encoded(samples::scene(64, 48), image::ImageFormat::Png);
    let kept = catalog.pictures.store_bytes(png).await.unwrap();
    let picture = PictureSource { source: "a.png".into(), alt: None };
    let attach = Command::Attach { slug: "a".parse().unwrap(), picture, kept: Some(kept.id), as_named: true };
    catalog.send(attach).await;
    let _worker = catalog.start_worker();
    let both = catalog.wait_for("a", 2).await.remove(1).1;
    assert_eq!((both.semantic().unwrap().0, both.visual().unwrap().0), ("m", "loggia-1"));
    catalog.send(Command::ErasePicture { picture: kept.id }).await;
    let (actor, alone) = catalog.wait_for("a", 3).await.remove(2);
    assert_eq!((actor.as_str(), alone.visual(), alone.semantic()), (COMPUTED_BY, None, both.semantic()));
    catalog.import(r#"{"slug":"a","name":"Stair","category":"art","pictures":["b.png"]}"#).await;
    catalog.import(r#"{"slug":"b","name":"B","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    assert_eq!(catalog.recorded("a").await.len(), 3, "a supplied side is not computed");
}

#[tokio::test]
async fn a_restart_records_nothing_again_and_another_model_everything() {
    let catalog = Catalog::new().await;
    for number in 0..300 {
        catalog
            .import(&format!(
                r#"{{"slug":"p-{number}","name":"Project {number}","category":"art","intro":"Number {number}."}}"#
            ))
            .await;
    }
    let worker = catalog.start_worker();
    catalog.wait_for("p-299", 1).await;
    kit::wait_until(TIMEOUT, "vectors of every project", async || {
        catalog.store.head().await.unwrap().position.0 == 600
    })
    .await;
    drop(worker);
    let _again = catalog.start_worker();
    catalog.import(r#"{"slug":"b","name":"B","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    assert_eq!(catalog.store.head().await.unwrap().position.0, 602, "only the new one was embedded");
    let mut pending = PendingProjects { model: "another".into(), ..PendingProjects::default() };
    let log = catalog.store.read_all(schemas::ids::Position::START, 1_000).await.unwrap();
    log.iter().for_each(|event| pending.apply(event));
    assert_eq!(pending.projects.len(), 301);
}

fn line_with(vectors: &VectorsRecorded, more: &str) -> String {
    let semantic = vectors.semantic.as_ref().unwrap().as_slice();
    let vectors =
        serde_json::json!({"vectors": {"semantic": semantic}, "vector_model": vectors.model}).to_string();
    format!(r#"{{"slug":"a","name":"A","category":"art",{more}{}"#, &vectors[1..])
}

#[tokio::test]
async fn imported_vectors_of_the_built_in_encoder_are_recomputed() {
    let catalog = Catalog::new().await;
    let _worker = catalog.start_worker();
    catalog.import(r#"{"slug":"a","name":"A","category":"art","intro":"Oak."}"#).await;
    let first = catalog.wait_for("a", 1).await.remove(0).1;
    // An edited line of an export of an earlier release: its vector belongs to the old text.
    let edited = line_with(&first, r#""intro":"Steel.","#);
    catalog.import(&edited).await;
    let second = catalog.wait_for("a", 2).await.remove(1);
    assert_eq!((second.0.as_str(), second.1.semantic != first.semantic), (COMPUTED_BY, true));
    let head = catalog.store.head().await.unwrap();
    catalog.import(&edited).await;
    assert_eq!(catalog.store.head().await.unwrap(), head, "the second run changes nothing");
}

#[tokio::test]
async fn computed_vectors_that_an_editor_sent_are_recomputed() {
    let catalog = Catalog::new().await;
    catalog.import(r#"{"slug":"a","name":"A","category":"art","intro":"Oak."}"#).await;
    // As an import of the first release recorded them.
    let changes = serde_json::json!({"vectors": {"semantic": [1.0, 2.0]}, "vector_model": "loggia-1"});
    let revise = |changes: serde_json::Value| Command::Revise {
        slug: "a".parse().unwrap(),
        changes: changes.as_object().unwrap().clone(),
    };
    catalog.send(revise(changes)).await;
    let worker = catalog.start_worker();
    let recomputed = catalog.wait_for("a", 2).await.remove(1);
    assert_eq!(
        (recomputed.0.as_str(), recomputed.1.semantic.as_ref().unwrap().as_slice().len()),
        (COMPUTED_BY, 256)
    );
    catalog.send(revise(serde_json::json!({"intro": "Steel."}))).await;
    let changed = catalog.wait_for("a", 3).await.remove(2);
    assert_ne!(changed.1.semantic, recomputed.1.semantic);
    drop(worker);
    // Sent vectors are recorded once under the actor of the worker, not at every start.
    let changes = line_with(&changed.1, "");
    let changes: serde_json::Value = serde_json::from_str(&changes).unwrap();
    let (mut sent, vectors) = (serde_json::json!({"vector_model": "loggia-1"}), changes["vectors"].clone());
    sent["vectors"] = vectors;
    sent["vectors"]["semantic"][0] = 0.5.into();
    catalog.send(revise(sent)).await;
    let worker = catalog.start_worker();
    catalog.wait_for("a", 5).await;
    drop(worker);
    let _again = catalog.start_worker();
    catalog.import(r#"{"slug":"b","name":"B","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    assert_eq!(catalog.recorded("a").await.len(), 5);
}

#[tokio::test]
async fn vectors_are_computed_after_supplied_ones_are_unset() {
    let catalog = Catalog::new().await;
    let supplied =
        r#"{"slug":"a","name":"Stair","category":"art","vectors":{"visual":[1,2]},"vector_model":"m"}"#;
    catalog.import(supplied).await;
    let _worker = catalog.start_worker();
    catalog.wait_for("a", 2).await;
    let unset = serde_json::json!({"vectors": null}).as_object().unwrap().clone();
    catalog.send(Command::Revise { slug: "a".parse().unwrap(), changes: unset }).await;
    let computed = catalog.wait_for("a", 4).await.remove(3);
    assert_eq!(
        (computed.0.as_str(), computed.1.model.as_str(), &computed.1.visual),
        (COMPUTED_BY, "loggia-1", &None)
    );
}
