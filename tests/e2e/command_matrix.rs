//! Every command of the binary, used correctly and wrongly: on unusable folders, with and without a service, with a
//! closed output and on a full disk. Each ends with the documented status and one sentence.

mod prepared;
mod table;

use std::fs::File;
use std::os::unix::fs::chown;
use std::path::Path;

use kit::nats::Nats;
use kit::{ProgramOutput, process, skipped};
use serde_json::Value;

use crate::service::{LOGGIA, TIMEOUT, spawn_on};
pub(crate) use prepared::PreparedFolder;
pub(crate) use table::subcommands;
use table::{Exit, ROLES, Row, TABLE, commands_of_the_binary};

/// Words that users must never read, since they describe the implementation.
const INTERNAL_WORDS: [&str; 9] =
    ["panicked", "backtrace", "Os {", "Error {", "Err(", "Some(", "Kind(", "src/", "::"];

/// The collected faults, reported together at the end.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn expect(&mut self, holds: bool, what: &str, output: &ProgramOutput) {
        if !holds {
            self.0.push(format!("{what}: {output}"));
        }
    }

    /// Checks that a part is in the messages of a command.
    fn expect_message(&mut self, part: &str, what: &str, output: &ProgramOutput) {
        self.expect(output.stderr.contains(part), what, output);
    }

    /// Checks the exit status of a command and that its messages are for people.
    fn check(&mut self, what: &str, output: &ProgramOutput, exit: Exit) {
        let status = output.status.code();
        let as_expected = match exit {
            Exit::With(expected) => status == Some(expected),
            Exit::DependsOnMachine => status == Some(0) || status == Some(1),
        };
        self.expect(as_expected, &format!("{what}: it should end with {exit:?}"), output);
        let stderr = &output.stderr;
        self.expect(
            !INTERNAL_WORDS.iter().any(|word| stderr.contains(word)),
            &format!("{what}: it shows its inside"),
            output,
        );
    }

    /// Checks the same for a failure, which is reported in one line.
    fn check_failure(&mut self, what: &str, output: &ProgramOutput) {
        self.check(what, output, Exit::With(1));
        let stderr = &output.stderr;
        let sentences =
            stderr.trim().lines().filter(|line| !line.starts_with("this is a debug build")).count();
        self.expect(sentences == 1, &format!("{what}: it should say one sentence"), output);
    }

    /// Checks that standard output is JSON, and for a failure one object with the sentence.
    fn check_json(&mut self, what: &str, output: &ProgramOutput, reports: bool) {
        let out = &output.stdout;
        let lines: Option<Vec<Value>> = out.lines().map(|line| serde_json::from_str(line).ok()).collect();
        let Some(lines) = lines else {
            return self.expect(false, &format!("{what}: its answers should be JSON"), output);
        };
        if output.status.success() || reports {
            return;
        }
        let stderr = &output.stderr;
        let is_failure = |line: &Value| {
            let text = |member: &str| line[member].as_str().unwrap_or_default().to_owned();
            !text("kind").is_empty() && !text("detail").is_empty() && stderr.contains(&text("detail"))
        };
        self.expect(
            lines.len() == 1 && is_failure(&lines[0]),
            &format!("{what}: one object should say the failure"),
            output,
        );
    }

    fn assert_none(self) {
        assert!(self.0.is_empty(), "{} are wrong:\n{}", self.0.len(), self.0.join("\n"));
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn run(data: &Path, args: &[String]) -> ProgramOutput {
    ProgramOutput::of(process::command(&LOGGIA, data).env("LOGGIA_LOG", "warn").args(args))
}

/// Returns the commands with valid arguments, including the roles.
fn all() -> Vec<(String, Vec<String>)> {
    let nowhere = ["--nats-url", "nats://127.0.0.1:1"].map(str::to_owned);
    let roles = ROLES.map(|role| match role {
        "up" => (role.to_owned(), words("up --no-demo")),
        _ => (role.to_owned(), [vec![role.to_owned()], nowhere.to_vec()].concat()),
    });
    let rows =
        TABLE.iter().map(|row| (row.command.to_owned(), words(&format!("{} {}", row.command, row.args))));
    roles.into_iter().chain(rows).collect()
}

#[test]
fn the_guide_says_where_each_command_runs_in_a_cluster() {
    let guide = include_str!("../../docs/operating/cluster.md");
    let rows: String = guide.lines().filter(|line| line.starts_with('|')).collect();
    let is_named = |command: &str| ["`", " "].iter().any(|end| rows.contains(&format!("`{command}{end}")));
    let missing: Vec<&str> =
        TABLE.iter().map(|row| row.command).filter(|command| !is_named(command)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn every_command_is_in_the_table() {
    let mut rows: Vec<&str> = TABLE.iter().map(|row| row.command).chain(ROLES).collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(commands_of_the_binary(), rows);
}

#[test]
fn wrong_usage_exits_with_2_and_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut faults = Faults::default();
    for (command, valid_args) in all() {
        let with = |more: &[&str]| {
            [valid_args.clone(), more.iter().map(|word| (*word).to_owned()).collect()].concat()
        };
        let unknown = run(&data, &with(&["--no-such-flag"]));
        let what = format!("{command} with an unknown flag");
        faults.check(&what, &unknown, Exit::With(2));
        let stderr = &unknown.stderr;
        faults.expect(
            stderr.contains("'--no-such-flag'") && stderr.contains("Usage: loggia"),
            &what,
            &unknown,
        );
        faults.expect(unknown.stdout.is_empty(), &what, &unknown);
        let setting = run(&data, &with(&["--listen", "here", "--json"]));
        let what = format!("{command} with a wrong setting");
        faults.check(&what, &setting, Exit::With(2));
        faults.check_json(&what, &setting, false);
        let stderr = &setting.stderr;
        faults.expect(
            stderr.starts_with("loggia: listen is “here” (flag), which cannot be used"),
            &what,
            &setting,
        );
    }
    for row in TABLE.iter().filter(|row| row.needs_args) {
        let what = format!("{} without arguments", row.command);
        let missing = run(&data, &words(row.command));
        faults.check(&what, &missing, Exit::With(2));
        let stderr = &missing.stderr;
        faults.expect(stderr.contains("required") && stderr.contains("Usage: loggia"), &what, &missing);
    }
    faults.assert_none();
    assert!(!data.exists(), "nothing was made");
}

#[tokio::test]
async fn every_command_rejects_an_unusable_folder() {
    let Some(mut prepared) = PreparedFolder::start().await else { return };
    prepared.stop().await;
    let mut faults = Faults::default();
    let path = |name: &str| prepared.at(name);
    std::fs::create_dir(path("newer")).unwrap();
    std::fs::write(path("newer/format"), "2\n").unwrap();
    std::fs::write(path("file"), "x").unwrap();
    std::fs::create_dir(path("strange")).unwrap();
    std::fs::write(path("strange/format"), "about\n").unwrap();
    let refused = [
        ("newer", "was written by a newer version of Loggia (format 2; this one reads up to 1)"),
        ("file", "is a file, not a data folder"),
        ("strange", "does not hold a number; is this a data folder of Loggia?"),
    ];
    let users = TABLE.iter().filter(|row| row.uses_folder && !row.reports);
    let users: Vec<&str> = users.map(|row| row.command).chain(ROLES).collect();
    for (command, valid_args) in all().into_iter().filter(|(command, _)| users.contains(&command.as_str())) {
        let args = [prepared.filled(&valid_args, "stopped"), words("--json")].concat();
        for (name, reason) in refused {
            let what = format!("{command} on a folder that is {name}");
            let output = run(&path(name), &args);
            faults.check_failure(&what, &output);
            faults.expect_message(reason, &what, &output);
            if !ROLES.contains(&command.as_str()) {
                faults.check_json(&what, &output, false);
            }
        }
    }
    for name in ["newer", "strange"] {
        assert_eq!(std::fs::read_dir(path(name)).unwrap().count(), 1, "{name} is as it was");
    }
    faults.assert_none();
}

#[tokio::test]
async fn every_command_rejects_a_folder_of_another_user_and_leaves_it_unchanged() {
    const OTHER: u32 = 12_345;
    let Some(mut prepared) = PreparedFolder::start().await else { return };
    prepared.stop().await;
    let theirs = prepared.copy("theirs");
    for path in prepared::all_paths(&theirs) {
        if chown(&path, Some(OTHER), Some(OTHER)).is_err() {
            return skipped("only root can give files to another user");
        }
    }
    let before = prepared::owners(&theirs);
    let mut faults = Faults::default();
    let users = TABLE.iter().filter(|row| row.uses_folder && !row.reports);
    let users: Vec<&str> = users.map(|row| row.command).chain(ROLES).collect();
    for (command, valid_args) in all().into_iter().filter(|(command, _)| users.contains(&command.as_str())) {
        let output = run(&theirs, &prepared.filled(&valid_args, "stopped"));
        let what = format!("{command} on a folder of another user");
        faults.check_failure(&what, &output);
        faults.expect_message("belongs to the user with the id 12345", &what, &output);
        faults.expect(prepared::owners(&theirs) == before, &format!("{what}: it changed something"), &output);
    }
    faults.assert_none();
}

#[tokio::test]
async fn every_command_works_while_the_service_runs() {
    let Some(mut prepared) = PreparedFolder::start().await else { return };
    let mut faults = Faults::default();
    for (prefix, more) in [("text", ""), ("json", "--json")] {
        for Row { command, args, running, reports, .. } in TABLE {
            let args = words(&format!("{command} {args} {more}"));
            let output = run(prepared.data(), &prepared.filled(&args, prefix));
            let what = format!("{command} {more} beside the service");
            faults.check(&what, &output, running);
            if prefix == "json" {
                faults.check_json(&what, &output, reports);
            }
        }
    }
    faults.assert_none();
    prepared.stop().await;
}

#[tokio::test]
async fn every_command_works_without_the_service_and_with_closed_output() {
    let Some(mut prepared) = PreparedFolder::start().await else { return };
    prepared.stop().await;
    let mut faults = Faults::default();
    for row in TABLE {
        let Row { command, stopped, reports, .. } = row;
        let args = |more: &str| {
            let args = words(&format!("{command} {} {more}", row.args));
            prepared.filled(&args, "stopped")
        };
        let output = run(&prepared.copy(""), &args("--json"));
        let what = format!("{command} without the service");
        faults.check(&what, &output, stopped);
        faults.check_json(&what, &output, reports);

        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut unread = process::command(&LOGGIA, &prepared.copy(""));
        let output = ProgramOutput::of(unread.args(args("")).stdout(writer));
        faults.check(&format!("{command} that nothing reads"), &output, row.unread);

        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut onto_full = process::command(&LOGGIA, &prepared.copy(""));
        let output = ProgramOutput::of(onto_full.args(args("")).stdout(full));
        let what = format!("{command} onto a full disk");
        if row.prints {
            faults.check_failure(&what, &output);
            faults.expect_message("standard output cannot be written: No space left", &what, &output);
        } else {
            faults.check(&what, &output, stopped);
        }
    }
    faults.assert_none();
}

#[tokio::test]
async fn every_command_names_what_is_missing_in_an_empty_place() {
    let Some(mut prepared) = PreparedFolder::start().await else { return };
    prepared.stop().await;
    let mut faults = Faults::default();
    for Row { command, args, empty, reports, .. } in TABLE {
        let data = prepared.new_path();
        let args = prepared.filled(&words(&format!("{command} {args} --json")), "stopped");
        let output = run(&data, &args);
        let what = format!("{command} where there is no folder");
        faults.check(&what, &output, empty);
        faults.check_json(&what, &output, reports);
    }
    faults.assert_none();
}

#[tokio::test]
async fn too_few_descriptors_are_reported_and_the_minimum_is_sufficient() {
    let Some(mut prepared) = PreparedFolder::start().await else { return };
    prepared.stop().await;
    let mut faults = Faults::default();
    let with_files = |files: u32, args: &[String]| {
        let mut limited = process::command("sh", &prepared.copy(""));
        limited.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), LOGGIA.as_str()]).args(args);
        ProgramOutput::of(&mut limited)
    };
    // These report it among their other findings; the bench is not run.
    let other = |row: &&Row| !["bench", "config", "doctor"].contains(&row.command);
    for Row { command, args, stopped, .. } in TABLE.iter().filter(other) {
        let args = prepared.filled(&words(&format!("{command} {args}")), "stopped");
        let what = format!("{command} with 127 files");
        let output = with_files(127, &args);
        faults.check_failure(&what, &output);
        faults.expect_message("may have 127 files open, and needs 128; raise the limit", &what, &output);
        faults.check(&format!("{command} with 128 files"), &with_files(128, &args), *stopped);
    }
    faults.assert_none();
}

#[tokio::test]
async fn each_role_starts_and_exits_with_0_on_sigterm() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut running = Vec::new();
    for (role, name, announces) in [
        ("write", "write", "run/write.json"),
        ("read", "read", "run/api.addr"),
        ("project", "apart", "run/project.json"),
        ("serve", "apart", "run/api.addr"),
    ] {
        let data = folder.path().join(name);
        let mut loggia = spawn_on(&nats, &data, role);
        if announces == "run/api.addr" {
            loggia.address().await;
        }
        kit::wait_until(TIMEOUT, role, async || data.join(announces).exists()).await;
        running.push((role, loggia));
    }
    for (role, mut loggia) in running.into_iter().rev() {
        let ended = loggia.terminate().await;
        let stderr = loggia.stderr();
        assert!(ended.success() && !stderr.contains("panicked"), "{role}: {ended}: {stderr}");
    }
}
