//! The commands in the operators' documentation: each is run as written, or only checked if it needs systemd, root or
//! another machine. A command that is neither fails the test. A page whose name another test of this folder contains as
//! a string is run by that test.

mod reading;
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use kit::ProgramOutput;
use kit::nats::Cluster;
use kit::process::{self, Loggia};
use process_role::ProcessRole;

use crate::command_matrix::PreparedFolder;
use crate::service::{LOGGIA, TIMEOUT};
use reading::{Line, commands, has_its_own_test, inline, pages};
use tree::Tree;

/// Programs that change or inspect the machine: their arguments are checked, and nothing is run.
const MACHINE_PROGRAMS: [&str; 28] = [
    "sudo",
    "systemctl",
    "systemd-run",
    "systemd-analyze",
    "journalctl",
    "timedatectl",
    "dmesg",
    "loggia-run",
    "docker",
    "podman",
    "kubectl",
    "kustomize",
    "useradd",
    "install",
    "apt",
    "apt-get",
    "tar",
    "sha256sum",
    "rsync",
    "scp",
    "ssh",
    "cp",
    "mv",
    "rm",
    "mkdir",
    "chown",
    "chmod",
    "openssl",
];

/// Programs that are run, besides `loggia`.
const RUNNABLE: [&str; 5] = ["curl", "du", "df", "ls", "nats-server"];

/// Commands that run until they are stopped.
const ROLES: [&str; 5] = ["up", "write", "project", "serve", "read"];

