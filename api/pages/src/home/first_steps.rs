//! What the front page of an empty catalog says instead of projects: how it is filled.

use answers::command_line::{CommandLine, is_from_this_machine};
use answers::state::ApiState;
use http::HeaderMap;

/// A command, and what it does.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) does: &'static str,
    pub(super) command: String,
}

/// Returns the steps that fill a catalog with this number of projects, on its front page, of whose request these are the headers; none
/// on other pages, and none once there is a project. Only a caller at this machine is shown the paths of it: a public page must not say
/// where a server keeps its data, or in which user's folder. Everybody else sees the same commands without paths.
pub(super) fn of(state: &ApiState, headers: Option<&HeaderMap>, projects: u64) -> Vec<Step> {
    let Some(headers) = headers.filter(|_| projects == 0) else { return Vec::new() };
    let plain = CommandLine::default();
    let known = state.command_line().filter(|_| is_from_this_machine(headers));
    steps(known.unwrap_or(&plain), state.access().keys().is_some())
}

fn steps(line: &CommandLine, has_keys: bool) -> Vec<Step> {
    let step = |does, command| Step { does, command };
    let mut steps = vec![
        step(
            "Let a first mapping of your spreadsheet or export be suggested, and correct it.",
            line.suggest(),
        ),
        step(
            "Import the records. With --dry-run nothing is written, and the first three are shown.",
            line.import(),
        ),
    ];
    if has_keys {
        steps.push(step("Create a key for REST and MCP.", line.issue_key()));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_commands_with_the_paths_of_the_catalog() {
        let line = CommandLine::new("loggia".to_owned(), &["--config /srv/shop/loggia.toml".to_owned()]);
        let commands = |has_keys| -> Vec<String> {
            steps(&line, has_keys).into_iter().map(|step| step.command).collect()
        };
        let expected = [
            "loggia import works.csv --suggest works.toml --config /srv/shop/loggia.toml",
            "loggia import works.csv --mapping works.toml --config /srv/shop/loggia.toml",
            "loggia keys issue --email you@example.org --config /srv/shop/loggia.toml",
        ];
        assert_eq!(commands(true), expected);
        assert_eq!(commands(false), expected[..2]);
    }
}
