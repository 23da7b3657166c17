//! The error of the read models.

use std::path::PathBuf;

use lexical::SearchError;

use crate::generation::GenerationError;

/// The reason why a read model could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// SQLite refused; a full disk and a missing file look like this.
    #[error("the model's database cannot be used: {0}")]
    Database(#[from] sqlx::Error),
    /// The stored data is not what this version writes.
    #[error("the {model} model contains unreadable data ({reason}); run `loggia rebuild {model}`")]
    Corrupt {
        /// The model's name.
        model: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The search index refused.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The threads that compare projects could not be started.
    #[error("the neighbours cannot be computed: {0}; check the limits on threads and memory")]
    Threads(String),
    /// The folder of a generation cannot be used.
    #[error(transparent)]
    Generation(#[from] GenerationError),
    /// A model could not be copied: a full disk, or a database that is gone.
    #[error("{} cannot be copied: {source}; check the room on the disk, then do it again", path.display())]
    Copy {
        /// The path of the database.
        path: PathBuf,
        /// The error of SQLite.
        #[source]
        source: sqlx::Error,
    },
    /// The file of a complete model is missing or empty.
    #[error("{} is missing or empty", .0.display())]
    Absent(PathBuf),
}

impl ModelError {
    /// Returns the error of a model with unreadable data.
    pub fn corrupt(model: &'static str, reason: impl ToString) -> ModelError {
        ModelError::Corrupt { model, reason: reason.to_string() }
    }

    /// Returns whether the model is damaged and must be rebuilt: trying again cannot help.
    #[cfg(feature = "apply")]
    pub fn is_corrupt(&self) -> bool {
        match self {
            ModelError::Database(error) => sqlite::is_damage(error),
            ModelError::Search(error) => error.is_corrupt(),
            ModelError::Corrupt { .. } | ModelError::Absent(_) => true,
            // A failed copy or an unusable folder does not imply that the model's files are damaged.
            ModelError::Threads(_) | ModelError::Copy { .. } | ModelError::Generation(_) => false,
        }
    }
}
