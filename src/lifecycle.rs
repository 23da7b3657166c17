//! How the process lives and ends: signals, tracked tasks, a deadline, an exit status.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Error, Result};
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long tasks may take to end once they are told to.
const DEADLINE: Duration = Duration::from_secs(10);

/// The tasks of this process. One that dies takes the process with it: nothing runs half alive.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    /// Cancelled when the process was told to end: it takes leave of those who send it requests, and goes on serving.
    pub leaving: CancellationToken,
    /// Cancelled when the process is to end.
    pub stop: CancellationToken,
    /// Waits for every task.
    pub tracker: TaskTracker,
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
        let lifecycle = Lifecycle { leaving, stop, tracker: TaskTracker::new(), failures };
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
        let (stop, failures) = (self.stop.clone(), self.failures.clone());
        let task = self.tracker.spawn_on(task, runtime);
        self.tracker.spawn(async move {
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

    /// Stops everything within the deadline; false if something did not end.
    pub async fn end(&self) -> bool {
        self.leaving.cancel();
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(DEADLINE, self.tracker.wait()).await.is_ok()
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
