//! Replies to requests, each in a task of its own, with bounded concurrency.

use std::time::Duration;

use async_nats::client::PublishError;
use async_nats::{Client, HeaderMap, Message, Subject, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::select_all;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::requirements::InsufficientServer;

/// The usual number of requests of one kind that are handled at once; further ones wait.
pub const MAX_CONCURRENT: usize = 64;

/// How long a stopping responder accepts requests that were sent before it unsubscribed.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// Requests cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server does not meet the requirements.
    #[error(transparent)]
    Insufficient(#[from] InsufficientServer),
    /// The server refuses the subscription.
    #[error("commands cannot be received from NATS: {0}; check the connection and the user's permissions")]
    Subscribe(#[from] async_nats::SubscribeError),
    /// The connection was closed permanently, although the responder was not stopped.
    #[error("the connection to NATS was closed, so no commands arrive any more; start the write side again")]
    Closed,
}

/// A reply to a request.
#[derive(Debug, Default)]
pub struct Reply {
    /// Its headers, if it has any.
    pub headers: Option<HeaderMap>,
    /// Its payload.
    pub payload: Bytes,
}

impl From<Vec<u8>> for Reply {
    fn from(payload: Vec<u8>) -> Reply {
        Reply { headers: None, payload: payload.into() }
    }
}

impl Reply {
    async fn send(self, client: &Client, to: Subject) -> Result<(), PublishError> {
        match self.headers {
            None => client.publish(to, self.payload).await,
            Some(headers) => client.publish_with_headers(to, headers, self.payload).await,
        }
    }
}

/// Replies to all requests of the subscriptions, at most `max_concurrent` at once, until `stop` is cancelled. Then accepts no new ones,
/// and returns when all accepted ones have their replies.
///
/// A request whose handler panics gets no reply; its sender must repeat it.
pub async fn respond<R: Into<Reply> + Send + 'static>(
    client: &Client,
    requests: Vec<Subscriber>,
    max_concurrent: usize,
    handle: impl Fn(Message) -> BoxFuture<'static, R>,
    stop: &CancellationToken,
) {
    let mut requests = select_all(requests);
    let mut tasks = JoinSet::new();
    let mut drained = std::pin::pin!(async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN_TIME).await;
    });
    let mut is_draining = false;
    loop {
        tokio::select! {
            request = requests.next(), if tasks.len() < max_concurrent => {
                let Some(request) = request else { break };
                let Some(to) = request.reply.clone() else { continue };
                let (client, reply) = (client.clone(), handle(request));
                tasks.spawn(async move {
                    if let Err(error) = reply.await.into().send(&client, to).await {
                        tracing::warn!(%error, "a reply could not be sent");
                    }
                });
            }
            Some(ended) = tasks.join_next(), if !tasks.is_empty() => report(ended),
            () = stop.cancelled(), if !is_draining => {
                is_draining = true;
                for subscription in requests.iter_mut() {
                    subscription.drain().await.ok();
                }
            }
            () = &mut drained => break,
        }
    }
    while let Some(ended) = tasks.join_next().await {
        report(ended);
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a request was dropped; its sender repeats it");
    }
}
