//! Runs other programs to their end.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Command;

/// The timeout of a program on a busy machine.
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
    /// Runs a command in a home of its own, so that it leaves nothing in the user's, with the programs of a folder before
    /// all others. Panics when it does not end.
    pub async fn of(mut command: Command, home: &Path, programs: &Path) -> Self {
        let command_line = format!("{:?}", command.as_std());
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(home)
            .env("HOME", home)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ended = tokio::time::timeout(TIMEOUT, command.output()).await;
        let output = ended.unwrap_or_else(|_| panic!("{command_line} did not end within {TIMEOUT:?}"));
        let output = output.unwrap_or_else(|error| panic!("{command_line} cannot be run: {error}"));
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self {
            command: command_line,
            status: output.status,
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// What it wrote to standard output. Panics with all it output unless it ended well.
    pub fn success(self) -> String {
        assert!(self.status.success(), "{self}");
        self.stdout
    }
}

impl std::fmt::Display for ProgramOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ended with {}\n{}\n{}", self.command, self.status, self.stdout, self.stderr)
    }
}
