//! What a command line program prints: answers on standard output, as text or as JSON, messages on standard error, and progress
//! only to a terminal. The commands of `loggia` print with it.
//!
//! An answer is a value with a text: [`Output::answer`] prints the text, or with `--json` the value on a line of its own. A
//! command that fails prints its reason as a sentence on standard error, and with `--json` as a [`Failure`] too; its exit status
//! is 2 for wrong usage, that of a signal, or else 1. A reader may close standard output or standard error early, as `head` does.
//!
//! ```
//! use cli_output::{Output, sentence, table};
//!
//! let output = Output::new("shop", false);
//! output.answer(&serde_json::json!({"events": 2_600}), || "2,600 events".to_owned())?;
//! let lines = table(["key", "calls"], &[("Ab3dEf9h", 7)], |(key, calls)| [(*key).to_owned(), calls.to_string()]);
//! assert_eq!(lines, ["key       calls", "Ab3dEf9h  7"]);
//! assert_eq!(sentence(&std::fmt::Error), std::fmt::Error.to_string());
//! # Ok::<(), cli_output::PrintError>(())
//! ```

use std::error::Error;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use daemon::signals::Interrupted;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// Whether the reader of standard output has closed it.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Prints answers for people or for programs.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// The name of the program, with which messages about failures begin.
    program: &'static str,
    json: bool,
}

/// Why a command failed, as JSON.
#[derive(Debug, Clone, Serialize)]
pub struct Failure<'a> {
    /// The kind, such as `failed`, `usage` or `interrupted`.
    pub kind: &'a str,
    /// What is wrong and what to do.
    pub detail: &'a str,
}

/// The error of a command that is used wrongly, in a way that only its arguments together show.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub &'static str);

