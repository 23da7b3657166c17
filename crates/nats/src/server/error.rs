//! Why a private nats-server cannot run.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Why a private nats-server could not be had. Each text says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no program to run.
    #[error(
        "nats-server was not found at {looked_at}; run bin/setup, or set LOGGIA_NATS_SERVER to the program, or give \
         LOGGIA_NATS_URL to use a server that runs already"
    )]
    Missing {
        /// The places that were looked at, as a list in words.
        looked_at: String,
    },
    /// There is a program, but it cannot be run or is something else.
    #[error(
        "{} cannot be used as nats-server: {reason}; run bin/setup, or set LOGGIA_NATS_SERVER to a nats-server",
        binary.display()
    )]
    Unusable {
        /// The program that was tried.
        binary: PathBuf,
        /// What happened, without a full stop.
        reason: String,
    },
    /// The server is older than what Loggia can rely on.
    #[error(
        "{} is nats-server {found}, and Loggia needs {needed} or newer: older ones silently ignore settings and can lose \
         messages; run bin/setup, or set LOGGIA_NATS_SERVER to a newer one",
        binary.display()
    )]
    TooOld {
        /// The program that was asked.
        binary: PathBuf,
        /// The version it stated.
        found: String,
        /// The oldest version that serves.
        needed: String,
    },
    /// Another live owner has the folder.
    #[error("the folder {} belongs to another Loggia that is running; stop that one, or use another data folder", folder.display())]
    InUse {
        /// The folder in question.
        folder: PathBuf,
    },
    /// A file or folder could not be read, written or locked.
    #[error("the nats-server folder cannot be used: {}: {source}; check that it is writable and that the disk has room", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A server left behind by an earlier run does not go away.
    #[error(
        "an earlier nats-server (process {pid}) still holds the folder and could not be ended: {reason}; end it and try again"
    )]
    Orphan {
        /// Its process id.
        pid: u32,
        /// What happened, without a full stop.
        reason: String,
    },
    /// The server ended instead of answering.
    #[error("nats-server ended at its start ({status}): {last_words}")]
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// Its last complaint, and where its log is.
        last_words: String,
    },
    /// The server runs but does not take our connection.
    #[error("nats-server did not answer within {seconds} s of its start: {last_words}")]
    Silent {
        /// How long it was waited for.
        seconds: u64,
        /// Its last complaint, and where its log is.
        last_words: String,
    },
    /// The system gave no random bytes or no free port.
    #[error("no address for nats-server could be chosen: {0}; try again")]
    NoAddress(String),
}

impl Error {
    pub(super) fn folder(path: &Path, source: io::Error) -> Self {
        Self::Folder { path: path.into(), source }
    }
}
