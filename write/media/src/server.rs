//! Serves the media store over NATS: uploads in chunks on `loggia.media.put`, files of stored pictures in chunks on
//! `loggia.media.read`.

use std::sync::Arc;

use async_nats::{Client, HeaderMap, Message};
use bytes::Bytes;
use futures::future::BoxFuture;
use nats::responder::{MAX_CONCURRENT, Reply, ServeError, respond};
use schemas::control::{PICTURE_LENGTH, PICTURE_PART, PutAnswer, PutPicture, ReadPicture};
use schemas::picture::Form;
use schemas::subject;
use tokio_util::sync::CancellationToken;

use crate::MediaStore;
use crate::uploads::{MAX_CHUNK_BYTES, Progress, UploadError, Uploads};

/// Answers requests until `stop` is cancelled.
///
/// # Errors
///
/// If NATS refuses a subscription or ends it.
pub async fn serve(
    client: &Client,
    store: Arc<MediaStore>,
    uploads: Arc<Uploads>,
    stop: &CancellationToken,
) -> Result<(), ServeError> {
    let queue = subject::COMMAND_QUEUE.to_owned();
    let puts = client.queue_subscribe(subject::PUT_PICTURE, queue.clone()).await?;
    let reads = client.queue_subscribe(subject::READ_PICTURE, queue).await?;
    let on_put = |message: Message| -> BoxFuture<'static, Reply> {
        let uploads = uploads.clone();
        Box::pin(async move { blocking(move || put(&uploads, &message)).await })
    };
    let on_read = |message: Message| -> BoxFuture<'static, Reply> {
        let store = store.clone();
        Box::pin(async move { blocking(move || read(&store, &message)).await })
    };
    tokio::join!(
        respond(client, vec![puts], MAX_CONCURRENT, on_put, stop),
        respond(client, vec![reads], MAX_CONCURRENT, on_read, stop)
    );
    if stop.is_cancelled() { Ok(()) } else { Err(ServeError::Closed) }
}

/// Runs blocking work on its own thread. After a panic the requester gets an empty reply and retries.
async fn blocking(work: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a request for a picture panicked");
        Reply::default()
    })
}

fn put(uploads: &Uploads, message: &Message) -> Reply {
    let answer = match part(message) {
        Err(reason) => PutAnswer::Refused { reason },
        Ok(part) => match uploads.add_chunk(part.id, part.offset, part.total, &message.payload) {
            Ok(Progress::More(received)) => PutAnswer::More { received },
            Ok(Progress::Stored(picture)) => PutAnswer::Kept(picture),
            Ok(Progress::Refused(reason)) => PutAnswer::Refused { reason },
            Err(UploadError::WrongOffset { expected, .. }) => PutAnswer::More { received: expected },
            Err(error @ (UploadError::PastEnd { .. } | UploadError::ChunkTooLarge(_))) => {
                PutAnswer::Refused { reason: error.to_string() }
            }
            Err(error @ (UploadError::TooManyUploads | UploadError::Store(_))) => {
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

/// Returns a chunk of a file and the length of the file; an empty reply if there is no such file.
fn read(store: &MediaStore, message: &Message) -> Reply {
    let request: ReadPicture = match serde_json::from_slice(&message.payload) {
        Ok(request) => request,
        Err(error) => {
            tracing::warn!(%error, "a request for a picture is unreadable");
            return Reply::default();
        }
    };
    let read = Form::of(&request.file).map(|form| store.read(request.id, form));
    match read {
        None | Some(Ok(None)) => Reply::default(),
        Some(Err(error)) => {
            tracing::error!(%error, "a picture could not be read");
            Reply::default()
        }
        Some(Ok(Some(bytes))) => {
            let mut headers = HeaderMap::new();
            headers.insert(PICTURE_LENGTH, bytes.len().to_string());
            let from = usize::try_from(request.offset).unwrap_or(usize::MAX).min(bytes.len());
            let to = (from + MAX_CHUNK_BYTES).min(bytes.len());
            Reply { headers: Some(headers), payload: Bytes::from(bytes).slice(from..to) }
        }
    }
}
