//! The write side without its workers: the event store and the command service, opened for writing.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use data_folder::DataFolder;
#[cfg(feature = "eventstore")]
use event_log::kurrent;
use event_log::{EventLog, LogLocation};
use health::Health;
use media::MediaStore;
use pictures::fetch::{FetchRules, Fetcher};
use schemas::clock::Clock;
use write::service::{AccountService, CommandDispatcher, PaymentService, PictureService, ProjectService};

use crate::config::Config;
use crate::connection::{certificate_authorities, tls_client};
use crate::process::USER_AGENT;
use crate::store;
use crate::store::keeper::{self, Keeper, KeeperClaim};

/// The services of a write side, opened for writing.
pub struct WriteSide {
    pub store: Arc<EventLog>,
    /// Executes commands with all services.
    pub commands: Arc<CommandDispatcher>,
    /// The services of the keeper; `None` on another write side of the log.
    pub kept: Option<KeptServices>,
    pub keeper: Keeper,
}

/// The services of what is not in the log: addresses and pictures.
pub struct KeptServices {
    /// Keys and addresses.
    pub accounts: Arc<AccountService>,
    pub payments: Arc<PaymentService>,
    pub pictures: Arc<PictureService>,
}

async fn open_store(config: &Config, clock: &Clock, health: &Health) -> Result<EventLog> {
    let folder = store::folder(config);
    Ok(match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => kurrent::open(&folder, address, clock, health).await?,
        Some(LogLocation::Sqlite(_)) | None => {
            let component = health.component("event store").grace_period(Duration::ZERO);
            EventLog::open_reporting(&folder, clock, component).await?
        }
    })
}

/// Opens the event store and the vault for writing, and returns the services on them. Addresses, pictures and the ledger are kept
/// by one write side of a log, its keeper; another one has only the projects. A remote log that cannot be reached is reported to
/// `health`.
pub async fn open_write_side(
    config: &Config,
    clock: &Clock,
    health: &Health,
    claim: KeeperClaim,
) -> Result<WriteSide> {
    // The store first: it keeps a second writer away from the vault too.
    let store = Arc::new(open_store(config, clock, health).await?);
    let (vault, keeper) = keeper::open(config, claim).await?;
    let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
    let commands = CommandDispatcher::new(projects.clone());
    let Some(vault) = vault else {
        return Ok(WriteSide { store, commands: Arc::new(commands), kept: None, keeper });
    };
    let tiers = config.access.tiers.clone();
    let accounts = Arc::new(AccountService::new(store.clone(), clock.clone(), vault, tiers));
    let payments = Arc::new(PaymentService::new(accounts.clone()));
    let media = Arc::new(MediaStore::open(&DataFolder::new(&config.server.data).media())?);
    let pictures = Arc::new(PictureService::new(projects, media, fetcher(config)));
    let commands = commands.register(accounts.clone()).register(payments.clone()).register(pictures.clone());
    let kept = Some(KeptServices { accounts, payments, pictures });
    Ok(WriteSide { store, commands: Arc::new(commands), kept, keeper })
}

/// Returns a fetcher of pictures that trusts the certificate authorities of this machine.
fn fetcher(config: &Config) -> Fetcher {
    let rules = FetchRules {
        allowed_hosts: config.media.hosts.clone().map(|hosts| hosts.0),
        allow_private: config.media.allow_private,
    };
    Fetcher::new(rules, USER_AGENT, || {
        let roots = certificate_authorities();
        if roots.is_empty() { None } else { tls_client(roots).ok() }
    })
}