/// The environment in which the commands of a page run.
struct PageEnvironment {
    /// The working directory.
    folder: PathBuf,
    /// Replacements for words of the page, the longer ones first.
    substitutes: Vec<(&'static str, String)>,
    /// The environment variables of the shell.
    settings: Vec<(String, Option<String>)>,
}

impl PageEnvironment {
    fn new(folder: PathBuf, data: &Path, of: &Command, more: Vec<(&'static str, String)>) -> PageEnvironment {
        let below = |name: &str| format!("{}/{name}", folder.display());
        std::fs::create_dir_all(folder.join("srv")).unwrap();
        std::fs::create_dir_all(folder.join("safe")).unwrap();
        let usual = vec![
            ("/var/lib/loggia-backups", below("backups")),
            ("/var/lib/loggia-", below("other-")),
            ("/var/lib/loggia", data.display().to_string()),
            ("/backups", below("backups")),
            ("/srv", below("srv")),
            ("/media/safe", below("safe")),
            (" DATA", format!(" {}", data.display())),
            ("MODEL", "catalog".to_owned()),
            ("POSITION", "1".to_owned()),
        ];
        let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
        let settings = of.get_envs().map(|(name, value)| (text(name), value.map(text))).collect();
        PageEnvironment { folder, substitutes: more.into_iter().chain(usual).collect(), settings }
    }

    /// Returns the command with the test's folders and addresses.
    fn translated(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (from, to) in &self.substitutes {
            line = line.replace(from, to);
        }
        // A backup named by its time is the newest one here.
        let named = line
            .split(['/', ' '])
            .find(|part| part.starts_with("20") && part.ends_with('Z'))
            .map(str::to_owned);
        match (named, newest(&self.folder.join("backups"))) {
            (Some(named), Some(newest)) => line.replace(&named, &newest),
            _ => line,
        }
    }

    fn run(&self, line: &str) -> ProgramOutput {
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(self.translated(line))
            .current_dir(&self.folder)
            .stdin(std::process::Stdio::null());
        for (name, value) in &self.settings {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let folder_of = |program: &Path| program.parent().unwrap().display().to_string();
        let nats = std::env::var_os("LOGGIA_NATS_SERVER")
            .map(|path| folder_of(Path::new(&path)))
            .unwrap_or_default();
        let path = std::env::var("PATH").unwrap_or_default();
        shell.env("PATH", format!("{}:{nats}:{path}", folder_of(Path::new(LOGGIA.as_str()))));
        ProgramOutput::of(&mut shell)
    }
}

/// Returns the last folder in the order of names.
fn newest(folder: &Path) -> Option<String> {
    let names =
        std::fs::read_dir(folder).ok()?.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.max()
}

/// What to do with a command.
#[derive(Debug, PartialEq, Eq)]
enum Handling {
    Run,
    Check,
    Unknown,
}

fn handling(line: &Line) -> Handling {
    let mut words = line.command.split_whitespace().skip_while(|word| is_assignment(word));
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_elsewhere = first == "curl" && line.command.contains("https://");
    match first {
        _ if line.checked_only || is_elsewhere || MACHINE_PROGRAMS.contains(&first) => Handling::Check,
        "loggia" if ROLES.contains(&second) => Handling::Check,
        "loggia" => Handling::Run,
        "cd" if line.command.contains("&& nats-server") => Handling::Run,
        _ if RUNNABLE.contains(&first) => Handling::Run,
        _ => Handling::Unknown,
    }
}

/// Returns whether a word sets a variable for the command after it.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

/// Runs what can be run of a page, and returns the faults.
fn run_page(page: &str, text: &str, environment: &PageEnvironment) -> Vec<String> {
    let mut faults = Vec::new();
    for line in commands(text) {
        let at = format!("{page}:{}: {}", line.number, line.command);
        match handling(&line) {
            Handling::Check => {}
            Handling::Unknown => {
                faults.push(format!("{at}: is neither run nor checked; see tests/e2e/pages.rs"))
            }
            Handling::Run => {
                let output = environment.run(&line.command);
                if output.status.code() != Some(line.status) || output.stderr.contains("panicked") {
                    faults.push(format!("{at}: it should end with {}: {output}", line.status));
                }
            }
        }
    }
    faults
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} are wrong:\n{}", faults.len(), faults.join("\n"));
}

/// The pages about several machines; the second one is only about the NATS servers.
const CLUSTER: &str = "docs/operating/cluster.md";
const SERVERS: &str = "docs/cluster.md";

#[test]
fn every_command_in_the_docs_exists_with_its_flags_and_files() {
    let tree = Tree::of_the_binary();
    let mut faults = Vec::new();
    for (page, text) in pages() {
        for line in commands(&text) {
            let at = format!("{page}:{}: {}", line.number, line.command);
            faults.extend(tree.objections(&line.command).map(|objection| format!("{at}: {objection}")));
            if handling(&line) == Handling::Unknown && !has_its_own_test(&page) {
                faults.push(format!("{at}: is neither run nor checked; see tests/e2e/pages.rs"));
            }
        }
        for (number, command) in inline(&text) {
            let at = format!("{page}:{number}: {command}");
            faults.extend(tree.objections(&command).map(|objection| format!("{at}: {objection}")));
        }
    }
    assert_none(&faults);
}

#[tokio::test]
async fn the_commands_of_the_docs_run_on_one_machine() {
    let Some(mut prepared) = PreparedFolder::start().await else { return };
    let mut faults = Vec::new();
    for (page, text) in
        pages().into_iter().filter(|(page, _)| page != CLUSTER && page != SERVERS && !has_its_own_test(page))
    {
        let usual = process::command(&LOGGIA, prepared.data());
        let addresses = vec![
            ("http://127.0.0.1:8080", prepared.base()),
            ("http://10.0.0.1:9090", prepared.operators()),
            ("http://127.0.0.1:9090", prepared.operators()),
            ("KEY_ID", prepared.key_id()),
        ];
        let environment = PageEnvironment::new(prepared.new_path(), prepared.data(), &usual, addresses);
        faults.extend(run_page(&page, &text, &environment));
    }
    assert_none(&faults);
    prepared.stop().await;
}

#[test]
fn the_commands_for_the_servers_of_a_cluster_run() {
    let folder = tempfile::tempdir().unwrap();
    let usual = process::command(&LOGGIA, folder.path());
    // The folder of a server is copied to its machine; `-t` checks its configuration without starting it.
    let servers = vec![
        ("cd a", "cd nats/a".to_owned()),
        ("nats-server --config", "nats-server -t --config".to_owned()),
    ];
    let environment = PageEnvironment::new(folder.path().join("typed"), folder.path(), &usual, servers);
    for (page, text) in pages().into_iter().filter(|(page, _)| page == SERVERS) {
        assert_none(&run_page(&page, &text, &environment));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_docs_run_in_a_cluster() {
    let Some(cluster) = Cluster::start_of(1).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let [write, read] = ["write", "read"].map(|name| folder.path().join(name));
    let start = |data: &Path, role: ProcessRole| {
        let mut command = process::command(&LOGGIA, data);
        command.args([role.name(), "--auth", "keys"]);
        cluster.settings(&mut command, role);
        Loggia::spawn_command(command, data)
    };
    let (mut writing, mut reading) = (start(&write, ProcessRole::Write), start(&read, ProcessRole::Read));
    reading.ready().await;
    kit::wait_until(TIMEOUT, "the write side", async || write.join("run/write.json").exists()).await;
    let mut usual = process::command(&LOGGIA, &write);
    cluster.settings(&mut usual, ProcessRole::Write);
    for (page, text) in pages().into_iter().filter(|(page, _)| page == CLUSTER) {
        let seeds = cluster.seed(ProcessRole::Operator).parent().unwrap().display().to_string();
        let more = vec![("nats/users", seeds), ("/var/lib/loggia-read", read.display().to_string())];
        let environment = PageEnvironment::new(folder.path().join("typed"), &write, &usual, more);
        assert_none(&run_page(&page, &text, &environment));
    }
    assert!(reading.terminate().await.success() && writing.terminate().await.success());
}
