//! What a command prints: answers on standard output, progress on standard error and only to a terminal.

use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use schemas::command::CommandFailure;
use schemas::import::Fault;
use serde::Serialize;

use crate::signals::Interrupted;

/// Whether the reader of standard output has gone, such as `head` once it has its lines.
static HAS_NO_READER: AtomicBool = AtomicBool::new(false);

/// Prints answers for people or for programs.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    json: bool,
}

impl Output {
    /// Answers as JSON, or as text.
    pub fn new(json: bool) -> Output {
        Output { json }
    }

    /// Whether answers are JSON.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Prints one answer: the value as a line of JSON, or the text.
    pub fn answer<T: Serialize>(self, value: &T, text: impl FnOnce() -> String) -> Result<()> {
        let line = if self.json { serde_json::to_string(value)? } else { text() };
        self.line(&line)
    }

    /// Prints a line as it is.
    pub fn line(self, line: &str) -> Result<()> {
        self.lines(std::slice::from_ref(&line))
    }

    /// Prints lines as they are. Once the reader has gone nothing is printed, and the command goes on to its own end: its
    /// exit status says what it found, however much of that was read.
    pub fn lines<T: AsRef<str>>(self, lines: &[T]) -> Result<()> {
        if !self.has_reader() {
            return Ok(());
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        match lines.iter().try_for_each(|line| writeln!(out, "{}", line.as_ref())).and_then(|()| out.flush())
        {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                // What is left in the buffer would be tried again, and panic nobody but cost a system call.
                let _ = out.into_parts();
                HAS_NO_READER.store(true, Ordering::Relaxed);
                Ok(())
            }
            outcome => outcome.context("standard output cannot be written"),
        }
    }

    /// Returns whether what is printed may still be read. A command whose lines are all that it does may end where not.
    pub fn has_reader(self) -> bool {
        !HAS_NO_READER.load(Ordering::Relaxed)
    }

    /// Prints an answer that is shown this once.
    ///
    /// # Errors
    ///
    /// Fails where it cannot be printed, also because the reader has gone.
    pub fn deliver<T: Serialize>(self, value: &T, text: impl FnOnce() -> String) -> Result<()> {
        self.answer(value, text)?;
        if !self.has_reader() {
            bail!("standard output was closed before it was read");
        }
        Ok(())
    }

    /// Says why a command failed, and returns its exit status: 2 for wrong usage, that of a signal, or else 1.
    pub fn failed(self, error: &Error) -> ExitCode {
        if error.is::<Usage>() {
            return self.misused(error);
        }
        match error.downcast_ref() {
            Some(Interrupted(asked)) => self.ended("interrupted", error, asked.status()),
            None => self.ended("failed", error, ExitCode::FAILURE),
        }
    }

    /// Says that the command or its settings cannot be used as they are, and returns the exit status 2.
    pub fn misused(self, error: &Error) -> ExitCode {
        self.ended("usage", error, ExitCode::from(2))
    }

    fn ended(self, kind: &str, error: &Error, status: ExitCode) -> ExitCode {
        let detail = sentence(error);
        say(&format!("loggia: {detail}"));
        self.failure(&Failure { kind, detail: &detail, faults: &[] }, status)
    }

    /// Says that what was asked for is not there or was not done, and returns the exit status 1.
    pub fn not_done(self, detail: &str) -> ExitCode {
        say(detail);
        self.failure(&Failure { kind: "failed", detail, faults: &[] }, ExitCode::FAILURE)
    }

    /// Says why a command was refused, and returns the exit status 1.
    pub fn refused(self, refusal: &CommandFailure) -> ExitCode {
        say(&refusal.detail);
        for fault in refusal.faults.iter().filter(|fault| !refusal.detail.contains(&fault.reason)) {
            say(&format!("  {} {}", fault.field, fault.reason));
        }
        let kind = refusal.kind.name();
        self.failure(&Failure { kind, detail: &refusal.detail, faults: &refusal.faults }, ExitCode::FAILURE)
    }

    fn failure(self, failure: &Failure<'_>, status: ExitCode) -> ExitCode {
        // Where it cannot be printed, standard error and the status say it all the same.
        if self.json {
            let _ = self.answer(failure, String::new);
        }
        status
    }

    /// A progress bar of so many steps; 0 where the number is not known.
    pub fn progress(self, steps: u64, what: &'static str) -> ProgressBar {
        let bar = if steps == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(steps) };
        let template = if steps == 0 {
            "{spinner} {msg} {human_pos} ({per_sec}, {elapsed})"
        } else {
            "{msg} [{bar:30}] {human_pos}/{human_len} ({per_sec}, {eta} left)"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("█▌ "));
        }
        bar.set_message(what);
        let visible = std::io::stderr().is_terminal();
        bar.set_draw_target(if visible {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        });
        if visible && steps == 0 {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar
    }
}

/// Why a command failed, as `--json` has it.
#[derive(Debug, Clone, Serialize)]
pub struct Failure<'a> {
    /// `failed`, `usage`, `interrupted`, or what a refusal says: `rejected`, `conflict`, `unavailable`.
    pub kind: &'a str,
    /// What is wrong and what to do.
    pub detail: &'a str,
    /// The members that are wrong, where it is about a record.
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    pub faults: &'a [Fault],
}

/// The error of a command that is used wrongly, in a way that only its arguments together show.
#[derive(Debug)]
pub struct Usage(pub &'static str);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Usage {}

/// Returns what an error says and why, each once: many an error names its cause itself.
pub fn sentence(error: &Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Lines of cells in columns as wide as their widest cell.
pub fn aligned<const N: usize>(lines: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let aligned = |line: &[String; N]| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(aligned).collect()
}

/// Bytes in a form that people read.
pub fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}

/// A number with separators.
pub fn count(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// Tells a person something on standard error.
#[expect(clippy::print_stderr, reason = "the one place that speaks to people beside the answer")]
pub fn say(text: &str) {
    eprintln!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        let missing = || std::io::Error::from(ErrorKind::NotFound);
        let error = Error::new(missing()).context("a.csv cannot be read");
        assert_eq!(sentence(&error), "a.csv cannot be read: entity not found");
        let doubled = error.context("a.csv cannot be read: entity not found");
        assert_eq!(sentence(&doubled), "a.csv cannot be read: entity not found");
    }
}
