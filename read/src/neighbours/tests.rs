#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod graph;
mod oracle;
mod reencoded;

use proptest::prelude::*;
use schemas::event::{
    ComputedSide, Event, ProjectRestored, ProjectSelected, ProjectWithdrawn, VectorsRecorded,
};
use schemas::ids::{Position, ProjectId};
use schemas::vector::Vector;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnection;

use self::oracle::Oracle;
use super::*;
use model::project::UnexpectedEvent;

/// The number of a project and an event of it.
type NumberedEvent = (u64, Event);

fn id(number: u64) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

fn selected(number: u64) -> NumberedEvent {
    let record = serde_json::from_str(r#"{"name": "X", "category": "art"}"#).unwrap();
    (number, Event::ProjectSelected(ProjectSelected { slug: "x".parse().unwrap(), record, id: None }))
}

fn withdrawn(number: u64) -> NumberedEvent {
    (number, Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() }))
}

fn restored(number: u64) -> NumberedEvent {
    (number, Event::ProjectRestored(ProjectRestored {}))
}

fn recorded(number: u64, model: &str, visual: Option<&[f32]>, semantic: Option<&[f32]>) -> NumberedEvent {
    let vector = |side: Option<&[f32]>| side.map(|numbers| Vector::new(numbers.to_vec()).unwrap());
    let event = VectorsRecorded {
        model: model.into(),
        visual: vector(visual),
        semantic: vector(semantic),
        computed: None,
    };
    (number, Event::VectorsRecorded(event))
}

/// A recorded visual vector of model "b", and a computed semantic one of another model.
fn with_computed_side(number: u64, visual: &[f32], (model, semantic): (&str, &[f32])) -> NumberedEvent {
    let (number, Event::VectorsRecorded(own)) = recorded(number, "b", Some(&visual[..3]), None) else {
        unreachable!()
    };
    let semantic = Some(Vector::new(semantic.to_vec()).unwrap());
    let computed = Some(ComputedSide { model: model.into(), visual: None, semantic });
    (number, Event::VectorsRecorded(VectorsRecorded { computed, ..own }))
}

/// The same event with vectors of bytes.
fn quantized((number, event): NumberedEvent) -> NumberedEvent {
    let Event::VectorsRecorded(own) = event else { unreachable!() };
    let quantized = |side: Option<Vector>| side.map(|vector| Vector::quantized(&vector.to_floats()).unwrap());
    let computed = own.computed.map(|side| ComputedSide {
        visual: quantized(side.visual),
        semantic: quantized(side.semantic),
        ..side
    });
    let (visual, semantic) = (quantized(own.visual), quantized(own.semantic));
    (number, Event::VectorsRecorded(VectorsRecorded { visual, semantic, computed, ..own }))
}

/// Vectors with few different values, so that many scores are equal. The visual side of model "a" has 5 dimensions, others 3. Some are
/// of bytes: then they are compared as the first one of their model, in floats or in bytes.
fn some_vectors(number: u64, seed: u64) -> NumberedEvent {
    let event = some_floats(number, seed);
    if seed.is_multiple_of(3) { quantized(event) } else { event }
}

fn some_floats(number: u64, seed: u64) -> NumberedEvent {
    let (model, dimensions) = match seed % 7 {
        0 => ("b", [3, 3]),
        1 | 2 => ("d", [3, 4]),
        _ => ("a", [5, 3]),
    };
    let mut seed = seed;
    let mut side = |dimensions| {
        let mut numbers: Vec<f32> = (0..dimensions)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f32::from((seed >> 60) as i8 % 4 - 1)
            })
            .collect();
        numbers[0] += 0.5;
        numbers
    };
    let (visual, semantic) = (side(dimensions[0]), side(dimensions[1]));
    if seed.is_multiple_of(11) {
        // Recorded on one side, computed on the other.
        let model = if model == "d" {
            model
        } else if seed.is_multiple_of(2) {
            "a"
        } else {
            "c"
        };
        return with_computed_side(number, &visual, (model, &semantic));
    }
    match seed >> 40 & 7 {
        0 | 1 => recorded(number, model, Some(&visual), None),
        2 => recorded(number, model, None, Some(&semantic)),
        _ => recorded(number, model, Some(&visual), Some(&semantic)),
    }
}

