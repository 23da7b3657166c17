//! The write side on which the tests of the services run.

use std::sync::Arc;

use event_log::{Append, EventLog, Expected, NewEvent};
use media::MediaStore;
use pictures::fetch::{FetchRules, Fetcher};
use schemas::account::AccountEvent;
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply};
use schemas::event::Event;
use schemas::ids::{AccountId, CommandId, StreamId};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tempfile::TempDir;
use tokio::task::JoinSet;
use vault::Vault;

use super::{AccountService, CommandDispatcher, PaymentService, PictureService, ProjectService};

/// All services, on a folder of their own.
pub(super) struct WriteSide {
    pub(super) folder: TempDir,
    pub(super) store: Arc<EventLog>,
    pub(super) accounts: Arc<AccountService>,
    pub(super) payments: Arc<PaymentService>,
    pub(super) pictures: Arc<PictureService>,
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
        let media = Arc::new(MediaStore::open(&folder.path().join("media")).unwrap());
        let fetcher = Fetcher::new(FetchRules::default(), "tests", || None);
        let pictures = Arc::new(PictureService::new(projects.clone(), media, fetcher));
        let commands = CommandDispatcher::new(projects).register(accounts.clone()).register(payments.clone());
        let commands = Arc::new(commands.register(pictures.clone()));
        WriteSide { folder, store, accounts, payments, pictures, commands, clock }
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
        CommandMessage::new(id, "Ada".parse().unwrap(), command)
    }

    pub(super) async fn send(&self, command: Command) -> CommandReply {
        self.commands.execute(self.message(command)).await
    }

    /// Executes commands concurrently.
    pub(super) async fn at_once(&self, messages: Vec<CommandMessage>) -> Vec<CommandReply> {
        let mut tasks = JoinSet::new();
        for message in messages {
            let commands = self.commands.clone();
            tasks.spawn(async move { commands.execute(message).await });
        }
        tasks.join_all().await
    }

    /// Appends an event of a command, as if the process had ended right after it.
    pub(super) async fn append(&self, account: AccountId, actor: &str, event: AccountEvent) -> CommandId {
        let command = self.clock.command_id();
        let append = Append {
            stream: StreamId::account(account),
            expected: Expected::Any,
            command,
            correlation: command,
            actor: actor.parse().unwrap(),
            traceparent: None,
            time: self.clock.now(),
            events: vec![NewEvent { id: self.clock.event_id(), event: Event::Account(event) }],
            claims: Vec::new(),
        };
        self.store.append(append).await.unwrap();
        command
    }

    /// Opens the vault's file, to damage it.
    pub(super) async fn vault_file(&self) -> SqliteConnection {
        let file = SqliteConnectOptions::new().filename(self.folder.path().join("vault.db"));
        sqlx::ConnectOptions::connect(&file).await.unwrap()
    }

    pub(super) fn vault(&self) -> &Vault {
        self.accounts.vault()
    }
}
