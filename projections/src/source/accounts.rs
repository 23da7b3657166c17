//! Account events alone, one after the other: they are few among the events of a catalog, and a consumer of the whole
//! stream would make nats-server read and send all of it once more.

use std::time::Duration;

use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use futures::StreamExt;
use schemas::ids::Position;
use schemas::subject;
use tokio::sync::mpsc;

use super::{Arrived, EventSource, SourceError, read};

/// How often it looks how far the stream has come; an account event wakes it up at once.
const LOOK: Duration = Duration::from_millis(100);
/// Events that are asked for before it is looked whether the stream still holds all of them.
const PAGE: usize = 100;

type Sender = mpsc::Sender<Result<Arrived, SourceError>>;

/// Sends account events, and how far the stream is in between, until the receiver is gone.
pub(super) async fn pump(
    source: &EventSource,
    mut after: Position,
    sender: &Sender,
) -> Result<(), SourceError> {
    let mut woken =
        source.client.subscribe(subject::ACCOUNT_EVENTS).await.map_err(|error| unavailable(&error))?;
    while !sender.is_closed() {
        let stream =
            source.jetstream.get_stream(subject::EVENTS).await.map_err(|error| unavailable(&error))?;
        let last = Position(stream.cached_info().state.last_sequence);
        while after < last {
            after = page(source, &stream, after, last, sender).await?;
        }
        let _ = tokio::time::timeout(LOOK, woken.next()).await;
    }
    Ok(())
}

/// Sends the next few account events up to `last` and gives the position up to which there is no other.
async fn page(
    source: &EventSource,
    stream: &Stream,
    after: Position,
    last: Position,
    sender: &Sender,
) -> Result<Position, SourceError> {
    let (mut page, mut reached) = (Vec::new(), after);
    while page.len() < PAGE && reached < last {
        // The leader of the stream is asked: another server may not have the newest yet.
        let next = stream.get_first_raw_message_by_subject(subject::ACCOUNT_EVENTS, reached.next().0);
        match next.await {
            Ok(message) => {
                let position = Position(message.sequence);
                let found = Some(read(position, Some(&message.headers), &message.payload));
                page.push(Arrived { position, found });
                reached = position;
            }
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {
                page.push(Arrived { position: last, found: None });
                reached = last;
            }
            Err(error) => return Err(unavailable(&error)),
        }
    }
    // Looked at afterwards: what the stream holds now it held all the while.
    let held = stream.get_info().await.map_err(|error| unavailable(&error))?.state;
    if held.last_sequence < last.0 {
        return Err(SourceError::Unavailable("the stream EVENTS lost its end".into()));
    }
    if held.first_sequence > after.next().0 {
        let first = Position(held.first_sequence);
        source.fill(after, first, sender).await?;
        return Ok(Position(first.0 - 1));
    }
    for arrived in page {
        if sender.send(Ok(arrived)).await.is_err() {
            break;
        }
    }
    Ok(reached)
}

fn unavailable(error: &dyn std::fmt::Display) -> SourceError {
    SourceError::Unavailable(error.to_string())
}