/// A catalog of projects with vectors.
fn many(projects: u64) -> Vec<NumberedEvent> {
    (0..projects).flat_map(|number| [selected(number), some_vectors(number, number * 31 + 5)]).collect()
}

/// Applies events after the checkpoint in one batch, and returns those that were rejected.
async fn apply(writer: &mut NeighboursWriter, events: &[NumberedEvent]) -> Vec<(u64, ApplyError)> {
    writer.load(events.iter().map(|(number, _)| id(*number))).await.unwrap();
    let mut checkpoint = writer.checkpoint().clone();
    let mut refused = Vec::new();
    for (number, event) in events {
        checkpoint.position = checkpoint.position.next();
        if let Err(refusal) = writer.apply(id(*number), event, checkpoint.position) {
            refused.push((checkpoint.position.0, refusal));
        }
    }
    writer.commit(checkpoint).await.unwrap();
    refused
}

/// Asserts that readers see what the oracle expects of every position so far.
fn assert_same(reader: &NeighboursReader, oracle: &Oracle) {
    for ordinal in 1..=oracle.position {
        let found = reader.of(ordinal).map(|list| list.iter().map(|n| n.ordinal).collect::<Vec<u64>>());
        assert_eq!((reader.status(ordinal), found), oracle.expected(ordinal), "of {ordinal}");
    }
}

struct Fixture {
    folder: tempfile::TempDir,
    writer: NeighboursWriter,
    reader: NeighboursReader,
    oracle: Oracle,
}

impl Fixture {
    async fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let writer = NeighboursWriter::open(folder.path()).await.unwrap();
        let reader = NeighboursReader::open(folder.path()).await.unwrap();
        Fixture { folder, writer, reader, oracle: Oracle::default() }
    }

    async fn apply(&mut self, events: &[NumberedEvent]) -> Vec<(u64, ApplyError)> {
        let refused = apply(&mut self.writer, events).await;
        let refusals: Vec<u64> = refused.iter().map(|(position, _)| *position).collect();
        events.iter().for_each(|(number, event)| self.oracle.apply(*number, event, &refusals));
        refused
    }

    async fn assert_same(&self) {
        self.reader.refresh().await.unwrap();
        assert_same(&self.reader, &self.oracle);
    }

    async fn reopen(&mut self) {
        self.writer = NeighboursWriter::open(self.folder.path()).await.unwrap();
    }
}

#[tokio::test]
async fn a_list_is_refilled_before_it_is_too_short() {
    let mut fixture = Fixture::new().await;
    fixture.apply(&many(150)).await;
    fixture.writer.finish_lists().await.unwrap();
    fixture.assert_same().await;
    for number in 0..60 {
        fixture.apply(&[withdrawn(number)]).await;
        fixture.assert_same().await;
    }
    let back: Vec<NumberedEvent> = (0..10).map(restored).collect();
    fixture.apply(&back).await;
    fixture.assert_same().await;
    fixture.reopen().await;
    fixture.apply(&[some_vectors(70, 99), withdrawn(71), restored(71), restored(20)]).await;
    fixture.assert_same().await;
}

#[tokio::test]
async fn few_changes_are_visible_at_once_and_many_after_the_lists_are_finished() {
    let mut fixture = Fixture::new().await;
    fixture.apply(&[selected(0), selected(1)]).await;
    fixture.assert_same().await;
    assert_eq!(fixture.reader.status(1), ListStatus::NoVectors);
    fixture.apply(&[recorded(0, "m", Some(&[1.0, 0.0]), None)]).await;
    fixture.assert_same().await;
    assert_eq!((fixture.reader.status(1), fixture.reader.of(1).unwrap().len()), (ListStatus::Ready, 0));
    fixture.apply(&[recorded(1, "m", Some(&[0.6, 0.8]), Some(&[1.0]))]).await;
    let nearest: Vec<Neighbour> = fixture.reader_after().await.of(1).unwrap().iter().collect();
    let [only] = nearest[..] else { panic!("{nearest:?}") };
    assert!((only.score - 0.6).abs() < 1e-4 && only.visual == Some(only.score) && only.semantic.is_none());

    let more: Vec<NumberedEvent> = many(120).split_off(4);
    fixture.apply(&more).await;
    fixture.reader.refresh().await.unwrap();
    assert_eq!(fixture.reader.status(5), ListStatus::Pending);
    // A few more do not overtake those that are pending.
    fixture.apply(&[some_vectors(0, 3)]).await;
    fixture.reader.refresh().await.unwrap();
    assert_eq!(fixture.reader.status(5), ListStatus::Pending);
    fixture.writer.finish_lists().await.unwrap();
    fixture.assert_same().await;
}

