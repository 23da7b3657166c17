//! Brings the lists to what the projects have become: by going through those that a few changes touch, or from
//! nothing where that is cheaper. Both ways lead to the same lists.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::SqliteConnection;

use super::memory::Memory;
use super::product;
use super::stored::{self, Dirty, List};
use crate::error::ModelError;

/// All lists are made from nothing when one in so many projects has changed: a change is compared with everyone, twice
/// if it left and came, while making all compares each pair once.
const SHARE: usize = 8;

/// What computing takes.
#[derive(Debug, Clone)]
pub(super) struct Means {
    /// Whoever else is on this machine has the other processors.
    pub(super) threads: Arc<rayon::ThreadPool>,
    /// From so many projects of one kind on, a graph proposes who is compared.
    pub(super) graph_from: usize,
}

/// Lists on their way into the database, and all projects as they know them.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) memory: Memory,
    pub(super) lists: Vec<(u32, List)>,
}

/// Makes the lists that show the dirty projects as they are. The lists that are stored may not change meanwhile; what
/// else changes does not matter. Dropped before its end, it gives up computing.
pub(super) async fn make(
    stored: &mut SqliteConnection,
    memory: Memory,
    dirty: Vec<Dirty>,
    means: &Means,
) -> Result<Made, ModelError> {
    let is_cheaper_from_nothing = dirty.len() * SHARE > memory.space().len();
    let (mut memory, lists) = if memory.is_ragged || is_cheaper_from_nothing {
        make_all(memory, dirty, means).await?
    } else {
        repair(stored, memory, dirty, &means.threads).await?
    };
    memory.renew_graphs(means.graph_from);
    Ok(Made { memory, lists })
}

/// Every list, from nothing.
async fn make_all(
    mut memory: Memory,
    dirty: Vec<Dirty>,
    means: &Means,
) -> Result<(Memory, Vec<(u32, List)>), ModelError> {
    dirty.iter().for_each(|project| memory.remove(project.ordinal));
    arrive(&mut memory, dirty);
    let graph_from = means.graph_from;
    let (mut memory, found) = aside(&means.threads, move |stop| {
        memory.make_graphs(graph_from);
        let found = product::of_all(memory.space(), stop).unwrap_or_default();
        (memory, found)
    })
    .await?;
    let lists: Vec<(u32, List)> =
        found.into_iter().map(|(owner, found)| (owner, List::of_all(found))).collect();
    set_bars(&mut memory, lists.iter().map(|(owner, list)| (owner, list)));
    memory.is_ragged = false;
    Ok((memory, lists))
}

/// The lists that have changed.
async fn repair(
    connection: &mut SqliteConnection,
    mut memory: Memory,
    dirty: Vec<Dirty>,
    threads: &Arc<rayon::ThreadPool>,
) -> Result<(Memory, Vec<(u32, List)>), ModelError> {
    let arrivals: HashSet<u32> =
        dirty.iter().filter(|project| project.listed.is_some()).map(|project| project.ordinal).collect();
    let leaving: Vec<u32> =
        dirty.iter().map(|project| project.ordinal).filter(|ordinal| memory.contains(*ordinal)).collect();
    let (memory_back, holders) = aside(threads, move |_| {
        let holders = memory.space().holders(&leaving);
        leaving.iter().for_each(|ordinal| memory.remove(*ordinal));
        (memory, holders)
    })
    .await?;
    memory = memory_back;

    // Nobody of those that left is among the members any more, and nobody that comes is there yet.
    let holders: Vec<u32> = holders.into_iter().filter(|ordinal| memory.contains(*ordinal)).collect();
    let mut lists = stored::fetch(connection, &memory, &holders).await?;
    set_bars(&mut memory, &lists);
    arrive(&mut memory, dirty);
    let short = lists.iter().filter(|(_, list)| list.is_short()).map(|(owner, _)| *owner);
    let wanted: HashSet<u32> = short.chain(arrivals.iter().copied()).collect();
    let (mut memory, found) = aside(threads, move |stop| {
        let some = memory.space().some(&wanted);
        // Who has told it to stop does not look at what was found.
        let found = product::of_some(memory.space(), &some, &arrivals, stop).unwrap_or_default();
        (memory, found)
    })
    .await?;

    lists.extend(found.own.into_iter().map(|(owner, found)| (owner, List::of_all(found))));
    let receivers: Vec<u32> = found.offered.iter().map(|(owner, _)| *owner).collect();
    let missing: Vec<u32> = receivers.into_iter().filter(|owner| !lists.contains_key(owner)).collect();
    lists.extend(stored::fetch(connection, &memory, &missing).await?);
    for (owner, found) in found.offered {
        lists.entry(owner).or_default().take_in(found);
    }
    set_bars(&mut memory, &lists);
    Ok((memory, lists.into_iter().collect()))
}

/// Each is given back as soon as it has come: there may be as many as there are projects.
fn arrive(memory: &mut Memory, dirty: Vec<Dirty>) {
    for project in dirty {
        if let Some(vectors) = &project.listed {
            memory.insert(project.ordinal, vectors);
        }
    }
}

fn set_bars<'a>(memory: &mut Memory, lists: impl IntoIterator<Item = (&'a u32, &'a List)>) {
    lists.into_iter().for_each(|(owner, list)| memory.set_bar(*owner, list.bar()));
}

/// Computes on the threads for that; told to stop when nobody waits for it any more.
async fn aside<T: Send + 'static>(
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
