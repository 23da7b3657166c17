//! The parts of the listed projects, for site maps.

use schemas::ids::Position;

/// A part of the listed projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPart {
    /// Which part, from 0. A project never changes its part, so there may be empty ones between.
    pub number: u64,
    /// The day on which something of it last changed, as `YYYY-MM-DD`.
    pub updated_on: String,
}

/// The listed parts of one commit.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) position: Position,
    /// The most projects of one.
    pub(super) size: u32,
    pub(super) parts: Vec<ListedPart>,
}
