//! `loggia status` reports every problem, and none that does not exist.

use std::path::Path;

use kit::ProgramOutput;
use kit::nats::{Cluster, Nats};
use kit::process::{self, Loggia};
use process_role::ProcessRole;
use schemas::subject::EVENTS;
use serde_json::{Value, json};

use crate::cluster::{command, spawn};
use crate::service::{LOGGIA, Service, TIMEOUT, writes};

/// Runs `loggia status --check --json`, and returns its exit status and output.
fn checked(folder: &Path) -> (Option<i32>, Value) {
    let output = process::run(&LOGGIA, folder, &["status", "--check", "--json"]);
    (output.status.code(), output.json())
}

#[tokio::test]
async fn a_healthy_service_has_no_problem_and_a_stopped_one_does() {
    let Some(mut service) = Service::with(&["--no-demo", "--auth", "keys"]).await else { return };
    service.import(&[json!({"name": "Bridge", "category": "architecture"})]).await;
    let folder = service.folder.path().to_owned();
    let (code, status) = checked(&folder);
    assert_eq!(
        (code, &status["verdict"], &status["problems"]),
        (Some(0), &json!("ok"), &json!([])),
        "{status}"
    );
    let process = &status["processes"][0];
    assert_eq!(
        (&process["pid"], &process["role"], &process["parts"], &process["version"]),
        (
            &json!(service.loggia.pid()),
            &json!("up"),
            &json!(["write", "project"]),
            &json!(env!("CARGO_PKG_VERSION"))
        )
    );
    assert!(process["uptime_seconds"].is_u64() && status["disk"]["free"].is_u64(), "{status}");
    assert_eq!((&status["nats"]["lag"], &status["nats"]["position"]), (&json!(0), &json!(1)), "{status}");
    let screen = service.run(&["status", "--check"]).stdout;
    assert!(
        screen.starts_with("OK\n") && screen.contains("relay        has published the whole log"),
        "{screen}"
    );
    let role = format!("role         up, process {}, version ", service.loggia.pid());
    assert!(screen.contains(&role), "{screen}");

    assert!(service.loggia.terminate().await.success());
    let (code, status) = checked(&folder);
    assert_eq!((code, &status["problems"]), (Some(2), &json!(["no process runs on this data folder"])));
    let plain = service.json(&["status"]).pop().unwrap();
    assert_eq!((&plain["problems"], &plain["problem"]), (&json!([]), &Value::Null));

    // A log and a ledger that cannot be read are reported, and the rest is shown.
    for (file, problem_start) in
        [("store/events.db", "the log cannot be read: "), ("store/usage.db", "the ledger cannot be read: ")]
    {
        let path = folder.join(file);
        let intact = std::fs::read(&path).unwrap_or_default();
        std::fs::write(&path, vec![0xa5; 8_192]).unwrap();
        let status = service.json(&["status"]).pop().unwrap();
        let problem = status["problem"].as_str().unwrap_or_else(|| panic!("{file}: {status}"));
        assert!(problem.starts_with(problem_start) && status["verdict"] == "problem", "{status}");
        std::fs::write(&path, intact).unwrap();
    }
}

#[tokio::test]
async fn a_healthy_write_side_has_no_problem_and_one_without_nats_does() {
    let Some(mut nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = process::command(&LOGGIA, folder.path());
    command.args(["write", "--auth", "keys"]).env("LOGGIA_NATS_URL", nats.url());
    let mut write = Loggia::spawn_command(command, folder.path());
    kit::wait_until(TIMEOUT, "a write side without a problem", async || {
        let (code, status) = checked(folder.path());
        code == Some(0) && status["processes"][0]["role"] == "write"
    })
    .await;
    let screen = process::run(&LOGGIA, folder.path(), &["status"]).stdout;
    assert!(!screen.contains("problem") && screen.contains("\nNATS  "), "{screen}");
    nats.kill9().await;
    let (code, status) = checked(folder.path());
    assert_eq!(code, Some(2), "{status}");
    let problem = status["problem"].as_str().unwrap();
    assert!(problem.starts_with("the running processes cannot be reached: "), "{problem}");
    assert!(write.terminate().await.code().is_some());
}

#[test]
fn a_missing_folder_is_a_problem_and_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let screen = process::run(&LOGGIA, &data, &["status"]).stdout;
    assert!(screen.contains(&format!("problem      there is no data folder {}", data.display())), "{screen}");
    assert_eq!(checked(&data).0, Some(2));
    assert!(!data.exists());
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("format"), "99\n").unwrap();
    let problem = checked(&data).1["problem"].as_str().unwrap().to_owned();
    assert!(problem.contains("was written by a newer version of Loggia"), "{problem}");
}

