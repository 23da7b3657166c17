//! A write side that answers commands on a real nats-server.

use std::sync::Arc;

use event_log::EventLog;
use kit::nats::Nats;
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use vault::Vault;
use write::command_server;
use write::service::{AccountService, CommandDispatcher, PaymentService, ProjectService};

pub(crate) struct WriteSide {
    pub(crate) folder: TempDir,
    pub(crate) store: Arc<EventLog>,
    pub(crate) clock: Clock,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

impl WriteSide {
    pub(crate) async fn start_on(nats: &Nats) -> WriteSide {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let vault = Vault::open(folder.path(), None).await.unwrap();
        let tiers = "free=200, studio=5000".parse().unwrap();
        let accounts = Arc::new(AccountService::new(store.clone(), clock.clone(), vault, tiers));
        let payments = Arc::new(PaymentService::new(accounts.clone()));
        let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
        let commands = CommandDispatcher::new(projects).register(accounts).register(payments);
        let commands = Arc::new(commands);
        let (client, stop) = (nats.client().await, CancellationToken::new());
        let until = stop.clone();
        let task =
            tokio::spawn(async move { command_server::serve(&client, &commands, &until).await.unwrap() });
        WriteSide { folder, store, clock, stop, task }
    }

    pub(crate) fn message(&self, command: Command) -> CommandMessage {
        message(&self.clock, command)
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.task.await.unwrap();
        self.store.close().await;
    }
}

pub(crate) fn message(clock: &Clock, command: Command) -> CommandMessage {
    let id = clock.command_id();
    CommandMessage::new(id, "Łucja".parse().unwrap(), command)
}
