#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod graph;
mod oracle;

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
use crate::project::OutOfPlace;

/// An event of the project with this number.
type Happened = (u64, Event);

fn id(number: u64) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

fn selected(number: u64) -> Happened {
    let record = serde_json::from_str(r#"{"name": "X", "category": "art"}"#).unwrap();
    (number, Event::ProjectSelected(ProjectSelected { slug: "x".parse().unwrap(), record, id: None }))
}

fn withdrawn(number: u64) -> Happened {
    (number, Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() }))
}

fn restored(number: u64) -> Happened {
    (number, Event::ProjectRestored(ProjectRestored {}))
}

fn recorded(number: u64, model: &str, visual: Option<&[f32]>, semantic: Option<&[f32]>) -> Happened {
    let vector = |side: Option<&[f32]>| side.map(|numbers| Vector::new(numbers.to_vec()).unwrap());
    let event = VectorsRecorded {
        model: model.into(),
        visual: vector(visual),
        semantic: vector(semantic),
        computed: None,
    };
    (number, Event::VectorsRecorded(event))
}

/// A visual vector of model "b" that was brought, and a semantic one of another model.
fn beside(number: u64, visual: &[f32], (model, semantic): (&str, &[f32])) -> Happened {
    let (number, Event::VectorsRecorded(brought)) = recorded(number, "b", Some(&visual[..3]), None) else {
        unreachable!()
    };
    let semantic = Some(Vector::new(semantic.to_vec()).unwrap());
    let computed = Some(ComputedSide { model: model.into(), visual: None, semantic });
    (number, Event::VectorsRecorded(VectorsRecorded { computed, ..brought }))
}

/// Vectors of few different numbers, so that many scores are equal: a side of model "a" has 5 dimensions, the others 3.
fn some_vectors(number: u64, dice: u64) -> Happened {
    let (model, dimensions) = if dice.is_multiple_of(7) { ("b", [3, 3]) } else { ("a", [5, 3]) };
    let mut dice = dice;
    let mut side = |dimensions| {
        let mut numbers: Vec<f32> = (0..dimensions)
            .map(|_| {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f32::from((dice >> 60) as i8 % 4 - 1)
            })
            .collect();
        numbers[0] += 0.5;
        numbers
    };
    let (visual, semantic) = (side(dimensions[0]), side(dimensions[1]));
    if dice.is_multiple_of(11) {
        // Brought on one side, computed on the other.
        let model = if dice.is_multiple_of(2) { "a" } else { "c" };
        return beside(number, &visual, (model, &semantic));
    }
    match dice >> 40 & 7 {
        0 | 1 => recorded(number, model, Some(&visual), None),
        2 => recorded(number, model, None, Some(&semantic)),
        _ => recorded(number, model, Some(&visual), Some(&semantic)),
    }
}

/// A catalog of so many projects, all with vectors.
fn many(projects: u64) -> Vec<Happened> {
    (0..projects).flat_map(|number| [selected(number), some_vectors(number, number * 31 + 5)]).collect()
}

