//! The errors of a private nats-server.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// A private nats-server cannot be run. Each message says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program was not found.
    #[error(
        "nats-server was not found at {tried}; run bin/setup, or set LOGGIA_NATS_SERVER to the program, or give \
         LOGGIA_NATS_URL to use a server that runs already"
    )]
    Missing {
        /// The paths that were tried, as a list in words.
        tried: String,
    },
    /// The program cannot be run, or is not nats-server.
    #[error(
        "{} cannot be used as nats-server: {reason}; run bin/setup, or set LOGGIA_NATS_SERVER to a nats-server",
        binary.display()
    )]
    Unusable {
        /// The path of the program.
        binary: PathBuf,
        /// What happened, without a full stop.
        reason: String,
    },
    /// The server is too old.
    #[error(
        "{} is nats-server {found}, and Loggia needs {needed} or newer: older ones silently ignore settings and can lose \
         messages; run bin/setup, or set LOGGIA_NATS_SERVER to a newer one",
        binary.display()
    )]
    TooOld {
        /// The path of the program.
        binary: PathBuf,
        /// The version it stated.
        found: String,
        /// The oldest accepted version.
        needed: String,
    },
    /// The folder has another live owner.
    #[error("the folder {} belongs to another Loggia that is running; stop that one, or use another data folder", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A file or folder could not be read, written or locked.
    #[error("the nats-server folder cannot be used: {}: {source}; check that it is writable and that the disk has room", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A server that an earlier run left running does not end.
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
    #[error("nats-server ended at its start ({status}): {complaint}")]
    Exited {
        /// Its exit status.
        status: ExitStatus,
        /// Its last error message, and the path of its log.
        complaint: String,
    },
    /// The server runs but does not accept the connection.
    #[error("nats-server did not answer within {seconds} s of its start: {complaint}")]
    Silent {
        /// How long the connection was tried.
        seconds: u64,
        /// Its last error message, and the path of its log.
        complaint: String,
    },
    /// The system provided no random bytes or no free port.
    #[error("no address for nats-server could be chosen: {0}; try again")]
    NoAddress(String),
}

impl Error {
    pub(super) fn folder(path: &Path, source: io::Error) -> Self {
        Self::Folder { path: path.into(), source }
    }
}
