//! What a node, and the host of each of its models, is started with.

use std::path::PathBuf;

use health::Health;
use schemas::clock::Clock;

/// What a node needs to work.
#[derive(Debug, Clone)]
pub struct NodeSettings {
    /// The folder of the read models.
    pub models: PathBuf,
    /// The node's name in control subjects: letters and digits.
    pub name: String,
    /// Tells the time of heartbeats.
    pub clock: Clock,
    /// Where models report that they cannot be used, or not go on.
    pub health: Health,
    /// Whether a model that only an operator can mend waits for a rebuild. Otherwise it ends the node.
    pub waits_for_rebuild: bool,
}
