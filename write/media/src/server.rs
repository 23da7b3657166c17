//! Serves the media store over NATS: bytes of pictures come in parts on `loggia.media.put`, files of kept ones go out in parts on
//! `loggia.media.read`.

use std::sync::Arc;

use async_nats::{Client, HeaderMap, Message};
use bytes::Bytes;
use futures::future::BoxFuture;
use nats::responder::{CONCURRENT, Reply, ServeError, respond};
use schemas::control::{PICTURE_LENGTH, PICTURE_PART, PutAnswer, PutPicture, ReadPicture};
use schemas::picture::Form;
use schemas::subject;
use tokio_util::sync::CancellationToken;

use crate::MediaStore;
use crate::uploads::{MAX_CHUNK_BYTES, Progress, UploadError, Uploads};

/// Answers requests until `stop`.
pub async fn serve(
    client: &Client,
    store: Arc<MediaStore>,
    uploads: Arc<Uploads>,
    stop: &CancellationToken,
) -> Result<(), ServeError> {
    let queue = subject::COMMAND_QUEUE.to_owned();
    let puts = client.queue_subscribe(subject::PUT_PICTURE, queue.clone()).await?;
    let reads = client.queue_subscribe(subject::READ_PICTURE, queue).await?;
    let put = |message: Message| -> BoxFuture<'static, Reply> {
        let uploads = uploads.clone();
        Box::pin(async move { blocking(move || take(&uploads, &message)).await })
    };
    let read = |message: Message| -> BoxFuture<'static, Reply> {
        let store = store.clone();
        Box::pin(async move { blocking(move || give(&store, &message)).await })
    };
    tokio::join!(
        respond(client, vec![puts], CONCURRENT, put, stop),
        respond(client, vec![reads], CONCURRENT, read, stop)
    );
    if stop.is_cancelled() { Ok(()) } else { Err(ServeError::Closed) }
}

/// Lets the work wait for the disk and the processor where that disturbs nobody. Who asked asks again after a panic.
async fn blocking(work: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a part of a picture was dropped");
        Reply::default()
    })
}

fn take(uploads: &Uploads, message: &Message) -> Reply {
    let answer = match part(message) {
        Err(reason) => PutAnswer::Refused { reason },
        Ok(part) => match uploads.chunk(part.id, part.offset, part.total, &message.payload) {
            Ok(Progress::More { received }) => PutAnswer::More { received },
            Ok(Progress::Taken(picture)) => PutAnswer::Kept(picture),
            Ok(Progress::Refused(reason)) => PutAnswer::Refused { reason },
            Err(UploadError::OutOfStep { expected, .. }) => PutAnswer::More { received: expected },
            Err(error @ (UploadError::BeyondTheEnd { .. } | UploadError::ChunkTooLarge { .. })) => {
                PutAnswer::Refused { reason: error.to_string() }
            }
            Err(error @ (UploadError::TooMany | UploadError::Store(_))) => {
                PutAnswer::Unavailable { reason: error.to_string() }
            }
        },
    };
    Reply { headers: None, payload: serde_json::to_vec(&answer).unwrap_or_default().into() }
}

fn part(message: &Message) -> Result<PutPicture, String> {
    let header = message.headers.as_ref().and_then(|headers| headers.get(PICTURE_PART));
    let header = header.ok_or_else(|| format!("The header {PICTURE_PART} is missing."))?;
    serde_json::from_str(header.as_str())
        .map_err(|error| format!("The header {PICTURE_PART} is unreadable: {error}."))
}

/// A part of a file with the length of the whole; without the length where there is no such file.
fn give(store: &MediaStore, message: &Message) -> Reply {
    let wanted: ReadPicture = match serde_json::from_slice(&message.payload) {
        Ok(wanted) => wanted,
        Err(error) => {
            tracing::warn!(%error, "a request for a picture is unreadable");
            return Reply::default();
        }
    };
    let read = Form::of(&wanted.file).map(|form| store.read(wanted.id, form));
    match read {
        None | Some(Ok(None)) => Reply::default(),
        Some(Err(error)) => {
            tracing::error!(%error, "a picture could not be read");
            Reply::default()
        }
        Some(Ok(Some(bytes))) => {
            let mut headers = HeaderMap::new();
            headers.insert(PICTURE_LENGTH, bytes.len().to_string());
            let from = usize::try_from(wanted.offset).unwrap_or(usize::MAX).min(bytes.len());
            let to = (from + MAX_CHUNK_BYTES).min(bytes.len());
            Reply { headers: Some(headers), payload: Bytes::from(bytes).slice(from..to) }
        }
    }
}
