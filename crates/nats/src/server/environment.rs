//! The environment of the programs that this package starts: what they need, since the rest may hold secrets of the application.

use std::ffi::OsStr;
use std::process::Command;

/// The variables that they inherit: where programs and temporary files are, the time zone of the log, and the settings of the Go
/// runtime that an operator may have chosen.
const INHERITED: [&str; 8] =
    ["GODEBUG", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "HOME", "PATH", "TMPDIR", "TZ"];

/// Returns a command with only [`INHERITED`] in its environment.
#[expect(
    clippy::disallowed_methods,
    reason = "the variables are handed on, and are no settings of this process"
)]
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    command.envs(INHERITED.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it shows that there was something to keep back")]
    fn a_program_inherits_nothing_but_what_it_needs() {
        // Cargo and the shell set others for a test.
        let printed = command("env").output().unwrap();
        let text = String::from_utf8(printed.stdout).unwrap();
        let inherited: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert!(inherited.contains(&"PATH"), "{text}");
        assert!(inherited.iter().all(|name| INHERITED.contains(name)), "{text}");
        assert!(std::env::vars_os().any(|(name, _)| !INHERITED.iter().any(|kept| name == *kept)));
    }
}
