//! Waits for changes of the connections to NATS.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use tokio::sync::watch;
use tokio::time::timeout;

/// Notified when a connection of the process is established or lost: async-nats tells it to one function of each client, and a client
/// does not lead to what that function knows.
static CHANGES: LazyLock<watch::Sender<()>> = LazyLock::new(watch::Sender::default);

/// When a client is looked at again after a notification, which async-nats sends just before it changes the state of the client; the
/// interval doubles up to the second, which finds the changes of clients that no [`Login`](crate::login::Login) connected.
const CHECK_INTERVALS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(4));

/// Notifies those who wait that a connection was established or lost.
pub(crate) fn changed() {
    CHANGES.send_replace(());
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
    let (after_change, longest) = CHECK_INTERVALS;
    let mut interval = after_change;
    while !holds(client) {
        let notified = timeout(interval, changes.changed()).await;
        interval = if notified.is_ok() { after_change } else { longest.min(interval * 2) };
    }
}
