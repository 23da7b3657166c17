//! The recall of lists that were computed with a graph, against exact search.

use super::super::{NeighboursWriter, recall};
use super::{NumberedEvent, apply, recorded, selected, withdrawn};

#[tokio::test]
async fn a_graph_and_later_changes_have_a_recall_of_98_percent() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = NeighboursWriter::open_with_graph_from(folder.path(), 200).await.unwrap();
    let all: Vec<NumberedEvent> = (0..360).flat_map(|n| [selected(n), clustered(n, n)]).collect();
    apply(&mut writer, &all).await;
    writer.finish_lists().await.unwrap();
    let whole = recall(folder.path(), 100, 10).await.unwrap();
    assert!(whole.share >= 0.98, "{whole:?}");

    // In small batches, so that lists are repaired while new graphs are built in the background and adopted.
    for round in 0..6 {
        let at = |n: u64| (round * 71 + n * 13) % 360;
        let mut batch: Vec<NumberedEvent> = (0..8).map(|n| withdrawn(at(n))).collect();
        batch.extend((8..16).map(|n| clustered(at(n), n + round)));
        let new = 360 + round * 8..368 + round * 8;
        batch.extend(new.flat_map(|n| [selected(n), clustered(n, n)]));
        apply(&mut writer, &batch).await;
    }
    let repaired = recall(folder.path(), 100, 10).await.unwrap();
    assert!(repaired.share >= 0.98, "{repaired:?}");

    let mut writer = NeighboursWriter::open_with_graph_from(folder.path(), 200).await.unwrap();
    apply(&mut writer, &[clustered(5, 77)]).await;
    let reopened = recall(folder.path(), 100, 10).await.unwrap();
    assert!(reopened.share >= 0.98, "{reopened:?}");
}

/// Records a visual vector near one of 12 cluster centres.
fn clustered(number: u64, seed: u64) -> NumberedEvent {
    let mut seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let visual: Vec<f32> =
        (0..12).map(|at| if number % 12 == at { 1.0 + noise() } else { noise() }).collect();
    recorded(number, "m", Some(&visual), None)
}
