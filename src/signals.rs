//! The signals that ask a process to end: SIGINT, SIGTERM, and SIGHUP, which a closed terminal sends.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How long a command may take to end once it is asked to: more than the tasks of a node take.
const OVERDUE: Duration = Duration::from_secs(20);

/// A signal that asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// SIGINT: Ctrl-C in a terminal.
    Interrupt,
    /// SIGTERM: a service manager, or `kill`.
    Terminate,
    /// SIGHUP: the terminal was closed.
    HangUp,
}

impl Asked {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Asked::Interrupt => "SIGINT",
            Asked::Terminate => "SIGTERM",
            Asked::HangUp => "SIGHUP",
        }
    }

    /// Returns the exit status of a command that it ended: 128 and its number, as a shell counts.
    pub fn status(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    fn number(self) -> u8 {
        match self {
            Asked::Interrupt => 130,
            Asked::Terminate => 143,
            Asked::HangUp => 129,
        }
    }
}

/// What a signal does to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// It ends the process at once, as the system does it: nothing has to be put away.
    AtOnce,
    /// The command puts away what it has, and is ended where that takes too long.
    InOrder,
    /// The role ends within its own deadlines.
    AsRole,
}

/// Learns of signals. A clone learns of those that this one has not heard of yet.
#[derive(Debug, Clone)]
pub struct Signals(watch::Receiver<Option<Asked>>);

impl Signals {
    /// Takes signals from now on, on the threads of a runtime; none for a command that a signal ends at once.
    pub fn listen(runtime: &Runtime, ends: Ends) -> Result<Signals> {
        let (sender, receiver) = watch::channel(None);
        if ends == Ends::AtOnce {
            return Ok(Signals(receiver));
        }
        let _within = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // Under `nohup` the process goes on when its terminal is closed.
        let mut hang_up = if is_hang_up_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        runtime.spawn(async move {
            let mut overdue = None;
            loop {
                let hung_up = async {
                    match &mut hang_up {
                        Some(hang_up) => hang_up.recv().await,
                        None => std::future::pending().await,
                    }
                };
                let asked = tokio::select! {
                    _ = interrupt.recv() => Asked::Interrupt,
                    _ = terminate.recv() => Asked::Terminate,
                    _ = hung_up => Asked::HangUp,
                    asked = late(overdue) => std::process::exit(i32::from(asked.number())),
                };
                if ends == Ends::InOrder && overdue.is_none() {
                    overdue = Some((tokio::time::Instant::now() + OVERDUE, asked));
                }
                if sender.send(Some(asked)).is_err() {
                    return;
                }
            }
        });
        Ok(Signals(receiver))
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Asked {
        loop {
            if self.0.changed().await.is_err() {
                return std::future::pending().await;
            }
            if let Some(asked) = *self.0.borrow_and_update() {
                return asked;
            }
        }
    }

    /// Does work unless a signal comes first: the work is dropped then, and the signal is the error.
    pub async fn unless_asked<T>(mut self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            asked = self.next() => Err(Interrupted(asked).into()),
            done = work => done,
        }
    }
}

/// The error of a command that a signal ended.
#[derive(Debug)]
pub struct Interrupted(pub Asked);

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ended by {}", self.0.name())
    }
}

impl std::error::Error for Interrupted {}

/// Waits for a moment, and returns what stands with it.
async fn late(overdue: Option<(tokio::time::Instant, Asked)>) -> Asked {
    match overdue {
        None => std::future::pending().await,
        Some((moment, asked)) => {
            tokio::time::sleep_until(moment).await;
            asked
        }
    }
}

/// Returns whether the process was started with SIGHUP ignored; systems without `/proc` do not tell.
fn is_hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores_hang_up(&status)
}

/// SIGHUP is the first bit of the mask.
fn ignores_hang_up(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_of_ignored_signals_is_read() {
        assert!(ignores_hang_up("Name:\tloggia\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"));
        assert!(!ignores_hang_up("Name:\tloggia\nSigIgn:\t0000000000001000\nSigCgt:\t1\n"));
        assert!(!ignores_hang_up(""));
    }

    #[tokio::test]
    async fn work_is_dropped_when_a_signal_comes() {
        let (sender, receiver) = watch::channel(None);
        let signals = Signals(receiver);
        assert_eq!(signals.clone().unless_asked(async { Ok(1) }).await.unwrap(), 1);
        sender.send(Some(Asked::HangUp)).unwrap();
        let error = signals.unless_asked(std::future::pending::<Result<()>>()).await.unwrap_err();
        assert_eq!(error.to_string(), "ended by SIGHUP");
        assert_eq!(error.downcast_ref::<Interrupted>().unwrap().0.number(), 129);
    }
}
