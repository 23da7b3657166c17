//! Sends commands to the write side over NATS and waits for their replies: for keys, which are made here so that only their
//! hash leaves the process, for mailed links, and for payments.

mod links;
mod padding;
mod sending;

use std::time::Duration;

use async_nats::Client;
use jiff::Timestamp;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use read::models::ReadModels;
use schemas::account::KeyIssued;
use schemas::command::{Command, CommandReply};
use schemas::email::Email;
use schemas::ids::CommandId;
use schemas::key::Key;
use schemas::tier::TierName;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use uuid::Uuid;

pub(crate) use crate::command_client::links::Decision;
pub(crate) use crate::command_client::padding::pad_response_time;
use crate::command_client::sending::unavailable;
use crate::deadline::Deadline;

/// How long the new key may take to be known on this node.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);
/// What a request needs of its time to show a key: the response's padding, and the page.
const SHOWN_WITHIN: Duration = Duration::from_millis(800);

/// Sends commands to the write side; clones share a connection.
#[derive(Clone)]
pub struct CommandClient {
    client: Client,
}

/// A key that is asked for.
#[derive(Debug)]
pub(crate) struct KeyRequest {
    /// Whose it will be.
    pub(crate) email: Email,
    pub(crate) tier: TierName,
    /// On whose behalf it is recorded.
    pub(crate) actor: &'static str,
    /// The form that asks for it: it makes one key for an address, however often it is sent.
    pub(crate) form: Option<Uuid>,
}

/// What came of a form that asks for a key.
#[derive(Debug)]
pub(crate) enum Issued {
    /// The key, whose text is shown this once.
    Now(Key),
    /// The form was sent before and made its key then.
    Before,
}

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The rules speak against it; the sentence says which.
    Refused(String),
    /// Nothing was done, and it may work later; the reason is for the log.
    Unavailable(String),
    /// No answer came that says whether it was done; the reason is for the log.
    Unknown(String),
}

impl std::fmt::Debug for CommandClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandClient").finish_non_exhaustive()
    }
}

/// A key that nobody can guess: all its characters come from a generator that the system seeds, for this key alone.
pub fn new_key() -> Result<Key, rand::rngs::SysError> {
    let mut random = StdRng::try_from_rng(&mut SysRng)?;
    Ok(Key::generate(|bytes| random.fill_bytes(bytes)))
}

impl CommandClient {
    /// Sends over this connection.
    pub fn new(client: Client) -> CommandClient {
        CommandClient { client }
    }

    /// Issues a key. It is known on this node when it is returned, unless the projections lag.
    pub(crate) async fn issue(
        &self,
        models: &ReadModels,
        request: KeyRequest,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Issued, CommandError> {
        let KeyRequest { email, tier, actor, form } = request;
        let key = new_key().map_err(|error| unavailable(&error))?;
        let id = form.map_or_else(|| CommandId(Uuid::now_v7()), |form| sent_by(form, &email));
        let command = Command::IssueKey { email, key: KeyIssued::of(&key, tier, None) };
        let answer = sending::send_in_time(&self.client, actor, id, command, deadline, now).await?;
        if let CommandReply::Account(done) = answer
            && !done.keys.iter().any(|issued| issued.key_id == key.id())
        {
            return Ok(Issued::Before);
        }
        known(models, &key, deadline).await;
        Ok(Issued::Now(key))
    }

    /// Sends any command on behalf of `actor`, once however often it is tried, and gives its answer, which is no refusal.
    pub(crate) async fn send(
        &self,
        actor: &str,
        command: Command,
        deadline: Deadline,
    ) -> Result<CommandReply, CommandError> {
        sending::send(&self.client, actor, command, deadline).await
    }
}

/// The command that a form stands for: one for each address. Nobody can choose the id of another command by it.
fn sent_by(form: Uuid, email: &Email) -> CommandId {
    let digest = Sha256::new()
        .chain_update(b"a form for a key")
        .chain_update(form.as_bytes())
        .chain_update(email.folded().as_bytes())
        .finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    CommandId(uuid::Builder::from_custom_bytes(id).into_uuid())
}

/// Waits until the key can be used here, if there is time for it: it must be shown before the deadline.
async fn known(models: &ReadModels, key: &Key, deadline: Deadline) {
    let (begun, hash, deadline) = (Instant::now(), key.hash(), deadline.less(SHOWN_WITHIN));
    let is_known = || models.keys().is_some_and(|keys| keys.reader.find(&hash).is_some());
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

    #[test]
    fn a_form_is_one_command_for_each_address() {
        let email = |text: &str| text.parse::<Email>().unwrap();
        let (form, other) = (Uuid::from_u128(7), Uuid::from_u128(8));
        let id = sent_by(form, &email("ada@example.org"));
        assert_eq!(sent_by(form, &email("Ada@Example.org")), id);
        assert_ne!(sent_by(form, &email("grace@example.org")), id);
        assert_ne!(sent_by(other, &email("ada@example.org")), id);
        assert_ne!(id.0, form, "the form does not choose it");
    }
}