impl Fixture {
    async fn reader_after(&self) -> &NeighboursReader {
        self.reader.refresh().await.unwrap();
        &self.reader
    }
}

#[tokio::test]
async fn a_trickle_of_events_does_not_delay_the_lists_indefinitely() {
    let mut fixture = Fixture::new().await;
    fixture.apply(&many(120)).await;
    for _ in 0..20 {
        fixture.apply(&[some_vectors(0, 3)]).await;
    }
    fixture.assert_same().await;
}

#[tokio::test]
async fn a_crash_before_the_lists_are_finished_loses_nothing() {
    let mut fixture = Fixture::new().await;
    fixture.apply(&many(100)).await;
    fixture.reopen().await;
    fixture.writer.finish_lists().await.unwrap();
    fixture.assert_same().await;
    // Now there are lists with projects that have changed or were withdrawn meanwhile.
    let mut changes: Vec<NumberedEvent> = (0..40).map(withdrawn).collect();
    changes.extend((40..80).map(|number| some_vectors(number, number + 7)));
    fixture.apply(&changes).await;
    fixture.reopen().await;
    fixture.apply(&[some_vectors(90, 1)]).await;
    fixture.writer.finish_lists().await.unwrap();
    fixture.assert_same().await;
}

#[tokio::test]
async fn a_dropped_computation_changes_nothing_and_can_be_repeated() {
    let mut fixture = Fixture::new().await;
    fixture.apply(&many(200)).await;
    // The first poll cannot complete: the future waits for another thread.
    let mut computing = Box::pin(fixture.writer.finish_lists());
    assert!(futures::poll!(&mut computing).is_pending());
    drop(computing);
    fixture.reader.refresh().await.unwrap();
    assert_eq!(fixture.reader.status(1), ListStatus::Pending);
    fixture.writer.finish_lists().await.unwrap();
    fixture.assert_same().await;
}

#[tokio::test]
async fn readers_see_every_commit_though_the_computation_is_dropped_while_it_commits() {
    // Not every attempt hits the moment between the commit and the end; the assertions hold in any case.
    for _ in 0..10 {
        let mut fixture = Fixture::new().await;
        fixture.writer.prepare_replay();
        fixture.apply(&many(20)).await;
        let other = options(fixture.folder.path()).read_only(true).connect().await.unwrap();
        drop_once_committed(fixture.writer.finish_lists(), other).await;
        // From now on it reads only later changes.
        fixture.reader.refresh().await.unwrap();
        fixture.apply(&[withdrawn(7), selected(500)]).await;
        fixture.reader.refresh().await.unwrap();
        // The project with the number 7 was selected at position 15, the last one at 42.
        let statuses = [15, 42].map(|ordinal| fixture.reader.status(ordinal));
        assert_eq!(statuses, [ListStatus::Withdrawn, ListStatus::NoVectors]);
        fixture.writer.finish_lists().await.unwrap();
        fixture.assert_same().await;
    }
}

/// Polls a future until its write is committed or it completes, then drops it.
async fn drop_once_committed(future: impl Future, mut other: SqliteConnection) {
    let mut future = std::pin::pin!(future);
    let before = stored::state(&mut other).await.unwrap();
    while futures::poll!(&mut future).is_pending() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        if stored::state(&mut other).await.unwrap() != before {
            return;
        }
    }
}

