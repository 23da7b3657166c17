//! Computes the lists after changes: only those that the changes affect, or all if that is cheaper. Both ways give the same lists.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::SqliteConnection;

use super::memory::Memory;
use super::stored::{self, DirtyProject, StoredList};
use model::error::ModelError;

/// All lists are computed when one in this many projects has changed: a change is compared with all projects, twice if it
/// was removed and added, number by number, while computing all compares each pair once, as matrices and in a large catalog by sketches.
const SHARE: usize = 32;

/// The threads that compare projects, and the size from which they use a graph.
#[derive(Debug, Clone)]
pub(super) struct ComputePool {
    /// One thread for every other processor; the rest is for requests.
    pub(super) threads: Arc<rayon::ThreadPool>,
    /// The number of projects of one layout from which a graph selects which are compared.
    pub(super) graph_from: usize,
}

/// Computed lists that are not written yet, and the vectors from which they were computed.
#[derive(Debug)]
pub(super) struct ComputedLists {
    pub(super) memory: Memory,
    pub(super) lists: Vec<(u32, StoredList)>,
}

/// Computes the lists that the dirty projects change. The stored lists must not change meanwhile; everything else may. Dropping
/// the future stops the computation.
pub(super) async fn compute(
    stored: &mut SqliteConnection,
    memory: Memory,
    dirty: Vec<DirtyProject>,
    pool: &ComputePool,
) -> Result<ComputedLists, ModelError> {
    let is_full_cheaper = dirty.len() * SHARE > memory.space.len();
    let (mut memory, lists) = if memory.is_incomplete || is_full_cheaper {
        compute_all(memory, dirty, pool).await?
    } else {
        repair(stored, memory, dirty, &pool.threads).await?
    };
    memory.renew_graphs(pool.graph_from);
    Ok(ComputedLists { memory, lists })
}

/// Computes every list.
async fn compute_all(
    mut memory: Memory,
    dirty: Vec<DirtyProject>,
    pool: &ComputePool,
) -> Result<(Memory, Vec<(u32, StoredList)>), ModelError> {
    dirty.iter().for_each(|project| memory.remove(project.ordinal));
    insert(&mut memory, dirty);
    let graph_from = pool.graph_from;
    let (mut memory, found) = run_on_pool(&pool.threads, move |stop| {
        memory.build_graphs(graph_from);
        let found = memory.space.nearest_of_all(stop).unwrap_or_default();
        (memory, found)
    })
    .await?;
    let lists: Vec<(u32, StoredList)> =
        found.into_iter().map(|(owner, found)| (owner, StoredList::from_all(found))).collect();
    set_thresholds(&mut memory, lists.iter().map(|(owner, list)| (owner, list)));
    memory.is_incomplete = false;
    Ok((memory, lists))
}

/// Computes only the lists that change.
async fn repair(
    connection: &mut SqliteConnection,
    mut memory: Memory,
    dirty: Vec<DirtyProject>,
    threads: &Arc<rayon::ThreadPool>,
) -> Result<(Memory, Vec<(u32, StoredList)>), ModelError> {
    let added: HashSet<u32> =
        dirty.iter().filter(|project| project.listed.is_some()).map(|project| project.ordinal).collect();
    let removed: Vec<u32> =
        dirty.iter().map(|project| project.ordinal).filter(|ordinal| memory.contains(*ordinal)).collect();
    let (memory_back, owners) = run_on_pool(threads, move |_| {
        let owners = memory.space.rows_listing(&removed);
        removed.iter().for_each(|ordinal| memory.remove(*ordinal));
        (memory, owners)
    })
    .await?;
    memory = memory_back;

    // At this point memory contains neither the removed projects nor the added ones.
    let owners: Vec<u32> = owners.into_iter().filter(|ordinal| memory.contains(*ordinal)).collect();
    let mut lists = stored::fetch(connection, &memory, &owners).await?;
    set_thresholds(&mut memory, &lists);
    insert(&mut memory, dirty);
    let short = lists.iter().filter(|(_, list)| list.is_short()).map(|(owner, _)| *owner);
    let incomplete: HashSet<u32> = short.chain(added.iter().copied()).collect();
    let (mut memory, found) = run_on_pool(threads, move |stop| {
        let some = memory.space.subset(&incomplete);
        // A stopped search has no result, and nothing reads it.
        let found = memory.space.nearest_of_some(&some, &added, stop).unwrap_or_default();
        (memory, found)
    })
    .await?;

    lists.extend(found.lists.into_iter().map(|(owner, found)| (owner, StoredList::from_all(found))));
    let receivers: Vec<u32> = found.additions.iter().map(|(owner, _)| *owner).collect();
    let missing: Vec<u32> = receivers.into_iter().filter(|owner| !lists.contains_key(owner)).collect();
    lists.extend(stored::fetch(connection, &memory, &missing).await?);
    for (owner, found) in found.additions {
        lists.entry(owner).or_default().merge(found);
    }
    set_thresholds(&mut memory, &lists);
    Ok((memory, lists.into_iter().collect()))
}

/// Inserts the listed projects. Each vector is freed at once: there may be as many as there are projects.
fn insert(memory: &mut Memory, dirty: Vec<DirtyProject>) {
    for project in dirty {
        if let Some(vectors) = &project.listed {
            memory.insert(project.ordinal, vectors);
        }
    }
}

fn set_thresholds<'a>(memory: &mut Memory, lists: impl IntoIterator<Item = (&'a u32, &'a StoredList)>) {
    lists.into_iter().for_each(|(owner, list)| memory.set_threshold(*owner, list.threshold()));
}

/// Runs `work` on the threads of the pool; its argument is set when this future is dropped.
async fn run_on_pool<T: Send + 'static>(
    threads: &Arc<rayon::ThreadPool>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> Result<T, ModelError> {
    let stop = Arc::new(AtomicBool::new(false));
    let _guard = StopOnDrop(stop.clone());
    let (done, computed) = tokio::sync::oneshot::channel();
    threads.spawn(move || {
        let _ = done.send(work(&stop));
    });
    computed.await.map_err(|_| ModelError::Threads("a comparison ended early".into()))
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
