//! Waits for changes of the connections to NATS.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// Notified when a connection of the process is established or lost, with the time: async-nats tells it to one function of each
/// client, and a client does not lead to what that function knows.
static CHANGES: LazyLock<watch::Sender<Option<Instant>>> = LazyLock::new(watch::Sender::default);

/// async-nats notifies just before it changes the state of the client: for this long after a notification the state is checked often.
const SETTLING: Duration = Duration::from_secs(1);
const SETTLING_CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// How often the state is checked otherwise, which finds the changes of clients that no [`Login`](crate::login::Login) connected.
const CHECK_INTERVAL: Duration = Duration::from_secs(4);

/// Notifies those who wait that a connection was established or lost.
pub(crate) fn changed() {
    CHANGES.send_replace(Some(Instant::now()));
}

/// Returns whether the client is connected at present.
pub fn is_connected(client: &Client) -> bool {
    client.connection_state() == State::Connected
}

/// Returns how often the client has connected. Consumers created before the last connection may no longer exist.
pub fn count(client: &Client) -> u64 {
    client.statistics().connects.load(Ordering::Relaxed)
}

/// Waits until `holds` returns true of the client, which may change when it connects or loses its connection.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: async_nats::Client) {
/// nats::connection::wait_until(&client, nats::connection::is_connected).await;
/// # }
/// ```
pub async fn wait_until(client: &Client, holds: impl Fn(&Client) -> bool) {
    let mut changes = CHANGES.subscribe();
    while !holds(client) {
        let is_settling = changes.borrow_and_update().is_some_and(|changed| changed.elapsed() < SETTLING);
        let interval = if is_settling { SETTLING_CHECK_INTERVAL } else { CHECK_INTERVAL };
        // Whether a notification came or the time is up, the state is checked.
        let _notified = timeout(interval, changes.changed()).await;
    }
}
