//! Serves pages of the event log to processes that cannot read it themselves, such as a projection whose next event is no longer
//! in NATS.

use event_log::{EventLog, StoreError};
use schemas::control::{EventPage, ReadEvents};
use schemas::envelope::Recorded;
use schemas::ids::StreamVersion;

const PAGE: usize = 1_000;

/// The number of bytes of a message that the events must leave free.
const RESERVE: usize = 4 << 10;

/// Returns the reply to a request for a page. A request that cannot be served gets an empty message, and is sent again.
pub(super) async fn reply(log: &EventLog, request: &[u8], room: usize) -> Vec<u8> {
    let request: ReadEvents = match serde_json::from_slice(request) {
        Ok(request) => request,
        Err(error) => {
            tracing::warn!(%error, "a request for events is unreadable");
            return Vec::new();
        }
    };
    match page(log, &request, room.saturating_sub(RESERVE)).await {
        Ok(page) => serde_json::to_vec(&page).unwrap_or_default(),
        Err(error) => {
            tracing::error!(%error, "a page of events could not be read");
            Vec::new()
        }
    }
}

async fn page(log: &EventLog, request: &ReadEvents, room: usize) -> Result<EventPage, StoreError> {
    let limit = request.limit.clamp(1, PAGE);
    // A replica that lags behind the requester would look like a log that lost its end. A single stream is read for people.
    if log.is_replica() && (request.stream.is_some() || request.after > log.head().await?.position) {
        log.catch_up().await?;
    }
    let found = match &request.stream {
        None => log.read_all(request.after, limit).await?,
        Some(stream) => {
            let events = log.read_stream(stream, StreamVersion(0)).await?;
            events.into_iter().filter(|event| event.position > request.after).take(limit).collect()
        }
    };
    // The head is read last, so that no event of the page lies beyond it.
    let head = log.head().await?.position;
    Ok(EventPage { events: fitting(found, room), head })
}

/// Returns the first events that fit into `room` bytes, at least one if there is any.
fn fitting(events: Vec<Recorded>, room: usize) -> Vec<Recorded> {
    let mut used = 0;
    let fits = |event: &Recorded| {
        // The envelope has less than a kilobyte, unless the name of the actor consists of escapes.
        let envelope = 700 + 6 * event.actor.as_str().len();
        let first = used == 0;
        used += event.data.get().len() + envelope;
        first || used <= room
    };
    events.into_iter().take_while(fits).collect()
}
