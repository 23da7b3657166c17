//! The checkpoint of a model, committed together with the rows that it describes.

use schemas::control::Parked;
use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};
use serde::{Deserialize, Serialize};

/// The maximum number of parked events that are listed: the checkpoint is written with every commit.
pub const MOST_PARKED: usize = 100;

/// How far a model has been built, and from what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The position of the last applied event.
    pub position: Position,
    /// The hash of that event in the log's chain; `None` before the first event, and in checkpoints of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// The event store whose log was applied; `None` before the first event.
    pub store: Option<String>,
    /// The first [`MOST_PARKED`] events that could not be applied, in the order of the log.
    pub parked: Vec<Parked>,
    /// The number of further events that could not be applied.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parked_beyond: u64,
    /// The number of skipped events of newer versions.
    pub skipped: u64,
}

impl Checkpoint {
    /// Returns whether the model was built from the log of this store, or from no event yet.
    pub fn belongs_to(&self, store: StoreId) -> bool {
        self.store.as_ref().is_none_or(|own| *own == store.to_string())
    }

    /// Records the events of a batch that could not be applied: the first [`MOST_PARKED`] by name, the others as a number.
    pub fn park(&mut self, mut parked: Vec<Parked>) {
        parked.sort_by_key(|parked| parked.position);
        self.parked.extend(parked);
        self.bound_parked();
    }

    /// Returns whether two checkpoints at the same position describe the same log. A checkpoint of version 0.1 has no hash, and may list
    /// any number of parked events.
    pub fn agrees_with(&self, other: &Checkpoint) -> bool {
        let comparable = |checkpoint: &Checkpoint, with: &Checkpoint| {
            let mut comparable = checkpoint.clone();
            comparable.parked.sort_by_key(|parked| parked.position);
            comparable.bound_parked();
            comparable.hash = comparable.hash.and(with.hash).and(checkpoint.hash);
            comparable
        };
        comparable(self, other) == comparable(other, self)
    }

    fn bound_parked(&mut self) {
        self.parked_beyond += self.parked.len().saturating_sub(MOST_PARKED) as u64;
        self.parked.truncate(MOST_PARKED);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parked(positions: impl IntoIterator<Item = u64>) -> Vec<Parked> {
        let parked = |at| Parked { position: Position(at), kind: "k".into(), reason: "r".into() };
        positions.into_iter().map(parked).collect()
    }

    #[test]
    fn a_checkpoint_of_version_0_1_round_trips() {
        let before = r#"{"position":7,"store":"S","parked":[],"skipped":1}"#;
        let read: Checkpoint = serde_json::from_str(before).unwrap();
        assert_eq!((read.position, read.hash, read.parked_beyond), (Position(7), None, 0));
        assert_eq!(serde_json::to_string(&read).unwrap(), before, "unknown members are not written");
        let now = Checkpoint { hash: Some(Hash([1; 32])), parked_beyond: 2, ..read };
        assert_eq!(serde_json::from_str::<Checkpoint>(&serde_json::to_string(&now).unwrap()).unwrap(), now);
    }

    #[test]
    fn parked_events_are_bounded_and_counted_in_any_batches() {
        let mut one_by_one = Checkpoint::default();
        (1..=250).for_each(|at| one_by_one.park(parked([at])));
        let mut at_once = Checkpoint::default();
        at_once.park(parked((1..=250).rev()));
        assert_eq!(one_by_one, at_once);
        let positions: Vec<u64> = at_once.parked.iter().map(|parked| parked.position.0).collect();
        assert_eq!((positions, at_once.parked_beyond), ((1..=100).collect(), 150));
        let of_0_1 = Checkpoint { parked: parked((1..=250).rev()), ..Checkpoint::default() };
        assert!(of_0_1.agrees_with(&at_once) && at_once.agrees_with(&of_0_1));
        let other = Checkpoint { parked: parked(2..=251), ..Checkpoint::default() };
        assert!(!other.agrees_with(&at_once));
    }

    #[test]
    fn checkpoints_with_different_hashes_do_not_agree() {
        let with = |hash| Checkpoint { hash, ..Checkpoint::default() };
        let (one, other) = (with(Some(Hash([1; 32]))), with(Some(Hash([2; 32]))));
        assert!(!one.agrees_with(&other));
        assert!(one.agrees_with(&one) && one.agrees_with(&with(None)) && with(None).agrees_with(&one));
    }
}
