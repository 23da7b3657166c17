//! Observes NATS, whether calls come or not: how many nodes read the log, whether NATS was away, and whether the server of this
//! connection hangs.
//!
//! The counters of each node read the calls with a consumer of each usage stream, and so does the ledger; the leader of a stream tells how
//! many there are. So nodes need no heartbeats of their own, for which no NATS user has a permission.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream::context::{ContextBuilder, GetStreamErrorKind};
use async_nats::jetstream::{Context, ErrorCode};
use async_nats::{Client, Request};
use nats::copies::Copies;
use nats::request::RequestError;
use nats::user::USER_INFO;
use schemas::subject::{EVENTS, usage_stream};
use schemas::tier::TierName;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::ELECTION_TIMEOUT;
use super::outage::{NodesSeen, Outage, save};

/// The interval between two observations.
const INTERVAL: Duration = Duration::from_secs(3);
/// How long JetStream may take to answer.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How long after trouble the consumers are not counted: nodes have made several each meanwhile, and JetStream forgets those that are not
/// used after half a minute.
const CALM: Duration = Duration::from_secs(60);
/// How long the server of the connection may take to answer. Another server leads after 4 s at the earliest, so that a node is connected
/// to it by then or soon afterwards.
const PING_TIMEOUT: Duration = Duration::from_millis(1_500);
/// The least time between two questions to the server, however many calls are not counted.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// How long a client may take to connect to another server before it is told again: that server may hang too.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(10);

/// The stream whose consumers tell how many nodes there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CountedStream {
    name: String,
    /// The number of its consumers that are no nodes.
    others: u64,
}

impl CountedStream {
    /// Returns the stream of the calls of a tier, which the ledger reads too. Where the NATS user `may_read_calls` not, it is that of the
    /// log: each node has one or two consumers of it, so that shares are smaller there.
    pub(super) fn of(tier: &TierName, may_read_calls: bool) -> CountedStream {
        match may_read_calls {
            true => CountedStream { name: usage_stream(tier), others: 1 },
            false => CountedStream { name: EVENTS.to_owned(), others: 0 },
        }
    }
}

/// Observes NATS over the connection that publishes calls.
pub(super) struct Observer {
    client: Client,
    jetstream: Context,
    counted: CountedStream,
    outage: Arc<Outage>,
    nodes: NodesSeen,
    answered: Instant,
    /// When JetStream was last in trouble.
    troubled: Option<Instant>,
}

impl Observer {
    pub(super) fn new(
        client: Client,
        counted: CountedStream,
        outage: Arc<Outage>,
        nodes: NodesSeen,
    ) -> Observer {
        let jetstream = ContextBuilder::new().timeout(TIMEOUT).build(client.clone());
        Observer { client, jetstream, counted, outage, nodes, answered: Instant::now(), troubled: None }
    }

    /// Observes; never returns.
    pub(super) async fn run(mut self) {
        loop {
            if self.count_nodes().await {
                self.answered = Instant::now();
                self.outage.returned();
            } else {
                self.troubled = Some(Instant::now());
                if self.answered.elapsed() >= ELECTION_TIMEOUT {
                    self.outage.begin();
                }
            }
            sleep(INTERVAL).await;
        }
    }

    /// Counts the nodes. Returns whether JetStream answers and has the majority that it needs to store anything.
    async fn count_nodes(&mut self) -> bool {
        // Without a connection the client would keep the request.
        if !nats::connection::is_connected(&self.client) {
            return false;
        }
        let stream = match timeout(TIMEOUT, self.jetstream.get_stream(&self.counted.name)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return is_absent(&error.kind()),
            Err(_elapsed) => return false,
        };
        let info = stream.cached_info();
        if !Copies::of(info).have_majority() {
            return false;
        }
        if self.troubled.is_some_and(|at| at.elapsed() < CALM) {
            return true;
        }
        let consumers = info.state.consumer_count as u64;
        self.nodes.observe(consumers.saturating_sub(self.counted.others), Instant::now());
        self.outage.set_nodes(self.nodes.number());
        if let Some((path, number)) = self.nodes.unsaved() {
            let saving = tokio::task::spawn_blocking(move || save(&path, number));
            if let Ok(Err(error)) = saving.await {
                tracing::debug!(%error, "the number of nodes cannot be kept; a process that starts without NATS lacks it");
            }
        }
        true
    }
}

/// Connects to another server of the cluster whenever calls are not counted because the present one hangs: it is connected and does not
/// answer. The client by itself would notice after ten seconds and more. Never returns.
pub(super) async fn leave_hanging_servers(client: &Client, trouble: &Notify) {
    loop {
        trouble.notified().await;
        let has_others = client.server_info().connect_urls.len() > 1;
        if has_others && hangs(client).await {
            tracing::warn!("the NATS server of this connection does not answer; connecting to another one");
            if let Err(error) = client.force_reconnect().await {
                tracing::debug!(%error, "the connection to NATS has ended");
            }
            sleep(RECONNECT_INTERVAL).await;
        }
        sleep(PING_INTERVAL).await;
    }
}

/// Asks what the server of the connection answers itself.
async fn hangs(client: &Client) -> bool {
    let asked = nats::request::request(client, USER_INFO, Request::new(), PING_TIMEOUT).await;
    matches!(asked, Err(RequestError::Unanswered(_))) && nats::connection::is_connected(client)
}

/// Returns whether JetStream said that there is no such stream, so that it answers.
fn is_absent(kind: &GetStreamErrorKind) -> bool {
    matches!(kind, GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}
