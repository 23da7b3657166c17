//! Finds the nats-server program and checks its version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::{Error, environment};
use crate::version::{self, Version};

const NAME: &str = "nats-server";

/// Parses the output of `nats-server --version`, such as `nats-server: v2.15.1`.
fn parse_version(output: &str) -> Option<Version> {
    Version::parse(output.trim().strip_prefix("nats-server: v")?)
}

/// Finds nats-server: at the `explicit` path if there is one; else in `.tools/bin`, where `bin/setup` installs it, of a folder above the
/// running program or of the current folder; else returns the bare name, to be found on `PATH`.
///
/// # Errors
///
/// Fails if there is no file at the explicit path.
pub fn find(explicit: Option<&Path>) -> Result<PathBuf, Error> {
    match explicit {
        Some(path) if path.is_file() => Ok(path.into()),
        Some(path) => Err(Error::Missing { tried: path.display().to_string() }),
        None => Ok(installed_paths().into_iter().find(|path| path.is_file()).unwrap_or_else(|| NAME.into())),
    }
}

/// Returns the paths where `bin/setup` may have installed it, nearest first.
fn installed_paths() -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let current = std::env::current_dir().unwrap_or_default();
    let folders = program.ancestors().skip(1).chain([current.as_path()]);
    folders.map(|folder| folder.join(".tools/bin").join(NAME)).collect()
}

/// Finds the program as [`find`] does, and runs it to check its version.
///
/// # Errors
///
/// Fails if there is no such program, it states no version within 10 seconds, or it is older than
/// [`MIN_VERSION`](crate::version::MIN_VERSION).
pub async fn find_supported(explicit: Option<&Path>) -> Result<PathBuf, Error> {
    let binary = find(explicit)?;
    let unusable = |reason: String| Error::Unusable { binary: binary.clone(), reason };
    let run = Command::from(environment::command(&binary)).arg("--version").kill_on_drop(true).output();
    let output = match timeout(Duration::from_secs(10), run).await {
        Err(_) => return Err(unusable("it did not state its version within 10 s".into())),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound && binary == Path::new(NAME) => {
            return Err(Error::Missing {
                tried: ".tools/bin/nats-server of this checkout or on PATH".into(),
            });
        }
        Ok(Err(error)) => return Err(unusable(error.to_string())),
        Ok(Ok(output)) => output,
    };
    let output = String::from_utf8_lossy(&output.stdout);
    let version = parse_version(&output)
        .ok_or_else(|| unusable(format!("it does not state a version, but {:?}", output.trim())))?;
    if version < version::MIN_VERSION {
        return Err(Error::TooOld {
            binary,
            found: version.to_string(),
            needed: version::MIN_VERSION.to_string(),
        });
    }
    Ok(binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_nats_server_states_its_version() {
        assert_eq!(parse_version("nats-server: v2.15.1\n"), Some(Version(2, 15, 1)));
        assert_eq!(parse_version("redis 7.0.1"), None);
    }

    #[test]
    fn an_explicit_path_is_the_only_one_tried() {
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
    fn the_checkouts_of_the_program_and_of_the_current_folder_are_searched() {
        let paths = installed_paths();
        let program = std::env::current_exe().unwrap();
        assert_eq!(paths[0], program.parent().unwrap().join(".tools/bin/nats-server"));
        assert_eq!(paths.last(), Some(&std::env::current_dir().unwrap().join(".tools/bin/nats-server")));
    }
}
