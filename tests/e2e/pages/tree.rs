//! The binary's commands with their flags, and the check of a documented command against them.

use std::collections::BTreeMap;
use std::path::Path;

use kit::process;

use crate::command_matrix::subcommands;
use crate::service::LOGGIA;

/// The help of each command by its words; that of the binary itself by none.
pub(super) struct Tree {
    helps: BTreeMap<String, String>,
    settings: String,
}

impl Tree {
    pub(super) fn of_the_binary() -> Tree {
        let printed = |args: &[&str]| process::run(&LOGGIA, Path::new("data"), args).stdout;
        let (mut helps, mut left) = (BTreeMap::new(), vec![String::new()]);
        while let Some(command) = left.pop() {
            let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            let help = printed(&args);
            left.extend(
                subcommands(&help)
                    .map(|name| format!("{command} {name}").trim().to_owned())
                    .filter(|name| !name.contains("help")),
            );
            helps.insert(command, help);
        }
        Tree { helps, settings: printed(&["--help-settings"]) }
    }

    /// Returns what is wrong with the commands of Loggia in a line, and with the files and units in it.
    pub(super) fn objections(&self, line: &str) -> impl Iterator<Item = String> {
        let words: Vec<&str> =
            line.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')'])).collect();
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if ["loggia", "/usr/local/bin/loggia"].contains(word) && !is_an_argument(&words[..at]) {
                found.extend(self.of_command(&words[at + 1..]));
            }
            if *word == "loggia-run" {
                let skipped = if words.get(at + 1) == Some(&"-u") { 3 } else { 1 };
                found.extend(self.of_command(words.get(at + skipped..).unwrap_or_default()));
            }
            if let Some(path) = word.strip_prefix("deploy/").filter(|_| !exists(word)) {
                found.push(format!("there is no deploy/{path}"));
            }
        }
        if ["systemctl", "journalctl"].iter().any(|program| words.contains(program)) {
            found.extend(
                words.iter().filter(|word| word.starts_with("loggia")).filter_map(|unit| without_file(unit)),
            );
        }
        found.into_iter()
    }

    /// Returns what is wrong with the words after `loggia`.
    fn of_command(&self, words: &[&str]) -> Option<String> {
        let ends = |word: &&&str| ["|", ">", ">>", "<", "&&", ";", "&", "…"].contains(*word);
        let end = words.iter().position(|word| ends(&word)).unwrap_or(words.len());
        let words = &words[..end];
        let (mut command, mut rest) = (String::new(), words);
        while let Some((word, more)) = rest.split_first() {
            // A setting may precede the command.
            if command.is_empty() && word.starts_with("--") {
                rest = if word.contains('=') || *word == "--json" {
                    more
                } else {
                    more.get(1..).unwrap_or_default()
                };
                continue;
            }
            let longer = format!("{command} {word}").trim().to_owned();
            if !self.helps.contains_key(&longer) {
                break;
            }
            (command, rest) = (longer, more);
        }
        let help = &self.helps[&command];
        let is_group = subcommands(help).next().is_some() && !help.contains("Arguments:");
        let next = rest.first().filter(|word| !word.starts_with('-') && word.chars().any(char::is_lowercase));
        if let Some(next) = next.filter(|_| is_group) {
            return Some(format!("there is no command {command} {next}"));
        }
        let flags = words.iter().filter(|word| word.starts_with("--") && word.len() > 2);
        let mut names = flags.map(|flag| flag.split('=').next().unwrap_or_default());
        let known = |flag: &str| [help.as_str(), &self.settings].iter().any(|text| has_flag(text, flag));
        names.find(|flag| !known(flag)).map(|flag| format!("the command {command} has no flag {flag}"))
    }
}

fn has_flag(text: &str, flag: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').any(|word| word == flag)
}

/// Returns whether the word after these is the operand of a program such as systemctl.
fn is_an_argument(before: &[&str]) -> bool {
    let programs = [
        "systemctl",
        "journalctl",
        "docker",
        "podman",
        "kubectl",
        "useradd",
        "id",
        "install",
        "cp",
        "mv",
        "rm",
        "chown",
    ];
    before.iter().any(|word| programs.contains(word))
}

fn exists(path: &str) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path.trim_end_matches('/')).exists()
}

/// Returns whether a unit has no file.
fn without_file(unit: &str) -> Option<String> {
    let (name, kind) = match unit.rsplit_once('.') {
        Some((name, kind)) if ["service", "timer"].contains(&kind) => (name, kind),
        _ => (unit, "service"),
    };
    let name = name.split_once('@').map_or(name.to_owned(), |(name, _)| format!("{name}@"));
    let file = format!("deploy/systemd/{name}.{kind}");
    (!exists(&file)).then(|| format!("there is no {file}"))
}
