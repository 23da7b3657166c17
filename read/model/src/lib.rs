//! What all read models have in common: their interface, checkpoint, generations, database and error. Used by the packages of the
//! models, `read` and `archive`.
//!
//! A model is a folder or package whose reader implements [`Model`]; with an entry in the registry of `read::models` it is opened,
//! refreshed, copied and listed. Its rows and its [`checkpoint`](checkpoint::Checkpoint) are committed together.
//!
//! ```
//! use model::generation::Generations;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let generations = Generations::new(folder.path().join("catalog"));
//! let next = generations.create_next()?;
//! // A writer builds the model in `next.path`; once it has caught up, readers change over to it.
//! generations.make_current(&next)?;
//! assert_eq!(generations.current()?, Some(next));
//! # Ok(())
//! # }
//! ```

pub mod awaited_pictures;
pub mod checkpoint;
pub mod database;
pub mod day;
pub mod error;
pub mod generation;
pub mod project;
pub mod search;

use std::path::Path;
use std::sync::Arc;

use lexical::View;
use schemas::month::Month;

use crate::checkpoint::Checkpoint;
use crate::error::ModelError;

/// What a model is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelInput {
    /// The events of the log; checkpoints are positions.
    Log,
    /// Metered calls; checkpoints are numbers of calls.
    Calls,
}

/// What a model may need besides its own files to be opened or refreshed.
#[derive(Clone)]
pub struct ModelContext {
    /// The month of the node's clock.
    pub month: Month,
    /// The search index, if one is open.
    pub search: Option<View>,
    /// The name of the node's text model, if it has one: the meanings that it gave to texts are loaded.
    pub text_model: Option<Arc<str>>,
}

/// The reader of one read model, on one generation.
pub trait Model: Sized + Send + Sync + 'static {
    /// The name of the model on the command line and in metrics, and of its folder.
    const NAME: &'static str;
    /// The layout of its files, incremented with every change that former generations do not have.
    const LAYOUT: u32;
    /// A file that a generation has once it was opened by a writer.
    const FILE: &'static str;
    /// The statements that create its database, which is [`Model::FILE`]; `None` for a model that is no database.
    const SCHEMA: Option<&'static str>;
    /// What it is built from.
    const INPUT: ModelInput = ModelInput::Log;

    /// Returns whether a first generation can be opened.
    fn can_open(_context: &ModelContext) -> bool {
        true
    }

    /// Opens the generation in a folder. May block its thread for as long as reading it takes.
    fn open(folder: &Path, context: &ModelContext) -> impl Future<Output = Result<Self, ModelError>> + Send;

    /// Loads what was committed since the last refresh. May block its thread too.
    fn refresh(&self, context: &ModelContext) -> impl Future<Output = Result<(), ModelError>> + Send;

    /// Returns the checkpoint of the last commit.
    fn checkpoint(&self) -> impl Future<Output = Result<Checkpoint, ModelError>> + Send;

    /// Returns the checkpoint of the model in a folder and a hash over its content, consistent even while a worker writes. Equal models
    /// have equal hashes, in whatever batches they were built.
    #[cfg(feature = "apply")]
    fn digest(folder: &Path) -> impl Future<Output = Result<(Checkpoint, [u8; 32]), ModelError>> + Send;

    /// Copies the model of one folder into another, which is empty, as of one commit, while it may be written. Returns the
    /// copy's checkpoint.
    #[cfg(feature = "apply")]
    fn copy(from: &Path, to: &Path) -> impl Future<Output = Result<Checkpoint, ModelError>> + Send {
        crate::database::copy(Self::NAME, Self::FILE, from, to)
    }

    /// Checks a copy that is not written meanwhile and that another node may have made: its database has the tables of the model and
    /// nothing else, such as a trigger.
    #[cfg(feature = "apply")]
    fn check_copy(folder: &Path) -> impl Future<Output = Result<(), ModelError>> + Send {
        let file = folder.join(Self::FILE);
        async move {
            match Self::SCHEMA {
                Some(schema) => crate::database::check_schema_of_file(&file, Self::NAME, schema).await,
                None => Ok(()),
            }
        }
    }
}
