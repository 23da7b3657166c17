//! Updates the lists to the changed projects: only those that the changes affect, or all where that is cheaper. Both ways
//! lead to the same lists.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::SqliteConnection;

use super::memory::Memory;
use super::stored::{self, Dirty, List};
use crate::error::ModelError;

/// All lists are computed when one in this many projects has changed: a change is compared with all projects, twice if it
/// was removed and added, while computing all compares each pair once.
const SHARE: usize = 8;

/// The threads that compare, and when they use a graph.
#[derive(Debug, Clone)]
pub(super) struct ComputePool {
    /// On some of the processors; the others are for requests.
    pub(super) threads: Arc<rayon::ThreadPool>,
    /// The number of projects of one layout from which on a graph proposes which are compared.
    pub(super) graph_from: usize,
}

/// Computed lists to be written, and the vectors of which they were computed.
#[derive(Debug)]
pub(super) struct Computed {
    pub(super) memory: Memory,
    pub(super) lists: Vec<(u32, List)>,
}

/// Computes the lists that change with the dirty projects. The stored lists must not change meanwhile; everything else
/// may. Dropping it stops the computation.
pub(super) async fn compute(
    stored: &mut SqliteConnection,
    memory: Memory,
    dirty: Vec<Dirty>,
    pool: &ComputePool,
) -> Result<Computed, ModelError> {
    let is_cheaper_from_nothing = dirty.len() * SHARE > memory.space().len();
    let (mut memory, lists) = if memory.is_incomplete || is_cheaper_from_nothing {
        compute_all(memory, dirty, pool).await?
    } else {
        repair(stored, memory, dirty, &pool.threads).await?
    };
    memory.renew_graphs(pool.graph_from);
    Ok(Computed { memory, lists })
}

/// Computes every list.
async fn compute_all(
    mut memory: Memory,
    dirty: Vec<Dirty>,
    pool: &ComputePool,
) -> Result<(Memory, Vec<(u32, List)>), ModelError> {
    dirty.iter().for_each(|project| memory.remove(project.ordinal));
    insert(&mut memory, dirty);
    let graph_from = pool.graph_from;
    let (mut memory, found) = in_background(&pool.threads, move |stop| {
        memory.build_graphs(graph_from);
        let found = memory.space().nearest_of_all(stop).unwrap_or_default();
        (memory, found)
    })
    .await?;
    let lists: Vec<(u32, List)> =
        found.into_iter().map(|(owner, found)| (owner, List::of_all(found))).collect();
    set_bars(&mut memory, lists.iter().map(|(owner, list)| (owner, list)));
    memory.is_incomplete = false;
    Ok((memory, lists))
}

/// Computes the lists that change.
async fn repair(
    connection: &mut SqliteConnection,
    mut memory: Memory,
    dirty: Vec<Dirty>,
    threads: &Arc<rayon::ThreadPool>,
) -> Result<(Memory, Vec<(u32, List)>), ModelError> {
    let added: HashSet<u32> =
        dirty.iter().filter(|project| project.listed.is_some()).map(|project| project.ordinal).collect();
    let removed: Vec<u32> =
        dirty.iter().map(|project| project.ordinal).filter(|ordinal| memory.contains(*ordinal)).collect();
    let (memory_back, holders) = in_background(threads, move |_| {
        let holders = memory.space().rows_listing(&removed);
        removed.iter().for_each(|ordinal| memory.remove(*ordinal));
        (memory, holders)
    })
    .await?;
    memory = memory_back;

    // The members hold none of the removed projects any more, and none of the added ones yet.
    let holders: Vec<u32> = holders.into_iter().filter(|ordinal| memory.contains(*ordinal)).collect();
    let mut lists = stored::fetch(connection, &memory, &holders).await?;
    set_bars(&mut memory, &lists);
    insert(&mut memory, dirty);
    let short = lists.iter().filter(|(_, list)| list.is_short()).map(|(owner, _)| *owner);
    let wanted: HashSet<u32> = short.chain(added.iter().copied()).collect();
    let (mut memory, found) = in_background(threads, move |stop| {
        let some = memory.space().subset(&wanted);
        // A stopped search has no result, and no reader.
        let found = memory.space().nearest_of_some(&some, &added, stop).unwrap_or_default();
        (memory, found)
    })
    .await?;

    lists.extend(found.lists.into_iter().map(|(owner, found)| (owner, List::of_all(found))));
    let receivers: Vec<u32> = found.additions.iter().map(|(owner, _)| *owner).collect();
    let missing: Vec<u32> = receivers.into_iter().filter(|owner| !lists.contains_key(owner)).collect();
    lists.extend(stored::fetch(connection, &memory, &missing).await?);
    for (owner, found) in found.additions {
        lists.entry(owner).or_default().take_in(found);
    }
    set_bars(&mut memory, &lists);
    Ok((memory, lists.into_iter().collect()))
}

/// Each vector is freed as soon as it is inserted: there may be as many as there are projects.
fn insert(memory: &mut Memory, dirty: Vec<Dirty>) {
    for project in dirty {
        if let Some(vectors) = &project.listed {
            memory.insert(project.ordinal, vectors);
        }
    }
}

fn set_bars<'a>(memory: &mut Memory, lists: impl IntoIterator<Item = (&'a u32, &'a List)>) {
    lists.into_iter().for_each(|(owner, list)| memory.set_bar(*owner, list.bar()));
}

/// Computes on the threads of the pool; `stop` is set when this future is dropped.
async fn in_background<T: Send + 'static>(
    threads: &Arc<rayon::ThreadPool>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> Result<T, ModelError> {
    let stop = Arc::new(AtomicBool::new(false));
    let _guard = StopOnDrop(stop.clone());
    let (done, computed) = tokio::sync::oneshot::channel();
    threads.spawn(move || {
        let _ = done.send(work(&stop));
    });
    computed.await.map_err(|_| ModelError::Threads("a comparison ended before its time".into()))
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
