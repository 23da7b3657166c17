//! Sends commands to the write side over NATS and waits for their replies: for keys, which are generated here so that only their
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

pub use crate::command_client::links::KeyChoices;
pub use crate::command_client::padding::pad_response_time;
use crate::command_client::sending::unavailable;
use crate::deadline::Deadline;

/// How long to wait until this node's model has a new key.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);
/// The time that a request needs after it has a key: for response padding and the page.
const SHOWN_WITHIN: Duration = Duration::from_millis(800);

/// Sends commands to the write side; clones share a connection.
#[derive(Clone)]
pub struct CommandClient {
    client: Client,
}

/// A request for a key.
#[derive(Debug)]
pub struct KeyRequest {
    /// The owner's address.
    pub email: Email,
    /// The tier of the key.
    pub tier: TierName,
    /// The name of the key, which only the key itself decrypts.
    pub name: Option<String>,
    /// The actor that is recorded.
    pub actor: &'static str,
    /// The id of the form that was sent: it issues one key for an address, however often it is sent.
    pub form: Option<Uuid>,
}

/// The result of a request for a key.
#[derive(Debug)]
pub enum IssuedKey {
    /// The key, whose text is shown only this once.
    New(Key),
    /// The same form was sent earlier and has its key.
    AlreadyIssued,
}

/// Why a command has no result.
#[derive(Debug)]
pub enum CommandError {
    /// It was rejected; the sentence says why.
    Rejected(String),
    /// It was not executed and may succeed later; the reason is for the log.
    Unavailable(String),
    /// It is unknown whether it was executed; the reason is for the log.
    OutcomeUnknown(String),
}

impl std::fmt::Debug for CommandClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandClient").finish_non_exhaustive()
    }
}

/// Generates a key from a generator that the operating system seeds for this key alone.
///
/// # Errors
///
/// If the operating system has no randomness.
pub fn new_key() -> Result<Key, rand::rngs::SysError> {
    let mut random = StdRng::try_from_rng(&mut SysRng)?;
    Ok(Key::generate(|bytes| random.fill_bytes(bytes)))
}

impl CommandClient {
    /// Returns a client that sends over this connection.
    pub fn new(client: Client) -> CommandClient {
        CommandClient { client }
    }

    /// Issues a key. This node accepts it when this returns, unless the projections lag.
    ///
    /// # Errors
    ///
    /// If the command was rejected, not executed, or its outcome is unknown.
    pub async fn issue(
        &self,
        models: &ReadModels,
        request: KeyRequest,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<IssuedKey, CommandError> {
        let KeyRequest { email, tier, name, actor, form } = request;
        let key = new_key().map_err(|error| unavailable(&error))?;
        let id = form.map_or_else(|| CommandId(Uuid::now_v7()), |form| command_id_of(form, &email));
        let command = Command::IssueKey { email, key: KeyIssued::of(&key, tier, name) };
        let answer = sending::send_in_time(&self.client, actor, id, command, deadline, now).await?;
        if let CommandReply::Account(done) = answer
            && !done.keys.iter().any(|issued| issued.key_id == key.id())
        {
            return Ok(IssuedKey::AlreadyIssued);
        }
        wait_until_known(models, &key, deadline).await;
        Ok(IssuedKey::New(key))
    }

    /// Sends a command on behalf of `actor` and returns its reply, which is not a rejection. It is executed once, however often it
    /// is sent.
    ///
    /// # Errors
    ///
    /// If the command was rejected, not executed, or its outcome is unknown.
    pub async fn send(
        &self,
        actor: &str,
        command: Command,
        deadline: Deadline,
    ) -> Result<CommandReply, CommandError> {
        sending::send(&self.client, actor, command, deadline).await
    }
}

/// Returns the id of the command of a form, one for each address. It is a digest, so that a client cannot choose the id of another
/// command.
fn command_id_of(form: Uuid, email: &Email) -> CommandId {
    let digest = Sha256::new()
        .chain_update(b"a form for a key")
        .chain_update(form.as_bytes())
        .chain_update(email.folded().as_bytes())
        .finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    CommandId(uuid::Builder::from_custom_bytes(id).into_uuid())
}

/// Waits until this node's model has the key, as far as the deadline permits.
async fn wait_until_known(models: &ReadModels, key: &Key, deadline: Deadline) {
    let (begun, hash, deadline) = (Instant::now(), key.hash(), deadline.earlier_by(SHOWN_WITHIN));
    let is_known = || models.keys().is_some_and(|keys| keys.reader.find(&hash).is_some());
    while !is_known() && begun.elapsed() < KNOWN_WITHIN && !deadline.has_passed() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_different() {
        let (one, other) = (new_key().unwrap(), new_key().unwrap());
        assert_ne!(one.expose(), other.expose());
        assert_eq!(one.expose().parse::<Key>().unwrap().id(), one.id());
    }

    #[test]
    fn a_form_is_one_command_for_each_address() {
        let email = |text: &str| text.parse::<Email>().unwrap();
        let (form, other) = (Uuid::from_u128(7), Uuid::from_u128(8));
        let id = command_id_of(form, &email("ada@example.org"));
        assert_eq!(command_id_of(form, &email("Ada@Example.org")), id);
        assert_ne!(command_id_of(form, &email("grace@example.org")), id);
        assert_ne!(command_id_of(other, &email("ada@example.org")), id);
        assert_ne!(id.0, form, "the form does not choose it");
    }
}
