//! Applies batches of events to the neighbours: rows, lists and checkpoint in one transaction. Where many projects
//! changed, the lists follow later, in a transaction of their own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use schemas::event::Event;
use schemas::ids::{Position, ProjectId};
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection};

use super::memory::Memory;
use super::repair::{ComputePool, Computed, compute};
use super::staged::{Refusal, Staged};
use super::{NAME, corrupt, options, stored};
use crate::checkpoint::Checkpoint;
use crate::database;
use crate::error::ModelError;

/// Up to this many changed projects are applied to the lists at once; with more, the lists wait for a quiet time.
const FEW: usize = 64;

/// The number of small commits in a row that leave lists waiting: a steady trickle of changes does not delay them without end.
const PATIENCE: u32 = 16;

/// Up to this many pairs are compared within the commit of their events, in less than a tenth of a second; more are
/// compared in the background, while other events are applied.
const QUICK: usize = 2_000_000;

/// The number of projects of one layout from which on a graph proposes which are compared. Measured at 20,000 projects of
/// 512 dimensions: about 8 s of a processor to compare all, 98 s by a graph. The first grows with the square, the second
/// hardly faster than the number, so they meet between 300,000 and 400,000.
const GRAPH_FROM: usize = 400_000;

/// Writes one generation of the neighbours. There is one writer at a time.
#[derive(Debug)]
pub struct NeighboursWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    staged: Staged,
    /// None while lists are computed in the background, and after a change that was broken off: it is loaded again then.
    memory: Option<Memory>,
    background: Option<Background>,
    /// Lists that are computed and not written yet, and the change up to which they know all projects.
    computed: Option<(i64, Computed)>,
    /// Counts commits that changed rows for readers.
    changed: i64,
    /// Whether the file may have a change that is not in `changed` and `dirty`: what writes lists can be dropped while it
    /// commits.
    is_behind: bool,
    /// How many projects, at most, the lists do not show as they are.
    dirty: usize,
    waited: u32,
    /// Whether lists are to be computed without waiting for a quiet time.
    is_due: bool,
    is_replay: bool,
    pool: ComputePool,
    folder: PathBuf,
}

/// Lists that are being computed; the threads go on while it is not polled.
struct Background {
    /// The change up to which they know all projects.
    known: i64,
    work: BoxFuture<'static, Result<Computed, ModelError>>,
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").field("known", &self.known).finish_non_exhaustive()
    }
}

impl NeighboursWriter {
    /// Opens the neighbours in a generation's folder, and makes them where there are none. Half of the processors
    /// compute; the others are left to those who answer.
    pub async fn open(folder: &Path) -> Result<NeighboursWriter, ModelError> {
        NeighboursWriter::open_with_graph_from(folder, GRAPH_FROM).await
    }

    /// The same, with a graph from so many projects of one kind on.
    pub async fn open_with_graph_from(
        folder: &Path,
        graph_from: usize,
    ) -> Result<NeighboursWriter, ModelError> {
        let mut connection = options(folder).create_if_missing(true).connect().await?;
        database::make(&mut connection, include_str!("sql/schema.sql")).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        let (changed, dirty) = stored::state(&mut connection).await?;
        let mut memory = Memory::load(&mut connection).await?;
        memory.renew_graphs(graph_from);
        Ok(NeighboursWriter {
            staged: Staged::load(&mut connection).await?,
            memory: Some(memory),
            background: None,
            computed: None,
            connection,
            checkpoint,
            changed,
            is_behind: false,
            dirty,
            waited: 0,
            is_due: false,
            is_replay: false,
            pool: ComputePool { threads: Arc::new(threads()?), graph_from },
            folder: folder.to_owned(),
        })
    }

    /// How far the neighbours have come, as of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Fetches what the model knows of the projects that a batch speaks of.
    pub async fn load(&mut self, batch: impl Iterator<Item = ProjectId>) -> Result<(), ModelError> {
        self.staged.fetch(&mut self.connection, batch).await
    }

    /// Stages what an event at a position makes of its project, which [`NeighboursWriter::load`] has fetched if the
    /// model knows it. An error is for parking the event; nothing is staged then.
    pub fn apply(&mut self, project: ProjectId, event: &Event, position: Position) -> Result<(), Refusal> {
        self.staged.apply(project, event, position)
    }

    /// Leaves all lists to [`NeighboursWriter::settle`], since there are no readers during a replay.
    pub fn prepare_replay(&mut self) {
        self.is_replay = true;
    }

