//! How the process lives and ends: signals, tracked tasks, a deadline, an exit status.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Error, Result};
use futures::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::service_manager;
use crate::signals::{Asked, Signals};

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
    tracker: TaskTracker,
}

/// How long after its start the task panics that a test names: the role has started by then.
const FAULT_AFTER: Duration = Duration::from_millis(500);

/// The tasks of this process. One that dies takes the process with it: nothing runs half alive.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    /// Cancelled when the process was told to end: it takes leave of those who send it requests, and goes on serving.
    pub leaving: CancellationToken,
    /// Cancelled when the process is to end.
    pub stop: CancellationToken,
    /// Waits for every task that ends at `stop`.
    tracker: TaskTracker,
    /// What copies counted calls. It ends once nothing in this process counts any more.
    pub copying: Step,
    /// The projection workers. They end last, so that the counters see what was counted.
    pub projecting: Step,
    failures: mpsc::UnboundedSender<Failure>,
    /// The task that a test makes panic.
    fault: Option<Arc<str>>,
}

/// The end of a task that should have gone on.
#[derive(Debug)]
struct Failure {
    error: Error,
    is_panic: bool,
}

/// Learns of the first task that died.
#[derive(Debug)]
pub struct Failures(mpsc::UnboundedReceiver<Failure>);

impl Failures {
    /// Waits for a task to die.
    pub async fn next(&mut self) -> Error {
        match self.0.recv().await {
            Some(failure) => failure.error,
            None => std::future::pending().await,
        }
    }

    /// A panic that was not waited for. Other errors while the process ends are those of connections that close.
    fn panic(&mut self) -> Option<Error> {
        std::iter::from_fn(|| self.0.try_recv().ok())
            .find(|failure| failure.is_panic)
            .map(|failure| failure.error)
    }
}

/// What ends a process that runs until it is told to end: a signal, or a task that died.
#[derive(Debug)]
pub struct Ending {
    failures: Failures,
    signals: Signals,
    /// Whether a signal came during the start.
    signalled: bool,
}

impl Ending {
    /// Does the work of a start, unless a task dies meanwhile. A signal ends the start; [`Lifecycle::wait`] then stops
    /// at once what runs already.
    pub async fn during(&mut self, start: impl Future<Output = Result<()>>) -> Result<()> {
        tokio::select! {
            biased;
            failure = self.failures.next() => return Err(failure),
            done = start => return done,
            asked = self.signals.next() => stopping(asked),
        }
        self.signalled = true;
        Ok(())
    }

    /// Waits for a signal or the death of a task, and returns what the task died of.
    async fn next(&mut self) -> Option<Error> {
        tokio::select! {
            asked = self.signals.next() => {
                stopping(asked);
                None
            }
            failure = self.failures.next() => Some(failure),
        }
    }
}

fn stopping(asked: Asked) {
    tracing::info!(signal = asked.name(), "stopping");
    service_manager::notify("STOPPING=1");
}

/// When a task may end with success.
#[derive(Debug, Clone)]
enum MayEnd {
    AtAnyTime,
    After(CancellationToken),
}

impl MayEnd {
    fn is_now(&self) -> bool {
        match self {
            MayEnd::AtAnyTime => true,
            MayEnd::After(stop) => stop.is_cancelled(),
        }
    }
}

impl Lifecycle {
    /// A process with no tasks yet. `fault` names the task that panics soon after its start, in tests.
    pub fn new(fault: Option<&str>) -> (Lifecycle, Failures) {
        let (failures, received) = mpsc::unbounded_channel();
        let (leaving, stop) = (CancellationToken::new(), CancellationToken::new());
        let (copying, projecting) = (Step::default(), Step::default());
        let (tracker, fault) = (TaskTracker::new(), fault.map(Arc::from));
        let lifecycle = Lifecycle { leaving, stop, tracker, copying, projecting, failures, fault };
        (lifecycle, Failures(received))
    }

