//! A key is used up on three nodes of a cluster while the leader of its stream crashes or hangs: it gets its quota exactly, unless a node
//! found no leader for longer than calls wait. Such a node answers its share uncounted (ADR 8); the audit names these calls.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use futures::future::join_all;
use kit::ProgramOutput;
use kit::http::Http;
use kit::nats::Cluster;
use kit::process::{self, Loggia};
use process_role::ProcessRole;
use schemas::key::Key;
use tempfile::TempDir;
use tokio::sync::watch;
use write::command_client::CommandClient;

use crate::cluster_load::{issued, usage};
use crate::{LOGGIA, TIMEOUT};

const QUOTA: usize = 500;
/// The number of answered calls after which the leader fails.
const BEFORE: usize = 100;
const NODES: usize = 3;
const CALLERS: usize = 12;
const STREAM: &str = "USAGE_FREE";

/// What the lines of a node begin with that are about counting calls of the tier.
const METERING: &str = "metering free";

/// The whole seconds without a leader after which a node may have answered uncounted calls. They wait 9.5 s from the beginning of the
/// first attempt that fails, and the node counts from its end: half a second later, and more under load.
const UNCOUNTED_AFTER: u64 = 8;

/// A write side and read nodes on a cluster, and a key that all nodes know.
struct Service {
    roles: Vec<Loggia>,
    nodes: Vec<Http>,
    key: Key,
    folder: TempDir,
}