/// A write side on a cluster.
struct OnCluster {
    // Declared first: it must end before the servers and its folder are dropped.
    _write: Loggia,
    cluster: Cluster,
    folder: tempfile::TempDir,
}

impl OnCluster {
    /// Waits until all servers have the events; returns the leader of their stream and the others too.
    async fn start() -> Option<(OnCluster, usize, [usize; 2])> {
        let cluster = Cluster::start().await?;
        let folder = tempfile::tempdir().unwrap();
        let write = spawn(&cluster, folder.path(), ProcessRole::Write);
        writes(folder.path()).await;
        cluster.in_sync(EVENTS).await;
        let leader = cluster.leader(EVENTS).await;
        Some((OnCluster { _write: write, cluster, folder }, leader, [(leader + 1) % 3, (leader + 2) % 3]))
    }

    /// Returns the exit status of `loggia status --check`, and its problems and warnings.
    fn problems(&self) -> (Option<i32>, String, String) {
        let (data, args) = (self.folder.path(), ["status", "--check", "--json"]);
        let output = ProgramOutput::of(&mut command(&self.cluster, data, ProcessRole::Operator, &args));
        let status = output.json();
        let sentences = |name: &str| {
            let all = status[name].as_array().cloned().unwrap_or_default();
            all.iter()
                .map(|sentence| sentence.as_str().unwrap().to_owned())
                .collect::<Vec<String>>()
                .join("; ")
        };
        (output.status.code(), sentences("problems"), sentences("warnings"))
    }

    /// Waits until two servers are reported as missing, by these names.
    async fn lacks_a_majority(&self, named: &[String; 2]) {
        kit::wait_until(TIMEOUT, "the problem that the majority is missing", async || {
            let (code, problems, _) = self.problems();
            code == Some(2) && problems.contains("NATS lacks a majority") && is_named(&problems, named, 2)
        })
        .await;
    }
}

fn is_named(sentences: &str, names: &[String], of: usize) -> bool {
    sentences.contains(&format!("{of} of the 3 NATS servers"))
        && names.iter().all(|name| sentences.contains(name))
}

/// The leader of the stream still answers about it when the others are gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_a_majority_is_a_problem_that_names_the_missing_servers() {
    let Some((mut on, _, others)) = OnCluster::start().await else { return };
    let names = others.map(|other| format!("n{}", other + 1));
    on.cluster.kill9(others[0]);
    kit::wait_until(TIMEOUT, "the warning that one server is missing", async || {
        let (code, problems, warnings) = on.problems();
        code == Some(1) && problems.is_empty() && is_named(&warnings, &names[..1], 1)
    })
    .await;
    on.cluster.kill9(others[1]);
    on.lacks_a_majority(&names).await;
}

/// Without the leader of the stream nobody answers about it, and only the addresses are known.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_a_majority_and_leader_is_a_problem_that_names_the_missing_addresses() {
    let Some((mut on, leader, others)) = OnCluster::start().await else { return };
    on.cluster.kill9(others[0]);
    on.cluster.kill9(others[1]);
    on.cluster.restart(others[0]);
    on.cluster.kill9(leader);
    let address = |gone: usize| on.cluster.url_of(gone).rsplit('/').next().unwrap().to_owned();
    on.lacks_a_majority(&[leader, others[1]].map(address)).await;
}
