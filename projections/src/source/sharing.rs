//! With whom a follower reads.

/// Whether a follower reads together with others. A reading of its own costs a consumer, and each event is decoded once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// With those at the same place. When the window is full, they wait for it for seconds.
    Shared,
    /// The same, but the others wait for it for a moment only: for one whose commits take long.
    Yielding,
    /// Alone, always: it waits for no other follower, and none waits for it.
    Apart,
}
