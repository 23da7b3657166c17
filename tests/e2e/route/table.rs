//! Every command of `loggia --help` with valid arguments, and its outcome in adverse conditions.

use std::path::Path;

use kit::process;

use crate::started::LOGGIA;

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// With this status.
    With(i32),
    /// With 0, or with 1 if the test machine causes a warning.
    AsTheMachineIs,
}

/// A command with valid arguments and its outcomes. In the arguments `IN` is a folder with input files, `NEW` is a path
/// that does not exist, `P` is one of [`PREFIXES`], `KEY` is the id of a key, `PICTURE` of a picture, and `BACKUP` is a
/// backup.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) command: &'static str,
    pub(super) args: &'static str,
    /// Whether it is wrong usage without arguments.
    pub(super) needs_args: bool,
    /// Whether it reads the data folder, and rejects an unusable one.
    pub(super) uses_folder: bool,
    /// Whether its output is a report of findings, also if they are bad.
    pub(super) reports: bool,
    /// Whether it prints to standard output.
    pub(super) prints: bool,
    /// On a folder with a running service.
    pub(super) running: Ends,
    /// On a folder with a stopped service.
    pub(super) stopped: Ends,
    /// The same with a closed standard output.
    pub(super) unread: Ends,
    /// On a data folder that does not exist.
    pub(super) empty: Ends,
}

/// Prefixes of slugs and addresses in the prepared folder: one for each run that changes something.
pub(super) const PREFIXES: [&str; 3] = ["text", "json", "stopped"];

pub(super) const ROLES: [&str; 5] = ["up", "write", "project", "serve", "read"];

const fn row(command: &'static str, args: &'static str) -> Row {
    let done = Ends::With(0);
    Row {
        command,
        args,
        needs_args: !args.is_empty(),
        uses_folder: true,
        reports: false,
        prints: true,
        running: done,
        stopped: done,
        unread: done,
        empty: done,
    }
}

impl Row {
    /// It needs existing data, and fails on a folder that does not exist.
    const fn on_something(self) -> Row {
        Row { empty: Ends::With(1), ..self }
    }

    const fn optional(self) -> Row {
        Row { needs_args: false, ..self }
    }

    const fn anywhere(self) -> Row {
        Row { uses_folder: false, ..self }
    }

    const fn silent(self) -> Row {
        Row { prints: false, ..self }
    }

    /// Its output is shown only once.
    const fn once(self) -> Row {
        Row { unread: Ends::With(1), ..self }
    }

    /// It works only on an empty folder.
    const fn only_on_nothing(self) -> Row {
        let refused = Ends::With(1);
        Row { running: refused, stopped: refused, unread: refused, prints: false, ..self }
    }

    const fn report(self) -> Row {
        Row { reports: true, ..self }
    }

    const fn as_the_machine_is(self) -> Row {
        let found = Ends::AsTheMachineIs;
        Row { running: found, stopped: found, unread: found, empty: Ends::With(2), ..self }
    }
}

/// Returns all commands except the roles.
pub(super) const TABLE: [Row; 41] = [
    row("import", "IN/P.ndjson"),
    row("export", "").on_something(),
    row("curate select", "IN/P.json"),
    row("curate revise", "P-1 --set city=Bonn").on_something(),
    row("curate attach", "P-1 IN/P.png --alt Grey").on_something(),
    row("curate rename", "P-2 P-home").on_something(),
    row("curate withdraw", "P-3 --reason gone").on_something(),
    row("curate restore", "P-4").on_something(),
    row("curate history", "P-1").on_something(),
    row("rebuild", "catalog").on_something(),
    row("verify", "catalog").on_something().optional(),
    row("verify", "media").optional(),
    row("events tail", "--from 1 --no-follow").on_something().optional(),
    row("events show", "1").on_something(),
    row("events head", "").on_something(),
    row("events verify", "").on_something(),
    row("keys issue", "--email i@P.example").once(),
    row("keys list", "").on_something(),
    row("keys revoke", "KEY").on_something(),
    row("keys tier", "--email t@P.example studio").on_something(),
    row("keys link", "--email t@P.example --public-url https://catalog.example.org").once().on_something(),
    row("keys erase", "--email e@P.example").on_something(),
    row("payments replay", "IN/payments.json"),
    row("payments list", "").on_something().silent(),
    // There are no payments.
    row("payments move", "cus_none --to t@P.example").only_on_nothing().on_something(),
    row("pictures list", "").on_something(),
    row("pictures retry", "").on_something(),
    row("pictures remake", "").on_something(),
    row("pictures erase", "PICTURE").on_something(),
    row("audit", "verify").on_something(),
    row("status", "").anywhere().report(),
    row("config", "").anywhere(),
    row("doctor", "").report().as_the_machine_is(),
    row("nats config", "NEW").anywhere(),
    row("backup", "NEW").on_something(),
    row("backup verify", "BACKUP").anywhere(),
    row("snapshot", "NEW").on_something(),
    row("restore", "BACKUP").only_on_nothing(),
    row("store copy", "sqlite:BACKUP sqlite:NEW").anywhere(),
    row("store keeper", "").anywhere().only_on_nothing().on_something(),
    row("bench", "import --size 5").anywhere().optional(),
];

/// Returns every command in the binary's help that is not only a group of commands.
pub(super) fn commands_of_the_binary() -> Vec<String> {
    let mut found = Vec::new();
    let mut groups = vec![String::new()];
    while let Some(group) = groups.pop() {
        let args: Vec<&str> = group.split_whitespace().chain(["--help"]).collect();
        let output = process::run(LOGGIA, Path::new("data"), &args);
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{group}: {help}");
        let named: Vec<&str> = subcommands(&help).filter(|name| *name != "help").collect();
        let is_command = named.is_empty() || help.contains("Arguments:");
        if is_command && !group.is_empty() {
            found.push(group.clone());
        }
        groups.extend(named.iter().map(|name| format!("{group} {name}").trim().to_owned()));
    }
    found.sort();
    found
}

/// Returns the first words of the lines below `Commands:`; continuation lines are indented further.
pub(crate) fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let below = help.split_once("Commands:\n").map_or("", |(_, below)| below);
    let lines = below.lines().take_while(|line| !line.is_empty());
    lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next())
}
