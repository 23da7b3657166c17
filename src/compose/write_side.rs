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
use write::service::{Accounts, CommandService, Pictures};

use crate::config::{Config, Hosts, PictureAddresses};
use crate::data_folder::DataFolder;
use crate::store;
use crate::store::keeper::{self, Keeper, Naming};
use crate::tls;

/// What carries out commands, opened for writing.
pub struct WriteSide {
    /// The event store.
    pub store: Arc<EventLog>,
    /// What decides.
    pub service: CommandService,
    /// Who keeps what is not in the log.
    pub keeper: Keeper,
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

/// Opens the event store and the vault for writing, and gives the service that carries out commands on them. What is not
/// in the log, such as addresses, pictures and the ledger, is kept by one write side of a log, its keeper; the service of
/// another has no accounts. A log elsewhere that cannot be reached shows in `health`.
pub async fn open_write_side(
    config: &Config,
    clock: &Clock,
    health: &Health,
    naming: Naming,
) -> Result<WriteSide> {
    // The store first: it keeps a second writer away from the vault too.
    let store = Arc::new(open_store(config, clock, health).await?);
    let (vault, keeper) = keeper::open(config, naming).await?;
    let service = CommandService::new(store.clone(), clock.clone());
    let Some(vault) = vault else { return Ok(WriteSide { store, service, keeper }) };
    let accounts = Accounts::new(vault, config.access.tiers.clone());
    let media = MediaStore::open(&DataFolder::new(&config.server.data).media())?;
    let pictures = Pictures::new(Arc::new(media), fetcher(config));
    let service = service.with_accounts(accounts).with_pictures(pictures);
    Ok(WriteSide { store, service, keeper })
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
