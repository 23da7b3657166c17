//! Every command of `loggia --help` with valid arguments, and its outcome in adverse conditions.

use std::path::Path;

use kit::process;

use crate::service::LOGGIA;

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// With this status.
    With(i32),
    /// With 0, or with 1 if the test machine causes a warning.
    DependsOnMachine,
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
    pub(super) running: Exit,
    /// On a folder with a stopped service.
    pub(super) stopped: Exit,
    /// The same with a closed standard output.
    pub(super) unread: Exit,
    /// On a data folder that does not exist.
    pub(super) empty: Exit,
}

/// Prefixes of slugs and addresses in the prepared folder: one for each run that changes something.
pub(super) const PREFIXES: [&str; 3] = ["text", "json", "stopped"];

pub(super) const ROLES: [&str; 5] = ["up", "write", "project", "serve", "read"];

const fn row(command: &'static str, args: &'static str) -> Row {
    let done = Exit::With(0);
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
    const fn needs_data(self) -> Row {
        Row { empty: Exit::With(1), ..self }
    }

    const fn optional(self) -> Row {
        Row { needs_args: false, ..self }
    }

    const fn without_folder(self) -> Row {
        Row { uses_folder: false, ..self }
    }

    const fn without_output(self) -> Row {
        Row { prints: false, ..self }
    }

    /// Its output is shown only once.
    const fn printed_once(self) -> Row {
        Row { unread: Exit::With(1), ..self }
    }

    /// It works only on an empty folder.
    const fn needs_empty_folder(self) -> Row {
        let refused = Exit::With(1);
        Row { running: refused, stopped: refused, unread: refused, prints: false, ..self }
    }

    const fn reports_status(self) -> Row {
        Row { reports: true, ..self }
    }

    const fn depends_on_machine(self) -> Row {
        let found = Exit::DependsOnMachine;
        Row { running: found, stopped: found, unread: found, empty: Exit::With(2), ..self }
    }
}

/// Returns all commands except the roles.
pub(super) const TABLE: [Row; 48] = [
    row("init", "NEW --yes").without_folder(),
    row("import", "IN/P.ndjson"),
    row("mappings add", "IN/P.toml"),
    row("mappings list", ""),
    row("mappings show", "P-kept").needs_data(),
    row("mappings remove", "P-kept").needs_data(),
    row("export", "").needs_data(),
    row("curate select", "IN/P.json"),
    row("curate revise", "P-1 --set city=Bonn").needs_data(),
    row("curate attach", "P-1 IN/P.png --alt Grey").needs_data(),
    row("curate rename", "P-2 P-home").needs_data(),
    row("curate withdraw", "P-3 --reason gone").needs_data(),
    row("curate restore", "P-4").needs_data(),
    row("curate history", "P-1").needs_data(),
    row("rebuild", "catalog").needs_data(),
    row("verify", "catalog").needs_data().optional(),
    row("verify", "media").optional(),
    row("events tail", "--from 1 --no-follow").needs_data().optional(),
    row("events show", "1").needs_data(),
    row("events head", "").needs_data(),
    row("events verify", "").needs_data(),
    row("keys issue", "--email i@P.example").printed_once(),
    row("keys list", "").needs_data(),
    row("keys revoke", "KEY").needs_data(),
    row("keys tier", "--email t@P.example studio").needs_data(),
    row("keys link", "--email t@P.example --public-url https://catalog.example.org")
        .printed_once()
        .needs_data(),
    row("keys erase", "--email e@P.example").needs_data(),
    row("payments replay", "IN/payments.json"),
    row("payments list", "").needs_data().without_output(),
    // There are no payments.
    row("payments move", "cus_none --to t@P.example").needs_empty_folder().needs_data(),
    row("pictures list", "").needs_data(),
    row("pictures retry", "").needs_data(),
    row("pictures remake", "").needs_data(),
    row("pictures erase", "PICTURE").needs_data(),
    row("models", ""),
    // The folder has no weights.
    row("models fetch", "IN/.").needs_empty_folder().needs_data(),
    row("audit", "verify").needs_data(),
    row("status", "").without_folder().reports_status(),
    row("config", "").without_folder(),
    row("doctor", "").reports_status().depends_on_machine(),
    row("nats config", "NEW").without_folder(),
    row("backup", "NEW").needs_data(),
    row("backup verify", "BACKUP").without_folder(),
    row("snapshot", "NEW").needs_data(),
    row("restore", "BACKUP").needs_empty_folder(),
    row("store copy", "sqlite:BACKUP sqlite:NEW").without_folder(),
    row("store keeper", "").without_folder().needs_empty_folder().needs_data(),
    row("bench", "import --size 5").without_folder().optional(),
];

/// Returns every command in the binary's help that is not only a group of commands.
pub(super) fn commands_of_the_binary() -> Vec<String> {
    let mut found = Vec::new();
    let mut groups = vec![String::new()];
    while let Some(group) = groups.pop() {
        let args: Vec<&str> = group.split_whitespace().chain(["--help"]).collect();
        let output = process::run(&LOGGIA, Path::new("data"), &args);
        let help = output.stdout;
        assert!(output.status.success(), "{group}: {help}");
        let named: Vec<&str> = subcommands(&help).filter(|name| *name != "help").collect();
        let is_command = named.is_empty() || help.contains("Arguments:") || help.contains(" [COMMAND]");
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