/// Why an answer cannot be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// Standard output cannot be written.
    #[error("standard output cannot be written")]
    Unwritable(#[from] io::Error),
    /// The value has no form in JSON.
    #[error(transparent)]
    Unserializable(#[from] serde_json::Error),
    /// The reader closed standard output before it read an answer that is shown only once.
    #[error("standard output was closed before it was read")]
    Closed,
}

impl Output {
    /// Prints answers of a program as JSON, or as text.
    pub fn new(program: &'static str, json: bool) -> Output {
        Output { program, json }
    }

    /// Returns whether answers are printed as JSON.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Prints one answer: the value as a line of JSON, or the text.
    ///
    /// # Errors
    ///
    /// Fails if standard output cannot be written, but not if its reader closed it.
    pub fn answer<T: Serialize>(self, value: &T, text: impl FnOnce() -> String) -> Result<(), PrintError> {
        let line = if self.json { serde_json::to_string(value)? } else { text() };
        self.line(&line)
    }

    /// Prints a line as it is.
    ///
    /// # Errors
    ///
    /// Fails if standard output cannot be written, but not if its reader closed it.
    pub fn line(self, line: &str) -> Result<(), PrintError> {
        self.lines(std::slice::from_ref(&line))
    }

    /// Prints lines as they are. Once the reader has closed standard output nothing is printed, and the command continues to its
    /// end: its exit status does not depend on how much was read.
    ///
    /// # Errors
    ///
    /// Fails if standard output cannot be written, but not if its reader closed it.
    pub fn lines<T: AsRef<str>>(self, lines: &[T]) -> Result<(), PrintError> {
        if !self.has_reader() {
            return Ok(());
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        match lines.iter().try_for_each(|line| writeln!(out, "{}", line.as_ref())).and_then(|()| out.flush())
        {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                // Dropping the writer would try to write the rest of its buffer again.
                let _ = out.into_parts();
                IS_CLOSED.store(true, Ordering::Relaxed);
                Ok(())
            }
            outcome => Ok(outcome?),
        }
    }

    /// Returns whether what is printed may still be read. A command that does nothing but print may end if not.
    pub fn has_reader(self) -> bool {
        !IS_CLOSED.load(Ordering::Relaxed)
    }

    /// Prints a row for each item, below headings; as JSON each item on a line of its own. Without any, says `none` on standard
    /// error, unless answers are JSON.
    ///
    /// # Errors
    ///
    /// Fails if standard output cannot be written, but not if its reader closed it.
    pub fn rows<T: Serialize, const N: usize>(
        self,
        items: &[T],
        headings: [&str; N],
        cells: impl Fn(&T) -> [String; N],
        none: &str,
    ) -> Result<(), PrintError> {
        if self.json {
            return items.iter().try_for_each(|item| self.answer(item, String::new));
        }
        if items.is_empty() {
            say(none);
            return Ok(());
        }
        self.lines(&table(headings, items, cells))
    }

    /// Prints an answer that is shown only once.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be printed, or the reader has closed standard output.
    pub fn deliver<T: Serialize>(self, value: &T, text: impl FnOnce() -> String) -> Result<(), PrintError> {
        self.answer(value, text)?;
        if self.has_reader() { Ok(()) } else { Err(PrintError::Closed) }
    }

    /// Prints why a command failed, and returns its exit status: 2 for wrong usage, that of a signal, or else 1.
    pub fn failed(self, error: &(dyn Error + 'static)) -> ExitCode {
        if causes(error).any(|cause| cause.is::<Usage>()) {
            return self.usage_error(error);
        }
        match causes(error).find_map(|cause| cause.downcast_ref()) {
            Some(Interrupted(signal)) => self.report("interrupted", error, signal.exit_status()),
            None => self.report("failed", error, ExitCode::FAILURE),
        }
    }

    /// Prints that the command or its settings are invalid, and returns the exit status 2.
    pub fn usage_error(self, error: &(dyn Error + 'static)) -> ExitCode {
        self.report("usage", error, ExitCode::from(2))
    }

    fn report(self, kind: &str, error: &(dyn Error + 'static), status: ExitCode) -> ExitCode {
        let detail = sentence(error);
        say(&format!("{}: {detail}", self.program));
        self.failure(&Failure { kind, detail: &detail }, status)
    }

    /// Prints that what was asked for does not exist or was not done, and returns the exit status 1.
    pub fn not_done(self, detail: &str) -> ExitCode {
        say(detail);
        self.failure(&Failure { kind: "failed", detail }, ExitCode::FAILURE)
    }

    /// Prints a failure as JSON, if answers are JSON; its text has been printed on standard error. Returns the exit status.
    pub fn failure<T: Serialize>(self, failure: &T, status: ExitCode) -> ExitCode {
        // If it cannot be printed, standard error and the exit status still report the failure.
        if self.json {
            let _ = self.answer(failure, String::new);
        }
        status
    }

    /// Shows a progress bar with this number of steps on a terminal; 0 if it is not known.
    pub fn progress(self, steps: u64, message: &'static str) -> ProgressBar {
        let bar = if steps == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(steps) };
        let template = if steps == 0 {
            "{spinner} {msg} {human_pos} ({per_sec}, {elapsed})"
        } else {
            "{msg} [{bar:30}] {human_pos}/{human_len} ({per_sec}, {eta} left)"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("█▌ "));
        }
        bar.set_message(message);
        let is_visible = std::io::stderr().is_terminal();
        bar.set_draw_target(if is_visible {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        });
        if is_visible && steps == 0 {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        bar
    }
}

/// Returns an error and its causes as one sentence. A cause that is part of an error's own text is not repeated.
pub fn sentence(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error).map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| error.source())
}

/// Returns a line for each item, below headings, with columns as wide as their widest cell.
pub fn table<T, const N: usize>(
    headings: [&str; N],
    items: &[T],
    cells: impl Fn(&T) -> [String; N],
) -> Vec<String> {
    let rows: Vec<[String; N]> =
        std::iter::once(headings.map(str::to_owned)).chain(items.iter().map(cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Returns a number of bytes with a unit, such as `1.50 MiB`.
pub fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}

/// Returns a number with separators, such as `2,600`.
pub fn count(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// Prints a message for people on standard error. If it cannot be written, the command continues to its end: its exit status does
/// not depend on whether messages were read.
pub fn say(text: &str) {
    daemon::standard_error::print(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Caused {
        message: &'static str,
        source: Option<Box<Caused>>,
    }

    #[test]
    fn a_cause_is_printed_once() {
        let caused = |message, source: Option<Caused>| Caused { message, source: source.map(Box::new) };
        let error = caused("a.csv cannot be read", Some(caused("entity not found", None)));
        assert_eq!(sentence(&error), "a.csv cannot be read: entity not found");
        let repeated = caused("a.csv cannot be read: entity not found", Some(error));
        assert_eq!(sentence(&repeated), "a.csv cannot be read: entity not found");
    }

    #[test]
    fn the_exit_status_is_that_of_the_kind_of_error() {
        let output = Output::new("shop", false);
        let status = |error: &(dyn Error + 'static)| format!("{:?}", output.failed(error));
        assert_eq!(status(&Usage("name the folder")), format!("{:?}", ExitCode::from(2)));
        assert_eq!(
            status(&Interrupted(daemon::signals::Signal::HangUp)),
            format!("{:?}", ExitCode::from(129))
        );
        assert_eq!(status(&PrintError::Closed), format!("{:?}", ExitCode::FAILURE));
    }
}
