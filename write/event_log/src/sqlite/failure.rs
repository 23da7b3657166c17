//! Why a batch of appends was not committed, and what its appends are answered then.

use super::backend::NotTaken;
use crate::{AppendError, StoreError};

/// Why a batch was not committed. Nothing of it was written, unless the commit itself failed.
pub(super) enum Failure {
    /// The rows break a rule of the tables, so at least one append of the batch is wrong.
    Rule(String),
    /// The connection cannot be trusted any more.
    Store(StoreError),
    /// The log behind the file has events that the file has not.
    Behind,
    /// The log behind the file may have taken the batch, or not.
    Unknown(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Failure {
        match &error {
            sqlx::Error::Database(database) if database.is_unique_violation() => {
                Failure::Rule(database.message().to_owned())
            }
            _ => Failure::Store(error.into()),
        }
    }
}

impl From<Failure> for AppendError {
    fn from(failure: Failure) -> AppendError {
        match failure {
            Failure::Rule(reason) => AppendError::Invalid { reason },
            Failure::Store(error) | Failure::Unknown(error) => error.into(),
            Failure::Behind => StoreError::unavailable("others append without a pause; try again").into(),
        }
    }
}

impl From<NotTaken> for Failure {
    fn from(reason: NotTaken) -> Failure {
        match reason {
            NotTaken::Behind => Failure::Behind,
            NotTaken::Refused(error) => Failure::Store(error),
            NotTaken::Unknown(error) => Failure::Unknown(error),
        }
    }
}
