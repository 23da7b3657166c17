//! Account commands over a real nats-server.

use kit::nats::Nats;
use schemas::account::KeyIssued;
use schemas::command::*;
use schemas::ids::Position;
use schemas::key::Key;
use serde_json::json;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::task::JoinSet;
use write::command_client::CommandClient;

use crate::everything;
use crate::write_side::WriteSide;

/// Locks the vault against writes until the connection is dropped.
async fn block_accounts(write: &WriteSide) -> sqlx::SqliteConnection {
    let file = SqliteConnectOptions::new().filename(write.folder.path().join("vault.db"));
    let mut connection = file.connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
    connection
}

/// Returns a key derived from the seed.
fn key(seed: u8) -> KeyIssued {
    let mut next = seed;
    let key = Key::generate(|bytes| {
        for byte in bytes {
            next = next.wrapping_mul(73).wrapping_add(41);
            *byte = next;
        }
    });
    KeyIssued::of(&key, "free".parse().unwrap(), Some("Łódź".into()))
}

fn issue(seed: u8) -> Command {
    Command::IssueKey { email: "Ada@example.org".parse().unwrap(), key: key(seed) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_issued_once_for_a_repeated_command() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = CommandClient::new(nats.client().await);
    let message = write.message(issue(1));
    let now = |revoked| CurrentKey { key_id: key(1).key_id, tier: key(1).tier, revoked, proven: false };
    let issued = AccountOutcome { keys: vec![now(false)], position: Position(2), changed: true };
    for _ in 0..3 {
        assert_eq!(client.send(&message).await.unwrap(), CommandReply::Account(issued.clone()));
    }
    let revoke = write.message(Command::RevokeKey { key_id: key(1).key_id });
    let revoked = AccountOutcome { keys: vec![now(true)], position: Position(3), changed: true };
    for _ in 0..2 {
        assert_eq!(client.send(&revoke).await.unwrap(), CommandReply::Account(revoked.clone()));
    }
    let log = everything(&write.store).await;
    let kinds: Vec<&str> = log.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["loggia.account.account_opened.v1", "loggia.account.key_issued.v1", "loggia.account.key_revoked.v1"]
    );
    assert!(log.iter().all(|event| !event.data.get().contains("example.org")), "no event has the address");
    write.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_requests_for_the_last_key_exactly_one_succeeds() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = CommandClient::new(nats.client().await);
    for seed in [1, 2] {
        client.send(&write.message(issue(seed))).await.unwrap();
    }
    let mut askers = JoinSet::new();
    for seed in [3, 4] {
        let (client, message) = (CommandClient::new(nats.client().await), write.message(issue(seed)));
        askers.spawn(async move { client.send(&message).await.unwrap() });
    }
    let answers = askers.join_all().await;
    let refusal = answers.iter().find_map(|answer| match answer {
        CommandReply::Failed(refusal) => Some(refusal),
        _ => None,
    });
    assert!(refusal.unwrap().detail.starts_with("this address already has 3 keys"), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| matches!(answer, CommandReply::Account(_))).count(), 1);
    assert_eq!(everything(&write.store).await.len(), 4);
    write.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_account_commands_do_not_delay_editors() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = CommandClient::new(nats.client().await);
    let record = json!({"slug": "a", "name": "First", "category": "art"});
    let select = Command::Select { record: record.as_object().unwrap().clone() };
    assert!(matches!(client.send(&write.message(select)).await.unwrap(), CommandReply::Project(_)));
    let blocked = block_accounts(&write).await;
    let connection = nats.client().await;
    let mut waiting = JoinSet::new();
    for seed in 0..500_u16 {
        let email = format!("holder-{seed}@example.org").parse().unwrap();
        let message = write.message(Command::IssueKey { email, key: key(seed as u8) });
        let (payload, connection) = (serde_json::to_vec(&message).unwrap(), connection.clone());
        waiting.spawn(async move { connection.request("loggia.command.issue_key", payload.into()).await });
    }
    connection.flush().await.unwrap();
    let rename = Command::Rename { slug: "a".parse().unwrap(), to: "b".parse().unwrap() };
    let renamed = client.send(&write.message(rename)).await.unwrap();
    assert!(matches!(&renamed, CommandReply::Project(done) if done.changed), "{renamed:?}");
    assert!(waiting.try_join_next().is_none(), "no key was issued before");
    drop(blocked);
    waiting.abort_all();
    write.end().await;
}
