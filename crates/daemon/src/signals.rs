//! The signals that ask a process to end: SIGINT, SIGTERM, and SIGHUP, which a closed terminal sends.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How long the cleanup of a command may take after a signal: longer than the shutdown of a lifecycle.
const CLEANUP_DEADLINE: Duration = Duration::from_secs(20);

/// A signal that asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C in a terminal.
    Interrupt,
    /// SIGTERM: a service manager, or `kill`.
    Terminate,
    /// SIGHUP: the terminal was closed.
    HangUp,
}

impl Signal {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "SIGINT",
            Signal::Terminate => "SIGTERM",
            Signal::HangUp => "SIGHUP",
        }
    }

    /// Returns the exit status of a command that it ended: 128 and its number, as a shell counts.
    pub fn exit_status(self) -> ExitCode {
        ExitCode::from(self.status_number())
    }

    fn status_number(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
            Signal::HangUp => 129,
        }
    }
}

/// What a signal does to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnSignal {
    /// It ends the process at once, as the system does: there is nothing to clean up.
    Exit,
    /// The process cleans up, and is ended if that takes more than 20 seconds.
    CleanUp,
    /// The process shuts down within its own deadlines.
    ShutDown,
}

/// Receives signals. A clone receives those that this one has not received yet.
#[derive(Debug, Clone)]
pub struct Signals(watch::Receiver<Option<Signal>>);

impl Signals {
    /// Receives signals from now on, on the threads of a runtime; none with [`OnSignal::Exit`].
    ///
    /// # Errors
    ///
    /// Fails if the system does not deliver signals to the process.
    pub fn listen(runtime: &Runtime, on_signal: OnSignal) -> io::Result<Signals> {
        let (sender, receiver) = watch::channel(None);
        if on_signal == OnSignal::Exit {
            return Ok(Signals(receiver));
        }
        let _within = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // Under `nohup` the process continues when its terminal is closed.
        let mut hang_up = if is_hang_up_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        runtime.spawn(async move {
            let mut deadline = None;
            loop {
                let hung_up = async {
                    match &mut hang_up {
                        Some(hang_up) => hang_up.recv().await,
                        None => std::future::pending().await,
                    }
                };
                let signal = tokio::select! {
                    _ = interrupt.recv() => Signal::Interrupt,
                    _ = terminate.recv() => Signal::Terminate,
                    _ = hung_up => Signal::HangUp,
                    signal = expired(deadline) => std::process::exit(i32::from(signal.status_number())),
                };
                if on_signal == OnSignal::CleanUp && deadline.is_none() {
                    deadline = Some((tokio::time::Instant::now() + CLEANUP_DEADLINE, signal));
                }
                if sender.send(Some(signal)).is_err() {
                    return;
                }
            }
        });
        Ok(Signals(receiver))
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Signal {
        loop {
            if self.0.changed().await.is_err() {
                return std::future::pending().await;
            }
            if let Some(signal) = *self.0.borrow_and_update() {
                return signal;
            }
        }
    }

    /// Runs a future unless a signal comes first; the future is dropped then.
    ///
    /// # Errors
    ///
    /// Fails as the future does, and with [`Interrupted`] at a signal.
    pub async fn interruptible<T, E: From<Interrupted>>(
        mut self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        tokio::select! {
            biased;
            signal = self.next() => Err(Interrupted(signal).into()),
            output = future => output,
        }
    }
}

/// The error of a command that a signal ended.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("ended by {}", .0.name())]
pub struct Interrupted(pub Signal);

/// Waits until the deadline of a signal, and returns the signal.
async fn expired(deadline: Option<(tokio::time::Instant, Signal)>) -> Signal {
    match deadline {
        None => std::future::pending().await,
        Some((moment, signal)) => {
            tokio::time::sleep_until(moment).await;
            signal
        }
    }
}

/// Returns whether the process was started with SIGHUP ignored; `false` on systems without `/proc`.
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
    fn the_mask_of_ignored_signals_is_read() {
        assert!(ignores_hang_up("Name:\tloggia\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"));
        assert!(!ignores_hang_up("Name:\tloggia\nSigIgn:\t0000000000001000\nSigCgt:\t1\n"));
        assert!(!ignores_hang_up(""));
    }

    #[tokio::test]
    async fn a_signal_interrupts_a_future() {
        let (sender, receiver) = watch::channel(None);
        let signals = Signals(receiver);
        assert_eq!(signals.clone().interruptible(async { Ok::<_, Interrupted>(1) }).await.unwrap(), 1);
        sender.send(Some(Signal::HangUp)).unwrap();
        let Interrupted(signal) =
            signals.interruptible(std::future::pending::<Result<(), Interrupted>>()).await.unwrap_err();
        assert_eq!(
            (Interrupted(signal).to_string(), signal.status_number()),
            ("ended by SIGHUP".into(), 129)
        );
    }
}
