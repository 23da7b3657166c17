//! Finding a nats-server and refusing one that is too old.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::Error;
use crate::version::{self, Version};

const NAME: &str = "nats-server";

/// Reads the answer to `nats-server --version`, such as `nats-server: v2.15.1`.
fn stated_in(answer: &str) -> Option<Version> {
    Version::parse(answer.trim().strip_prefix("nats-server: v")?)
}

/// Looks for nats-server: the explicit setting alone if there is one; else what `bin/setup` brought into the checkout
/// that the running program or the current folder is in; else the bare name, for the system to find on `PATH`.
pub fn find(explicit: Option<&Path>) -> Result<PathBuf, Error> {
    match explicit {
        Some(path) if path.is_file() => Ok(path.into()),
        Some(path) => Err(Error::Missing { looked_at: path.display().to_string() }),
        None => Ok(brought().into_iter().find(|path| path.is_file()).unwrap_or_else(|| NAME.into())),
    }
}

/// Every place in which `bin/setup` may have put it, nearest first.
fn brought() -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let current = std::env::current_dir().unwrap_or_default();
    let folders = program.ancestors().skip(1).chain([current.as_path()]);
    folders.map(|folder| folder.join(".tools/bin").join(NAME)).collect()
}

/// Finds the program as [`find`] does, runs it once for its version and refuses an old one.
pub async fn usable(explicit: Option<&Path>) -> Result<PathBuf, Error> {
    let binary = find(explicit)?;
    let unusable = |reason: String| Error::Unusable { binary: binary.clone(), reason };
    let asked = Command::new(&binary).arg("--version").kill_on_drop(true).output();
    let answer = match timeout(Duration::from_secs(10), asked).await {
        Err(_) => return Err(unusable("it did not state its version within 10 s".into())),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound && binary == Path::new(NAME) => {
            return Err(Error::Missing {
                looked_at: ".tools/bin/nats-server of this checkout or on PATH".into(),
            });
        }
        Ok(Err(error)) => return Err(unusable(error.to_string())),
        Ok(Ok(output)) => output,
    };
    let answer = String::from_utf8_lossy(&answer.stdout);
    let version = stated_in(&answer)
        .ok_or_else(|| unusable(format!("it does not state a version, but {:?}", answer.trim())))?;
    if version < version::OLDEST {
        return Err(Error::TooOld {
            binary,
            found: version.to_string(),
            needed: version::OLDEST.to_string(),
        });
    }
    Ok(binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_nats_server_states_its_version() {
        assert_eq!(stated_in("nats-server: v2.15.1\n"), Some(Version(2, 15, 1)));
        assert_eq!(stated_in("redis 7.0.1"), None);
    }

    #[test]
    fn an_explicit_setting_is_the_only_place_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("nats-server");
        let refused = find(Some(&absent)).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!(
                "nats-server was not found at {}; run bin/setup, or set LOGGIA_NATS_SERVER to the program, or give \
                 LOGGIA_NATS_URL to use a server that runs already",
                absent.display()
            )
        );
        std::fs::write(&absent, "").unwrap();
        assert_eq!(find(Some(&absent)).unwrap(), absent);
    }

    #[test]
    fn the_checkout_around_the_program_and_the_current_folder_are_looked_at() {
        let places = brought();
        let program = std::env::current_exe().unwrap();
        assert_eq!(places[0], program.parent().unwrap().join(".tools/bin/nats-server"));
        assert_eq!(places.last(), Some(&std::env::current_dir().unwrap().join(".tools/bin/nats-server")));
    }
}
