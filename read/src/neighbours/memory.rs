//! The vectors of all listed projects in memory, as the lists know them.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use futures::TryStreamExt;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::list::members;
use super::rank::Rank;
use super::rows::{Dimensions, Vectors};
use super::space::Space;
use super::unit::from_bytes;
use super::{NeighboursError, corrupt};

/// Every space, and who is in which. Lists hold exactly these projects.
#[derive(Debug, Default)]
pub(super) struct Memory {
    spaces: Vec<(String, Space)>,
    homes: HashMap<u32, usize, RandomState>,
    /// Whether stored lists may hold others: those that were dirty when it was loaded.
    pub(super) is_ragged: bool,
}

/// A project's vectors and the model that made them.
#[derive(Debug, Clone)]
pub(super) struct Modelled {
    pub(super) model: String,
    pub(super) vectors: Vectors,
}

impl Memory {
    /// Reads what is stored. At 100,000 projects of 512 dimensions this takes about a second.
    pub(super) async fn load(connection: &mut SqliteConnection) -> Result<Memory, NeighboursError> {
        let mut memory = Memory::default();
        let dirty = "SELECT count(*) > 0 FROM projects WHERE dirty = 1";
        memory.is_ragged = sqlx::query_scalar(dirty).fetch_one(&mut *connection).await?;
        let sql = "SELECT ordinal, model, visual, semantic FROM projects JOIN vectors USING (ordinal) \
                   WHERE listed = 1 AND dirty = 0 ORDER BY ordinal";
        let mut rows = sqlx::query(sql).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await? {
            memory.insert(read_ordinal(&row)?, &read_vectors(&row)?);
        }
        drop(rows);
        if !memory.is_ragged {
            memory.load_bars(connection).await?;
        }
        Ok(memory)
    }

    async fn load_bars(&mut self, connection: &mut SqliteConnection) -> Result<(), NeighboursError> {
        let sql = "SELECT ordinal, list FROM projects WHERE listed = 1 AND sides > 0 AND complete = 0";
        let mut rows = sqlx::query(sql).fetch(connection);
        while let Some(row) = rows.try_next().await? {
            let (owner, list) = (read_ordinal(&row)?, members(row.try_get("list")?));
            let space =
                self.space_mut(owner).ok_or_else(|| corrupt("a list of a project without vectors"))?;
            let bar = list.last().and_then(|last| space.rank(owner, *last));
            space.set_bar(owner, bar.ok_or_else(|| corrupt("a list that ends with a stranger"))?);
        }
        Ok(())
    }

    /// Makes graphs where so many projects are of one kind, and waits for them.
    pub(super) fn make_graphs(&mut self, from: usize) {
        self.spaces.iter_mut().for_each(|(_, space)| space.make_graphs(from));
    }

    /// Takes graphs that were made aside, and begins to make others where it is time.
    pub(super) fn renew_graphs(&mut self, from: usize) {
        self.spaces.iter_mut().for_each(|(_, space)| space.renew_graphs(from));
    }

    pub(super) fn len(&self) -> usize {
        self.homes.len()
    }

    pub(super) fn contains(&self, ordinal: u32) -> bool {
        self.homes.contains_key(&ordinal)
    }

    pub(super) fn spaces(&self) -> impl Iterator<Item = &Space> {
        self.spaces.iter().map(|(_, space)| space)
    }

    /// Adds a project that is not there.
    pub(super) fn insert(&mut self, ordinal: u32, project: &Modelled) {
        let at = self.spaces.iter().position(|(model, _)| *model == project.model).unwrap_or_else(|| {
            self.spaces.push((project.model.clone(), Space::default()));
            self.spaces.len() - 1
        });
        let (space, vectors) = (&mut self.spaces[at].1, &project.vectors);
        let known = space.dimensions();
        let length = |side: &Option<Vec<f32>>, known| side.as_ref().map_or(known, Vec::len);
        space.set_dimensions(Dimensions {
            visual: length(&vectors.visual, known.visual),
            semantic: length(&vectors.semantic, known.semantic),
        });
        space.insert(ordinal, vectors.row());
        self.homes.insert(ordinal, at);
    }

    /// Takes a project out, if it is there.
    pub(super) fn remove(&mut self, ordinal: u32) {
        if let Some(at) = self.homes.remove(&ordinal) {
            self.spaces[at].1.remove(ordinal);
        }
    }

    /// The projects that this one can be compared with, itself too.
    pub(super) fn space(&self, ordinal: u32) -> Option<&Space> {
        self.homes.get(&ordinal).map(|at| &self.spaces[*at].1)
    }

    pub(super) fn space_mut(&mut self, ordinal: u32) -> Option<&mut Space> {
        self.homes.get(&ordinal).map(|at| &mut self.spaces[*at].1)
    }

    pub(super) fn set_bar(&mut self, ordinal: u32, bar: Rank) {
        if let Some(space) = self.space_mut(ordinal) {
            space.set_bar(ordinal, bar);
        }
    }
}

/// The column ordinal.
pub(super) fn read_ordinal(row: &SqliteRow) -> Result<u32, NeighboursError> {
    u32::try_from(row.try_get::<i64, _>("ordinal")?).map_err(corrupt)
}

/// The columns model, visual and semantic.
pub(super) fn read_vectors(row: &SqliteRow) -> Result<Modelled, NeighboursError> {
    let side = |name| row.try_get::<Option<&[u8]>, _>(name)?.map(from_bytes).transpose();
    let vectors = Vectors { visual: side("visual")?, semantic: side("semantic")? };
    Ok(Modelled { model: row.try_get("model")?, vectors })
}