#[tokio::test]
async fn events_are_applied_while_lists_are_computed() {
    let mut fixture = Fixture::new().await;
    fixture.apply(&many(150)).await;
    fixture.writer.start_computing().await.unwrap();
    assert!(fixture.writer.has_unfinished_lists());
    let meanwhile = [withdrawn(3), some_vectors(7, 99), selected(300), some_vectors(300, 5), withdrawn(9)];
    fixture.apply(&meanwhile).await;
    fixture.apply(&[restored(9), selected(301), some_vectors(301, 5)]).await;
    fixture.reader.refresh().await.unwrap();
    // The project with the number 3 was selected at position 7.
    assert_eq!(fixture.reader.status(7), ListStatus::Withdrawn);
    assert_eq!(fixture.writer.checkpoint().position, Position(308));
    fixture.writer.finish_lists().await.unwrap();
    assert!(!fixture.writer.has_unfinished_lists());
    fixture.assert_same().await;
    fixture.apply(&[withdrawn(20), restored(3), some_vectors(301, 8)]).await;
    fixture.assert_same().await;
    let found = recall(fixture.folder.path(), usize::MAX, LISTED).await.unwrap();
    assert_eq!((found.share, found.exact), (1.0, found.projects));
}

#[tokio::test]
async fn invalid_events_are_rejected_and_the_others_are_applied() {
    let mut fixture = Fixture::new().await;
    let events = [
        recorded(0, "m", Some(&[1.0]), None),
        selected(0),
        selected(0),
        recorded(0, "m", Some(&[1.0, 2.0]), None),
        recorded(0, "m", Some(&[1.0]), Some(&[1.0])),
        recorded(0, "m", None, Some(&[1.0, 1.0])),
        recorded(0, "m", None, None),
        selected(1),
        recorded(1, "m", Some(&[1.0, 3.0]), None),
    ];
    let dimensions = |side, known, found| ApplyError::Dimensions { side, model: "m".into(), known, found };
    assert_eq!(
        fixture.apply(&events).await,
        [
            (1, ApplyError::UnexpectedEvent(UnexpectedEvent::NotSelected)),
            (3, ApplyError::UnexpectedEvent(UnexpectedEvent::SelectedTwice)),
            (5, dimensions("visual", 2, 1)),
            (7, ApplyError::NoVector),
        ]
    );
    fixture.assert_same().await;
    fixture.reopen().await;
    let late =
        fixture.apply(&[recorded(1, "m", Some(&[1.0]), None), recorded(1, "n", Some(&[1.0]), None)]).await;
    assert_eq!(late, [(10, dimensions("visual", 2, 1))]);
    fixture.assert_same().await;
    let mut writer = NeighboursWriter::open(fixture.folder.path()).await.unwrap();
    let far = Position(u64::from(u32::MAX) + 1);
    assert_eq!(writer.apply(id(7), &selected(7).1, far), Err(ApplyError::TooFar));
}

#[tokio::test]
async fn vectors_are_stored_in_the_form_of_the_first_one_of_their_model_and_side() {
    let mut fixture = Fixture::new().await;
    let mut events: Vec<NumberedEvent> = (0..4).map(selected).collect();
    events.push(quantized(recorded(0, "q", Some(&[0.5, -1.0, 0.25]), Some(&[0.0, 2.0]))));
    events.push(recorded(1, "f", Some(&[3.0, 4.0]), None));
    // The other form than before, or none before on this side.
    events.push(recorded(2, "q", Some(&[0.5, -1.0, 0.25]), None));
    events.push(quantized(recorded(3, "f", Some(&[3.0, 4.0]), Some(&[1.0]))));
    assert_eq!(fixture.apply(&events).await, []);
    fixture.reopen().await;
    let floats: Vec<u8> = unit_bytes(&[3.0, 4.0]);
    // 3 and 4 are 95 and 127 in bytes.
    let converted: Vec<u8> = unit_bytes(&[95.0, 127.0]);
    let bytes = |numbers: &[i8]| Some(numbers.iter().map(|n| n.cast_unsigned()).collect::<Vec<u8>>());
    type Side = Option<Vec<u8>>;
    let stored: Vec<(Side, Side)> = sqlx::query_as("SELECT visual, semantic FROM vectors ORDER BY ordinal")
        .fetch_all(&fixture.reader.pool)
        .await
        .unwrap();
    assert_eq!(
        stored,
        [
            (bytes(&[64, -127, 32]), bytes(&[0, 127])),
            (Some(floats), None),
            (bytes(&[64, -127, 32]), None),
            (Some(converted), bytes(&[127])),
        ]
    );
    fixture.writer.finish_lists().await.unwrap();
    fixture.assert_same().await;
    let nearest: Vec<Neighbour> = fixture.reader.of(1).unwrap().iter().collect();
    assert_eq!(nearest, [Neighbour { ordinal: 3, score: 1.0, visual: Some(1.0), semantic: None }]);

    let wrong = [
        quantized(recorded(0, "q", Some(&[1.0, 2.0]), None)),
        recorded(0, "q", None, Some(&[1.0])),
        quantized(recorded(0, "f", Some(&[1.0]), None)),
    ];
    let dimensions =
        |side, model: &str, known, found| ApplyError::Dimensions { side, model: model.into(), known, found };
    assert_eq!(
        fixture.apply(&wrong).await,
        [
            (9, dimensions("visual", "q", 3, 2)),
            (10, dimensions("semantic", "q", 2, 1)),
            (11, dimensions("visual", "f", 2, 1)),
        ]
    );
}

