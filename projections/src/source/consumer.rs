//! A consumer on the server, from which one stream is read in its order.
//!
//! Every request waits a second at most, so that one to a server that is gone does not hold anything up; who reads
//! makes another consumer when one fails.

use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::{self, Context};
use futures::StreamExt;
use futures::stream::ReadyChunks;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};

/// How long the server may take to answer.
pub(crate) const ANSWERED: Duration = Duration::from_secs(1);
/// How long to wait before trying again what failed.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);
/// How often it is looked whether the connection is another one.
const LOOK: Duration = Duration::from_millis(200);
/// The server shows this often that the consumer is there; when it has not twice, the consumer is given up.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// After this long without a request the server asks for the next one.
const EXPIRES: Duration = Duration::from_secs(30);
/// Messages asked for at once.
const BATCH: usize = 500;
/// Messages that came are given together up to so many, for waking those who wait costs as much as a message.
const AT_ONCE: usize = 64;
/// How long the server keeps a consumer that nobody asks.
const KEPT: Duration = Duration::from_secs(30);

/// What a consumer reads next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Messages, in the order of the stream.
    Messages(Vec<jetstream::Message>),
    /// Nothing for this long.
    Silence,
}

/// Returns JetStream over a connection, with requests that wait a second at most.
pub(crate) fn jetstream(client: &Client) -> Context {
    ContextBuilder::new().timeout(ANSWERED).build(client.clone())
}

/// Returns how often the connection was made: a consumer that was made before the last time may be gone.
pub(crate) fn connects(client: &Client) -> u64 {
    client.statistics().connects.load(Ordering::Relaxed)
}

/// Waits until there is another connection than that one, and no longer than `wait`.
pub(crate) async fn pause(client: &Client, connected: u64, wait: Duration) {
    let until = Instant::now() + wait;
    while Instant::now() < until && connects(client) == connected {
        sleep_until(until.min(Instant::now() + LOOK)).await;
    }
}

/// A consumer on the server. Dropping it deletes it there; left alone, the server would keep it for half a minute.
pub(crate) struct Consumer {
    messages: ReadyChunks<pull::Stream>,
    /// How many messages came.
    delivered: u64,
    /// Why no more come, once that is known.
    broken: Option<String>,
    /// The connection that it was made over.
    connected: u64,
    client: Client,
    stream: String,
    name: String,
    jetstream: Context,
}

impl Consumer {
    /// Makes a consumer of what a stream holds behind a sequence, and of what comes.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be made at present.
    pub(crate) async fn create(jetstream: &Context, stream: &str, after: u64) -> Result<Consumer, String> {
        let client = jetstream.client();
        let connected = connects(&client);
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            ack_policy: AckPolicy::None,
            inactive_threshold: KEPT,
            num_replicas: 1,
            memory_storage: true,
            ..pull::Config::default()
        };
        let made = jetstream.create_consumer_on_stream(config, stream).await;
        let consumer = made.map_err(|error| error.to_string())?;
        let name = consumer.cached_info().name.clone();
        let pulling = consumer.stream().max_messages_per_batch(BATCH).expires(EXPIRES).heartbeat(HEARTBEAT);
        let messages = pulling.messages().await.map_err(|error| error.to_string())?.ready_chunks(AT_ONCE);
        let (stream, jetstream) = (stream.to_owned(), jetstream.clone());
        Ok(Consumer { messages, delivered: 0, broken: None, connected, client, stream, name, jetstream })
    }

    /// Waits for messages, and tells when there was none for so long.
    ///
    /// # Errors
    ///
    /// Returns why no more come from this consumer: it is gone, a message was lost on the way, or the connection is
    /// another one.
    pub(crate) async fn next(&mut self, silence: Duration) -> Result<Next, String> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let until = Instant::now() + silence;
        loop {
            let wait = LOOK.min(until.saturating_duration_since(Instant::now()));
            match timeout(wait, self.messages.next()).await {
                Ok(Some(messages)) => return self.whole(messages).map(Next::Messages),
                Ok(None) => return Err("the consumer ended".into()),
                Err(_) if connects(&self.client) != self.connected => {
                    return Err("the connection was made again".into());
                }
                Err(_) if Instant::now() >= until => return Ok(Next::Silence),
                Err(_) => {}
            }
        }
    }

    /// The messages up to the first that failed, or the failure if there is none.
    fn whole(
        &mut self,
        messages: Vec<Result<jetstream::Message, pull::MessagesError>>,
    ) -> Result<Vec<jetstream::Message>, String> {
        let mut whole = Vec::with_capacity(messages.len());
        for message in messages {
            let checked = message.map_err(|error| error.to_string()).and_then(|message| {
                let sequence = message.info().map_err(|error| error.to_string())?.consumer_sequence;
                let expected = self.delivered + 1;
                let is_next = sequence == expected;
                is_next
                    .then_some(message)
                    .ok_or_else(|| format!("message {sequence} came instead of {expected}"))
            });
            match checked {
                Ok(message) => {
                    self.delivered += 1;
                    whole.push(message);
                }
                Err(error) if whole.is_empty() => return Err(error),
                Err(error) => {
                    self.broken = Some(error);
                    break;
                }
            }
        }
        Ok(whole)
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let (name, stream) = (std::mem::take(&mut self.name), std::mem::take(&mut self.stream));
        let jetstream = self.jetstream.clone();
        let delete = async move {
            if let Err(error) = jetstream.delete_consumer_from_stream(&name, &stream).await {
                tracing::debug!(%error, name, "a consumer could not be deleted; the server will");
            }
        };
        // Without a runtime the process is about to end, and the server does it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(delete);
        }
    }
}
