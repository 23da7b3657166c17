//! Two API processes meter over one NATS while all three are killed in turn: each key gets exactly its quota.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kit::http::Http;
use kit::nats::Nats;
use kit::process::{self, Loggia};
use ledger::Ledger;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use schemas::account::KeyIssued;
use schemas::command::{Command, CommandReply};
use schemas::ids::Position;
use schemas::key::{Key, KeyId};
use write::command_client::CommandClient;

use crate::cluster_load::message;
use crate::{LOGGIA, TIMEOUT};

/// The size of the load.
struct Load {
    keys: usize,
    quota: usize,
    /// Definite responses per key: more than its quota.
    calls: usize,
    workers: usize,
    /// The number of kills of all three.
    rounds: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_count_each_call_once() {
    exactly_the_quota(&Load { keys: 24, quota: 60, calls: 70, workers: 16, rounds: 2 }).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the long mode: 300 keys, 230 calls each, 64 workers"]
async fn three_hundred_keys_get_two_hundred_calls_each() {
    exactly_the_quota(&Load { keys: 300, quota: 200, calls: 230, workers: 64, rounds: 8 }).await;
}

/// A read node: its projections, and its API, which is restarted on the same address.
struct ReadNode {
    data: PathBuf,
    serve: Loggia,
    address: SocketAddr,
    _project: Loggia,
}

/// The settings of every process.
struct Settings {
    nats_url: String,
    tiers: String,
}

impl Settings {
    fn spawn(&self, data: &Path, role: &str, listen: &str) -> Loggia {
        let mut command = process::command(&LOGGIA, data);
        command.args([role, "--auth", "keys", "--metering", "refuse", "--burst-per-key", "0"]);
        command.args(["--tiers", &self.tiers]);
        command.env("LOGGIA_NATS_URL", &self.nats_url).env("LOGGIA_LISTEN", listen);
        Loggia::spawn_command(command, data)
    }

    async fn read_node(&self, data: PathBuf) -> ReadNode {
        let project = self.spawn(&data, "project", "127.0.0.1:0");
        let mut serve = self.spawn(&data, "serve", "127.0.0.1:0");
        let address = serve.address().await;
        ReadNode { data, serve, address, _project: project }
    }

    async fn kill_and_restart(&self, node: &mut ReadNode) {
        node.serve.kill9();
        node.serve = self.spawn(&node.data, "serve", &node.address.to_string());
        node.serve.address().await;
    }
}

/// What the clients were answered.
#[derive(Default)]
struct AnsweredCalls {
    /// The ids of the answered calls, by key.
    counted: Mutex<HashMap<KeyId, HashSet<String>>>,
    refused: AtomicUsize,
}

async fn exactly_the_quota(load: &Load) {
    let seed = kit::seed();
    let Some(mut nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let setup = Settings { nats_url: nats.url(), tiers: format!("free={}", load.quota) };
    // The write side and one read node share a folder, so that the audit finds ledger and counters in it.
    let one = folder.path().join("one");
    let _write = setup.spawn(&one, "write", "127.0.0.1:0");
    let mut nodes = [setup.read_node(one.clone()).await, setup.read_node(folder.path().join("other")).await];
    let keys = issue(&nats, load.keys, seed).await;
    let clients: Vec<Http> = nodes.iter().map(|node| Http::new(format!("http://{}", node.address))).collect();
    for http in &clients {
        kit::wait_until(TIMEOUT, "the last key on every node", async || {
            let path = format!("/v1/usage?key={}", keys[keys.len() - 1].expose());
            http.attempt("GET", &path, &[], "").await.is_ok_and(|answer| answer.status == 200)
        })
        .await;
    }
    let (answered_calls, done) = (Arc::new(AnsweredCalls::default()), Arc::new(AtomicBool::new(false)));
    let calling = tokio::spawn(call_all(
        keys.clone(),
        clients,
        load.calls,
        load.workers,
        seed,
        answered_calls.clone(),
        done.clone(),
    ));
    'killing: for _ in 0..load.rounds {
        for target in 0..3 {
            tokio::time::sleep(Duration::from_millis(700)).await;
            if done.load(Ordering::Relaxed) {
                break 'killing;
            }
            match target {
                0 => nats.restart().await,
                _ => setup.kill_and_restart(&mut nodes[target - 1]).await,
            }
        }
    }
    calling.await.unwrap();
    check(load, &keys, &answered_calls, &one).await;
}

/// Gets this number of definite responses for every key, from both nodes in no particular order.
async fn call_all(
    keys: Vec<Key>,
    clients: Vec<Http>,
    calls: usize,
    workers: usize,
    seed: u64,
    answered_calls: Arc<AnsweredCalls>,
    done: Arc<AtomicBool>,
) {
    let next = AtomicUsize::new(0);
    let worker = async |number: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ number as u64);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= keys.len() * calls {
                return;
            }
            call_until_definite(&keys[index % keys.len()], &clients, &mut random, &answered_calls).await;
        }
    };
    futures::future::join_all((0..workers).map(worker)).await;
    done.store(true, Ordering::Relaxed);
}