/// Applies events behind the checkpoint in one batch, and gives those that were refused.
async fn apply(writer: &mut NeighboursWriter, events: &[Happened]) -> Vec<(u64, Refusal)> {
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

/// Whether readers see what the oracle says of every position so far.
fn assert_same(reader: &NeighboursReader, oracle: &Oracle) {
    for ordinal in 1..=oracle.position() {
        let found = reader.of(ordinal).map(|list| list.iter().map(|n| n.ordinal).collect::<Vec<u64>>());
        assert_eq!((reader.standing(ordinal), found), oracle.expected(ordinal), "of {ordinal}");
    }
}

struct Bench {
    folder: tempfile::TempDir,
    writer: NeighboursWriter,
    reader: NeighboursReader,
    oracle: Oracle,
}

impl Bench {
    async fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let writer = NeighboursWriter::open(folder.path()).await.unwrap();
        let reader = NeighboursReader::open(folder.path()).await.unwrap();
        Bench { folder, writer, reader, oracle: Oracle::default() }
    }

    async fn take(&mut self, events: &[Happened]) -> Vec<(u64, Refusal)> {
        let refused = apply(&mut self.writer, events).await;
        let refusals: Vec<u64> = refused.iter().map(|(position, _)| *position).collect();
        events.iter().for_each(|(number, event)| self.oracle.take(*number, event, &refusals));
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
    let mut bench = Bench::new().await;
    bench.take(&many(150)).await;
    bench.writer.settle().await.unwrap();
    bench.assert_same().await;
    for number in 0..60 {
        bench.take(&[withdrawn(number)]).await;
        bench.assert_same().await;
    }
    let back: Vec<Happened> = (0..10).map(restored).collect();
    bench.take(&back).await;
    bench.assert_same().await;
    bench.reopen().await;
    bench.take(&[some_vectors(70, 99), withdrawn(71), restored(71), restored(20)]).await;
    bench.assert_same().await;
}

#[tokio::test]
async fn few_are_seen_at_once_and_many_when_there_is_rest() {
    let mut bench = Bench::new().await;
    bench.take(&[selected(0), selected(1)]).await;
    bench.assert_same().await;
    assert_eq!(bench.reader.standing(1), Standing::NoVectors);
    bench.take(&[recorded(0, "m", Some(&[1.0, 0.0]), None)]).await;
    bench.assert_same().await;
    assert_eq!((bench.reader.standing(1), bench.reader.of(1).unwrap().len()), (Standing::Known, 0));
    bench.take(&[recorded(1, "m", Some(&[0.6, 0.8]), Some(&[1.0]))]).await;
    let nearest: Vec<Neighbour> = bench.reader_after().await.of(1).unwrap().iter().collect();
    let [only] = nearest[..] else { panic!("{nearest:?}") };
    assert!((only.score - 0.6).abs() < 1e-4 && only.visual == Some(only.score) && only.semantic.is_none());

    let more: Vec<Happened> = many(120).split_off(4);
    bench.take(&more).await;
    bench.reader.refresh().await.unwrap();
    assert_eq!(bench.reader.standing(5), Standing::Pending);
    // A few more do not overtake those that wait.
    bench.take(&[some_vectors(0, 3)]).await;
    bench.reader.refresh().await.unwrap();
    assert_eq!(bench.reader.standing(5), Standing::Pending);
    bench.writer.settle().await.unwrap();
    bench.assert_same().await;
}

impl Bench {
    async fn reader_after(&self) -> &NeighboursReader {
        self.reader.refresh().await.unwrap();
        &self.reader
    }
}

#[tokio::test]
async fn a_trickle_does_not_keep_the_lists_waiting_for_ever() {
    let mut bench = Bench::new().await;
    bench.take(&many(120)).await;
    for _ in 0..20 {
        bench.take(&[some_vectors(0, 3)]).await;
    }
    bench.assert_same().await;
}

#[tokio::test]
async fn a_crash_before_settling_loses_nothing() {
    let mut bench = Bench::new().await;
    bench.take(&many(100)).await;
    bench.reopen().await;
    bench.writer.settle().await.unwrap();
    bench.assert_same().await;
    // Now there are lists that hold what has changed and left meanwhile.
    let mut changes: Vec<Happened> = (0..40).map(withdrawn).collect();
    changes.extend((40..80).map(|number| some_vectors(number, number + 7)));
    bench.take(&changes).await;
    bench.reopen().await;
    bench.take(&[some_vectors(90, 1)]).await;
    bench.writer.settle().await.unwrap();
    bench.assert_same().await;
}

#[tokio::test]
async fn settling_that_is_dropped_changes_nothing_and_can_be_done_again() {
    let mut bench = Bench::new().await;
    bench.take(&many(200)).await;
    // Whatever it has begun, the first poll cannot have ended it: it waits for another thread.
    let mut settling = Box::pin(bench.writer.settle());
    assert!(futures::poll!(&mut settling).is_pending());
    drop(settling);
    bench.reader.refresh().await.unwrap();
    assert_eq!(bench.reader.standing(1), Standing::Pending);
    bench.writer.settle().await.unwrap();
    bench.assert_same().await;
}

#[tokio::test]
async fn readers_see_every_commit_though_settling_is_dropped_while_it_commits() {
    // Not every attempt meets the moment between the commit and the end of settling; what is asserted holds in any case.
    for _ in 0..10 {
        let mut bench = Bench::new().await;
        bench.writer.prepare_replay();
        bench.take(&many(20)).await;
        let other = options(bench.folder.path()).read_only(true).connect().await.unwrap();
        drop_once_committed(bench.writer.settle(), other).await;
        // It asks only for later changes from now on.
        bench.reader.refresh().await.unwrap();
        bench.take(&[withdrawn(7), selected(500)]).await;
        bench.reader.refresh().await.unwrap();
        // The project with the number 7 was selected at position 15, the last one at 42.
        let standings = [15, 42].map(|ordinal| bench.reader.standing(ordinal));
        assert_eq!(standings, [Standing::Withdrawn, Standing::NoVectors]);
        bench.writer.settle().await.unwrap();
        bench.assert_same().await;
    }
}

/// Polls a future until what it writes is committed, or it ends, and drops it then.
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
async fn events_are_taken_while_lists_are_made() {
    let mut bench = Bench::new().await;
    bench.take(&many(150)).await;
    bench.writer.begin().await.unwrap();
    assert!(bench.writer.is_settling());
    let meanwhile = [withdrawn(3), some_vectors(7, 99), selected(300), some_vectors(300, 5), withdrawn(9)];
    bench.take(&meanwhile).await;
    bench.take(&[restored(9), selected(301), some_vectors(301, 5)]).await;
    bench.reader.refresh().await.unwrap();
    // The project with the number 3 was selected at position 7.
    assert_eq!(bench.reader.standing(7), Standing::Withdrawn);
    assert_eq!(bench.writer.checkpoint().position, Position(308));
    bench.writer.settle().await.unwrap();
    assert!(!bench.writer.is_settling());
    bench.assert_same().await;
    bench.take(&[withdrawn(20), restored(3), some_vectors(301, 8)]).await;
    bench.assert_same().await;
    let found = recall(bench.folder.path(), usize::MAX, LISTED).await.unwrap();
    assert_eq!((found.share, found.exact), (1.0, found.projects));
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_the_rest_goes_on() {
    let mut bench = Bench::new().await;
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
    let dimensions = |side, known, found| Refusal::Dimensions { side, model: "m".into(), known, found };
    assert_eq!(
        bench.take(&events).await,
        [
            (1, Refusal::OutOfPlace(OutOfPlace::NotSelected)),
            (3, Refusal::OutOfPlace(OutOfPlace::SelectedTwice)),
            (5, dimensions("visual", 2, 1)),
            (7, Refusal::NoVector),
        ]
    );
    bench.assert_same().await;
    bench.reopen().await;
    let late =
        bench.take(&[recorded(1, "m", Some(&[1.0]), None), recorded(1, "n", Some(&[1.0]), None)]).await;
    assert_eq!(late, [(10, dimensions("visual", 2, 1))]);
    bench.assert_same().await;
    let mut writer = NeighboursWriter::open(bench.folder.path()).await.unwrap();
    let far = Position(u64::from(u32::MAX) + 1);
    assert_eq!(writer.apply(id(7), &selected(7).1, far), Err(Refusal::TooFar));
}

/// Batches of acts on a catalog; most of them small.
fn batches() -> impl Strategy<Value = Vec<Vec<(u64, u8, u64)>>> {
    let act = (0..110_u64, 0..8_u8, any::<u64>());
    let few = proptest::collection::vec(act.clone(), 1..12);
    let many = proptest::collection::vec(act, 70..130);
    proptest::collection::vec(prop_oneof![4 => few, 1 => many], 1..8)
}

fn happened((number, act, dice): (u64, u8, u64)) -> Happened {
    match act {
        0 => selected(number),
        1 | 2 => withdrawn(number),
        3 => restored(number),
        _ => some_vectors(number, dice % 200),
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
            let mut bench = Bench::new().await;
            let mut all = many(start);
            bench.take(&all.clone()).await;
            bench.writer.settle().await.unwrap();
            for (at, batch) in batches.into_iter().enumerate() {
                let batch: Vec<Happened> = batch.into_iter().map(happened).collect();
                if reopen >> ((at + 5) % 8) & 1 == 1 {
                    bench.writer.begin().await.unwrap();
                }
                bench.take(&batch).await;
                if reopen >> (at % 8) & 1 == 1 {
                    bench.reopen().await;
                }
                if reopen >> ((at + 3) % 8) & 1 == 1 {
                    bench.writer.settle().await.unwrap();
                    bench.assert_same().await;
                }
                all.extend(batch);
            }
            bench.writer.settle().await.unwrap();
            bench.assert_same().await;
            let found = recall(bench.folder.path(), usize::MAX, LISTED).await.unwrap();
            assert_eq!((found.share, found.exact), (1.0, found.projects));

            let whole = tempfile::tempdir().unwrap();
            let mut writer = NeighboursWriter::open(whole.path()).await.unwrap();
            writer.prepare_replay();
            apply(&mut writer, &all).await;
            writer.settle().await.unwrap();
            let live = NeighboursReader::digest(bench.folder.path()).await.unwrap();
            assert_eq!(NeighboursReader::digest(whole.path()).await.unwrap(), live);
            assert_same(&NeighboursReader::open(whole.path()).await.unwrap(), &bench.oracle);
        });
    }
}
