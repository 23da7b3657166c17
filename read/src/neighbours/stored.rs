//! The lists in SQLite: fetched and written within the transaction of the change that they follow.

use std::collections::HashMap;

use futures::TryStreamExt;
use knn::Rank;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};

use super::list::{ENTRY, members, pack};
use super::memory::{Memory, read_ordinal, read_vectors};
use super::rows::Vectors;
use super::{KEPT, LISTED, corrupt};
use crate::error::ModelError;

/// Rows in one statement; SQLite takes 32,766 parameters.
const ROWS: usize = 1_000;

/// The nearest of a project.
#[derive(Debug, Default)]
pub(super) struct List {
    /// Nearest first; a true beginning of the order of all.
    pub(super) ranks: Vec<Rank>,
    /// Whether everyone is in it. A list of full length is never called so: it cannot tell.
    pub(super) complete: bool,
}

/// A project that the lists do not show yet as it is.
#[derive(Debug)]
pub(super) struct Dirty {
    pub(super) ordinal: u32,
    /// None while it is withdrawn.
    pub(super) listed: Option<Vectors>,
}

impl List {
    /// Of all that was found when everyone was looked at.
    pub(super) fn of_all(found: Vec<Rank>) -> List {
        List { complete: found.len() < KEPT, ranks: found }
    }

    /// Who ranks before it belongs into the list.
    pub(super) fn bar(&self) -> Rank {
        if self.complete { Rank::LAST } else { self.ranks.last().copied().unwrap_or(Rank::LAST) }
    }

    /// Whether it has become too short for readers while there are more.
    pub(super) fn is_short(&self) -> bool {
        !self.complete && self.ranks.len() < LISTED
    }

    /// Takes in some that are not in it and rank before the bar.
    pub(super) fn take_in(&mut self, found: Vec<Rank>) {
        self.ranks.extend(found);
        self.ranks.sort_unstable();
        self.ranks.truncate(KEPT);
        self.complete &= self.ranks.len() < KEPT;
    }
}

/// The last change, and how many projects are dirty.
pub(super) async fn state(connection: &mut SqliteConnection) -> Result<(i64, usize), ModelError> {
    let sql = "SELECT coalesce(max(changed), 0), count(*) FILTER (WHERE dirty = 1) FROM projects";
    let (changed, dirty): (i64, i64) = sqlx::query_as(sql).fetch_one(connection).await?;
    Ok((changed, usize::try_from(dirty).map_err(corrupt)?))
}

/// All that is dirty.
pub(super) async fn dirty(transaction: &mut SqliteConnection) -> Result<Vec<Dirty>, ModelError> {
    let sql = "SELECT ordinal, listed, visual_model, visual, semantic_model, semantic FROM projects \
               LEFT JOIN vectors USING (ordinal) WHERE dirty = 1 ORDER BY ordinal";
    let mut rows = sqlx::query(sql).fetch(transaction);
    let mut all = Vec::new();
    while let Some(row) = rows.try_next().await? {
        let is_listed: bool = row.try_get("listed")?;
        let listed = if is_listed { Some(read_vectors(&row)?) } else { None };
        all.push(Dirty { ordinal: read_ordinal(&row)?, listed });
    }
    Ok(all)
}

/// The lists of some, without those members that are no longer there.
pub(super) async fn fetch(
    transaction: &mut SqliteConnection,
    memory: &Memory,
    owners: &[u32],
) -> Result<HashMap<u32, List>, ModelError> {
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
            let ranks = members.iter().filter_map(|member| memory.space().rank(owner, *member)).collect();
            lists.insert(owner, List { ranks, complete: row.try_get("complete")? });
        }
    }
    Ok(lists)
}

/// Writes lists that show every project as it was after the change `known`, and calls those clean that have not changed
/// since; who was dirty and has no list now has an empty one. Returns how many are dirty still.
pub(super) async fn write(
    transaction: &mut SqliteConnection,
    memory: &Memory,
    lists: &[(u32, List)],
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

fn packed(memory: &Memory, owner: u32, list: &List) -> Vec<u8> {
    let space = memory.space();
    let Some(row) = space.row(owner) else { return Vec::new() };
    let entry = |rank: &Rank| -> Option<[u8; ENTRY]> {
        let cosines = row.cosines(space.row(rank.id)?);
        Some(pack(rank.id, cosines.visual, cosines.semantic))
    };
    list.ranks.iter().filter_map(entry).flatten().collect()
}