    /// The same for a process that runs until a signal ends it: one that comes early in the start ends it cleanly too.
    pub fn until_signalled(fault: Option<&str>, signals: Signals) -> (Lifecycle, Ending) {
        let (lifecycle, failures) = Lifecycle::new(fault);
        (lifecycle, Ending { failures, signals, signalled: false })
    }

    /// Runs a task until the process ends. If it ends before, with an error or without, so does the process.
    pub fn spawn<F>(&self, name: impl Into<String>, task: F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.spawn_on(name, task, &Handle::current());
    }

    /// The same on the threads of another runtime.
    pub fn spawn_on<F>(&self, name: impl Into<String>, task: F, runtime: &Handle)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.spawn_in(&self.serving(), name, task, runtime);
    }

    /// The same for a task that ends with those of a step.
    pub fn spawn_in<F>(&self, step: &Step, name: impl Into<String>, task: F, runtime: &Handle)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let watched = self.watched(name.into(), MayEnd::After(step.stop.clone()), task);
        step.tracker.spawn_on(watched, runtime);
    }

    /// Runs a task that may end at any time. If it fails or panics, the process ends.
    pub fn spawn_finite<F>(&self, name: impl Into<String>, task: F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        self.tracker.spawn(self.watched(name.into(), MayEnd::AtAnyTime, task));
    }

    /// Runs a task that goes on after the others have ended, until its own `stop`; the caller waits for it.
    pub fn spawn_lasting<F>(
        &self,
        name: impl Into<String>,
        task: F,
        stop: &CancellationToken,
    ) -> JoinHandle<()>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        #[expect(clippy::disallowed_methods, reason = "the caller waits for its end")]
        tokio::spawn(self.watched(name.into(), MayEnd::After(stop.clone()), task))
    }

    /// Runs tasks whose outcome their sender waits for, as that of a request: a panic is answered there.
    pub fn requests(&self) -> TaskTracker {
        self.tracker.clone()
    }

    /// The task, whose end is reported where it may not end yet.
    fn watched<F>(&self, name: String, may_end: MayEnd, task: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let failures = self.failures.clone();
        let has_fault = self.fault.as_deref() == Some(&name);
        let task = async move {
            tokio::select! {
                ended = task => ended,
                () = tokio::time::sleep(FAULT_AFTER), if has_fault => panic!("a test wants it"),
            }
        };
        async move {
            let (error, is_panic) = match AssertUnwindSafe(task).catch_unwind().await {
                Ok(Ok(())) if may_end.is_now() => return,
                Ok(Ok(())) => {
                    (anyhow::anyhow!("{name} ended by itself; start again, and report the log"), false)
                }
                Ok(Err(error)) => (error.context(format!("{name} failed")), false),
                Err(panic) => {
                    let said = message(&*panic);
                    (anyhow::anyhow!("{name} panicked: {said}; start again, and report this"), true)
                }
            };
            let _ = failures.send(Failure { error, is_panic });
        }
    }

    /// Turns true when the process is about to end: every reply asks, and asking the token takes a lock.
    pub fn is_leaving(&self) -> Arc<AtomicBool> {
        let is_leaving = Arc::new(AtomicBool::new(false));
        let (leaving, told) = (self.leaving.clone(), is_leaving.clone());
        self.spawn_finite("the sign of leaving", async move {
            leaving.cancelled().await;
            told.store(true, Ordering::Relaxed);
            Ok(())
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
    pub async fn wait(self, mut ending: Ending, drain: Duration) -> Result<ExitCode> {
        let mut failure = if ending.signalled { None } else { ending.next().await };
        if failure.is_none() && !ending.signalled && !drain.is_zero() {
            tracing::info!(?drain, "taking leave: no longer ready, still serving");
            self.leaving.cancel();
            failure = timeout(drain, ending.next()).await.unwrap_or(None);
        }
        let all_ended = self.end().await;
        if !all_ended {
            tracing::error!("some tasks did not end within {DEADLINE:?}; leaving them");
        }
        match failure.or_else(|| ending.failures.panic()) {
            Some(error) => Err(error),
            None if all_ended => Ok(ExitCode::SUCCESS),
            None => Ok(ExitCode::FAILURE),
        }
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// What ends the process when a task is spawned as `spawn` does.
    async fn failure(spawn: impl FnOnce(&Lifecycle)) -> String {
        let (lifecycle, mut failures) = Lifecycle::new(None);
        spawn(&lifecycle);
        format!("{:#}", failures.next().await)
    }

    #[tokio::test]
    async fn a_task_that_panics_fails_or_ends_too_early_is_a_failure_of_the_process() {
        let panicked = "the relay panicked: out of 3; start again, and report this";
        let number = 3;
        assert_eq!(
            failure(|l| l.spawn("the relay", async move { panic!("out of {number}") })).await,
            panicked
        );
        let finite = |l: &Lifecycle| l.spawn_finite("the relay", async move { panic!("out of {number}") });
        assert_eq!(failure(finite).await, panicked);
        let lasting = |l: &Lifecycle| {
            l.spawn_lasting("NATS", async { panic!("gone") }, &CancellationToken::new());
        };
        assert_eq!(failure(lasting).await, "NATS panicked: gone; start again, and report this");
        let failed = |l: &Lifecycle| l.spawn("the API", async { anyhow::bail!("no room") });
        assert_eq!(failure(failed).await, "the API failed: no room");
        let ended = |l: &Lifecycle| l.spawn("the API", async { Ok(()) });
        assert_eq!(failure(ended).await, "the API ended by itself; start again, and report the log");
    }

    #[tokio::test]
    async fn a_panic_while_the_process_ends_is_not_lost_and_other_failures_are() {
        let (lifecycle, mut failures) = Lifecycle::new(None);
        let stop = lifecycle.stop.clone();
        lifecycle.spawn("the API", async move {
            stop.cancelled().await;
            anyhow::bail!("the connection was closed")
        });
        lifecycle.spawn_finite("the demo", async { Ok(()) });
        assert!(lifecycle.end().await);
        assert!(failures.panic().is_none());
        let (lifecycle, mut failures) = Lifecycle::new(None);
        let stop = lifecycle.stop.clone();
        lifecycle.spawn("the ledger", async move {
            stop.cancelled().await;
            panic!("odd")
        });
        assert!(lifecycle.end().await);
        assert_eq!(
            failures.panic().unwrap().to_string(),
            "the ledger panicked: odd; start again, and report this"
        );
    }

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
        let (lifecycle, _failures) = Lifecycle::new(None);
        let ended = Arc::default();
        let Lifecycle { copying, projecting, .. } = &lifecycle;
        let runtime = Handle::current();
        let projection = task(projecting.stop.clone(), "projection", Arc::clone(&ended));
        lifecycle.spawn_in(projecting, "a projection", projection, &runtime);
        let ledger = task(copying.stop.clone(), "ledger", ended.clone());
        lifecycle.spawn_in(copying, "the ledger", ledger, &runtime);
        lifecycle.spawn("the API", task(lifecycle.stop.clone(), "API", ended.clone()));
        assert!(lifecycle.end().await);
        assert_eq!(*ended.lock().unwrap(), ["API", "ledger", "projection"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_hangs_leaves_time_to_the_steps_after_it() {
        let (lifecycle, _failures) = Lifecycle::new(None);
        let ended = Arc::default();
        lifecycle.spawn("the API", std::future::pending());
        let stop = lifecycle.copying.stop.clone();
        let ledger = task(stop, "ledger", Arc::clone(&ended));
        lifecycle.spawn_in(&lifecycle.copying, "the ledger", ledger, &Handle::current());
        let begun = Instant::now();
        assert!(!lifecycle.end().await);
        assert_eq!((ended.lock().unwrap().clone(), begun.elapsed() <= DEADLINE), (vec!["ledger"], true));
    }
}
