//! Write sides whose log is in EventStoreDB; the vendor's client talks to the small server of the kit.

mod lagging;
mod relaying;

use std::path::Path;
use std::sync::Arc;

use event_log::EventLog;
use event_log::kurrent::{self, Address};
use health::Health;
use schemas::clock::Clock;

async fn opened(folder: &Path, address: &Address) -> Arc<EventLog> {
    let store = kurrent::open(folder, address, &Clock::system(), &Health::default()).await;
    Arc::new(store.unwrap())
}
