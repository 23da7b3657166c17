//! Hands out keys to people who ask for one: makes the key here, and lets the write side record its hash.

use std::time::Duration;

use async_nats::{Client, Request};
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use schemas::account::KeyIssued;
use schemas::command::{Answer, Command, CommandMessage, Refusal, RefusalKind};
use schemas::email::Email;
use schemas::ids::{Actor, CommandId};
use schemas::key::Key;
use schemas::subject;
use schemas::tier::TierName;
use tokio::time::Instant;
use uuid::Uuid;

use crate::state::ApiState;

/// How long one attempt waits for its answer.
const ATTEMPT: Duration = Duration::from_secs(2);
/// How long is tried: an answer must still go out within the time that a request may take.
const PATIENCE: Duration = Duration::from_secs(6);
/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_millis(100);
/// How long the new key may take to be known on this node.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);

/// Asks the write side for keys.
#[derive(Clone)]
pub struct KeyDesk {
    client: Client,
}

/// Why no key was handed out.
#[derive(Debug)]
pub(crate) enum NotIssued {
    /// The rules speak against it; the sentence says which.
    Refused(String),
    /// It may work later; the reason is for the log.
    Unavailable(String),
}

impl std::fmt::Debug for KeyDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyDesk").finish_non_exhaustive()
    }
}

/// A key that nobody can guess: all its characters come from a generator that the system seeds, for this key alone.
pub fn new_key() -> Result<Key, rand::rngs::SysError> {
    let mut random = StdRng::try_from_rng(&mut SysRng)?;
    Ok(Key::generate(|bytes| random.fill_bytes(bytes)))
}

impl KeyDesk {
    /// Asks over this connection.
    pub fn new(client: Client) -> KeyDesk {
        KeyDesk { client }
    }

    /// Issues a key of a tier under an address, on behalf of `actor`. It is known on this node when it is returned, unless
    /// the projections lag.
    pub(crate) async fn issue(
        &self,
        state: &ApiState,
        email: Email,
        tier: TierName,
        actor: &str,
    ) -> Result<Key, NotIssued> {
        let unavailable = |error: &dyn std::fmt::Display| NotIssued::Unavailable(error.to_string());
        let key = new_key().map_err(|error| unavailable(&error))?;
        let issued = KeyIssued { key_id: key.id(), hash: key.hash(), hint: key.hint(), name: None, tier };
        let id = CommandId(Uuid::now_v7());
        let actor: Actor = actor.parse().map_err(|error| unavailable(&error))?;
        let command = Command::IssueKey { email, key: issued };
        let message = CommandMessage { id, actor, correlation: id, command };
        match self.send(&message).await? {
            Answer::Refused(Refusal { kind: RefusalKind::Rejected, detail, .. }) => {
                Err(NotIssued::Refused(detail))
            }
            Answer::Refused(Refusal { detail, .. }) => Err(NotIssued::Unavailable(detail)),
            _ => {
                known(state, &key).await;
                Ok(key)
            }
        }
    }

    /// The same id is carried out once, so that it may be sent again.
    pub(crate) async fn send(&self, message: &CommandMessage) -> Result<Answer, NotIssued> {
        let unavailable = |error: &dyn std::fmt::Display| NotIssued::Unavailable(error.to_string());
        let payload = bytes::Bytes::from(serde_json::to_vec(message).map_err(|error| unavailable(&error))?);
        let begun = Instant::now();
        loop {
            let request = Request::new().payload(payload.clone()).timeout(Some(ATTEMPT));
            let sending = self.client.send_request(subject::command(message.command.name()), request);
            let error = match tokio::time::timeout(ATTEMPT, sending).await {
                Ok(Ok(answer)) => {
                    return serde_json::from_slice(&answer.payload).map_err(|error| unavailable(&error));
                }
                Ok(Err(error)) => error.to_string(),
                Err(_elapsed) => "NATS does not take it in time".to_owned(),
            };
            if begun.elapsed() >= PATIENCE {
                return Err(NotIssued::Unavailable(error));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Waits until the key can be used here.
async fn known(state: &ApiState, key: &Key) {
    let (begun, hash) = (Instant::now(), key.hash());
    let is_known = || state.models().keys().is_some_and(|keys| keys.reader.find(&hash).is_some());
    while !is_known() && begun.elapsed() < KNOWN_WITHIN {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_made_twice() {
        let (one, other) = (new_key().unwrap(), new_key().unwrap());
        assert_ne!(one.expose(), other.expose());
        assert_eq!(one.expose().parse::<Key>().unwrap().id(), one.id());
    }
}
