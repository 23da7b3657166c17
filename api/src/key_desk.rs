//! Hands out keys to people who ask for one: makes the key here, and lets the write side record its hash.

mod beat;
mod links;
mod sending;

use std::time::Duration;

use async_nats::Client;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use schemas::account::KeyIssued;
use schemas::command::{Answer, Command};
use schemas::email::Email;
use schemas::key::Key;
use schemas::tier::TierName;
use tokio::time::Instant;

use crate::deadline::Deadline;
use crate::state::ApiState;
pub(crate) use beat::on_the_beat;
pub(crate) use links::Decision;
use sending::unavailable;

/// How long the new key may take to be known on this node.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);
/// What a request needs of its time to show a key: the response's padding, and the page.
const SHOWN_WITHIN: Duration = Duration::from_millis(800);

/// Asks the write side for keys, and for links to them.
#[derive(Clone)]
pub struct KeyDesk {
    client: Client,
}

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum NotDone {
    /// The rules speak against it; the sentence says which.
    Refused(String),
    /// Nothing was done, and it may work later; the reason is for the log.
    Unavailable(String),
    /// No answer came that says whether it was done; the reason is for the log.
    Unknown(String),
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
        deadline: Deadline,
    ) -> Result<Key, NotDone> {
        let key = new_key().map_err(|error| unavailable(&error))?;
        let command = Command::IssueKey { email, key: KeyIssued::of(&key, tier, None) };
        sending::send_in_time(&self.client, actor, command, deadline, state.now()).await?;
        known(state, &key, deadline).await;
        Ok(key)
    }

    /// Sends any command on behalf of `actor`, once however often it is tried, and gives its answer, which is no refusal.
    pub(crate) async fn send(
        &self,
        actor: &str,
        command: Command,
        deadline: Deadline,
    ) -> Result<Answer, NotDone> {
        sending::send(&self.client, actor, command, deadline).await
    }
}

/// Waits until the key can be used here, if there is time for it: it must be shown before the deadline.
async fn known(state: &ApiState, key: &Key, deadline: Deadline) {
    let (begun, hash, deadline) = (Instant::now(), key.hash(), deadline.less(SHOWN_WITHIN));
    let is_known = || state.models().keys().is_some_and(|keys| keys.reader.find(&hash).is_some());
    while !is_known() && begun.elapsed() < KNOWN_WITHIN && !deadline.is_over() {
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
