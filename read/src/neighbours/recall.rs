//! Measures the quality of the lists: compares those of some projects with exact search.

use std::path::Path;

use knn::Rank;
use sqlx::ConnectOptions;

use super::memory::Memory;
use super::options;
use super::stored::fetch;
use model::error::ModelError;

/// The result of a comparison with exact search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// The number of compared projects.
    pub projects: usize,
    /// The share of the true nearest projects that the lists contain, from 0 to 1; 1 if there are none.
    pub share: f64,
    /// The number of lists that begin with exactly the true nearest projects, in order.
    pub exact: usize,
}

/// Compares the first `nearest` of the lists of at most `projects` projects, evenly spread over all, with exact search.
/// Changes that the lists do not reflect yet count as errors.
pub async fn recall(folder: &Path, projects: usize, nearest: usize) -> Result<Recall, ModelError> {
    let mut connection = options(folder).read_only(true).connect().await?;
    let memory = Memory::load(&mut connection).await?;
    let space = &memory.space;
    let mut all: Vec<u32> = space.ids().collect();
    all.sort_unstable();
    let sample: Vec<u32> =
        all.iter().copied().step_by((all.len() / projects.max(1)).max(1)).take(projects).collect();
    let lists = fetch(&mut connection, &memory, &sample).await?;
    let (mut found, mut expected, mut exact) = (0, 0, 0);
    for owner in &sample {
        let others = space.ids().filter(|ordinal| ordinal != owner);
        let mut truth: Vec<Rank> = others.filter_map(|other| space.rank(*owner, other)).collect();
        truth.sort_unstable();
        truth.truncate(nearest);
        let list = lists.get(owner).map_or(&[][..], |list| &list.ranks[..list.ranks.len().min(nearest)]);
        found += truth.iter().filter(|rank| list.contains(rank)).count();
        expected += truth.len();
        exact += usize::from(truth == list);
    }
    let share = if expected == 0 { 1.0 } else { found as f64 / expected as f64 };
    Ok(Recall { projects: sample.len(), share, exact })
}
