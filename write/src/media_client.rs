//! Brings pictures to the write side over NATS, part by part.

use std::time::Duration;

use async_nats::{Client, HeaderMap, Request};
use bytes::Bytes;
use media::uploads::MAX_CHUNK_BYTES;
use schemas::control::{PICTURE_PART, PutAnswer, PutPicture};
use schemas::picture::PictureId;
use schemas::subject;
use sha2::{Digest, Sha256};

use crate::command_client::SendError;

/// How long one part may take: with the last one the picture is looked at.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How often a part is sent again.
const ATTEMPTS: usize = 5;
/// How long to wait before sending again.
const PAUSE: Duration = Duration::from_millis(300);

/// Brings a picture and tells what became of it. One that is kept already is not sent; one that came in part is gone on
/// with.
pub async fn put(client: &Client, bytes: Bytes) -> Result<PutAnswer, SendError> {
    let id = PictureId(Sha256::digest(&bytes).into());
    let total = bytes.len() as u64;
    let room = MAX_CHUNK_BYTES.min(client.max_payload().saturating_sub(4 << 10));
    // A part without bytes asks how much is there.
    let mut next = 0..0;
    let mut again = 0;
    loop {
        let part = PutPicture { id, offset: next.start as u64, total };
        match send(client, &part, bytes.slice(next.clone())).await? {
            PutAnswer::More { received } => {
                let received = usize::try_from(received).unwrap_or(usize::MAX).min(bytes.len());
                let begun = next.end == 0 && again == 0;
                again = if begun || received == next.end { 0 } else { again + 1 };
                if again > ATTEMPTS {
                    let reason = "two senders bring the same picture in turn; try again".to_owned();
                    return Ok(PutAnswer::Unavailable { reason });
                }
                next = received..(received + room).min(bytes.len());
            }
            PutAnswer::Unavailable { .. } if again < ATTEMPTS => {
                again += 1;
                tokio::time::sleep(PAUSE).await;
            }
            settled @ (PutAnswer::Kept(_) | PutAnswer::Refused { .. } | PutAnswer::Unavailable { .. }) => {
                return Ok(settled);
            }
        }
    }
}

/// Sends one part until it is answered; sent twice, the second tells where to go on.
async fn send(client: &Client, part: &PutPicture, bytes: Bytes) -> Result<PutAnswer, SendError> {
    let mut headers = HeaderMap::new();
    headers.insert(PICTURE_PART, serde_json::to_string(part)?);
    let mut attempt = 0;
    loop {
        let request = Request::new().headers(headers.clone()).payload(bytes.clone()).timeout(Some(ATTEMPT));
        match client.send_request(subject::PUT_PICTURE, request).await {
            Ok(answer) if !answer.payload.is_empty() => return Ok(serde_json::from_slice(&answer.payload)?),
            Ok(_) if attempt >= ATTEMPTS => {
                return Err(SendError::Unanswered { reason: "the answer was empty".into() });
            }
            Err(error) if attempt >= ATTEMPTS => {
                return Err(match error.kind() {
                    async_nats::client::RequestErrorKind::NoResponders => SendError::NobodyListens,
                    _ => SendError::Unanswered { reason: error.to_string() },
                });
            }
            Ok(_) | Err(_) => {}
        }
        attempt += 1;
        tokio::time::sleep(PAUSE).await;
    }
}
