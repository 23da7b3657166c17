//! Runs other programs to their end.

use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

/// The timeout of a program on a busy machine, longer than [`crate::TIMEOUT`]: a program takes many steps.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The result of a program that ended.
#[derive(Debug)]
pub struct ProgramOutput {
    command: String,
    /// The exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl ProgramOutput {
    /// Runs a command to its end.
    pub fn of(command: &mut std::process::Command) -> Self {
        let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
        Self::new(command, output)
    }

    /// Runs a command in a home of its own, so that it leaves nothing in the user's, with the programs of a folder before
    /// all others. Panics when it does not end.
    pub async fn in_home(mut command: Command, home: &Path, programs: &Path) -> Self {
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(home)
            .env("HOME", home)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ended = tokio::time::timeout(TIMEOUT, command.output()).await;
        let output = ended.unwrap_or_else(|_| panic!("{command:?} did not end within {TIMEOUT:?}"));
        let output = output.unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
        Self::new(command.as_std(), output)
    }

    /// Returns the output of a command that ended. Panics unless it is UTF-8.
    pub fn new(command: &std::process::Command, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self {
            command: format!("{command:?}"),
            status: output.status,
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Panics with all it output unless it ended well.
    #[track_caller]
    pub fn success(self) -> Self {
        self.ended(0)
    }

    /// Panics with all it output unless it ended with this exit status.
    #[track_caller]
    pub fn ended(self, status: i32) -> Self {
        assert_eq!(self.status.code(), Some(status), "{self}");
        self
    }

    /// Returns its standard output as JSON, whatever its exit status.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not JSON ({error}): {self}"))
    }

    /// Returns each line of its standard output as JSON, whatever its exit status.
    pub fn json_lines(&self) -> Vec<Value> {
        let line =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line} ({error}): {self}"));
        self.stdout.lines().map(line).collect()
    }
}

impl std::fmt::Display for ProgramOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ended with {}\n{}\n{}", self.command, self.status, self.stdout, self.stderr)
    }
}
