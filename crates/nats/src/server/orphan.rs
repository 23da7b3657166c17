//! Stops a server whose owner was killed: it keeps running until the next owner of the folder stops it.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use super::folder::{Folder, config_in, pid_file_in, try_lock};
use super::{Error, environment, process};

/// The time in which the server must end after SIGTERM, and after SIGKILL.
const TERM_TIMEOUT: Duration = Duration::from_secs(10);
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Stops a server that runs in `folder` without an owner; returns its process id, or `None` if there was none. Blocks the thread for up
/// to 15 seconds.
///
/// # Errors
///
/// Fails with [`Error::InUse`] if the folder has a live owner, and if the server does not end.
pub fn stop_orphan(folder: &Path) -> Result<Option<u32>, Error> {
    let Ok(root) = folder.canonicalize() else { return Ok(None) };
    let Some(_lock) = try_lock(&root)? else { return Err(Error::InUse { folder: root }) };
    stop(&root)
}

/// Stops a server that an earlier owner of this folder left running.
pub(super) async fn stop_left_behind(folder: &Folder) -> Result<(), Error> {
    let root = folder.root().to_owned();
    let ended = tokio::task::spawn_blocking(move || stop(&root)).await;
    let ended = ended.map_err(|error| Error::folder(folder.root(), io::Error::other(error)))??;
    if let Some(pid) = ended {
        tracing::warn!(pid, "ended the nats-server that an earlier run left running");
    }
    Ok(())
}

/// As [`stop_orphan`], for the owner of the folder's lock.
fn stop(root: &Path) -> Result<Option<u32>, Error> {
    let Some(pid) = recorded_pid(root).filter(|pid| runs_on(*pid, root)) else { return Ok(None) };
    for (signal, timeout) in [(Signal::TERM, TERM_TIMEOUT), (Signal::KILL, KILL_TIMEOUT)] {
        let Some(target) = process(pid) else { return Ok(None) };
        if let Err(refused) = kill_process(target, signal) {
            if !runs_on(pid, root) {
                return Ok(Some(pid));
            }
            return Err(Error::Orphan { pid, reason: refused.to_string() });
        }
        let deadline = Instant::now() + timeout;
        while Instant::now() < deadline {
            if !runs_on(pid, root) {
                return Ok(Some(pid));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Err(Error::Orphan { pid, reason: "it does not end even when killed".into() })
}

fn recorded_pid(root: &Path) -> Option<u32> {
    std::fs::read_to_string(pid_file_in(root)).ok()?.trim().parse().ok()
}

/// Returns whether process `pid` is a server in this folder: the id may have been reused by another process.
fn runs_on(pid: u32, root: &Path) -> bool {
    let config = config_in(root);
    let config = config.as_os_str().as_encoded_bytes();
    if Path::new("/proc/self/cmdline").exists() {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        return arguments.split(|byte| *byte == 0).any(|argument| argument == config);
    }
    let listed = environment::command("ps").args(["-o", "command=", "-p", &pid.to_string()]).output();
    listed.is_ok_and(|listed| listed.stdout.windows(config.len()).any(|part| part == config))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a process that waits, with `config` among its arguments, as of a server.
    fn waiting_process(config: &Path) -> std::process::Child {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "read line", "sh"]).arg(config).stdin(std::process::Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn another_process_with_the_recorded_id_is_not_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = waiting_process(Path::new("/elsewhere/nats.json"));
        std::fs::write(pid_file_in(folder.path()), other.id().to_string()).unwrap();
        assert_eq!(stop_orphan(folder.path()).unwrap(), None);
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_folder_with_a_live_owner_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let _owner = try_lock(folder.path()).unwrap().unwrap();
        assert!(matches!(stop_orphan(folder.path()), Err(Error::InUse { .. })));
    }

    #[test]
    fn without_a_pid_file_or_folder_there_is_no_orphan() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(stop_orphan(folder.path()).unwrap(), None);
        std::fs::write(pid_file_in(folder.path()), "not a number").unwrap();
        assert_eq!(stop_orphan(folder.path()).unwrap(), None);
        assert_eq!(stop_orphan(&folder.path().join("absent")).unwrap(), None);
    }
}
