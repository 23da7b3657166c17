//! The tasks of a process and how they end: a task that dies ends the process, and a shutdown has three phases and a deadline.

use std::any::Any;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::signals::{Signal, Signals};

/// How long a shutdown may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// When each phase of a shutdown is over, counted from its beginning, even if tasks of the phase have not ended.
const PHASE_ENDS: [Duration; 3] = [Duration::from_secs(6), Duration::from_secs(9), DEADLINE];

/// How long after its start the task panics that a test names: the process has started by then.
const PANIC_AFTER: Duration = Duration::from_millis(500);

/// When a task is stopped in a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// First: tasks that serve requests, and most others.
    First,
    /// Once those of the first phase have ended.
    Second,
    /// Once all others have ended.
    Third,
}

/// The tasks of one phase.
#[derive(Debug, Clone, Default)]
struct Tasks {
    stop: CancellationToken,
    tracker: TaskTracker,
}

/// The tasks of a process. If one of them dies, the process ends: it never runs with a part of its tasks. Clones share them.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    /// Cancelled when the process begins to drain: it still serves, but should get no new requests.
    pub draining: CancellationToken,
    /// Cancelled when the tasks of the first phase are to end.
    pub stop: CancellationToken,
    phases: [Tasks; 3],
    failures: mpsc::UnboundedSender<TaskError>,
    /// The task that panics soon after its start, for tests.
    panicking: Option<Arc<str>>,
}

/// Why a task ended that should not have.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// It returned an error.
    #[error("{task} failed")]
    Failed {
        /// The name of the task.
        task: String,
        /// Its error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// It returned without an error before it was stopped.
    #[error("{task} ended by itself; start again, and report the log")]
    Ended {
        /// The name of the task.
        task: String,
    },
    /// It panicked.
    #[error("{task} panicked: {message}; start again, and report this")]
    Panicked {
        /// The name of the task.
        task: String,
        /// The message of the panic.
        message: String,
    },
}

/// The output of a task: nothing, or a `Result`.
pub trait TaskOutput {
    /// Returns the error of the task, if it failed.
    ///
    /// # Errors
    ///
    /// Fails if the task did.
    fn into_result(self) -> Result<(), Box<dyn Error + Send + Sync>>;
}

impl TaskOutput for () {
    fn into_result(self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> TaskOutput for Result<(), E> {
    fn into_result(self) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.map_err(Into::into)
    }
}

/// Receives the errors of tasks.
#[derive(Debug)]
pub struct TaskErrors(mpsc::UnboundedReceiver<TaskError>);

impl TaskErrors {
    /// Waits until a task dies.
    pub async fn next(&mut self) -> TaskError {
        match self.0.recv().await {
            Some(error) => error,
            None => std::future::pending().await,
        }
    }

    /// Returns a panic that was not received yet. Other errors during a shutdown are those of connections that close.
    fn panic(&mut self) -> Option<TaskError> {
        std::iter::from_fn(|| self.0.try_recv().ok())
            .find(|error| matches!(error, TaskError::Panicked { .. }))
    }
}

/// What shuts a process down that runs until a signal: that signal, or a task that dies.
#[derive(Debug)]
pub struct ShutdownTrigger {
    errors: TaskErrors,
    signals: Signals,
    on_signal: fn(Signal),
    /// Whether a signal came during the start.
    is_signalled: bool,
}

impl ShutdownTrigger {
    /// Runs the start of a process. A signal interrupts it; [`Lifecycle::run_until_shutdown`] then ends at once what was started.
    ///
    /// # Errors
    ///
    /// Fails as the start does, and if a task dies meanwhile.
    pub async fn start<E: From<TaskError>>(
        &mut self,
        start: impl Future<Output = Result<(), E>>,
    ) -> Result<(), E> {
        tokio::select! {
            biased;
            error = self.errors.next() => return Err(error.into()),
            started = start => return started,
            signal = self.signals.next() => (self.on_signal)(signal),
        }
        self.is_signalled = true;
        Ok(())
    }

    /// Waits for a signal, or until a task dies; returns the error of the task.
    async fn next(&mut self) -> Option<TaskError> {
        tokio::select! {
            signal = self.signals.next() => {
                (self.on_signal)(signal);
                None
            }
            error = self.errors.next() => Some(error),
        }
    }
}

/// When a task may return without an error.
#[derive(Debug, Clone)]
enum MayEnd {
    AtAnyTime,
    Once(CancellationToken),
}

impl MayEnd {
    fn is_now(&self) -> bool {
        match self {
            MayEnd::AtAnyTime => true,
            MayEnd::Once(stop) => stop.is_cancelled(),
        }
    }
}

impl Lifecycle {
    /// Returns a process without tasks, and what receives their errors. `panicking` names the task that panics soon after its
    /// start, for tests.
    pub fn new(panicking: Option<&str>) -> (Lifecycle, TaskErrors) {
        let (failures, errors) = mpsc::unbounded_channel();
        let phases = [Tasks::default(), Tasks::default(), Tasks::default()];
        let lifecycle = Lifecycle {
            draining: CancellationToken::new(),
            stop: phases[0].stop.clone(),
            phases,
            failures,
            panicking: panicking.map(Arc::from),
        };
        (lifecycle, TaskErrors(errors))
    }

