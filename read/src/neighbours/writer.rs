//! Applies batches of events to the neighbours: rows, lists and checkpoint in one transaction. If many projects changed, their lists
//! are written later, in a separate transaction.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use schemas::event::Event;
use schemas::ids::{Position, ProjectId};
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection};

use super::memory::Memory;
use super::pending::{ApplyError, PendingChanges};
use super::repair::{ComputePool, ComputedLists, compute};
use super::{NAME, SCHEMA, corrupt, options, stored};
use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;

/// The maximum number of changed projects whose lists are computed at once; with more, lists are computed when no events arrive.
const MAX_IMMEDIATE: usize = 64;

/// The number of consecutive small commits after which overdue lists are computed, so that a steady trickle of events does not delay
/// them indefinitely.
const MAX_SMALL_COMMITS: u32 = 16;

/// The maximum number of pairs that are compared within a commit, which takes at most 0.3 s: one change of a million projects. More are
/// compared in the background, while other events are applied.
const MAX_PAIRS_IN_COMMIT: usize = 1_100_000;

/// The number of projects of one layout from which a graph selects which are compared. Measured with 256 dimensions, in processor
/// time: comparing all pairs costs 950 s at 500,000 projects, a graph 3,434 s, and its cost grows more slowly (ADR 12). Sketches, with
/// more dimensions, move this further out.
const GRAPH_FROM: usize = 3_000_000;

/// Writes one generation of the neighbours. There must be only one writer at a time.
#[derive(Debug)]
pub struct NeighboursWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    pending: PendingChanges,
    /// `None` while lists are computed in the background, and after a cancelled computation: it is loaded again then.
    memory: Option<Memory>,
    background: Option<Background>,
    /// Lists that are computed and not written yet, and the last change that they reflect.
    computed: Option<(i64, ComputedLists)>,
    /// The number of the last change of rows.
    changed: i64,
    /// Whether the database may have a change that is not in `changed` and `dirty`: the future that writes lists can be dropped while
    /// it commits.
    is_stale: bool,
    /// An upper bound of the number of projects with changes that the lists do not reflect.
    dirty: usize,
    /// The number of consecutive small commits with overdue lists.
    small_commits: u32,
    /// Whether lists are to be computed even if more events arrive.
    is_due: bool,
    /// Whether lists wait until no more events arrive: another encoder has computed vectors again, and those of all projects follow.
    awaits_vectors: bool,
    is_replay: bool,
    pool: ComputePool,
    folder: PathBuf,
}

/// A computation of lists; its threads continue while the future is not polled.
struct Background {
    /// The last change that the lists will reflect.
    known: i64,
    work: BoxFuture<'static, Result<ComputedLists, ModelError>>,
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").field("known", &self.known).finish_non_exhaustive()
    }
}

impl NeighboursWriter {
    /// Opens the neighbours in a generation's folder, and creates them if there are none. Half of the processors compute lists; the
    /// others are left for requests.
    pub async fn open(folder: &Path) -> Result<NeighboursWriter, ModelError> {
        NeighboursWriter::open_with_graph_from(folder, GRAPH_FROM).await
    }

    /// Opens the neighbours, with graphs for layouts of at least `graph_from` projects.
    pub async fn open_with_graph_from(
        folder: &Path,
        graph_from: usize,
    ) -> Result<NeighboursWriter, ModelError> {
        let mut connection = options(folder).create_if_missing(true).connect().await?;
        database::create_schema(&mut connection, NAME, SCHEMA).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        let (changed, dirty) = stored::state(&mut connection).await?;
        let mut memory = Memory::load(&mut connection).await?;
        memory.renew_graphs(graph_from);
        Ok(NeighboursWriter {
            pending: PendingChanges::load(&mut connection).await?,
            memory: Some(memory),
            background: None,
            computed: None,
            connection,
            checkpoint,
            changed,
            is_stale: false,
            dirty,
            small_commits: 0,
            is_due: false,
            awaits_vectors: false,
            is_replay: false,
            pool: ComputePool { threads: Arc::new(threads()?), graph_from },
            folder: folder.to_owned(),
        })
    }

    /// Returns the checkpoint of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Loads the projects that the events of a batch concern, as far as they are known.
    pub async fn load(&mut self, batch: impl Iterator<Item = ProjectId>) -> Result<(), ModelError> {
        self.pending.fetch(&mut self.connection, batch).await
    }