    /// Makes everything staged visible together with the checkpoint; with it the lists that follow from it where that is
    /// quick, and those that [`NeighboursWriter::settle`] has computed meanwhile.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        self.read_back().await?;
        let moved = self.staged.moved();
        let (dirty, changed) = (self.dirty + moved, self.changed + 1);
        let has_waited = moved <= FEW && self.waited >= PATIENCE;
        let is_due = dirty > 0 && !self.is_replay && (dirty <= FEW || has_waited);
        let is_quick = self
            .memory
            .as_ref()
            .is_some_and(|memory| (memory.space().len() + dirty).saturating_mul(dirty) <= QUICK);
        let memory = if is_due && is_quick && self.computed.is_none() { self.memory.take() } else { None };
        let mut transaction = self.connection.begin().await?;
        self.staged.write(&mut transaction, changed).await?;
        let state = serde_json::to_string(&checkpoint).map_err(corrupt)?;
        database::set_state(&mut transaction, state).await?;
        let computed = match memory {
            Some(memory) => {
                let dirty = stored::dirty(&mut transaction).await?;
                Some((changed, compute(&mut transaction, memory, dirty, &self.pool).await?))
            }
            None => self.computed.take(),
        };
        let left = match &computed {
            Some((known, Computed { memory, lists })) => {
                stored::write(&mut transaction, memory, lists, *known, changed).await?
            }
            None => dirty,
        };
        transaction.commit().await?;
        (self.checkpoint, self.changed, self.dirty) = (checkpoint, changed, left);
        self.waited = if moved <= FEW && self.dirty > 0 { self.waited + 1 } else { 0 };
        self.is_due = is_due && self.dirty > 0;
        self.memory = computed.map(|(_, computed)| computed.memory).or(self.memory.take());
        Ok(())
    }

    /// Updates the lists to everything that is committed. Dropping it does not stop the computation: commits are possible
    /// meanwhile, and the next call writes the lists.
    pub async fn settle(&mut self) -> Result<(), ModelError> {
        self.is_replay = false;
        self.read_back().await?;
        while self.dirty > 0 || self.computed.is_some() {
            if self.computed.is_none() {
                self.begin().await?;
            }
            if let Some(background) = &mut self.background {
                let (known, computed) = (background.known, (&mut background.work).await);
                self.background = None;
                self.computed = Some((known, computed?));
            }
            self.take_in().await?;
        }
        self.is_due = false;
        Ok(())
    }

    /// Returns whether lists are being computed in the background, or are due.
    pub fn is_settling(&self) -> bool {
        self.is_due || self.background.is_some() || self.computed.is_some()
    }

    /// Begins to make the lists of all that is dirty, unless that has begun.
    pub(super) async fn begin(&mut self) -> Result<(), ModelError> {
        if self.background.is_some() {
            return Ok(());
        }
        let dirty = stored::dirty(&mut self.connection).await?;
        let memory = self.take_memory().await?;
        let (folder, pool) = (self.folder.clone(), self.pool.clone());
        let work = async move {
            let mut connection = options(&folder).read_only(true).connect().await?;
            let computed = compute(&mut connection, memory, dirty, &pool).await;
            connection.close().await?;
            computed
        };
        self.background = Some(Background { known: self.changed, work: Box::pin(work) });
        Ok(())
    }

    /// Writes the lists that were computed, in a transaction of their own.
    async fn take_in(&mut self) -> Result<(), ModelError> {
        let Some((known, Computed { memory, lists })) = &self.computed else { return Ok(()) };
        let (known, changed) = (*known, self.changed + 1);
        self.is_behind = true;
        let mut transaction = self.connection.begin().await?;
        let left = stored::write(&mut transaction, memory, lists, known, changed).await?;
        transaction.commit().await?;
        self.is_behind = false;
        (self.changed, self.dirty, self.waited) = (changed, left, 0);
        self.memory = self.computed.take().map(|(_, computed)| computed.memory);
        Ok(())
    }

    /// Reads the state of a transaction that was dropped: SQLite may have committed it. The lists that it wrote
    /// are written again, which changes nothing.
    async fn read_back(&mut self) -> Result<(), ModelError> {
        if self.is_behind {
            (self.changed, self.dirty) = stored::state(&mut self.connection).await?;
            self.is_behind = false;
        }
        Ok(())
    }

    async fn take_memory(&mut self) -> Result<Memory, ModelError> {
        match self.memory.take() {
            Some(memory) => Ok(memory),
            None => Memory::load(&mut self.connection).await,
        }
    }

    /// Closes the database cleanly.
    pub async fn close(self) -> Result<(), ModelError> {
        Ok(self.connection.close().await?)
    }
}

fn threads() -> Result<rayon::ThreadPool, ModelError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads(processors.div_ceil(2))
        .thread_name(|number| format!("neighbours-{number}"))
        .build()
        .map_err(|error| ModelError::Threads(error.to_string()))
}
