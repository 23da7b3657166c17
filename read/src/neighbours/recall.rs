//! How good the lists are: compared with a look at everyone, for some projects.

use std::path::Path;

use knn::Rank;
use sqlx::ConnectOptions;

use super::memory::Memory;
use super::options;
use super::stored::fetch;
use crate::error::ModelError;

/// What a comparison has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// How many projects were looked at.
    pub projects: usize,
    /// The share of the true nearest that their lists hold, from 0 to 1; 1 where there are none to hold.
    pub share: f64,
    /// In how many of them the first are exactly the true ones, in their order.
    pub exact: usize,
}

/// Compares the first `nearest` of the lists of at most `projects` projects, evenly spread over all, with exact search.
/// Changes that wait for their lists count against them.
pub async fn recall(folder: &Path, projects: usize, nearest: usize) -> Result<Recall, ModelError> {
    let mut connection = options(folder).read_only(true).connect().await?;
    let memory = Memory::load(&mut connection).await?;
    let space = memory.space();
    let mut all: Vec<u32> = space.ids().collect();
    all.sort_unstable();
    let sample: Vec<u32> =
        all.iter().copied().step_by((all.len() / projects.max(1)).max(1)).take(projects).collect();
    let lists = fetch(&mut connection, &memory, &sample).await?;
    let (mut held, mut wanted, mut exact) = (0, 0, 0);
    for owner in &sample {
        let others = space.ids().filter(|ordinal| ordinal != owner);
        let mut truth: Vec<Rank> = others.filter_map(|other| space.rank(*owner, other)).collect();
        truth.sort_unstable();
        truth.truncate(nearest);
        let list = lists.get(owner).map_or(&[][..], |list| &list.ranks[..list.ranks.len().min(nearest)]);
        held += truth.iter().filter(|rank| list.contains(rank)).count();
        wanted += truth.len();
        exact += usize::from(truth == list);
    }
    let share = if wanted == 0 { 1.0 } else { held as f64 / wanted as f64 };
    Ok(Recall { projects: sample.len(), share, exact })
}
