//! The store in EventStoreDB: the common contract, and what is specific to it. `LOGGIA_TEST_ESDB` is the connection
//! string of a real server; without one the vendor's client talks to the small server of the kit.

mod copying;
mod faults;
mod replica;
mod settings;

use std::path::Path;
use std::sync::Arc;

use event_log::kurrent::{self, Address};
use event_log::*;
use health::Health;
use kit::esdb::EventStoreDb;
use proptest::prelude::*;
use schemas::clock::Clock;
use tempfile::TempDir;

use crate::event_store::{Subject, assert_whole, everything, keeps_the_contract};
use crate::model;

/// A store on a log of its own.
struct Kurrent {
    /// The server of the kit; `None` if the server is a real one.
    _server: Option<EventStoreDb>,
    address: Address,
    folder: TempDir,
    store: Arc<EventLog>,
}

impl Subject for Kurrent {
    async fn fresh() -> Kurrent {
        let (server, address) = match std::env::var("LOGGIA_TEST_ESDB") {
            Ok(real) => {
                let name = format!("t{}", Clock::system().command_id().0.simple());
                let mark = if real.contains('?') { '&' } else { '?' };
                (None, format!("{real}{mark}store={name}"))
            }
            Err(_) => {
                let server = EventStoreDb::start().await;
                let address = server.address(None);
                (Some(server), address)
            }
        };
        let (address, folder) = (address.parse().unwrap(), tempfile::tempdir().unwrap());
        let store = opened(folder.path(), &address).await;
        Kurrent { _server: server, address, folder, store }
    }

    fn store(&self) -> Arc<EventLog> {
        self.store.clone()
    }

    async fn reopened(self) -> Kurrent {
        self.store.close().await;
        let store = opened(self.folder.path(), &self.address).await;
        Kurrent { store, ..self }
    }
}

keeps_the_contract!(Kurrent);

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_store_agrees_with_the_model(appends in model::numbered_appends()) {
        model::agrees::<Kurrent>(&appends, false);
    }

    #[test]
    fn a_batch_equals_sequential_appends(appends in model::numbered_appends()) {
        model::agrees::<Kurrent>(&appends, true);
    }
}

async fn opened(folder: &Path, address: &Address) -> Arc<EventLog> {
    Arc::new(try_open(folder, address).await.unwrap())
}

async fn try_open(folder: &Path, address: &Address) -> Result<EventLog, StoreError> {
    kurrent::open(folder, address, &Clock::system(), &Health::default()).await
}

/// Reads the log without a replica, and verifies it on the server and here.
async fn log_there(address: &Address) -> Vec<schemas::envelope::Recorded> {
    let folder = tempfile::tempdir().unwrap();
    let store = kurrent::open_read_only(folder.path(), address).await.unwrap();
    let log = assert_whole(&store).await;
    let verified = kurrent::verify(address, |_| {}).await.unwrap().unwrap();
    let head = store.head().await.unwrap();
    assert_eq!(verified, Verified { events: head.position.0, hash: head.hash });
    assert_eq!(everything(&store).await.len(), log.len());
    log
}
