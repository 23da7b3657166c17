//! A server whose owner was killed lives on, for nothing tells it. The next owner of the folder ends it here.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use super::folder::{Folder, config_in, pid_file_in, try_lock};
use super::{Error, process};

const TERMINATED_WITHIN: Duration = Duration::from_secs(10);
const KILLED_WITHIN: Duration = Duration::from_secs(5);

/// Ends a server that runs on `folder` without an owner; gives its process id, or `None` when there was none.
///
/// A folder whose owner is alive is left alone and refused with [`Error::InUse`]. Blocks for up to 15 seconds.
pub fn end_orphan(folder: &Path) -> Result<Option<u32>, Error> {
    let Ok(root) = folder.canonicalize() else { return Ok(None) };
    let Some(_lock) = try_lock(&root)? else { return Err(Error::InUse { folder: root }) };
    end(&root)
}

/// Ends a server that an earlier owner of this folder left running.
pub(super) async fn end_left_behind(folder: &Folder) -> Result<(), Error> {
    let root = folder.root().to_owned();
    let ended = tokio::task::spawn_blocking(move || end(&root)).await;
    let ended = ended.map_err(|error| Error::folder(folder.root(), io::Error::other(error)))??;
    if let Some(pid) = ended {
        tracing::warn!(pid, "ended the nats-server that an earlier run left behind");
    }
    Ok(())
}

/// Like [`end_orphan`], for the holder of the folder's lock.
fn end(root: &Path) -> Result<Option<u32>, Error> {
    let Some(pid) = recorded(root).filter(|pid| runs_on(*pid, root)) else { return Ok(None) };
    for (signal, patience) in [(Signal::TERM, TERMINATED_WITHIN), (Signal::KILL, KILLED_WITHIN)] {
        let Some(target) = process(pid) else { return Ok(None) };
        if let Err(refused) = kill_process(target, signal) {
            if !runs_on(pid, root) {
                return Ok(Some(pid));
            }
            return Err(Error::Orphan { pid, reason: refused.to_string() });
        }
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if !runs_on(pid, root) {
                return Ok(Some(pid));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Err(Error::Orphan { pid, reason: "it does not end even when killed".into() })
}

fn recorded(root: &Path) -> Option<u32> {
    std::fs::read_to_string(pid_file_in(root)).ok()?.trim().parse().ok()
}

/// Whether process `pid` is a server on this very folder: a process id alone may long be someone else's.
fn runs_on(pid: u32, root: &Path) -> bool {
    let config = config_in(root);
    let config = config.as_os_str().as_encoded_bytes();
    if Path::new("/proc/self/cmdline").exists() {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        return arguments.split(|byte| *byte == 0).any(|argument| argument == config);
    }
    let listed = std::process::Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output();
    listed.is_ok_and(|listed| listed.stdout.windows(config.len()).any(|part| part == config))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that waits, with `config` among its arguments as a server has it.
    fn bystander(config: &Path) -> std::process::Child {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "read line", "sh"]).arg(config).stdin(std::process::Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_process_that_merely_has_the_recorded_id_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut stranger = bystander(Path::new("/elsewhere/nats.json"));
        std::fs::write(pid_file_in(folder.path()), stranger.id().to_string()).unwrap();
        assert_eq!(end_orphan(folder.path()).unwrap(), None);
        assert_eq!(stranger.try_wait().unwrap(), None);
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }

    #[test]
    fn a_folder_with_a_live_owner_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let _owner = try_lock(folder.path()).unwrap().unwrap();
        assert!(matches!(end_orphan(folder.path()), Err(Error::InUse { .. })));
    }

    #[test]
    fn no_record_and_no_folder_mean_no_orphan() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(end_orphan(folder.path()).unwrap(), None);
        std::fs::write(pid_file_in(folder.path()), "not a number").unwrap();
        assert_eq!(end_orphan(folder.path()).unwrap(), None);
        assert_eq!(end_orphan(&folder.path().join("absent")).unwrap(), None);
    }
}
