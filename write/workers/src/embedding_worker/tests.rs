//! The worker on a real event store.

use embeddings::EncoderChoice;
use event_log::Namespace;
use kit::{TIMEOUT, samples};
use schemas::command::{Command, LineResult};
use schemas::event::{Event, VectorsRecorded};
use schemas::ids::{Position, StreamId, StreamVersion};
use schemas::picture::Picture;
use schemas::vector::Vector;
use schemas::versioned::Decoded;

use super::*;
use crate::tests::WriteSide;

impl WriteSide {
    fn start_worker(&self) -> tokio_util::sync::DropGuard {
        let encoder = Encoder::open(&EncoderChoice::BuiltIn).unwrap();
        let mut worker =
            EmbeddingWorker::new(self.pictures.clone(), encoder, Handle::current(), &self.aside()).unwrap();
        worker.unreadable_pause = Duration::from_millis(50);
        let stop = CancellationToken::new();
        #[expect(clippy::disallowed_methods, reason = "the returned guard stops it")]
        tokio::spawn(worker.run(stop.clone()));
        stop.drop_guard()
    }

    /// The file of vectors that are set aside.
    fn aside(&self) -> std::path::PathBuf {
        self.folder.path().join("vectors-aside.ndjson")
    }

    async fn import(&self, text: &str) {
        let result = self.import_as("Ada", text, false).await;
        assert!(!matches!(result, LineResult::Rejected { .. }), "{result:?}");
    }

