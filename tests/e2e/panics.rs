//! A panic in a task ends its process with status 1 and a sentence that names the task.

use std::path::Path;
use std::process::Command;

use futures::StreamExt;
use kit::process::{self, Loggia};

use crate::service::{LOGGIA, TIMEOUT};

/// The number of concurrent processes.
const AT_ONCE: usize = 3;

/// The tasks of `loggia up`.
const TASKS: [&str; 27] = [
    "the API",
    "the archive worker",
    "the catalog worker",
    "the picture fetcher",
    "the command service",
    "the control service",
    "the counters worker",
    "the daily figures",
    "the demo catalog",
    "the expiry of payments",
    "the keys worker",
    "the ledger",
    "the media store",
    "the neighbours worker",
    "the operators' listener",
    "the ledger service",
    "the mail worker",
    "the private NATS server",
    "the reader of the keys model",
    "the reader of the search model",
    "readiness",
    "the relay",
    "the removal of snapshots",
    "the search worker",
    "the spool",
    "the summary of this process",
    "the writer of the event store",
];

/// Starts a role in which a task panics soon after the start.
fn with_fault(data: &Path, task: &str) -> Command {
    let mut command = process::command(&LOGGIA, data);
    command
        .env("LOGGIA_FAULT", task)
        .env("LOGGIA_AUTH", "keys")
        .env("LOGGIA_ADMIN_LISTEN", "127.0.0.1:0")
        .env("LOGGIA_LOG", "warn");
    command
}

async fn assert_ends_with_sentence(mut command: Command, args: &[&str], data: &Path, task: &str) {
    command.args(args);
    let mut loggia = Loggia::spawn_command(command, data);
    let status = loggia.ended(TIMEOUT).await;
    let stderr = loggia.stderr();
    assert_eq!(status.code(), Some(1), "{task}: {stderr}");
    let last = stderr.lines().last().unwrap_or_default();
    let expected = format!("loggia: {task} panicked: a test requested it; start again, and report this");
    assert_eq!(last, expected, "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_task_ends_the_process() {
    let Some(_) = kit::nats::available().await else { return };
    let runs = TASKS.map(|task| async move {
        let folder = tempfile::tempdir().unwrap();
        let command = with_fault(folder.path(), task);
        let demo = if task == "the demo catalog" { "--demo" } else { "--no-demo" };
        assert_ends_with_sentence(command, &["up", demo], folder.path(), task).await;
    });
    futures::stream::iter(runs).buffer_unordered(AT_ONCE).collect::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_a_task_of_a_read_node_ends_the_process() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    for task in ["the picture copier", "the comparison of settings"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = with_fault(folder.path(), task);
        command.env("LOGGIA_NATS_URL", nats.url());
        assert_ends_with_sentence(command, &["read"], folder.path(), task).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_the_embedding_worker_ends_the_process() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let task = "the embedding worker";
    let mut command = with_fault(folder.path(), task);
    command.env("LOGGIA_VECTORS", "builtin");
    assert_ends_with_sentence(command, &["up", "--no-demo"], folder.path(), task).await;
}
