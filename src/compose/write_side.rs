//! The write side without its workers: the event store and the services that decide on commands, opened for writing.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
#[cfg(feature = "eventstore")]
use event_log::kurrent;
use event_log::{EventLog, LogLocation};
use health::Health;
use media::MediaStore;
use pictures::fetch::{FetchRules, Fetcher};
use schemas::clock::Clock;
use write::service::{AccountService, CommandDispatcher, PaymentService, PictureService, ProjectService};

use crate::config::{Config, Hosts, PictureAddresses};
use crate::data_folder::DataFolder;
use crate::store;
use crate::store::keeper::{self, Keeper, Naming};
use crate::tls;

/// The services of a write side, opened for writing.
pub struct WriteSide {
    /// The event store.
    pub store: Arc<EventLog>,
    /// Executes commands with all services.
    pub commands: Arc<CommandDispatcher>,
    /// What only the keeper has; `None` on another write side of the log.
    pub kept: Option<KeptServices>,
    /// Who keeps what is not in the log.
    pub keeper: Keeper,
}

/// The services of what is not in the log: addresses and pictures.
pub struct KeptServices {
    /// Keys and addresses.
    pub accounts: Arc<AccountService>,
    /// Payment notices.
    pub payments: Arc<PaymentService>,
    /// Pictures.
    pub pictures: Arc<PictureService>,
}

async fn open_store(config: &Config, clock: &Clock, health: &Health) -> Result<EventLog> {
    let folder = store::folder(config);
    Ok(match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => kurrent::open(&folder, address, clock, health).await?,
        Some(LogLocation::Sqlite(_)) | None => {
            let component = health.component("event store").patience(Duration::ZERO);
            EventLog::open_reporting(&folder, clock, component).await?
        }
    })
}

/// Opens the event store and the vault for writing, and returns the services on them. One write side of a log, its keeper,
/// keeps what is not in the log, such as addresses, pictures and the ledger; another one has only the projects. A log
/// elsewhere that cannot be reached shows in `health`.
pub async fn open_write_side(
    config: &Config,
    clock: &Clock,
    health: &Health,
    naming: Naming,
) -> Result<WriteSide> {
    // The store first: it keeps a second writer away from the vault too.
    let store = Arc::new(open_store(config, clock, health).await?);
    let (vault, keeper) = keeper::open(config, naming).await?;
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

fn fetch_rules(config: &Config) -> FetchRules {
    FetchRules {
        allowed_hosts: config.media.hosts.clone().map(|Hosts(hosts)| hosts),
        allow_private: config.media.addresses == PictureAddresses::Any,
    }
}

/// Returns a fetcher that trusts the certificate authorities of this machine, or those in the file that `SSL_CERT_FILE`
/// names.
fn fetcher(config: &Config) -> Fetcher {
    Fetcher::new(fetch_rules(config), concat!("Loggia/", env!("CARGO_PKG_VERSION")), || {
        Some(tls::authorities()).filter(|roots| !roots.is_empty()).and_then(|roots| tls::trusting(roots).ok())
    })
}
