//! Uploads pictures to the write side over NATS, in parts.

use std::time::Duration;

use async_nats::{Client, HeaderMap, Request};
use bytes::Bytes;
use media::uploads::MAX_CHUNK_BYTES;
use nats::request::{Retry, request_until_answered};
use schemas::control::{PICTURE_PART, PutAnswer, PutPicture};
use schemas::picture::PictureId;
use schemas::subject;
use sha2::{Digest, Sha256};

use crate::command_client::SendError;

/// When a part is repeated, and when it is given up. The reply to the last one comes after the picture was decoded.
const RETRY: Retry = Retry {
    attempt: Duration::from_secs(30),
    pause: Duration::from_millis(300),
    total: Duration::from_secs(180),
    absence: Duration::from_secs(5),
};
/// How often a picture is tried again that the write side cannot take for the moment, or that two senders upload in turn.
const ATTEMPTS: usize = 5;

/// Uploads a picture and returns the outcome. A picture that is stored already is not sent; an interrupted upload is
/// continued.
///
/// # Errors
///
/// Fails if no reply arrives, or one cannot be decoded.
pub async fn put(client: &Client, bytes: Bytes) -> Result<PutAnswer, SendError> {
    let id = PictureId(Sha256::digest(&bytes).into());
    let total = bytes.len() as u64;
    let room = MAX_CHUNK_BYTES.min(client.max_payload().saturating_sub(4 << 10));
    // A part without bytes asks how much has arrived.
    let mut next = 0..0;
    let mut again = 0;
    loop {
        let part = PutPicture { id, offset: next.start as u64, total };
        match send(client, &part, bytes.slice(next.clone())).await? {
            PutAnswer::More { received } => {
                let received = usize::try_from(received).unwrap_or(usize::MAX).min(bytes.len());
                let is_first = next.end == 0 && again == 0;
                again = if is_first || received == next.end { 0 } else { again + 1 };
                if again > ATTEMPTS {
                    let reason = "two senders bring the same picture in turn; try again".to_owned();
                    return Ok(PutAnswer::Unavailable { reason });
                }
                next = received..(received + room).min(bytes.len());
            }
            PutAnswer::Unavailable { .. } if again < ATTEMPTS => {
                again += 1;
                tokio::time::sleep(RETRY.pause).await;
            }
            outcome @ (PutAnswer::Kept(_) | PutAnswer::Refused { .. } | PutAnswer::Unavailable { .. }) => {
                return Ok(outcome);
            }
        }
    }
}

/// Sends one part until it is answered; the reply to a repeated part says from which byte to continue.
async fn send(client: &Client, part: &PutPicture, bytes: Bytes) -> Result<PutAnswer, SendError> {
    let mut headers = HeaderMap::new();
    headers.insert(PICTURE_PART, serde_json::to_string(part)?);
    let make = || Request::new().headers(headers.clone()).payload(bytes.clone());
    let reply = request_until_answered(client, subject::PUT_PICTURE, make, RETRY).await?;
    Ok(serde_json::from_slice(&reply.payload)?)
}