    /// Applies an event at a position to its project. [`NeighboursWriter::load`] must have loaded the project.
    ///
    /// # Errors
    ///
    /// Returns the reason to park the event, which changes nothing then.
    pub fn apply(&mut self, project: ProjectId, event: &Event, position: Position) -> Result<(), ApplyError> {
        self.pending.apply(project, event, position)
    }

    /// Leaves all lists to [`NeighboursWriter::finish_lists`], since there are no readers during a replay.
    pub fn prepare_replay(&mut self) {
        self.is_replay = true;
    }

    /// Commits the applied events together with the checkpoint, with the lists that they change if that is quick, and with the lists
    /// that were computed meanwhile.
    ///
    /// While another encoder replaces the vectors of all projects, the lists stay as they are: the first project with new vectors could be
    /// compared with no other.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        self.reload_state().await?;
        let moved = self.pending.moved();
        let (dirty, changed) = (self.dirty + moved, self.changed + 1);
        let has_reencoded = self.pending.has_reencoded();
        self.awaits_vectors |= has_reencoded;
        let is_small = moved <= MAX_IMMEDIATE && !has_reencoded;
        let is_overdue = is_small && self.small_commits >= MAX_SMALL_COMMITS;
        let is_immediate = dirty <= MAX_IMMEDIATE && !self.awaits_vectors;
        let is_due = dirty > 0 && !self.is_replay && (is_immediate || is_overdue);
        let is_quick = self
            .memory
            .as_ref()
            .is_some_and(|memory| (memory.space.len() + dirty).saturating_mul(dirty) <= MAX_PAIRS_IN_COMMIT);
        let memory = if is_due && is_quick && self.computed.is_none() { self.memory.take() } else { None };
        let mut transaction = self.connection.begin().await?;
        self.pending.write(&mut transaction, changed).await?;
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
            Some((known, ComputedLists { memory, lists })) => {
                stored::write(&mut transaction, memory, lists, *known, changed).await?
            }
            None => dirty,
        };
        transaction.commit().await?;
        (self.checkpoint, self.changed, self.dirty) = (checkpoint, changed, left);
        self.small_commits = if is_small && self.dirty > 0 { self.small_commits + 1 } else { 0 };
        self.is_due = is_due && self.dirty > 0;
        self.awaits_vectors &= self.dirty > 0;
        self.memory = computed.map(|(_, computed)| computed.memory).or(self.memory.take());
        Ok(())
    }

    /// Computes and writes the lists for everything that is committed. Dropping the future does not stop the computation: commits are
    /// possible meanwhile, and the next call writes the lists.
    pub async fn finish_lists(&mut self) -> Result<(), ModelError> {
        self.is_replay = false;
        self.reload_state().await?;
        while self.dirty > 0 || self.computed.is_some() {
            if self.computed.is_none() {
                self.start_computing().await?;
            }
            if let Some(background) = &mut self.background {
                let (known, computed) = (background.known, (&mut background.work).await);
                self.background = None;
                self.computed = Some((known, computed?));
            }
            self.write_lists().await?;
        }
        (self.is_due, self.awaits_vectors) = (false, false);
        Ok(())
    }

    /// Returns whether lists are being computed in the background, or are due.
    pub fn has_unfinished_lists(&self) -> bool {
        self.is_due || self.background.is_some() || self.computed.is_some()
    }

    /// Starts to compute the lists of all dirty projects, unless a computation is under way.
    pub(super) async fn start_computing(&mut self) -> Result<(), ModelError> {
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

    /// Writes the computed lists in a separate transaction.
    async fn write_lists(&mut self) -> Result<(), ModelError> {
        let Some((known, ComputedLists { memory, lists })) = &self.computed else { return Ok(()) };
        let (known, changed) = (*known, self.changed + 1);
        self.is_stale = true;
        let mut transaction = self.connection.begin().await?;
        let left = stored::write(&mut transaction, memory, lists, known, changed).await?;
        transaction.commit().await?;
        self.is_stale = false;
        (self.changed, self.dirty, self.small_commits) = (changed, left, 0);
        self.memory = self.computed.take().map(|(_, computed)| computed.memory);
        Ok(())
    }

    /// Reads the state after a transaction whose future was dropped: SQLite may have committed it. Its lists are written again, which
    /// changes nothing.
    async fn reload_state(&mut self) -> Result<(), ModelError> {
        if self.is_stale {
            (self.changed, self.dirty) = stored::state(&mut self.connection).await?;
            self.is_stale = false;
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