    /// Waits until the worker has read all events before this one, and embedded another project.
    async fn wait_for_another(&self) {
        self.import(r#"{"slug":"b","name":"B","category":"art"}"#).await;
        self.wait_for("b", 1).await;
    }

    async fn revise(&self, changes: serde_json::Value) {
        let changes = changes.as_object().unwrap().clone();
        self.send(Command::Revise { slug: "a".parse().unwrap(), changes }).await;
    }

    async fn take_picture(&self) -> Picture {
        let png = samples::encoded(samples::scene(64, 48), image::ImageFormat::Png);
        self.pictures.store_bytes(png).await.unwrap()
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

#[test]
fn the_built_in_encoder_has_the_name_that_commands_know() {
    assert_eq!(Encoder::open(&EncoderChoice::BuiltIn).unwrap().name(), schemas::vector::BUILT_IN);
}

#[tokio::test]
async fn texts_are_embedded_at_once_and_again_when_they_change() {
    let catalog = WriteSide::open().await;
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
    catalog.wait_for_another().await;
    assert_eq!(catalog.recorded("a").await.len(), 2);
}

#[tokio::test]
async fn a_picture_adds_the_visual_side() {
    let catalog = WriteSide::open().await;
    let _worker = catalog.start_worker();
    catalog.import(r#"{"slug":"a","name":"Stair","category":"art"}"#).await;
    let alone = catalog.wait_for("a", 1).await.remove(0).1;
    let picture = catalog.take_picture().await;
    catalog.attach("a", "a.png", picture.id, false).await;
    let both = catalog.wait_for("a", 2).await.remove(1).1;
    assert_eq!((&both.semantic, both.visual.is_some()), (&alone.semantic, true));
    // Without its picture it has no visual side again.
    catalog.send(Command::ErasePicture { picture: picture.id }).await;
    assert_eq!(catalog.wait_for("a", 3).await.remove(2).1, alone);
}

#[tokio::test]
async fn a_picture_that_is_unreadable_for_a_moment_keeps_its_vector() {
    let catalog = WriteSide::open().await;
    let _worker = catalog.start_worker();
    catalog.import(r#"{"slug":"a","name":"Stair","category":"art"}"#).await;
    let picture = catalog.take_picture().await;
    catalog.attach("a", "a.png", picture.id, false).await;
    let both = catalog.wait_for("a", 2).await.remove(1).1;
    let (media, aside) = (catalog.folder.path().join("media"), catalog.folder.path().join("aside"));
    let subfolder = &picture.id.to_string()[..2];
    std::fs::create_dir(&aside).unwrap();
    std::fs::rename(media.join(subfolder), aside.join(subfolder)).unwrap();
    catalog.import(r#"{"slug":"a","name":"Stair of oak","category":"art","pictures":["a.png"]}"#).await;
    let without = catalog.wait_for("a", 3).await.remove(2).1;
    assert_ne!(without.semantic, both.semantic, "the semantic side follows the texts");
    assert_eq!(without.visual, both.visual, "the visual side stays");
    std::fs::rename(aside.join(subfolder), media.join(subfolder)).unwrap();

    catalog.import(r#"{"slug":"b","name":"Door","category":"art"}"#).await;
    catalog.wait_for("b", 1).await;
    assert_eq!(catalog.pictures.store().get(picture.id).unwrap(), Some(picture.clone()));
    let forms = media.join(subfolder).join(picture.id.to_string());
    std::fs::rename(forms.join("64.webp"), aside.join("64.webp")).unwrap();
    catalog.attach("b", "a.png", picture.id, false).await;
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
    let catalog = WriteSide::open().await;
    let supplied =
        r#"{"slug":"a","name":"A","category":"art","vectors":{"semantic":[1,2]},"vector_model":"m"}"#;
    catalog.import(supplied).await;
    let _worker = catalog.start_worker();
    catalog.wait_for_another().await;
    let recorded = catalog.recorded("a").await;
    assert_eq!(recorded.len(), 1);
    assert_eq!((recorded[0].0.as_str(), recorded[0].1.model.as_str()), ("Ada", "m"));
}

#[tokio::test]
async fn the_side_that_is_not_supplied_is_computed_and_updated() {
    let catalog = WriteSide::open().await;
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
    catalog.wait_for_another().await;
    assert_eq!(catalog.recorded("a").await.len(), 3, "a restart records nothing again");
    drop(worker);
    let mut pending = PendingProjects::new("another");
    let log = catalog.store.read_all(Position::START, 1_000).await.unwrap();
    log.iter().for_each(|event| pending.apply(event));
    assert_eq!((pending.len(), pending.outdated()), (2, 2), "another encoder computes both again");
}

#[tokio::test]
async fn a_computed_side_is_removed_with_its_picture_and_the_supplied_one_stays() {
    let catalog = WriteSide::open().await;
    let supplied = r#"{"slug":"a","name":"Stair","category":"art","pictures":["a.png"],"vectors":{"semantic":[1,2]},"vector_model":"m"}"#;
    catalog.import(supplied).await;
    let picture = catalog.take_picture().await;
    catalog.attach("a", "a.png", picture.id, true).await;
    let _worker = catalog.start_worker();
    let both = catalog.wait_for("a", 2).await.remove(1).1;
    assert_eq!((both.semantic().unwrap().0, both.visual().unwrap().0), ("m", "loggia-1"));
    catalog.send(Command::ErasePicture { picture: picture.id }).await;
    let (actor, alone) = catalog.wait_for("a", 3).await.remove(2);
    assert_eq!((actor.as_str(), alone.visual(), alone.semantic()), (COMPUTED_BY, None, both.semantic()));
    catalog.import(r#"{"slug":"a","name":"Stair","category":"art","pictures":["b.png"]}"#).await;
    catalog.wait_for_another().await;
    assert_eq!(catalog.recorded("a").await.len(), 3, "a supplied side is not computed");
}

#[tokio::test]
async fn a_restart_records_nothing_again_and_another_model_everything() {
    let catalog = WriteSide::open().await;
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
    catalog.wait_for_another().await;
    assert_eq!(catalog.store.head().await.unwrap().position.0, 602, "only the new one was embedded");
    let mut pending = PendingProjects::new("another");
    let log = catalog.store.read_all(Position::START, 1_000).await.unwrap();
    log.iter().for_each(|event| pending.apply(event));
    assert_eq!((pending.len(), pending.outdated()), (301, 301));
}

fn line_with(vectors: &VectorsRecorded, more: &str) -> String {
    let semantic = vectors.semantic.as_ref().unwrap().to_floats();
    let vectors =
        serde_json::json!({"vectors": {"semantic": semantic.as_ref()}, "vector_model": vectors.model})
            .to_string();
    format!(r#"{{"slug":"a","name":"A","category":"art",{more}{}"#, &vectors[1..])
}

#[tokio::test]
async fn imported_vectors_of_the_built_in_encoder_are_recomputed() {
    let catalog = WriteSide::open().await;
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
    let catalog = WriteSide::open().await;
    catalog.import(r#"{"slug":"a","name":"A","category":"art","intro":"Oak."}"#).await;
    // As an import of the first release recorded them.
    let changes = serde_json::json!({"vectors": {"semantic": [1.0, 2.0]}, "vector_model": "loggia-1"});
    catalog.revise(changes).await;
    let worker = catalog.start_worker();
    let recomputed = catalog.wait_for("a", 2).await.remove(1);
    assert_eq!(
        (recomputed.0.as_str(), recomputed.1.semantic.as_ref().unwrap().dimensions()),
        (COMPUTED_BY, 256)
    );
    catalog.revise(serde_json::json!({"intro": "Steel."})).await;
    let changed = catalog.wait_for("a", 3).await.remove(2);
    assert_ne!(changed.1.semantic, recomputed.1.semantic);
    drop(worker);
    // Sent vectors are recorded once under the actor of the worker, not at every start.
    let changes = line_with(&changed.1, "");
    let changes: serde_json::Value = serde_json::from_str(&changes).unwrap();
    let (mut sent, vectors) = (serde_json::json!({"vector_model": "loggia-1"}), changes["vectors"].clone());
    sent["vectors"] = vectors;
    sent["vectors"]["semantic"][0] = 0.5.into();
    catalog.revise(sent).await;
    let worker = catalog.start_worker();
    catalog.wait_for("a", 5).await;
    drop(worker);
    let _again = catalog.start_worker();
    catalog.wait_for_another().await;
    assert_eq!(catalog.recorded("a").await.len(), 5);
}

#[tokio::test]
async fn vectors_are_computed_after_supplied_ones_are_unset() {
    let catalog = WriteSide::open().await;
    let supplied =
        r#"{"slug":"a","name":"Stair","category":"art","vectors":{"visual":[1,2]},"vector_model":"m"}"#;
    catalog.import(supplied).await;
    let _worker = catalog.start_worker();
    catalog.wait_for("a", 2).await;
    catalog.revise(serde_json::json!({"vectors": null})).await;
    let computed = catalog.wait_for("a", 4).await.remove(3);
    assert_eq!(
        (computed.0.as_str(), computed.1.model.as_str(), &computed.1.visual),
        (COMPUTED_BY, "loggia-1", &None)
    );
}

#[tokio::test]
async fn vectors_of_another_encoder_are_replaced() {
    let catalog = WriteSide::open().await;
    for slug in ["a", "b", "c"] {
        catalog
            .import(&format!(r#"{{"slug":"{slug}","name":"{slug}","category":"art","intro":"Oak."}}"#))
            .await;
    }
    let former = VectorsRecorded {
        model: "loggia-1+former".into(),
        visual: None,
        semantic: Some(Vector::new(vec![1.0]).unwrap()),
        computed: None,
    };
    let by_worker: Actor = COMPUTED_BY.parse().unwrap();
    for slug in ["a", "b"] {
        let stream: StreamId = catalog.store.holder(Namespace::SLUG, slug).await.unwrap().unwrap();
        let record = async |_: &write::project::Project| vec![Event::VectorsRecorded(former.clone())];
        let observed = catalog.pictures.projects().observe(&stream, &by_worker, record).await.unwrap();
        assert!(matches!(observed, Observed::Recorded(_)), "{observed:?}");
    }
    let encoder = Encoder::open(&EncoderChoice::BuiltIn).unwrap();
    let worker =
        EmbeddingWorker::new(catalog.pictures.clone(), encoder, Handle::current(), &catalog.aside()).unwrap();
    let (counts, stop) = (worker.counts(), CancellationToken::new());
    assert_eq!((counts.waiting(), counts.outdated()), (0, 0), "the log was not read yet");
    let _stops = stop.clone().drop_guard();
    #[expect(clippy::disallowed_methods, reason = "the guard stops it")]
    tokio::spawn(worker.run(stop));
    for (slug, recordings) in [("a", 2), ("b", 2), ("c", 1)] {
        let newest = catalog.wait_for(slug, recordings).await.remove(recordings - 1).1;
        assert_eq!((newest.model.as_str(), newest.semantic.is_some()), ("loggia-1", true), "{slug}");
    }
    kit::wait_until(TIMEOUT, "the end of the counts", async || {
        (counts.waiting(), counts.outdated()) == (0, 0)
    })
    .await;
    assert!(!catalog.aside().exists(), "all that was set aside is recorded");
}
