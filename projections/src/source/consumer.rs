//! A JetStream pull consumer that reads one stream in order.
//!
//! Each request waits a second at most, so that an unreachable server delays no other work; the reader creates a new consumer
//! when one fails.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::{self, Context};
use futures::StreamExt;
use futures::stream::ReadyChunks;
use nats::connection;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

/// How long the server may take to answer.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
pub(crate) const RETRY_DELAY: Duration = Duration::from_millis(250);
/// The interval of the server's idle heartbeats; after two missed ones the consumer has failed.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How long a pull request is valid; then the client sends the next one.
const PULL_EXPIRES: Duration = Duration::from_secs(30);
/// The most messages of one pull request.
const MAX_PULL: usize = 500;
/// The most messages handed on together: waking the readers costs as much as handling a message.
const MAX_CHUNK: usize = 64;
/// How long the server keeps an inactive consumer.
const INACTIVE_THRESHOLD: Duration = Duration::from_secs(30);

/// The result of waiting for messages.
#[derive(Debug)]
pub(crate) enum Next {
    /// Messages, in the order of the stream.
    Messages(Vec<jetstream::Message>),
    /// No message came in time.
    Silence,
}

/// Returns JetStream over a connection, with a timeout of a second for requests.
pub(crate) fn jetstream(client: &Client) -> Context {
    ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(client.clone())
}

/// Waits until the client has connected again since `connected`, and no longer than `wait`.
pub(crate) async fn wait_for_reconnect(client: &Client, connected: u64, wait: Duration) {
    // The time is up, or the client has connected again: both end the wait.
    let _elapsed =
        timeout(wait, connection::wait_until(client, |client| connection::count(client) != connected)).await;
}

/// A consumer on the server. Dropping it deletes it there; otherwise the server would keep it for half a minute.
pub(crate) struct Consumer {
    messages: ReadyChunks<pull::Stream>,
    /// The consumer sequence of the last message.
    delivered: u64,
    /// An error that came after messages, which are returned first.
    broken: Option<String>,
    connected: u64,
    client: Client,
    stream: String,
    name: String,
    jetstream: Context,
}

impl Consumer {
    /// Creates a consumer of all messages after a sequence. Returns the reason when it cannot be created at present.
    pub(crate) async fn create(jetstream: &Context, stream: &str, after: u64) -> Result<Consumer, String> {
        let client = jetstream.client();
        let connected = connection::count(&client);
        let config = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            ack_policy: AckPolicy::None,
            inactive_threshold: INACTIVE_THRESHOLD,
            num_replicas: 1,
            memory_storage: true,
            ..pull::Config::default()
        };
        let made = jetstream.create_consumer_on_stream(config, stream).await;
        let consumer = made.map_err(|error| error.to_string())?;
        let name = consumer.cached_info().name.clone();
        let pulling =
            consumer.stream().max_messages_per_batch(MAX_PULL).expires(PULL_EXPIRES).heartbeat(HEARTBEAT);
        let messages = pulling.messages().await.map_err(|error| error.to_string())?.ready_chunks(MAX_CHUNK);
        let (stream, jetstream) = (stream.to_owned(), jetstream.clone());
        Ok(Consumer { messages, delivered: 0, broken: None, connected, client, stream, name, jetstream })
    }

    /// Waits for messages; [`Next::Silence`] if none comes within `silence`. Returns the reason when no more messages
    /// come from this consumer: it no longer exists, a message was lost, or the client has connected again.
    pub(crate) async fn next(&mut self, silence: Duration) -> Result<Next, String> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let messages = tokio::select! {
            biased;
            messages = self.messages.next() => messages.ok_or("the consumer ended")?,
            () = connection::wait_until(&self.client, |client| connection::count(client) != self.connected) => {
                return Err("the connection was established again".into());
            }
            () = sleep(silence) => return Ok(Next::Silence),
        };
        self.intact(messages).map(Next::Messages)
    }

    /// Returns the messages before the first error; the error if it is the first.
    fn intact(
        &mut self,
        messages: Vec<Result<jetstream::Message, pull::MessagesError>>,
    ) -> Result<Vec<jetstream::Message>, String> {
        let mut intact = Vec::with_capacity(messages.len());
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
                    intact.push(message);
                }
                Err(error) if intact.is_empty() => return Err(error),
                Err(error) => {
                    self.broken = Some(error);
                    break;
                }
            }
        }
        Ok(intact)
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
        // Without a runtime the process is ending, and the server deletes the consumer.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(delete);
        }
    }
}