    /// Returns a process that runs until a signal, at which `on_signal` is called.
    pub fn until_signalled(
        panicking: Option<&str>,
        signals: Signals,
        on_signal: fn(Signal),
    ) -> (Lifecycle, ShutdownTrigger) {
        let (lifecycle, errors) = Lifecycle::new(panicking);
        (lifecycle, ShutdownTrigger { errors, signals, on_signal, is_signalled: false })
    }

    /// Returns the token that is cancelled when the tasks of a phase are to end.
    pub fn stop_of(&self, phase: Phase) -> &CancellationToken {
        &self.phases[phase as usize].stop
    }

    /// Runs a task of the first phase. If it ends before it is stopped, the process ends.
    pub fn spawn<F>(&self, name: impl Into<String>, task: F)
    where
        F: Future<Output: TaskOutput> + Send + 'static,
    {
        self.spawn_on(name, task, &Handle::current());
    }

    /// Runs a task of the first phase on the threads of another runtime.
    pub fn spawn_on<F>(&self, name: impl Into<String>, task: F, runtime: &Handle)
    where
        F: Future<Output: TaskOutput> + Send + 'static,
    {
        self.spawn_in(Phase::First, name, task, runtime);
    }

    /// Runs a task of a phase on the threads of a runtime.
    pub fn spawn_in<F>(&self, phase: Phase, name: impl Into<String>, task: F, runtime: &Handle)
    where
        F: Future<Output: TaskOutput> + Send + 'static,
    {
        let Tasks { stop, tracker } = &self.phases[phase as usize];
        tracker.spawn_on(self.supervised(name.into(), MayEnd::Once(stop.clone()), task), runtime);
    }

    /// Runs a task of the first phase that may end at any time. If it fails or panics, the process ends.
    pub fn spawn_finite<F>(&self, name: impl Into<String>, task: F)
    where
        F: Future<Output: TaskOutput> + Send + 'static,
    {
        self.phases[0].tracker.spawn(self.supervised(name.into(), MayEnd::AtAnyTime, task));
    }

    /// Runs a task that outlives the shutdown: it ends at its own `stop`, and the caller waits for it.
    pub fn spawn_outliving<F>(
        &self,
        name: impl Into<String>,
        task: F,
        stop: &CancellationToken,
    ) -> JoinHandle<()>
    where
        F: Future<Output: TaskOutput> + Send + 'static,
    {
        #[expect(clippy::disallowed_methods, reason = "the caller waits for its end")]
        tokio::spawn(self.supervised(name.into(), MayEnd::Once(stop.clone()), task))
    }

    /// Returns the tracker for tasks whose result is awaited elsewhere, as that of a request: a panic is handled there.
    pub fn requests(&self) -> TaskTracker {
        self.phases[0].tracker.clone()
    }

    /// Returns the task, with its end reported where it may not end yet.
    fn supervised<F>(
        &self,
        name: String,
        may_end: MayEnd,
        task: F,
    ) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Future<Output: TaskOutput> + Send + 'static,
    {
        let failures = self.failures.clone();
        let panics = self.panicking.as_deref() == Some(&name);
        let task = async move {
            tokio::select! {
                output = task => output.into_result(),
                () = tokio::time::sleep(PANIC_AFTER), if panics => panic!("a test requested it"),
            }
        };
        async move {
            let error = match AssertUnwindSafe(task).catch_unwind().await {
                Ok(Ok(())) if may_end.is_now() => return,
                Ok(Ok(())) => TaskError::Ended { task: name },
                Ok(Err(source)) => TaskError::Failed { task: name, source },
                Err(panic) => TaskError::Panicked { task: name, message: panic_message(&*panic).to_owned() },
            };
            let _ = failures.send(error);
        }
    }

    /// Returns a flag that becomes true when the process drains. Every request reads it: the token would take a lock each time.
    pub fn draining_flag(&self) -> Arc<AtomicBool> {
        let flag = Arc::new(AtomicBool::new(false));
        let (draining, set) = (self.draining.clone(), flag.clone());
        self.spawn_finite("the sign of leaving", async move {
            draining.cancelled().await;
            set.store(true, Ordering::Relaxed);
        });
        flag
    }

    /// Stops all tasks, phase by phase, within the deadline. Returns whether all have ended.
    pub async fn shut_down(&self) -> bool {
        self.draining.cancel();
        let (begun, mut all_ended) = (Instant::now(), true);
        for (Tasks { stop, tracker }, end) in self.phases.iter().zip(PHASE_ENDS) {
            stop.cancel();
            tracker.close();
            all_ended &= timeout_at(begun + end, tracker.wait()).await.is_ok();
        }
        all_ended
    }

