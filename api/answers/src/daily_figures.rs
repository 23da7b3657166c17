//! The figures of a node by day: for how long it was up, how many answers it gave, and how many of them were errors of the server.
//!
//! The page of the state shows them. They are kept in memory, and in a small file where the node has one of its own, so that a restart
//! does not lose them. Requests only touch the counters of [`Metrics`]; [`DailyFigures::keep`] adds these up once a minute.

mod record;

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use daemon::process_lock::write_private;
use schemas::clock::Clock;

use crate::metrics::Metrics;
use crate::route::Route;
use record::Counts;
pub use record::{Day, Figures, Record};

/// The kinds of answers that count, with their names for visitors.
pub const COUNTED: [(&str, Route); 6] = [
    ("Searches", Route::Search),
    ("Projects", Route::Project),
    ("Similar projects", Route::Similar),
    ("MCP", Route::Mcp),
    ("Pages", Route::Page),
    ("Pictures", Route::Media),
];

/// How often the file is written: what a process that is killed did since then is not in it.
const INTERVAL: Duration = Duration::from_secs(60);
/// The maximum size in bytes of the file; 90 days with the largest numbers are about a seventh of it.
const LARGEST: u64 = 64 * 1024;

/// The figures of this node by day; clones share them.
#[derive(Debug, Clone)]
pub struct DailyFigures {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    clock: Clock,
    /// The file; `None` if they are in memory only.
    path: Option<PathBuf>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    record: Record,
    /// What the counters of this process had when they were last added to the record.
    added: Counts,
    /// Up to when the time of this process is in the record.
    until: Instant,
}

impl DailyFigures {
    /// Returns figures that end with the process.
    pub fn in_memory(clock: Clock) -> DailyFigures {
        DailyFigures::starting_with(None, clock, None)
    }

    /// Returns the figures in this file, which no other process may write. They begin anew if it is absent, and with a warning if it
    /// cannot be read. Blocks on the disk.
    pub fn open(path: PathBuf, clock: Clock) -> DailyFigures {
        let record = read(&path).unwrap_or_else(|error| {
            let file = path.display();
            tracing::warn!(%error, "{file} cannot be read; the daily figures of this node begin anew");
            None
        });
        DailyFigures::starting_with(record, clock, Some(path))
    }

    fn starting_with(record: Option<Record>, clock: Clock, path: Option<PathBuf>) -> DailyFigures {
        let record = record.unwrap_or_else(|| Record::new(clock.now()));
        let kept = Kept { record, added: Counts::default(), until: Instant::now() };
        DailyFigures { shared: Arc::new(Shared { clock, path, kept: Mutex::new(kept) }) }
    }

    /// Returns the figures up to this moment. `metrics` are those of this process, always the same.
    pub fn up_to_now(&self, metrics: &Metrics) -> Record {
        let mut kept = self.kept();
        // Read while the figures are locked: an older count added after a newer one would be added twice.
        let counts = counted(metrics);
        let seconds = kept.until.elapsed().as_secs();
        let new = counts.since(kept.added);
        kept.until += Duration::from_secs(seconds);
        kept.added = counts;
        kept.record.add(self.shared.clock.now(), seconds, new);
        kept.record.clone()
    }

    /// Adds to the figures once a minute and writes the file, and once more at `stop`. A file that cannot be written is warned of once.
    pub async fn keep(self, metrics: Metrics, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut is_failing = false;
        loop {
            let is_over = tokio::select! {
                () = &mut stop => true,
                () = tokio::time::sleep(INTERVAL) => false,
            };
            let record = self.up_to_now(&metrics);
            if let Some(path) = &self.shared.path {
                let written = write(path.clone(), record).await;
                report(path, &written, is_failing);
                is_failing = written.is_err();
            }
            if is_over {
                return;
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what the process has answered since its start.
fn counted(metrics: &Metrics) -> Counts {
    let mut counts = Counts::default();
    for (_, route) in COUNTED {
        let of_route = metrics.latency(route);
        counts.answers += of_route.answers;
        counts.errors += of_route.errors;
    }
    counts
}

/// Reads the file; `None` if there is none.
fn read(path: &Path) -> io::Result<Option<Record>> {
    match bounded_file::read(path, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => Ok(Some(Record::from_json(&text?)?)),
    }
}

/// Replaces the file in one step, on a thread that may wait for the disk.
async fn write(path: PathBuf, record: Record) -> io::Result<()> {
    let writing = tokio::task::spawn_blocking(move || replace(&path, &record));
    writing.await.unwrap_or_else(|error| Err(error.into()))
}

fn replace(path: &Path, record: &Record) -> io::Result<()> {
    write_private(path, &record.to_json()?)
}

fn report(path: &Path, written: &io::Result<()>, was_failing: bool) {
    let file = path.display();
    match written {
        Err(error) if !was_failing => {
            tracing::warn!(%error, "{file} cannot be written; a restart loses the daily figures since then");
        }
        Ok(()) if was_failing => tracing::info!("{file} is written again"),
        Ok(()) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests;
