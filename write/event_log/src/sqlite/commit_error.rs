//! Why a batch of appends was not committed, and what its senders receive then.

use super::backend::BackendAppendError;
use crate::{AppendError, StoreError};

/// The reason why a batch was not committed. Nothing of it was written, unless the commit itself failed.
pub(super) enum CommitError {
    /// The rows violate a constraint of the tables, so at least one append of the batch is invalid.
    Constraint(String),
    /// The connection can no longer be trusted.
    Store(StoreError),
    /// The backend has events that the file lacks.
    ReplicaLags,
    /// The backend may or may not have appended the batch.
    Unknown(StoreError),
}

impl From<StoreError> for CommitError {
    fn from(error: StoreError) -> CommitError {
        CommitError::Store(error)
    }
}

impl From<sqlx::Error> for CommitError {
    fn from(error: sqlx::Error) -> CommitError {
        match &error {
            sqlx::Error::Database(database) if database.is_unique_violation() => {
                CommitError::Constraint(database.message().to_owned())
            }
            _ => CommitError::Store(error.into()),
        }
    }
}

impl From<CommitError> for AppendError {
    fn from(error: CommitError) -> AppendError {
        match error {
            CommitError::Constraint(reason) => AppendError::Invalid(reason),
            CommitError::Store(error) | CommitError::Unknown(error) => error.into(),
            CommitError::ReplicaLags => {
                StoreError::unavailable("others append without a pause; try again").into()
            }
        }
    }
}

impl From<BackendAppendError> for CommitError {
    fn from(error: BackendAppendError) -> CommitError {
        match error {
            BackendAppendError::ReplicaLags => CommitError::ReplicaLags,
            BackendAppendError::Refused(error) => CommitError::Store(error),
            BackendAppendError::Unknown(error) => CommitError::Unknown(error),
        }
    }
}
