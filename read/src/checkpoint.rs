//! How far a model has come. It becomes visible in the same commit as the rows that it speaks of.

use schemas::control::Parked;
use schemas::ids::{Position, StoreId};
use serde::{Deserialize, Serialize};

/// What a model knows of its own making.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The last event it applied.
    pub position: Position,
    /// The event store whose log it shows; none before the first event.
    pub store: Option<String>,
    /// Events that could not be applied, oldest first.
    pub parked: Vec<Parked>,
    /// How many events of newer versions were passed over.
    pub skipped: u64,
}

impl Checkpoint {
    /// Whether the model shows the log of this store, or of none yet.
    pub fn belongs_to(&self, store: StoreId) -> bool {
        self.store.as_ref().is_none_or(|own| *own == store.to_string())
    }
}
