//! Pages of the log for those who cannot read the store: a projection that fell behind what NATS still has.

use event_log::{EventLog, StoreError};
use schemas::control::{EventPage, ReadEvents};
use schemas::envelope::Recorded;
use schemas::ids::StreamVersion;

/// The most events of one page.
const PAGE: usize = 1_000;

/// How many bytes of a message the events may not use.
const RESERVE: usize = 4 << 10;

/// The answer to a request for a page. A request that cannot be answered gets an empty message: it is asked again.
pub(super) async fn answer(store: &EventLog, request: &[u8], room: usize) -> Vec<u8> {
    let request: ReadEvents = match serde_json::from_slice(request) {
        Ok(request) => request,
        Err(error) => {
            tracing::warn!(%error, "a request for events is unreadable");
            return Vec::new();
        }
    };
    match page(store, &request, room.saturating_sub(RESERVE)).await {
        Ok(page) => serde_json::to_vec(&page).unwrap_or_default(),
        Err(error) => {
            tracing::error!(%error, "a page of events could not be read");
            Vec::new()
        }
    }
}

async fn page(store: &EventLog, request: &ReadEvents, room: usize) -> Result<EventPage, StoreError> {
    let limit = request.limit.clamp(1, PAGE);
    // A replica may lag behind who asks: that would look like a log which lost its end. And one stream is read for people.
    if store.is_replica() && (request.stream.is_some() || request.after > store.head().await?.position) {
        store.catch_up().await?;
    }
    let found = match &request.stream {
        None => store.read_all(request.after, limit).await?,
        Some(stream) => {
            let events = store.read_stream(stream, StreamVersion(0)).await?;
            events.into_iter().filter(|event| event.position > request.after).take(limit).collect()
        }
    };
    // The head is read last, so that no event of the page lies beyond it.
    let head = store.head().await?.position;
    Ok(EventPage { events: fitting(found, room), head })
}

/// The first events that fit into `room` bytes; always one, if there is any.
fn fitting(events: Vec<Recorded>, room: usize) -> Vec<Recorded> {
    let mut used = 0;
    let fits = |event: &Recorded| {
        // What stands around a payload has less than a kilobyte, but for an actor's name that is all escapes.
        let around = 700 + 6 * event.actor.as_str().len();
        let first = used == 0;
        used += event.data.get().len() + around;
        first || used <= room
    };
    events.into_iter().take_while(fits).collect()
}
