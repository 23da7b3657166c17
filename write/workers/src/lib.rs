//! The background workers of the write side: work that follows from recorded events or from the vault's outbox.
//!
//! The root starts each worker on a node with a write side and runs it until shutdown. Every worker can be stopped at any moment:
//! it derives what is left to do from the event log or the outbox at the next start, and records each result once.
//!
//! - [`picture_fetcher`]: fetches the pictures that records name by URL.
//! - [`embedding_worker`]: computes and records the vectors of projects.
//! - [`mail_worker`]: sends the outbox messages of the vault.

pub mod embedding_worker;
pub mod mail_worker;
pub mod picture_fetcher;
#[cfg(test)]
mod tests;

/// Why a worker cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Of [`picture_fetcher::PictureFetcher`].
    #[error("pictures cannot be fetched: {0}")]
    PictureFetcher(String),
    /// Of [`embedding_worker::EmbeddingWorker`].
    #[error("vectors cannot be recorded: {0}")]
    EmbeddingWorker(String),
}
