//! Serves pages of the ledger over NATS to nodes that rebuild the counters of old months and cannot read the file.

use std::sync::Arc;

use async_nats::Client;
use futures::future::BoxFuture;
use nats::requirements;
use nats::responder::{MAX_CONCURRENT, ServeError, respond};
use schemas::control::ReadUsage;
use schemas::subject;
use tokio_util::sync::CancellationToken;

use super::Ledger;

const PAGE: usize = 1_000;

/// The maximum size of an entry in a reply, in bytes: its texts are short and need no escapes.
const ENTRY: usize = 512;

/// The bytes of a message that are reserved for the rest.
const RESERVE: usize = 8 << 10;

/// Answers requests for pages on `loggia.read.usage` until `stop`.
pub async fn serve(client: &Client, ledger: Arc<Ledger>, stop: &CancellationToken) -> Result<(), ServeError> {
    requirements::check(client)?;
    let requests = client.queue_subscribe(subject::READ_USAGE, subject::COMMAND_QUEUE.to_owned()).await?;
    let room = client.max_payload().saturating_sub(RESERVE) / ENTRY;
    let page = |message: async_nats::Message| -> BoxFuture<'static, Vec<u8>> {
        let ledger = ledger.clone();
        Box::pin(async move { answer(&ledger, &message.payload, room.clamp(1, PAGE)).await })
    };
    respond(client, vec![requests], MAX_CONCURRENT, page, stop).await;
    if stop.is_cancelled() { Ok(()) } else { Err(ServeError::Closed) }
}

/// Returns the reply to a request. If it cannot be answered, the reply is empty and the node asks again.
async fn answer(ledger: &Ledger, request: &[u8], max_entries: usize) -> Vec<u8> {
    let request: ReadUsage = match serde_json::from_slice(request) {
        Ok(request) => request,
        Err(error) => {
            tracing::warn!(%error, "a request for the ledger cannot be decoded");
            return Vec::new();
        }
    };
    match ledger.page(request.after, request.limit.clamp(1, max_entries)).await {
        Ok(page) => serde_json::to_vec(&page).unwrap_or_default(),
        Err(error) => {
            tracing::error!(%error, "a page of the ledger cannot be read");
            Vec::new()
        }
    }
}
