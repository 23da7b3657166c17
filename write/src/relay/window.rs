//! Publishes in order with many messages in flight: each is taken only if the one before it was.

use std::collections::VecDeque;
use std::pin::Pin;

use async_nats::HeaderMap;
use async_nats::header::{NATS_EXPECTED_LAST_SEQUENCE, NATS_EXPECTED_STREAM};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::publish::PublishAck;
use schemas::chain::Link;
use schemas::cloudevents;
use schemas::envelope::Recorded;
use schemas::ids::{Position, StoreId};
use schemas::subject::{self, EVENTS};

use super::Interruption;
use super::stream::EventStream;
use crate::event_store::{EventStore, Head, StoreError};

/// How many messages may wait for their acknowledgement.
const WINDOW: usize = 500;

/// How many events are read at once.
const PAGE: usize = 1_000;

type Ack = Pin<Box<dyn Future<Output = Result<PublishAck, PublishError>> + Send>>;

/// Publishes all that the store has behind `head` and waits for the acknowledgements; gives where the stream ends then.
/// `acknowledged` is told each position.
pub(super) async fn publish(
    store: &dyn EventStore,
    stream: &EventStream,
    mut head: Head,
    acknowledged: impl Fn(Position),
) -> Result<Head, Interruption> {
    let mut waiting: VecDeque<(Position, Ack)> = VecDeque::with_capacity(WINDOW);
    loop {
        let page = store.read_all(head.position, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for event in page {
            head = follows(head, &event)?;
            let ack = send(stream, event, store.store_id()).await?;
            waiting.push_back((head.position, ack));
            if waiting.len() >= WINDOW {
                confirm(waiting.pop_front(), &acknowledged).await?;
            }
        }
    }
    while !waiting.is_empty() {
        confirm(waiting.pop_front(), &acknowledged).await?;
    }
    Ok(head)
}

/// The log's head with this event, which must be the next and unharmed: damage is not carried on to readers.
fn follows(head: Head, event: &Recorded) -> Result<Head, Interruption> {
    if event.position != head.position.next() || Link::from(event).hash_after(head.hash) != event.hash {
        let position = head.position.next();
        let reason = format!("the event at position {position} is not what its hash was made of");
        return Err(StoreError::corrupt(reason).into());
    }
    Ok(Head { position: event.position, hash: event.hash })
}

async fn send(stream: &EventStream, event: Recorded, store: StoreId) -> Result<Ack, Interruption> {
    let mut headers = HeaderMap::new();
    for (name, value) in cloudevents::headers(&event, store) {
        headers.insert(name, value);
    }
    headers.insert(NATS_EXPECTED_STREAM, EVENTS);
    headers.insert(NATS_EXPECTED_LAST_SEQUENCE, (event.position.0 - 1).to_string());
    let payload: Box<str> = event.data.into();
    let ack = stream
        .jetstream()
        .publish_with_headers(subject::of_stream(&event.stream), headers, payload.into_boxed_bytes().into())
        .await
        .map_err(interruption)?;
    Ok(ack.into_future())
}

async fn confirm(
    waiting: Option<(Position, Ack)>,
    acknowledged: impl Fn(Position),
) -> Result<(), Interruption> {
    let Some((position, ack)) = waiting else { return Ok(()) };
    // A message whose id the stream remembers is answered with the place that it has.
    if ack.await.map_err(interruption)?.sequence != position.0 {
        return Err(Interruption::Moved);
    }
    acknowledged(position);
    Ok(())
}

fn interruption(error: PublishError) -> Interruption {
    match error.kind() {
        PublishErrorKind::WrongLastSequence | PublishErrorKind::StreamNotFound => Interruption::Moved,
        _ => Interruption::nats(error),
    }
}
