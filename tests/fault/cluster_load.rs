//! Editors and API clients of a NATS cluster during faults: no acknowledged command is lost, and no call is lost or
//! counted twice.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kit::ProgramOutput;
use kit::http::Http;
use kit::nats::Cluster;
use kit::process::{self, Loggia};
use process_role::ProcessRole;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use schemas::account::KeyIssued;
use schemas::command::{Command, CommandMessage, CommandReply, ImportLine, ImportOptions};
use schemas::ids::CommandId;
use schemas::key::Key;
use schemas::subject::EVENTS;
use tempfile::TempDir;
use tokio::task::JoinSet;
use write::command_client::CommandClient;

use crate::{LOGGIA, TIMEOUT, caught_up_by, exported_slugs, verified_by};

/// The number of concurrent clients of each kind.
const CALLERS: usize = 6;
const EDITORS: usize = 3;

/// The streams whose leaders are faulted.
pub(crate) const STREAMS: [&str; 2] = [EVENTS, "USAGE_FREE"];

/// A cluster, the roles connected to it, and the load.
pub(crate) struct UnderLoad {
    // Declared first: the processes must end before the servers and the folder are dropped.
    _roles: [Loggia; 3],
    pub(crate) cluster: Cluster,
    load: Arc<LoadResults>,
    working: JoinSet<()>,
    http: Http,
    key: Key,
    folder: TempDir,
}

impl UnderLoad {
    /// Starts the roles and the load.
    pub(crate) async fn start(cluster: Cluster, seed: u64) -> UnderLoad {
        let folder = tempfile::tempdir().unwrap();
        let (roles, http) = start_roles(&cluster, &folder.path().join("data")).await;
        let commands = CommandClient::new(cluster.client(ProcessRole::Operator).await);
        let key = issued(&commands, seed).await;
        kit::wait_until(TIMEOUT, "the key on the node", async || {
            http.attempt("GET", &usage(&key), &[], "").await.is_ok_and(|answer| answer.status == 200)
        })
        .await;
        let (load, mut working) = (Arc::new(LoadResults::default()), JoinSet::new());
        for editor in 0..EDITORS {
            working.spawn(edit(load.clone(), commands.clone(), editor));
        }
        for _ in 0..CALLERS {
            working.spawn(call(load.clone(), http.clone(), key.expose().to_owned()));
        }
        UnderLoad { _roles: roles, cluster, load, working, http, key, folder }
    }

    /// Waits until every server has an up-to-date replica of each stream.
    pub(crate) async fn in_sync(&self) {
        for stream in STREAMS {
            self.cluster.in_sync(stream).await;
        }
    }

    /// Waits until another command is acknowledged and another call answered.
    pub(crate) async fn goes_on(&self) {
        let (slugs, calls) = self.load.answered();
        kit::wait_until(TIMEOUT, "commands and calls that are answered", async || {
            let now = self.load.answered();
            now.0 > slugs && now.1 > calls
        })
        .await;
    }

    /// Stops the load and checks that every acknowledged command is stored and every answered call is counted once.
    pub(crate) async fn stop_and_check(mut self) {
        // A command in flight may have waited for its reply all the time.
        kit::wait_until(TIMEOUT, "enough to say something", async || self.load.is_enough()).await;
        self.load.done.store(true, Ordering::Relaxed);
        while let Some(ended) = self.working.join_next().await {
            ended.unwrap();
        }
        let data = self.folder.path().join("data");
        let run = |args: &[&str]| {
            let mut command = process::command(&LOGGIA, &data);
            self.cluster.settings(&mut command, ProcessRole::Operator);
            ProgramOutput::of(command.args(args))
        };
        check(&self.load, &run, &data, &self.http, &self.key).await;
        let violations = self.cluster.violations();
        assert!(violations.is_empty(), "refused: {violations:#?}");
    }
}

/// Starts the roles as separate processes; they share a folder, so that an audit finds ledger and counters in it.
async fn start_roles(cluster: &Cluster, data: &Path) -> ([Loggia; 3], Http) {
    let spawn = |role: ProcessRole| {
        let mut command = process::command(&LOGGIA, data);
        command.args([role.name(), "--auth", "keys", "--burst-per-key", "0", "--tiers", "free=1000000"]);
        cluster.settings(&mut command, role);
        Loggia::spawn_command(command, data)
    };
    let write = spawn(ProcessRole::Write);
    let project = spawn(ProcessRole::Project);
    let mut serve = spawn(ProcessRole::Serve);
    let http = serve.http().await;
    ([write, project, serve], http)
}

/// What the load was answered.
#[derive(Default)]
struct LoadResults {
    done: AtomicBool,
    slugs: Mutex<HashSet<String>>,
    calls: Mutex<HashSet<String>>,
    /// Calls that were answered with a temporary error.
    refused: AtomicU64,
    /// The longest time of a command and of a call, in milliseconds.
    slowest: [AtomicU64; 2],
}

