//! What every read model has in common. A model is a folder of this crate whose reader implements [`Model`]; its line in
//! `models` has it opened, refreshed, waited for, copied and listed.

use std::path::Path;

use lexical::View;
use schemas::month::Month;

use crate::checkpoint::Checkpoint;
use crate::error::ModelError;

/// What a model is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// The events of the log, whose positions its checkpoint counts.
    Log,
    /// Metered calls, whose number its checkpoint counts.
    Calls,
}

/// What a model may need beside its own files to be opened or refreshed.
#[derive(Clone)]
pub struct Surroundings {
    /// The month of the node's clock.
    pub month: Month,
    /// The search index that is open; none while there is none.
    pub search: Option<View>,
}

/// The reader of one read model, on one generation.
pub trait Model: Sized + Send + Sync + 'static {
    /// The model's name: on the command line, in metrics, and of its folder.
    const NAME: &'static str;
    /// The layout of its files, incremented with every change that former generations do not have.
    const LAYOUT: u32;
    /// The file that a generation has as soon as it was opened once.
    const FILE: &'static str;
    /// What it is made from.
    const FOLLOWS: Follows = Follows::Log;

    /// Returns whether the first generation of this process can be opened.
    fn can_open(_surroundings: &Surroundings) -> bool {
        true
    }

    /// Opens the generation in a folder. May block its thread for as long as reading it takes.
    fn open(
        folder: &Path,
        surroundings: &Surroundings,
    ) -> impl Future<Output = Result<Self, ModelError>> + Send;

    /// Shows what was committed since the last time. May block its thread too.
    fn refresh(&self, surroundings: &Surroundings) -> impl Future<Output = Result<(), ModelError>> + Send;

    /// Returns how far the model has come.
    fn checkpoint(&self) -> impl Future<Output = Result<Checkpoint, ModelError>> + Send;

    /// Returns the checkpoint of the model in a folder and one hash over everything that it says, equal for equal models
    /// however they were made: in one consistent view even while a worker writes.
    #[cfg(feature = "apply")]
    fn digest(folder: &Path) -> impl Future<Output = Result<(Checkpoint, [u8; 32]), ModelError>> + Send;

    /// Copies the model of one folder into another, which is empty, as of one commit, while it may be written. Returns the
    /// copy's checkpoint.
    #[cfg(feature = "apply")]
    fn copy(from: &Path, to: &Path) -> impl Future<Output = Result<Checkpoint, ModelError>> + Send {
        crate::copying::database(Self::NAME, Self::FILE, from, to)
    }
}
