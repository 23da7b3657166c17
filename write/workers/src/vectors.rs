//! What a project looks and reads like, as vectors: which of its texts an encoder reads, and the worker that records vectors.

mod document;
pub mod worker;
