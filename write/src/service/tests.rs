//! The write side on which the tests of the services run.

use std::sync::Arc;

use event_log::EventLog;
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply};
use tempfile::TempDir;
use vault::Vault;

use super::{AccountService, CommandDispatcher, PaymentService, ProjectService};

/// All services but that of the pictures, on a folder of their own.
pub(super) struct WriteSide {
    pub(super) folder: TempDir,
    pub(super) store: Arc<EventLog>,
    pub(super) accounts: Arc<AccountService>,
    pub(super) payments: Arc<PaymentService>,
    pub(super) commands: Arc<CommandDispatcher>,
    pub(super) clock: Clock,
}

impl WriteSide {
    /// Opens a new folder at half past eight.
    pub(super) async fn start() -> WriteSide {
        let clock = Clock::manual("2026-11-20T08:30:00Z".parse().unwrap());
        WriteSide::open(tempfile::tempdir().unwrap(), clock).await
    }

    pub(super) async fn open(folder: TempDir, clock: Clock) -> WriteSide {
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let vault = Vault::open(folder.path(), None).await.unwrap();
        let tiers = "free=200, studio=5000, pro=25000".parse().unwrap();
        let accounts = Arc::new(AccountService::new(store.clone(), clock.clone(), vault, tiers));
        let payments = Arc::new(PaymentService::new(accounts.clone()));
        let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
        let commands = CommandDispatcher::new(projects).register(accounts.clone()).register(payments.clone());
        WriteSide { folder, store, accounts, payments, commands: Arc::new(commands), clock }
    }

    /// Ends the process, and starts one on the same folder.
    pub(super) async fn restart(self) -> WriteSide {
        self.vault().close().await;
        self.store.close().await;
        let WriteSide { folder, clock, .. } = self;
        let side = WriteSide::open(folder, clock).await;
        side.payments.rebuild_schedule().await.unwrap();
        side.payments.clean_up(&mut false).await.unwrap();
        side
    }

    pub(super) fn message(&self, command: Command) -> CommandMessage {
        let id = self.clock.command_id();
        CommandMessage { id, actor: "Ada".parse().unwrap(), correlation: id, command, not_after: None }
    }

    pub(super) async fn send(&self, command: Command) -> CommandReply {
        self.commands.execute(self.message(command)).await
    }

    pub(super) fn vault(&self) -> &Vault {
        self.accounts.vault()
    }
}
