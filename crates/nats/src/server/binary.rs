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

/// Finds nats-server: at the `explicit` path if there is one; else where a release has it, in the folder of the running program or in
/// `../lib/loggia` from there; else in `.tools/bin`, where `bin/setup` installs it, of a folder above the program or of the current
/// folder; else returns the bare name, to be found on `PATH`.
///
/// # Errors
///
/// Fails if there is no file at the explicit path.
pub fn find(explicit: Option<&Path>) -> Result<PathBuf, Error> {
    match explicit {
        Some(path) if path.is_file() => Ok(path.into()),
        Some(path) => Err(Error::Missing { tried: path.display().to_string() }),
        None => {
            let current = std::env::current_dir().unwrap_or_default();
            Ok(find_near(&running_program(), &current).unwrap_or_else(|| NAME.into()))
        }
    }
}

/// Returns the path of the running program with its symbolic links resolved; an empty one if the system does not tell it.
fn running_program() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.canonicalize().unwrap_or(program)
}

/// Finds the file that comes first for this program and this current folder.
fn find_near(program: &Path, current: &Path) -> Option<PathBuf> {
    searched_paths(program, current).find(|path| path.is_file())
}

/// Returns the paths of the search, in its order.
fn searched_paths<'a>(program: &'a Path, current: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    released_paths(program).chain(installed_paths(program, current))
}

/// Returns the paths where a release has it.
fn released_paths(program: &Path) -> impl Iterator<Item = PathBuf> {
    let beside = program.parent();
    let library = beside.and_then(Path::parent).map(|prefix| prefix.join("lib/loggia"));
    beside.map(Path::to_owned).into_iter().chain(library).map(|folder| folder.join(NAME))
}

/// Returns the paths where `bin/setup` may have installed it, nearest first.
fn installed_paths<'a>(program: &'a Path, current: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    let folders = program.ancestors().skip(1).chain([current]);
    folders.map(|folder| folder.join(".tools/bin").join(NAME))
}

/// Returns in words where a search for this program looks.
fn searched(program: &Path) -> String {
    let released = released_paths(program).map(|path| format!("{}, ", path.display()));
    format!("{}.tools/bin/{NAME} of this checkout or on PATH", released.collect::<String>())
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
            return Err(Error::Missing { tried: searched(&running_program()) });
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
    fn that_of_a_release_comes_before_those_of_checkouts() {
        let paths = |program: &str| -> Vec<String> {
            let paths = searched_paths(Path::new(program), Path::new("/home/ada"));
            paths.map(|path| path.display().to_string()).collect()
        };
        assert_eq!(
            paths("/opt/bin/loggia"),
            [
                "/opt/bin/nats-server",
                "/opt/lib/loggia/nats-server",
                "/opt/bin/.tools/bin/nats-server",
                "/opt/.tools/bin/nats-server",
                "/.tools/bin/nats-server",
                "/home/ada/.tools/bin/nats-server",
            ]
        );
        assert_eq!(paths(""), ["/home/ada/.tools/bin/nats-server"]);
    }

    #[test]
    fn the_first_that_is_there_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bin/loggia");
        for path in ["lib/loggia/nats-server", "bin/nats-server"] {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            assert_eq!(find_near(&program, folder.path()), Some(file));
        }
    }

    #[test]
    fn what_is_searched_is_said() {
        let refused = Error::Missing { tried: searched(Path::new("/usr/local/bin/loggia")) }.to_string();
        assert_eq!(
            refused,
            "nats-server was not found at /usr/local/bin/nats-server, /usr/local/lib/loggia/nats-server, \
             .tools/bin/nats-server of this checkout or on PATH; run bin/setup, or set LOGGIA_NATS_SERVER to the program, or \
             give LOGGIA_NATS_URL to use a server that runs already"
        );
        assert_eq!(searched(Path::new("")), ".tools/bin/nats-server of this checkout or on PATH");
        let program = running_program();
        assert_eq!(program, program.canonicalize().unwrap());
    }
}