impl LoadResults {
    fn is_running(&self) -> bool {
        !self.done.load(Ordering::Relaxed)
    }

    fn is_enough(&self) -> bool {
        let (slugs, calls) = self.answered();
        slugs > 20 && calls > 500
    }

    /// Returns the numbers of acknowledged commands and of answered calls.
    fn answered(&self) -> (usize, usize) {
        (self.slugs.lock().unwrap().len(), self.calls.lock().unwrap().len())
    }

    fn record_duration(&self, what: usize, began: Instant) {
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap();
        self.slowest[what].fetch_max(milliseconds, Ordering::Relaxed);
    }
}

/// Imports projects one by one and records the acknowledged ones.
async fn edit(load: Arc<LoadResults>, commands: CommandClient, editor: usize) {
    let mut number = 0;
    while load.is_running() {
        number += 1;
        let slug = format!("house-{editor}-{number:06}");
        let text = format!("{{\"slug\":\"{slug}\",\"name\":\"House {number}\",\"category\":\"art\"}}");
        let command =
            Command::Import { lines: vec![ImportLine::new(1, text)], options: ImportOptions::default() };
        let began = Instant::now();
        match commands.send(&message(command)).await {
            Ok(CommandReply::Imported { .. }) => {
                load.record_duration(0, began);
                load.slugs.lock().unwrap().insert(slug);
            }
            // The import was not acknowledged.
            Ok(other) => println!("not acknowledged: {other:?}"),
            Err(error) => println!("not acknowledged: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Reads the first change repeatedly and records the answered calls.
async fn call(load: Arc<LoadResults>, http: Http, key: String) {
    let bearer = format!("Bearer {key}");
    while load.is_running() {
        let began = Instant::now();
        match http.attempt("GET", "/v1/changes?limit=1", &[("authorization", &bearer)], "").await {
            Ok(answer) if answer.status == 200 => {
                load.record_duration(1, began);
                let id = answer.header("x-call-id").unwrap().to_owned();
                assert!(load.calls.lock().unwrap().insert(id), "an id twice");
            }
            Ok(answer) if answer.status == 503 => {
                load.refused.fetch_add(1, Ordering::Relaxed);
            }
            other => panic!("{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn check(
    load: &LoadResults,
    run: &dyn Fn(&[&str]) -> ProgramOutput,
    data: &Path,
    http: &Http,
    key: &Key,
) {
    let (slugs, calls) = (load.slugs.lock().unwrap().clone(), load.calls.lock().unwrap().clone());
    let [command, call] = [&load.slowest[0], &load.slowest[1]].map(|slowest| slowest.load(Ordering::Relaxed));
    println!(
        "{} commands acknowledged, the slowest within {command} ms; {} calls answered, the slowest within \
         {call} ms, {} refused for a moment",
        slugs.len(),
        calls.len(),
        load.refused.load(Ordering::Relaxed)
    );
    caught_up_by(run).await;
    let exported: HashSet<String> = exported_slugs(data).into_iter().collect();
    let lost: Vec<&String> = slugs.difference(&exported).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    // Calls in the spool are counted as soon as NATS accepts them.
    let expected = calls.len() as u64;
    kit::wait_until(TIMEOUT, "every answered call counted", async || {
        let answer = http.attempt("GET", &usage(key), &[], "").await.unwrap();
        answer.json()["used"].as_u64() >= Some(expected)
    })
    .await;
    let audited = kit::wait_for(TIMEOUT, "ledger, NATS and counters to agree", async || {
        let output = run(&["audit", "verify", "--json"]);
        let audited = output.json();
        // The usage of a key includes the spool of the node; audit and ledger have these calls only later.
        (output.status.success() && audited["calls"].as_u64() >= Some(expected)).then_some(audited)
    })
    .await;
    assert_eq!(audited["calls"].as_u64(), Some(expected), "{audited}");
    assert_eq!(audited["overrun"].as_u64(), Some(0), "{audited}");
    let used = http.attempt("GET", &usage(key), &[], "").await.unwrap().json()["used"].as_u64();
    assert_eq!(used, Some(expected));
    verified_by(run);
}

pub(crate) fn usage(key: &Key) -> String {
    format!("/v1/usage?key={}", key.expose())
}

pub(crate) fn message(command: Command) -> CommandMessage {
    let id = CommandId(uuid::Uuid::new_v4());
    CommandMessage::new(id, "test".parse().unwrap(), command)
}

pub(crate) async fn issued(commands: &CommandClient, seed: u64) -> Key {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let key = Key::generate(|bytes| random.fill_bytes(bytes));
    let issued = KeyIssued::of(&key, "free".parse().unwrap(), None);
    let command = Command::IssueKey { email: "holder@example.org".parse().unwrap(), key: issued };
    // The write side may still be starting.
    kit::wait_for(TIMEOUT, "a key", async || match commands.send(&message(command.clone())).await {
        Ok(CommandReply::Account(_)) => Some(key.clone()),
        _ => None,
    })
    .await
}
