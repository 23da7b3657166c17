//! Where commands run in a cluster, and with which NATS user: the table in `docs/operating/cluster.md`.

use std::path::Path;

use kit::ProgramOutput;
use kit::nats::Cluster;
use kit::process::Loggia;
use process_role::ProcessRole;
use serde_json::json;

use crate::cluster::{command, spawn};
use crate::service::writes;

const ELSEWHERE: &str = "loggia: this command reads the data folder of the write side, and FOLDER has no event log: \
    run it there, or name that folder with --data or LOGGIA_DATA";
const NO_NODE: &str = "loggia: this command works on the read models of a node, and none runs on the data folder FOLDER: run \
    it in the data folder of a read node, while its `loggia read` or `loggia project` runs";
const NO_MODELS: &str = "loggia: this command works on the read models of a node, and the write side (process PID) on the \
    data folder FOLDER has none: run it in the data folder of a read node, while its `loggia read` or `loggia project` runs";
const STOPPED: &str = "loggia: this command works on the read models of a node, and the data folder FOLDER is that of a write \
    side, which has none: run it in the data folder of a read node, while its `loggia read` or `loggia project` runs";
const WRONG_USER: &str = "nats_creds: the NATS user is not that of the role “operator”";

/// Runs a command and returns its error, if it fails.
fn failure(cluster: &Cluster, data: &Path, role: ProcessRole, args: &str) -> String {
    let args: Vec<&str> = args.split(' ').collect();
    let output = ProgramOutput::of(&mut command(cluster, data, role, &args));
    if output.status.success() {
        return String::new();
    }
    output.stderr.trim().replace(&data.display().to_string(), "FOLDER")
}

/// Starts a write side and a read node, and waits until both are ready.
async fn started(cluster: &Cluster, write: &Path, read: &Path) -> (Loggia, Loggia) {
    let writing = spawn(cluster, write, ProcessRole::Write);
    let mut reading = spawn(cluster, read, ProcessRole::Read);
    reading.ready().await;
    writes(write).await;
    (writing, reading)
}

/// The commands that read the log of a folder, and those that read its models.
const OF_LOG: [&str; 10] = [
    "keys list",
    "payments list",
    "pictures list",
    "export",
    "mappings list",
    "curate history bridge",
    "events head",
    "events show 1",
    "events tail --from 1 --no-follow",
    "events verify",
];
const OF_MODELS: [&str; 2] = ["rebuild catalog", "verify catalog"];

#[tokio::test(flavor = "multi_thread")]
async fn each_command_runs_as_the_table_says() {
    let Some(cluster) = Cluster::start_of(1).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let [write, read, empty] = ["write", "read", "empty"].map(|name| folder.path().join(name));
    let (mut writing, mut reading) = started(&cluster, &write, &read).await;
    let file = folder.path().join("in.ndjson");
    std::fs::write(
        &file,
        format!("{}\n", json!({"slug": "bridge", "name": "Bridge", "category": "architecture"})),
    )
    .unwrap();
    let import = format!("import {}", file.display());
    let link = "keys link --email ada@example.org --public-url https://catalog.example.org";
    let issue = "keys issue --email ada@example.org";
    let (revise, withdraw, restore) = (
        "curate revise bridge --set city=Ulm",
        "curate withdraw bridge --reason gone",
        "curate restore bridge",
    );
    // In the order of the table; the first folder has no models for which a command would wait.
    let by_nats = [
        import.as_str(),
        revise,
        withdraw,
        restore,
        issue,
        "keys tier --email ada@example.org studio",
        link,
        "status",
    ];
    let backup = |name: &str| format!("backup {}", folder.path().join(name).display());
    let snapshot = |name: &str| format!("snapshot {}", folder.path().join(name).display());
    let mut wrong = Vec::new();
    let mut check = |data: &Path, role: ProcessRole, args: &str, expected: &str| {
        let pid = format!("process {}", writing.pid());
        let stderr = failure(&cluster, data, role, args).replace(&pid, "process PID");
        if stderr != expected && (expected != WRONG_USER || !stderr.contains(expected)) {
            wrong.push(format!("{} as {}: {args}: {stderr}", data.display(), role.name()));
        }
    };
    let operator = ProcessRole::Operator;
    for data in [&empty, &read, &write] {
        by_nats.iter().for_each(|args| check(data, operator, args, ""));
    }
    for args in OF_LOG.into_iter().chain([backup("first").as_str(), "audit verify", "pictures retry"]) {
        check(&write, operator, args, "");
        check(&read, operator, args, ELSEWHERE);
        check(&empty, operator, args, ELSEWHERE);
    }
    for args in OF_MODELS {
        check(&read, operator, args, "");
        check(&write, operator, args, NO_MODELS);
        check(&empty, operator, args, NO_NODE);
    }
    // With the user of the folder's own process: commands that need no NATS.
    for args in OF_LOG.into_iter().chain([backup("second").as_str(), "verify media"]) {
        check(&write, ProcessRole::Write, args, "");
    }
    for args in [link, "audit verify", "pictures retry"] {
        check(&write, ProcessRole::Write, args, WRONG_USER);
    }
    for args in [snapshot("models").as_str(), "verify media"] {
        check(&read, ProcessRole::Read, args, "");
    }
    for args in [link, "rebuild catalog", "verify catalog"] {
        check(&read, ProcessRole::Read, args, WRONG_USER);
    }
    let mut monitor = command(&cluster, &write, ProcessRole::Write, &["status", "--check"]);
    assert!(!ProgramOutput::of(&mut monitor).status.success(), "the wrong user is a problem");
    assert_eq!(wrong, Vec::<String>::new(), "{wrong:#?}");
    assert!(reading.terminate().await.success() && writing.terminate().await.success());
    assert_no_node_is_started(&cluster, &write, &OF_MODELS);
}

/// The folder of a stopped write side has no models either.
fn assert_no_node_is_started(cluster: &Cluster, write: &Path, commands: &[&str]) {
    for args in commands {
        assert_eq!(failure(cluster, write, ProcessRole::Operator, args), STOPPED, "{args}");
    }
    assert!(!write.join("models").exists(), "no node was started");
}