/// Returns a vector of unit length as it is stored.
fn unit_bytes(numbers: &[f32]) -> Vec<u8> {
    knn::unit(numbers).iter().flat_map(|n| n.to_le_bytes()).collect()
}

#[tokio::test]
async fn a_vector_of_another_length_than_its_model_says_is_reported() {
    let mut fixture = Fixture::new().await;
    let events = [selected(0), quantized(recorded(0, "m", Some(&[1.0, 2.0]), None)), selected(1)];
    fixture.apply(&events).await;
    for damage in [
        "UPDATE vectors SET visual = x'0102030405'",
        "UPDATE models SET visual_is_quantized = 0",
        "DELETE FROM models",
    ] {
        sqlx::query(damage)
            .execute(&mut options(fixture.folder.path()).connect().await.unwrap())
            .await
            .unwrap();
        let error = NeighboursWriter::open(fixture.folder.path()).await.unwrap_err();
        assert!(error.to_string().contains("a vector of"), "{damage}: {error}");
    }
}

/// Batches of changes of a catalog, most of them small.
fn batches() -> impl Strategy<Value = Vec<Vec<(u64, u8, u64)>>> {
    let act = (0..110_u64, 0..8_u8, any::<u64>());
    let few = proptest::collection::vec(act.clone(), 1..12);
    let many = proptest::collection::vec(act, 70..130);
    proptest::collection::vec(prop_oneof![4 => few, 1 => many], 1..8)
}

fn event((number, act, seed): (u64, u8, u64)) -> NumberedEvent {
    match act {
        0 => selected(number),
        1 | 2 => withdrawn(number),
        3 => restored(number),
        _ => some_vectors(number, seed % 200),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_batches_give_the_true_lists_and_the_same_digest(
        start in prop_oneof![Just(0_u64), 60..100_u64],
        batches in batches(),
        reopen in any::<u8>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut fixture = Fixture::new().await;
            let mut all = many(start);
            fixture.apply(&all.clone()).await;
            fixture.writer.finish_lists().await.unwrap();
            for (at, batch) in batches.into_iter().enumerate() {
                let batch: Vec<NumberedEvent> = batch.into_iter().map(event).collect();
                if reopen >> ((at + 5) % 8) & 1 == 1 {
                    fixture.writer.start_computing().await.unwrap();
                }
                fixture.apply(&batch).await;
                if reopen >> (at % 8) & 1 == 1 {
                    fixture.reopen().await;
                }
                if reopen >> ((at + 3) % 8) & 1 == 1 {
                    fixture.writer.finish_lists().await.unwrap();
                    fixture.assert_same().await;
                }
                all.extend(batch);
            }
            fixture.writer.finish_lists().await.unwrap();
            fixture.assert_same().await;
            let found = recall(fixture.folder.path(), usize::MAX, LISTED).await.unwrap();
            assert_eq!((found.share, found.exact), (1.0, found.projects));

            let whole = tempfile::tempdir().unwrap();
            let mut writer = NeighboursWriter::open(whole.path()).await.unwrap();
            writer.prepare_replay();
            apply(&mut writer, &all).await;
            writer.finish_lists().await.unwrap();
            let live = NeighboursReader::digest(fixture.folder.path()).await.unwrap();
            assert_eq!(NeighboursReader::digest(whole.path()).await.unwrap(), live);
            assert_same(&NeighboursReader::open(whole.path()).await.unwrap(), &fixture.oracle);
        });
    }
}