/// Retries until a response says whether the call counts.
async fn call_until_definite(
    key: &Key,
    clients: &[Http],
    random: &mut ChaCha8Rng,
    answered_calls: &AnsweredCalls,
) {
    let bearer = format!("Bearer {}", key.expose());
    loop {
        let http = &clients[random.next_u32() as usize % clients.len()];
        let answer = http.attempt("GET", "/v1/changes?limit=1", &[("authorization", &bearer)], "").await;
        match answer {
            Ok(answer) if answer.status == 200 => {
                let id = answer.header("x-call-id").unwrap().to_owned();
                assert!(
                    answered_calls.counted.lock().unwrap().entry(key.id()).or_default().insert(id),
                    "an id twice"
                );
                return;
            }
            Ok(answer) if answer.status == 429 => {
                assert!(answer.text().contains("quota-exceeded"), "{answer:?}");
                answered_calls.refused.fetch_add(1, Ordering::Relaxed);
                return;
            }
            // Killed, starting, or without NATS.
            Ok(answer) if answer.status == 503 => {}
            Ok(answer) => panic!("{answer:?}"),
            Err(_) => {}
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn check(load: &Load, keys: &[Key], answered_calls: &AnsweredCalls, data: &Path) {
    let ledger = Ledger::open_read_only(&data.join("store")).await.unwrap().unwrap();
    kit::wait_until(TIMEOUT, "every counted call in the ledger", async || {
        ledger.head().await.unwrap().position.0 >= (load.keys * load.quota) as u64
    })
    .await;
    // A surplus call would arrive a moment later.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (mut in_ledger, mut after) = (HashMap::<KeyId, HashSet<String>>::new(), Position::START);
    loop {
        let page = ledger.page(after, 1_000).await.unwrap();
        let Some(last) = page.entries.last() else { break };
        after = last.position;
        for entry in page.entries {
            assert!(!entry.overrun, "{entry:?}");
            let new = in_ledger.entry(entry.call.key_id).or_default().insert(entry.call.id.to_string());
            assert!(new, "the call {} is in the ledger twice", entry.call.id);
        }
    }
    let counted = answered_calls.counted.lock().unwrap();
    let mut unanswered = 0;
    for key in keys {
        let (in_ledger, answered) = (&in_ledger[&key.id()], &counted[&key.id()]);
        assert_eq!(in_ledger.len(), load.quota, "{key:?}");
        assert!(answered.is_subset(in_ledger), "an answered call is missing");
        unanswered += in_ledger.len() - answered.len();
    }
    let answered: usize = counted.values().map(HashSet::len).sum();
    assert_eq!(answered + answered_calls.refused.load(Ordering::Relaxed), load.keys * load.calls);
    // A killed process loses the calls that it was about to answer.
    assert!(unanswered <= load.workers * load.rounds * 2, "{unanswered}");
    println!(
        "{answered} calls answered, {unanswered} counted by a process that was killed before it answered"
    );
    process::run(&LOGGIA, data, &["audit", "verify"]).success();
}

/// Issues keys, three per address.
async fn issue(nats: &Nats, keys: usize, seed: u64) -> Vec<Key> {
    let commands = CommandClient::new(nats.client().await);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut issued = Vec::new();
    for index in 0..keys {
        let key = Key::generate(|bytes| random.fill_bytes(bytes));
        let command = Command::IssueKey {
            email: format!("holder-{}@example.org", index / 3).parse().unwrap(),
            key: KeyIssued::of(&key, "free".parse().unwrap(), None),
        };
        let answer = commands.send(&message(command)).await.unwrap();
        assert!(matches!(answer, CommandReply::Account(_)), "{answer:?}");
        issued.push(key);
    }
    issued
}
