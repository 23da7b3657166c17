//! Every command of `loggia --help` with right arguments, and how it ends where something is in its way.

use std::path::Path;

use kit::process;

use crate::started::LOGGIA;

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// With this status.
    With(i32),
    /// With 0, or with 1 where the machine of the test is warned of.
    AsTheMachineIs,
}

/// A command with what is right and how it ends. In the arguments `IN` is a folder with files for it, `NEW` is a path where
/// nothing is yet, `P` is one of [`PREFIXES`], `KEY` is the id of a key, `PICTURE` of a picture, and `BACKUP` is a backup.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) command: &'static str,
    pub(super) args: &'static str,
    /// Without arguments it is wrong usage.
    pub(super) needs_args: bool,
    /// Whether it looks into the data folder, and refuses one that it cannot use.
    pub(super) uses_folder: bool,
    /// Whether its answer is a report of what it found, also where that is bad.
    pub(super) reports: bool,
    /// Whether it prints something on standard output.
    pub(super) prints: bool,
    /// On a folder whose service runs.
    pub(super) running: Ends,
    /// On a folder whose service is stopped.
    pub(super) stopped: Ends,
    /// There, where standard output is closed before anything is read.
    pub(super) unread: Ends,
    /// In a data folder that does not exist.
    pub(super) empty: Ends,
}

/// Slugs and addresses of the prepared folder begin with one of these: one for each run that changes something.
pub(super) const PREFIXES: [&str; 3] = ["text", "json", "stopped"];

/// Which run until they are told to end.
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
    /// Has nothing to work on in a folder that does not exist.
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

    /// What it prints is shown this once.
    const fn once(self) -> Row {
        Row { unread: Ends::With(1), ..self }
    }

    /// Works on an empty folder only.
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

/// All commands but the roles.
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
    // Nothing was paid.
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

/// Returns every command that the help of the binary names and that does something by itself.
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

/// The first words of the lines below `Commands:`; lines that go on are further to the right.
pub(crate) fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let below = help.split_once("Commands:\n").map_or("", |(_, below)| below);
    let lines = below.lines().take_while(|line| !line.is_empty());
    lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next())
}
