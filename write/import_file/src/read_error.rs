//! Why the file of an import cannot be read.

use record_files::SourceError;

/// Why the file of an import cannot be read, or not any further. `Display` says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file itself.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The columns are not those of the mapping or of a record, or a file that says more about it is faulty: a sentence.
    #[error("{0}")]
    Faulty(String),
}
