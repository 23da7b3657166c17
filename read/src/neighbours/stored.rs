//! The lists in SQLite, read and written within the transaction of a change.

use std::collections::HashMap;

use futures::TryStreamExt;
use knn::Rank;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};

use super::list::{ENTRY, members, pack};
use super::memory::{Memory, read_ordinal, read_vectors};
use super::rows::{Vectors, load_models};
use super::{KEPT, LISTED, corrupt};
use model::error::ModelError;

/// The number of rows in one statement; SQLite accepts 32,766 parameters.
const ROWS: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct StoredList {
    /// Nearest first, without gaps.
    pub(super) ranks: Vec<Rank>,
    /// Whether it contains every project that can be compared; always false for a list of full length.
    pub(super) complete: bool,
}

/// A project with a change that the lists do not reflect yet.
#[derive(Debug)]
pub(super) struct DirtyProject {
    pub(super) ordinal: u32,
    /// Its vectors; `None` while it is withdrawn.
    pub(super) listed: Option<Vectors>,
}

impl StoredList {
    /// Returns the list of the nearest of all projects.
    pub(super) fn from_all(found: Vec<Rank>) -> StoredList {
        StoredList { complete: found.len() < KEPT, ranks: found }
    }

    /// Returns the admission threshold: projects that rank before it belong into the list.
    pub(super) fn threshold(&self) -> Rank {
        if self.complete { Rank::LAST } else { self.ranks.last().copied().unwrap_or(Rank::LAST) }
    }

    /// Returns whether it is too short for readers although there are more projects.
    pub(super) fn is_short(&self) -> bool {
        !self.complete && self.ranks.len() < LISTED
    }

    /// Adds projects that are not in it and rank before the threshold.
    pub(super) fn merge(&mut self, found: Vec<Rank>) {
        self.ranks.extend(found);
        self.ranks.sort_unstable();
        self.ranks.truncate(KEPT);
        self.complete &= self.ranks.len() < KEPT;
    }
}

/// Returns the last change and the number of dirty projects.
pub(super) async fn state(connection: &mut SqliteConnection) -> Result<(i64, usize), ModelError> {
    let sql = "SELECT coalesce(max(changed), 0), count(*) FILTER (WHERE dirty = 1) FROM projects";
    let (changed, dirty): (i64, i64) = sqlx::query_as(sql).fetch_one(connection).await?;
    Ok((changed, usize::try_from(dirty).map_err(corrupt)?))
}

pub(super) async fn dirty(transaction: &mut SqliteConnection) -> Result<Vec<DirtyProject>, ModelError> {
    let forms = load_models(transaction).await?;
    let sql = "SELECT ordinal, listed, visual_model, visual, semantic_model, semantic FROM projects \
               LEFT JOIN vectors USING (ordinal) WHERE dirty = 1 ORDER BY ordinal";
    let mut rows = sqlx::query(sql).fetch(transaction);
    let mut all = Vec::new();
    while let Some(row) = rows.try_next().await? {
        let is_listed: bool = row.try_get("listed")?;
        let listed = if is_listed { Some(read_vectors(&row, &forms)?) } else { None };
        all.push(DirtyProject { ordinal: read_ordinal(&row)?, listed });
    }
    Ok(all)
}

/// Returns the lists of these projects, without members that are not in memory.
pub(super) async fn fetch(
    transaction: &mut SqliteConnection,
    memory: &Memory,
    owners: &[u32],
) -> Result<HashMap<u32, StoredList>, ModelError> {
    let mut lists = HashMap::with_capacity(owners.len());
    for chunk in owners.chunks(ROWS) {
        let mut query =
            QueryBuilder::<Sqlite>::new("SELECT ordinal, complete, list FROM projects WHERE ordinal IN (");
        let mut list = query.separated(", ");
        chunk.iter().for_each(|owner| _ = list.push_bind(*owner));
        query.push(")");
        let mut rows = query.build().fetch(&mut *transaction);
        while let Some(row) = rows.try_next().await? {
            let owner = read_ordinal(&row)?;
            if !memory.contains(owner) {
                continue;
            }
            let members = members(row.try_get("list")?);
            let ranks = members.iter().filter_map(|member| memory.space.rank(owner, *member)).collect();
            lists.insert(owner, StoredList { ranks, complete: row.try_get("complete")? });
        }
    }
    Ok(lists)
}

/// Writes lists that reflect every project as of the change `known`, and marks the projects as clean that have not changed since. A
/// dirty project without a list gets an empty one. Returns the number of projects that are still dirty.
pub(super) async fn write(
    transaction: &mut SqliteConnection,
    memory: &Memory,
    lists: &[(u32, StoredList)],
    known: i64,
    changed: i64,
) -> Result<usize, ModelError> {
    let clean = "UPDATE projects SET dirty = 0, complete = 0, list = x'', changed = ? \
                 WHERE dirty = 1 AND changed <= ?";
    sqlx::query(clean).bind(changed).bind(known).execute(&mut *transaction).await?;
    for chunk in lists.chunks(ROWS) {
        let mut query = QueryBuilder::<Sqlite>::new("UPDATE projects SET changed = ");
        query.push_bind(changed);
        query.push(", complete = new.column2, list = new.column3 FROM (");
        query.push_values(chunk, |mut row, (owner, list)| {
            row.push_bind(*owner).push_bind(list.complete).push_bind(packed(memory, *owner, list));
        });
        query.push(") AS new WHERE projects.ordinal = new.column1");
        query.build().execute(&mut *transaction).await?;
    }
    let sql = "SELECT count(*) FROM projects WHERE dirty = 1";
    let dirty: i64 = sqlx::query_scalar(sql).fetch_one(transaction).await?;
    usize::try_from(dirty).map_err(corrupt)
}

fn packed(memory: &Memory, owner: u32, list: &StoredList) -> Vec<u8> {
    let space = &memory.space;
    let Some(row) = space.row(owner) else { return Vec::new() };
    let entry = |rank: &Rank| -> Option<[u8; ENTRY]> {
        let cosines = row.cosines(space.row(rank.id)?);
        Some(pack(rank.id, cosines.visual, cosines.semantic))
    };
    list.ranks.iter().filter_map(entry).flatten().collect()
}