/// The calls that were answered.
#[derive(Default)]
struct Answered {
    ids: Mutex<HashSet<String>>,
    number: watch::Sender<usize>,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_gets_its_quota_exactly_while_the_leader_crashes() {
    exactly_the_quota(Cluster::kill9).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_gets_its_quota_exactly_while_the_leader_hangs() {
    exactly_the_quota(|cluster, leader| cluster.pause(leader)).await;
}

/// Uses up the key by callers on all nodes, and lets the leader of its stream fail meanwhile.
async fn exactly_the_quota(fail: impl FnOnce(&mut Cluster, usize)) {
    let Some(mut cluster) = Cluster::start().await else { return };
    let service = Service::start(&cluster).await;
    cluster.in_sync(STREAM).await;
    let leader = cluster.leader(STREAM).await;
    let answered = Answered::default();
    let mut number = answered.number.subscribe();
    let callers = (0..CALLERS).map(|caller| service.use_up(&service.nodes[caller % NODES], &answered));
    let failing = async {
        number.wait_for(|number| *number >= BEFORE).await.unwrap();
        fail(&mut cluster, leader);
    };
    tokio::join!(join_all(callers), failing);
    let answered = answered.ids.into_inner().unwrap();
    let audited = service.audited(&cluster, answered.len()).await;
    let said = service.said();
    let recorded = service.recorded(&cluster);
    let differing: Vec<&String> = recorded.symmetric_difference(&answered).collect();
    assert!(differing.is_empty(), "only answered, or only recorded: {differing:?}\n{audited}\n{said}");
    if longest_outage(&said) < UNCOUNTED_AFTER {
        assert_eq!(answered.len(), QUOTA, "{audited}\n{said}");
    }
    let over = answered.len().saturating_sub(QUOTA) as u64;
    assert_eq!(
        (audited["calls"].as_u64(), audited["overrun"].as_u64()),
        (Some(QUOTA as u64), Some(over)),
        "{audited}\n{said}"
    );
}

/// Returns for how many whole seconds a node could not count calls, at most, by what the nodes said.
fn longest_outage(said: &str) -> u64 {
    let seconds = |line: &str| -> Option<u64> {
        let (_, after) = line.split_once(METERING)?.1.split_once("works again after ")?;
        after.split_once(' ')?.0.parse().ok()
    };
    said.lines().filter_map(seconds).max().unwrap_or(0)
}

#[test]
fn the_longest_outage_is_what_a_node_said() {
    let said = "WARN health: metering free: calls cannot be counted at present: no answer came\n\
                INFO health: metering free works again after 4 s\n\
                INFO health: metering free works again after 11 s\n\
                INFO health: spool works again after 30 s\n";
    assert_eq!((longest_outage(said), longest_outage("")), (11, 0));
}

impl Service {
    async fn start(cluster: &Cluster) -> Service {
        let folder = tempfile::tempdir().unwrap();
        let spawn = |role: ProcessRole, data: &Path| {
            let mut command = process::command(&LOGGIA, data);
            let tiers = format!("free={QUOTA}");
            command.args([role.name(), "--auth", "keys", "--burst-per-key", "0", "--tiers", &tiers]);
            // What they say about counting is read, whatever the caller logs.
            command.env("LOGGIA_LOG", "warn,loggia=info");
            cluster.settings(&mut command, role);
            Loggia::spawn_command(command, data)
        };
        let mut roles = vec![spawn(ProcessRole::Write, &folder.path().join("write"))];
        let client = CommandClient::new(cluster.client(ProcessRole::Operator).await);
        let key = issued(&client, kit::seed()).await;
        let mut nodes = Vec::new();
        for number in 0..NODES {
            let mut node = spawn(ProcessRole::Read, &folder.path().join(format!("read-{number}")));
            let http = node.ready().await;
            kit::wait_until(TIMEOUT, "the key on the node", async || {
                http.attempt("GET", &usage(&key), &[], "").await.is_ok_and(|answer| answer.status == 200)
            })
            .await;
            roles.push(node);
            nodes.push(http);
        }
        Service { roles, nodes, key, folder }
    }

    /// Calls a node until the key is used up.
    async fn use_up(&self, node: &Http, answered: &Answered) {
        let bearer = format!("Bearer {}", self.key.expose());
        loop {
            let headers = [("authorization", bearer.as_str())];
            let answer = node.attempt("GET", "/v1/changes?limit=1", &headers, "").await.unwrap();
            match answer.status {
                200 => {
                    let id = answer.header("x-call-id").unwrap().to_owned();
                    assert!(answered.ids.lock().unwrap().insert(id), "an id twice");
                    answered.number.send_modify(|number| *number += 1);
                }
                503 => assert!(answer.header("retry-after").is_some(), "{answer:?}"),
                _ => return assert_eq!(answer.status, 429, "{answer:?}"),
            }
            // So that the key is not used up before the leader has failed.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns what the audit says once the ledger has as many calls as were answered, those over the quota too. A surplus call would be
    /// in it, or be a difference.
    async fn audited(&self, cluster: &Cluster, answered: usize) -> serde_json::Value {
        let what = format!("ledger and NATS to agree on the {answered} calls that were answered");
        kit::wait_for(TIMEOUT, &what, async || {
            let output = self.audit(cluster, "verify");
            let audited = output.status.success().then(|| output.json())?;
            let recorded = audited["calls"].as_u64()? + audited["overrun"].as_u64()?;
            (recorded >= answered as u64).then_some(audited)
        })
        .await
    }

    /// Returns the ids of the calls in the ledger.
    fn recorded(&self, cluster: &Cluster) -> HashSet<String> {
        let lines = self.audit(cluster, &self.key.id().to_string()).success().json_lines();
        lines.iter().filter_map(|line| line["call_id"].as_str().map(str::to_owned)).collect()
    }

    fn audit(&self, cluster: &Cluster, subject: &str) -> ProgramOutput {
        let mut command = process::command(&LOGGIA, &self.folder.path().join("write"));
        cluster.settings(&mut command, ProcessRole::Operator);
        ProgramOutput::of(command.args(["audit", subject, "--json"]))
    }

    /// Returns the lines of all nodes about counting calls of the tier.
    fn said(&self) -> String {
        let written: String = self.roles.iter().map(Loggia::stderr).collect();
        let lines = written.lines().filter(|line| line.contains(METERING));
        lines.map(|line| format!("{line}\n")).collect()
    }
}
