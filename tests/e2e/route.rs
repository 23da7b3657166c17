//! Every command of the binary, used correctly and wrongly: on unusable folders, with and without a service, with a
//! closed output and on a full disk. Each ends with the documented status and one sentence.

mod prepared;
mod table;

use std::fs::File;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::{Command, Output};

use kit::nats::Nats;
use kit::process::{self, Loggia};
use kit::skipped;
use serde_json::Value;

use crate::started::{LOGGIA, PATIENCE};
pub(crate) use prepared::Prepared;
pub(crate) use table::subcommands;
use table::{Ends, ROLES, Row, TABLE, commands_of_the_binary};

/// Words that users must never read, since they describe the implementation.
const INSIDE: [&str; 9] =
    ["panicked", "backtrace", "Os {", "Error {", "Err(", "Some(", "Kind(", "src/", "::"];

/// The collected faults, reported together at the end.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn unless(&mut self, right: bool, what: &str, output: &Output) {
        if !right {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            self.0.push(format!("{what}: {}\n  out: {out}\n  err: {err}", output.status));
        }
    }

    /// Checks the exit status of a command and that its messages are for people.
    fn judge(&mut self, what: &str, output: &Output, ends: Ends) {
        let status = output.status.code();
        let as_expected = match ends {
            Ends::With(expected) => status == Some(expected),
            Ends::AsTheMachineIs => status == Some(0) || status == Some(1),
        };
        self.unless(as_expected, &format!("{what}: it should end with {ends:?}"), output);
        let said = String::from_utf8_lossy(&output.stderr);
        self.unless(
            !INSIDE.iter().any(|word| said.contains(word)),
            &format!("{what}: it shows its inside"),
            output,
        );
    }

    /// Checks the same for a failure, which is reported in one line.
    fn judge_failure(&mut self, what: &str, output: &Output) {
        self.judge(what, output, Ends::With(1));
        let said = String::from_utf8_lossy(&output.stderr);
        let sentences = said.trim().lines().filter(|line| !line.starts_with("this is a debug build")).count();
        self.unless(sentences == 1, &format!("{what}: it should say one sentence"), output);
    }

    /// Checks that standard output is JSON, and for a failure one object with the sentence.
    fn judge_json(&mut self, what: &str, output: &Output, reports: bool) {
        let out = String::from_utf8_lossy(&output.stdout);
        let lines: Option<Vec<Value>> = out.lines().map(|line| serde_json::from_str(line).ok()).collect();
        let Some(lines) = lines else {
            return self.unless(false, &format!("{what}: its answers should be JSON"), output);
        };
        if output.status.success() || reports {
            return;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let is_failure = |line: &Value| {
            let text = |member: &str| line[member].as_str().unwrap_or_default().to_owned();
            !text("kind").is_empty() && !text("detail").is_empty() && said.contains(&text("detail"))
        };
        self.unless(
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

fn run(data: &Path, args: &[String]) -> Output {
    process::command(LOGGIA, data).env("LOGGIA_LOG", "warn").args(args).output().unwrap()
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
    let mut wrong = Wrong::default();
    for (command, right) in all() {
        let with =
            |more: &[&str]| [right.clone(), more.iter().map(|word| (*word).to_owned()).collect()].concat();
        let unknown = run(&data, &with(&["--no-such-flag"]));
        let what = format!("{command} with an unknown flag");
        wrong.judge(&what, &unknown, Ends::With(2));
        let said = String::from_utf8_lossy(&unknown.stderr);
        wrong.unless(said.contains("'--no-such-flag'") && said.contains("Usage: loggia"), &what, &unknown);
        wrong.unless(unknown.stdout.is_empty(), &what, &unknown);
        let setting = run(&data, &with(&["--listen", "here", "--json"]));
        let what = format!("{command} with a wrong setting");
        wrong.judge(&what, &setting, Ends::With(2));
        wrong.judge_json(&what, &setting, false);
        let said = String::from_utf8_lossy(&setting.stderr);
        wrong.unless(
            said.starts_with("loggia: listen is “here” (flag), which cannot be used"),
            &what,
            &setting,
        );
    }
    for row in TABLE.iter().filter(|row| row.needs_args) {
        let what = format!("{} without arguments", row.command);
        let missing = run(&data, &words(row.command));
        wrong.judge(&what, &missing, Ends::With(2));
        let said = String::from_utf8_lossy(&missing.stderr);
        wrong.unless(said.contains("required") && said.contains("Usage: loggia"), &what, &missing);
    }
    wrong.assert_none();
    assert!(!data.exists(), "nothing was made");
}

#[tokio::test]
async fn every_command_rejects_an_unusable_folder() {
    let Some(mut prepared) = Prepared::start().await else { return };
    prepared.stop().await;
    let mut wrong = Wrong::default();
    let path = |name: &str| prepared.at(name);
    std::fs::create_dir(path("newer")).unwrap();
    std::fs::write(path("newer/format"), "2\n").unwrap();
    std::fs::write(path("file"), "x").unwrap();
    std::fs::create_dir(path("strange")).unwrap();
    std::fs::write(path("strange/format"), "about\n").unwrap();
    let refused = [
        ("newer", "was written by a newer version of Loggia (format 2; this one knows 1)"),
        ("file", "is a file and no data folder"),
        ("strange", "does not hold a number; is this a data folder of Loggia?"),
    ];
    let users = TABLE.iter().filter(|row| row.uses_folder && !row.reports);
    let users: Vec<&str> = users.map(|row| row.command).chain(ROLES).collect();
    for (command, right) in all().into_iter().filter(|(command, _)| users.contains(&command.as_str())) {
        let args = [prepared.filled(&right, "stopped"), words("--json")].concat();
        for (name, reason) in refused {
            let what = format!("{command} on a folder that is {name}");
            let output = run(&path(name), &args);
            wrong.judge_failure(&what, &output);
            let said = String::from_utf8_lossy(&output.stderr);
            wrong.unless(said.contains(reason), &what, &output);
            if !ROLES.contains(&command.as_str()) {
                wrong.judge_json(&what, &output, false);
            }
        }
    }
    for name in ["newer", "strange"] {
        assert_eq!(std::fs::read_dir(path(name)).unwrap().count(), 1, "{name} is as it was");
    }
    wrong.assert_none();
}

#[tokio::test]
async fn every_command_rejects_a_folder_of_another_user_and_leaves_it_unchanged() {
    const OTHER: u32 = 12_345;
    let Some(mut prepared) = Prepared::start().await else { return };
    prepared.stop().await;
    let theirs = prepared.copy("theirs");
    for path in prepared::below(&theirs) {
        if chown(&path, Some(OTHER), Some(OTHER)).is_err() {
            return skipped("only root can give files to another user");
        }
    }
    let before = prepared::owners(&theirs);
    let mut wrong = Wrong::default();
    let users = TABLE.iter().filter(|row| row.uses_folder && !row.reports);
    let users: Vec<&str> = users.map(|row| row.command).chain(ROLES).collect();
    for (command, right) in all().into_iter().filter(|(command, _)| users.contains(&command.as_str())) {
        let output = run(&theirs, &prepared.filled(&right, "stopped"));
        let what = format!("{command} on a folder of another user");
        wrong.judge_failure(&what, &output);
        let said = String::from_utf8_lossy(&output.stderr);
        wrong.unless(said.contains("belongs to the user with the id 12345"), &what, &output);
        wrong.unless(prepared::owners(&theirs) == before, &format!("{what}: it changed something"), &output);
    }
    wrong.assert_none();
}

#[tokio::test]
async fn every_command_works_while_the_service_runs() {
    let Some(mut prepared) = Prepared::start().await else { return };
    let mut wrong = Wrong::default();
    for (prefix, more) in [("text", ""), ("json", "--json")] {
        for Row { command, args, running, reports, .. } in TABLE {
            let args = words(&format!("{command} {args} {more}"));
            let output = run(prepared.data(), &prepared.filled(&args, prefix));
            let what = format!("{command} {more} beside the service");
            wrong.judge(&what, &output, running);
            if prefix == "json" {
                wrong.judge_json(&what, &output, reports);
            }
        }
    }
    wrong.assert_none();
    prepared.stop().await;
}

#[tokio::test]
async fn every_command_works_without_the_service_and_with_closed_output() {
    let Some(mut prepared) = Prepared::start().await else { return };
    prepared.stop().await;
    let mut wrong = Wrong::default();
    for row in TABLE {
        let Row { command, stopped, reports, .. } = row;
        let args = |more: &str| {
            let args = words(&format!("{command} {} {more}", row.args));
            prepared.filled(&args, "stopped")
        };
        let output = run(&prepared.copy(""), &args("--json"));
        let what = format!("{command} without the service");
        wrong.judge(&what, &output, stopped);
        wrong.judge_json(&what, &output, reports);

        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut unread = process::command(LOGGIA, &prepared.copy(""));
        let output = unread.args(args("")).stdout(writer).output().unwrap();
        wrong.judge(&format!("{command} that nothing reads"), &output, row.unread);

        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut onto_full = process::command(LOGGIA, &prepared.copy(""));
        let output = onto_full.args(args("")).stdout(full).output().unwrap();
        let what = format!("{command} onto a full disk");
        if row.prints {
            wrong.judge_failure(&what, &output);
            let said = String::from_utf8_lossy(&output.stderr);
            wrong.unless(said.contains("standard output cannot be written: No space left"), &what, &output);
        } else {
            wrong.judge(&what, &output, stopped);
        }
    }
    wrong.assert_none();
}

#[tokio::test]
async fn every_command_names_what_is_missing_in_an_empty_place() {
    let Some(mut prepared) = Prepared::start().await else { return };
    prepared.stop().await;
    let mut wrong = Wrong::default();
    for Row { command, args, empty, reports, .. } in TABLE {
        let data = prepared.new_path();
        let args = prepared.filled(&words(&format!("{command} {args} --json")), "stopped");
        let output = run(&data, &args);
        let what = format!("{command} where there is no folder");
        wrong.judge(&what, &output, empty);
        wrong.judge_json(&what, &output, reports);
    }
    wrong.assert_none();
}

#[tokio::test]
async fn too_few_descriptors_are_reported_and_the_minimum_is_sufficient() {
    let Some(mut prepared) = Prepared::start().await else { return };
    prepared.stop().await;
    let mut wrong = Wrong::default();
    let with_files = |files: u32, args: &[String]| {
        let usual = process::command(LOGGIA, &prepared.copy(""));
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), LOGGIA]).args(args);
        for (name, value) in usual.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        limited.output().unwrap()
    };
    // These report it among their other findings; the bench is not run.
    let other = |row: &&Row| !["bench", "config", "doctor"].contains(&row.command);
    for Row { command, args, stopped, .. } in TABLE.iter().filter(other) {
        let args = prepared.filled(&words(&format!("{command} {args}")), "stopped");
        let what = format!("{command} with 127 files");
        let output = with_files(127, &args);
        wrong.judge_failure(&what, &output);
        let said = String::from_utf8_lossy(&output.stderr);
        wrong.unless(
            said.contains("may have 127 files open, and needs 128; raise the limit"),
            &what,
            &output,
        );
        wrong.judge(&format!("{command} with 128 files"), &with_files(128, &args), *stopped);
    }
    wrong.assert_none();
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
        let mut command = process::command(LOGGIA, &data);
        command.arg(role).env("LOGGIA_NATS_URL", nats.url());
        let mut loggia = Loggia::spawn_command(command, &data);
        if announces == "run/api.addr" {
            loggia.address().await;
        }
        kit::wait_until(PATIENCE, role, async || data.join(announces).exists()).await;
        running.push((role, loggia));
    }
    for (role, mut loggia) in running.into_iter().rev() {
        let ended = loggia.terminate().await;
        let said = loggia.stderr();
        assert!(ended.success() && !said.contains("panicked"), "{role}: {ended}: {said}");
    }
}
