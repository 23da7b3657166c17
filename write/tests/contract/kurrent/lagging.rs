//! Two write sides with lagging replicas: neither rejects a command because of an event of the other.

use std::sync::Arc;

use event_log::EventLog;
use kit::esdb::EventStoreDb;
use kit::wait_until;
use schemas::clock::Clock;
use schemas::command::*;
use serde_json::json;
use tempfile::TempDir;
use write::service::{CommandDispatcher, ProjectService, project_history};

use super::opened;
use crate::write_side::message;

/// A write side with its own replica.
struct WriteSide {
    _folder: TempDir,
    store: Arc<EventLog>,
    commands: CommandDispatcher,
    clock: Clock,
}

impl WriteSide {
    async fn on(server: &EventStoreDb) -> WriteSide {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = opened(folder.path(), &server.address(None).parse().unwrap()).await;
        let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
        let commands = CommandDispatcher::new(projects);
        WriteSide { _folder: folder, store, commands, clock }
    }

    async fn carries_out(&self, command: Command) -> CommandReply {
        self.commands.execute(message(&self.clock, command)).await
    }

    /// Executes a command that must change something, and returns the new revision.
    async fn changes(&self, command: Command) -> u32 {
        match self.carries_out(command.clone()).await {
            CommandReply::Project(ProjectOutcome { changed: true, revision, .. }) => revision.0,
            other => panic!("{command:?}: {other:?}"),
        }
    }
}

fn select(slug: &str) -> Command {
    let record = json!({"slug": slug, "name": "House", "category": "art", "city": "Oslo"});
    Command::Select { record: record.as_object().unwrap().clone() }
}

fn revise(slug: &str, city: &str) -> Command {
    let changes = json!({ "city": city }).as_object().unwrap().clone();
    Command::Revise { slug: slug.parse().unwrap(), changes }
}

fn withdraw(slug: &str) -> Command {
    Command::Withdraw { slug: slug.parse().unwrap(), reason: "gone".into() }
}

fn restore(slug: &str) -> Command {
    Command::Restore { slug: slug.parse().unwrap() }
}

fn import(slug: &str, city: &str) -> Command {
    let text = json!({"slug": slug, "name": "House", "category": "art", "city": city}).to_string();
    Command::Import { lines: vec![ImportLine::new(1, text)], options: ImportOptions::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_side_accepts_commands_that_depend_on_events_of_the_other() {
    let server = EventStoreDb::start().await;
    let (one, other) = (WriteSide::on(&server).await, WriteSide::on(&server).await);
    for number in 0..12 {
        let slug = &format!("house-{number}");
        assert_eq!(one.changes(select(slug)).await, 1);
        assert_eq!(other.changes(revise(slug, "Bergen")).await, 2);
        one.changes(withdraw(slug)).await;
        other.changes(restore(slug)).await;
        // By the other's replica it would change nothing.
        one.changes(revise(slug, "Oslo")).await;
        other.changes(revise(slug, "Bergen")).await;
        one.changes(revise(slug, "Oslo")).await;
        let CommandReply::Imported { lines, .. } = other.carries_out(import(slug, "Bergen")).await else {
            panic!("an import is refused")
        };
        let LineResult::Changed { members, .. } = &lines[0].result else { panic!("{lines:?}") };
        assert_eq!(members, &["city"]);
        // Each answers queries with the other's latest event.
        let history = project_history(&one.store, &slug.parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(history.len(), 8, "{history:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejection_is_based_on_the_current_log() {
    let server = EventStoreDb::start().await;
    let (one, other) = (WriteSide::on(&server).await, WriteSide::on(&server).await);
    one.changes(select("house")).await;
    one.changes(withdraw("house")).await;
    let refused = other.carries_out(revise("house", "Bergen")).await;
    let CommandReply::Failed(refusal) = &refused else { panic!("{refused:?}") };
    assert_eq!(refusal.kind, FailureKind::Rejected);
    assert!(refusal.detail.contains("withdrawn"), "{refusal:?}");
    let unknown = other.carries_out(revise("nowhere", "Bergen")).await;
    let CommandReply::Failed(refusal) = &unknown else { panic!("{unknown:?}") };
    assert!(refusal.detail.contains("nowhere"), "{refusal:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_access_to_the_log_no_command_is_rejected_for_its_state() {
    let mut server = EventStoreDb::start().await;
    let side = WriteSide::on(&server).await;
    server.kill();
    let answer = side.carries_out(revise("house", "Bergen")).await;
    let CommandReply::Failed(refusal) = &answer else { panic!("{answer:?}") };
    assert_eq!(refusal.kind, FailureKind::Unavailable, "another write side may have made it: {refusal:?}");
    server.restart().await;
    wait_until(kit::TIMEOUT, "a refusal", async || {
        matches!(side.carries_out(revise("house", "Bergen")).await,
            CommandReply::Failed(refusal) if refusal.kind == FailureKind::Rejected)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_readers_share_reads_of_the_log() {
    let server = EventStoreDb::start().await;
    let (one, other) = (WriteSide::on(&server).await, WriteSide::on(&server).await);
    one.changes(select("house")).await;
    let reached = futures::future::join_all((0..1_000).map(|_| other.store.catch_up())).await;
    assert!(
        reached.iter().all(|reached| reached.as_ref().is_ok_and(|position| position.0 == 1)),
        "{reached:?}"
    );
    assert!(server.reads() < 500, "{} reads", server.reads());
}
