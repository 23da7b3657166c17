//! How the process lives and ends: signals, tracked tasks, a deadline, an exit status.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Error, Result};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long tasks may take to end once they are told to.
const DEADLINE: Duration = Duration::from_secs(10);

/// When the next step of the end begins, counted from its beginning, even if tasks of the step before are left.
const STEPS: [Duration; 3] = [Duration::from_secs(6), Duration::from_secs(9), DEADLINE];

/// Tasks that end together.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Cancelled when they are to end.
    pub stop: CancellationToken,
    /// Waits for every one of them.
    pub tracker: TaskTracker,
}

/// The tasks of this process. One that dies takes the process with it: nothing runs half alive.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    /// Cancelled when the process was told to end: it takes leave of those who send it requests, and goes on serving.
    pub leaving: CancellationToken,
    /// Cancelled when the process is to end.
    pub stop: CancellationToken,
    /// Waits for every task that ends at `stop`.
    pub tracker: TaskTracker,
    /// What copies counted calls. It ends once nothing in this process counts any more.
    pub copying: Step,
    /// The projection workers. They end last, so that the counters see what was counted.
    pub projecting: Step,
    failures: mpsc::UnboundedSender<Error>,
}

/// Learns of the first task that died.
#[derive(Debug)]
pub struct Failures(mpsc::UnboundedReceiver<Error>);

impl Failures {
    /// Waits for a task to die.
    pub async fn next(&mut self) -> Error {
        match self.0.recv().await {
            Some(failure) => failure,
            None => std::future::pending().await,
        }
    }
}

impl Lifecycle {
    /// A process with no tasks yet.
    pub fn new() -> (Lifecycle, Failures) {
        let (failures, received) = mpsc::unbounded_channel();
        let (leaving, stop) = (CancellationToken::new(), CancellationToken::new());
        let (copying, projecting) = (Step::default(), Step::default());
        let tracker = TaskTracker::new();
        let lifecycle = Lifecycle { leaving, stop, tracker, copying, projecting, failures };
        (lifecycle, Failures(received))
    }

    /// Runs a task until the process ends. If it ends before, with an error or without, so does the process.
    pub fn spawn<F>(&self, name: &'static str, task: F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.spawn_on(name, task, &Handle::current());
    }

    /// The same on the threads of another runtime.
    pub fn spawn_on<F>(&self, name: &'static str, task: F, runtime: &Handle)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.spawn_in(&self.serving(), name, task, runtime);
    }

    /// The same for a task that ends in the second step, with what copies counted calls.
    pub fn spawn_copying_on<F>(&self, name: &'static str, task: F, runtime: &Handle)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.spawn_in(&self.copying, name, task, runtime);
    }

    fn spawn_in<F>(&self, step: &Step, name: &'static str, task: F, runtime: &Handle)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let (stop, failures) = (step.stop.clone(), self.failures.clone());
        let task = step.tracker.spawn_on(task, runtime);
        step.tracker.spawn(async move {
            let failure = match task.await {
                Ok(Ok(())) if stop.is_cancelled() => return,
                Ok(Ok(())) => anyhow::anyhow!("{name} ended by itself"),
                Ok(Err(error)) => error.context(format!("{name} failed")),
                Err(panic) => anyhow::anyhow!("{name} panicked: {panic}"),
            };
            let _ = failures.send(failure);
        });
    }

    /// Turns true when the process is about to end: every reply asks, and asking the token takes a lock.
    pub fn is_leaving(&self) -> Arc<AtomicBool> {
        let is_leaving = Arc::new(AtomicBool::new(false));
        let (leaving, told) = (self.leaving.clone(), is_leaving.clone());
        self.tracker.spawn(async move {
            leaving.cancelled().await;
            told.store(true, Ordering::Relaxed);
        });
        is_leaving
    }

    /// The step that ends first.
    fn serving(&self) -> Step {
        Step { stop: self.stop.clone(), tracker: self.tracker.clone() }
    }

    /// Stops everything within the deadline: first what serves and counts, then what copies counted calls, then the
    /// projection workers. Returns false if something did not end.
    pub async fn end(&self) -> bool {
        self.leaving.cancel();
        let (begun, mut ended) = (Instant::now(), true);
        for (step, until) in
            [self.serving(), self.copying.clone(), self.projecting.clone()].into_iter().zip(STEPS)
        {
            step.stop.cancel();
            step.tracker.close();
            ended &= timeout_at(begun + until, step.tracker.wait()).await.is_ok();
        }
        ended
    }

    /// Waits for a signal or the death of a task, then stops everything within the deadline. Behind a signal it goes on
    /// for the time of the drain; a second one cuts that short.
    pub async fn wait(self, failures: &mut Failures, drain: Duration) -> Result<ExitCode> {
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let failure = tokio::select! {
            _ = term.recv() => None,
            _ = int.recv() => None,
            failure = failures.next() => Some(failure),
        };
        let failure = match failure {
            None if !drain.is_zero() => {
                tracing::info!(?drain, "taking leave: no longer ready, still serving");
                self.leaving.cancel();
                tokio::select! {
                    _ = term.recv() => None,
                    _ = int.recv() => None,
                    () = tokio::time::sleep(drain) => None,
                    failure = failures.next() => Some(failure),
                }
            }
            failure => failure,
        };
        if !self.end().await {
            tracing::error!("some tasks did not end within {DEADLINE:?}; leaving them");
            return Ok(ExitCode::FAILURE);
        }
        match failure {
            None => Ok(ExitCode::SUCCESS),
            Some(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Adds its name to the list once its step ends, after some more work.
    async fn task(
        stop: CancellationToken,
        name: &'static str,
        ended: Arc<Mutex<Vec<&'static str>>>,
    ) -> Result<()> {
        stop.cancelled().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        ended.lock().unwrap().push(name);
        Ok(())
    }

    #[tokio::test(start_paused = true)]
    async fn what_counts_ends_before_what_copies_and_the_projections_end_last() {
        let (lifecycle, _failures) = Lifecycle::new();
        let ended = Arc::default();
        let (copying, projecting) = (lifecycle.copying.clone(), lifecycle.projecting.clone());
        let _projection = projecting.tracker.spawn(task(projecting.stop, "projection", Arc::clone(&ended)));
        let runtime = Handle::current();
        lifecycle.spawn_copying_on("the ledger", task(copying.stop, "ledger", ended.clone()), &runtime);
        lifecycle.spawn("the API", task(lifecycle.stop.clone(), "API", ended.clone()));
        assert!(lifecycle.end().await);
        assert_eq!(*ended.lock().unwrap(), ["API", "ledger", "projection"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_hangs_leaves_time_to_the_steps_after_it() {
        let (lifecycle, _failures) = Lifecycle::new();
        let ended = Arc::default();
        lifecycle.spawn("the API", std::future::pending());
        let stop = lifecycle.copying.stop.clone();
        lifecycle.spawn_copying_on(
            "the ledger",
            task(stop, "ledger", Arc::clone(&ended)),
            &Handle::current(),
        );
        let begun = Instant::now();
        assert!(!lifecycle.end().await);
        assert_eq!((ended.lock().unwrap().clone(), begun.elapsed() <= DEADLINE), (vec!["ledger"], true));
    }
}
