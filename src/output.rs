//! What a command prints: answers on standard output, progress on standard error and only to a terminal.

use std::io::{BufWriter, IsTerminal, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

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

    /// Prints lines as they are. A reader that has gone, such as `head`, ends the command quietly.
    pub fn lines<T: AsRef<str>>(self, lines: &[T]) -> Result<()> {
        let mut out = BufWriter::new(std::io::stdout().lock());
        match lines.iter().try_for_each(|line| writeln!(out, "{}", line.as_ref())).and_then(|()| out.flush())
        {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
            outcome => outcome.context("standard output cannot be written"),
        }
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