    /// Waits for a signal, or until a task dies, and then stops all tasks. After a signal the process drains for this time
    /// before; a second signal ends the drain. Returns failure if tasks did not end within the deadline.
    ///
    /// # Errors
    ///
    /// Fails if a task died.
    pub async fn run_until_shutdown(
        self,
        mut trigger: ShutdownTrigger,
        drain: Duration,
    ) -> Result<ExitCode, TaskError> {
        let mut error = if trigger.is_signalled { None } else { trigger.next().await };
        if error.is_none() && !trigger.is_signalled && !drain.is_zero() {
            tracing::info!(?drain, "draining: no longer ready, still serving");
            self.draining.cancel();
            error = timeout(drain, trigger.next()).await.unwrap_or(None);
        }
        let all_ended = self.shut_down().await;
        if !all_ended {
            tracing::error!("some tasks did not end within {DEADLINE:?}; the process ends without them");
        }
        match error.or_else(|| trigger.errors.panic()) {
            Some(error) => Err(error),
            None if all_ended => Ok(ExitCode::SUCCESS),
            None => Ok(ExitCode::FAILURE),
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Returns what ends the process when a task is spawned as `spawn` does.
    async fn failure(spawn: impl FnOnce(&Lifecycle)) -> String {
        let (lifecycle, mut errors) = Lifecycle::new(None);
        spawn(&lifecycle);
        format!("{:#}", anyhow::Error::from(errors.next().await))
    }

    #[tokio::test]
    async fn a_task_that_panics_fails_or_ends_too_early_is_a_failure_of_the_process() {
        let panicked = "the relay panicked: out of 3; start again, and report this";
        async fn panics(number: u32) {
            panic!("out of {number}");
        }
        assert_eq!(failure(|l| l.spawn("the relay", panics(3))).await, panicked);
        let finite = |l: &Lifecycle| l.spawn_finite("the relay", panics(3));
        assert_eq!(failure(finite).await, panicked);
        let outliving = |l: &Lifecycle| {
            l.spawn_outliving("the relay", panics(3), &CancellationToken::new());
        };
        assert_eq!(failure(outliving).await, panicked);
        let failed = |l: &Lifecycle| l.spawn("the API", async { Err("no room") });
        assert_eq!(failure(failed).await, "the API failed: no room");
        let ended = |l: &Lifecycle| l.spawn("the API", async {});
        assert_eq!(failure(ended).await, "the API ended by itself; start again, and report the log");
    }

    #[tokio::test]
    async fn a_panic_during_the_shutdown_is_reported_and_other_failures_are_not() {
        let (lifecycle, mut errors) = Lifecycle::new(None);
        let stop = lifecycle.stop.clone();
        lifecycle.spawn("the API", async move {
            stop.cancelled().await;
            Err("the connection was closed")
        });
        lifecycle.spawn_finite("the demo", async {});
        assert!(lifecycle.shut_down().await);
        assert!(errors.panic().is_none());
        let (lifecycle, mut errors) = Lifecycle::new(None);
        let stop = lifecycle.stop.clone();
        lifecycle.spawn("the ledger", async move {
            stop.cancelled().await;
            assert!(!stop.is_cancelled(), "odd");
        });
        assert!(lifecycle.shut_down().await);
        assert_eq!(
            errors.panic().unwrap().to_string(),
            "the ledger panicked: odd; start again, and report this"
        );
    }

    /// Adds a name to the list once the token is cancelled, after 100 ms of work.
    async fn task(stop: CancellationToken, name: &'static str, ended: Arc<Mutex<Vec<&'static str>>>) {
        stop.cancelled().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        ended.lock().unwrap().push(name);
    }

    #[tokio::test(start_paused = true)]
    async fn the_phases_end_one_after_the_other() {
        let (lifecycle, _errors) = Lifecycle::new(None);
        let ended = Arc::default();
        let runtime = Handle::current();
        for (phase, name) in [(Phase::Third, "projection"), (Phase::Second, "ledger"), (Phase::First, "API")]
        {
            let task = task(lifecycle.stop_of(phase).clone(), name, Arc::clone(&ended));
            lifecycle.spawn_in(phase, name, task, &runtime);
        }
        assert!(lifecycle.shut_down().await);
        assert_eq!(*ended.lock().unwrap(), ["API", "ledger", "projection"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_hangs_leaves_time_to_the_phases_after_it() {
        let (lifecycle, _errors) = Lifecycle::new(None);
        let ended = Arc::default();
        lifecycle.spawn("the API", std::future::pending::<()>());
        let ledger = task(lifecycle.stop_of(Phase::Second).clone(), "ledger", Arc::clone(&ended));
        lifecycle.spawn_in(Phase::Second, "the ledger", ledger, &Handle::current());
        let begun = Instant::now();
        assert!(!lifecycle.shut_down().await);
        assert_eq!((ended.lock().unwrap().clone(), begun.elapsed() <= DEADLINE), (vec!["ledger"], true));
    }
}
