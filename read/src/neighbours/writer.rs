//! Applies batches of events to the neighbours: rows, lists and checkpoint in one transaction. Where many projects
//! changed, the lists follow later, in a transaction of their own.

use std::path::Path;
use std::sync::Arc;

use schemas::event::Event;
use schemas::ids::{Position, ProjectId};
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection};

use super::memory::Memory;
use super::repair::{Means, settle};
use super::staged::{Refusal, Staged};
use super::{NeighboursError, corrupt, options};
use crate::checkpoint::Checkpoint;
use crate::database;

/// So many changed projects are taken into the lists in the commit of their events; with more, the lists wait until there
/// is nothing else to do.
const FEW: usize = 64;

/// So many commits in a row that have changed few leave lists waiting: who gives them a little all the time does not
/// keep them from becoming true.
const PATIENCE: u32 = 16;

/// From so many projects of one kind on, a graph proposes who is compared. Measured at 20,000 projects of 512 dimensions:
/// about 8 s of a processor to compare all, 98 s by a graph. The first grows with the square, the second hardly faster
/// than the number, so they meet between 300,000 and 400,000.
const GRAPH_FROM: usize = 400_000;

/// Writes one generation of the neighbours. There is one writer at a time.
#[derive(Debug)]
pub struct NeighboursWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    staged: Staged,
    /// None after a change that did not come to its end: it is loaded again then.
    memory: Option<Memory>,
    /// Counts commits that changed rows for readers.
    changed: i64,
    /// How many projects, at most, the lists do not show as they are.
    dirty: usize,
    waited: u32,
    is_replay: bool,
    means: Means,
}

impl NeighboursWriter {
    /// Opens the neighbours in a generation's folder, and makes them where there are none. Half of the processors
    /// compute; the others are left to those who answer.
    pub async fn open(folder: &Path) -> Result<NeighboursWriter, NeighboursError> {
        NeighboursWriter::open_with_graph_from(folder, GRAPH_FROM).await
    }

    /// The same, with a graph from so many projects of one kind on.
    pub async fn open_with_graph_from(
        folder: &Path,
        graph_from: usize,
    ) -> Result<NeighboursWriter, NeighboursError> {
        let mut connection = options(folder).create_if_missing(true).connect().await?;
        database::make(&mut connection, include_str!("sql/schema.sql")).await?;
        let checkpoint = database::checkpoint(&mut connection, corrupt).await?;
        let sql = "SELECT coalesce(max(changed), 0) FROM projects";
        let changed = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
        let sql = "SELECT count(*) FROM projects WHERE dirty = 1";
        let dirty: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
        let mut memory = Memory::load(&mut connection).await?;
        memory.renew_graphs(graph_from);
        Ok(NeighboursWriter {
            staged: Staged::load(&mut connection).await?,
            memory: Some(memory),
            connection,
            checkpoint,
            changed,
            dirty: usize::try_from(dirty).map_err(corrupt)?,
            waited: 0,
            is_replay: false,
            means: Means { threads: Arc::new(threads()?), graph_from },
        })
    }

    /// How far the neighbours have come, as of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Fetches what the model knows of the projects that a batch speaks of.
    pub async fn load(&mut self, batch: impl Iterator<Item = ProjectId>) -> Result<(), NeighboursError> {
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

    /// Makes everything staged visible together with the checkpoint, and all lists that follow from it if only few
    /// projects have changed.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), NeighboursError> {
        let moved = self.staged.moved();
        let (dirty, changed) = (self.dirty + moved, self.changed + 1);
        let has_waited = moved <= FEW && self.waited >= PATIENCE;
        let is_time = dirty > 0 && !self.is_replay && (dirty <= FEW || has_waited);
        let memory = if is_time { Some(self.take_memory().await?) } else { None };
        let mut transaction = self.connection.begin().await?;
        self.staged.write(&mut transaction, changed).await?;
        let state = serde_json::to_string(&checkpoint).map_err(corrupt)?;
        database::set_state(&mut transaction, state).await?;
        let memory = match memory {
            Some(memory) => Some(settle(&mut transaction, memory, &self.means, changed).await?),
            None => None,
        };
        transaction.commit().await?;
        (self.checkpoint, self.changed, self.dirty) = (checkpoint, changed, dirty);
        self.waited = if moved <= FEW && dirty > 0 { self.waited + 1 } else { 0 };
        if memory.is_some() {
            (self.memory, self.dirty, self.waited) = (memory, 0, 0);
        }
        Ok(())
    }

    /// Makes the lists show everything that is committed. Dropped before its end, it changes nothing.
    pub async fn settle(&mut self) -> Result<(), NeighboursError> {
        self.is_replay = false;
        if self.dirty == 0 {
            return Ok(());
        }
        let (memory, changed) = (self.take_memory().await?, self.changed + 1);
        let mut transaction = self.connection.begin().await?;
        let memory = settle(&mut transaction, memory, &self.means, changed).await?;
        transaction.commit().await?;
        (self.memory, self.changed, self.dirty, self.waited) = (Some(memory), changed, 0, 0);
        Ok(())
    }

    async fn take_memory(&mut self) -> Result<Memory, NeighboursError> {
        match self.memory.take() {
            Some(memory) => Ok(memory),
            None => Memory::load(&mut self.connection).await,
        }
    }

    /// Closes the database cleanly.
    pub async fn close(self) -> Result<(), NeighboursError> {
        Ok(self.connection.close().await?)
    }
}

fn threads() -> Result<rayon::ThreadPool, NeighboursError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads(processors.div_ceil(2))
        .thread_name(|number| format!("neighbours-{number}"))
        .build()
        .map_err(|error| NeighboursError::Threads(error.to_string()))
}
