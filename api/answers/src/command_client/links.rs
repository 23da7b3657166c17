//! Commands about mailed links, which prove an address: sending, opening and using one. Only the hash of a link's token leaves this
//! process.

use jiff::Timestamp;
use read::models::ReadModels;
use schemas::account::KeyIssued;
use schemas::command::{Command, CommandReply, CurrentKey, LinkDetails};
use schemas::email::Email;
use schemas::ids::CommandId;
use schemas::key::{Key, KeyId};
use schemas::link::LinkHash;
use schemas::tier::TierName;
use tokio::time::Instant;
use uuid::Uuid;

use crate::command_client::padding::pad_response_time;
use crate::command_client::sending::{send_in_time, unavailable};
use crate::command_client::{CommandClient, CommandError, new_key, wait_until_known};
use crate::deadline::Deadline;

/// The actor of commands that send links.
const ASKING: &str = "key form";

/// The actor of commands that use links.
const CLAIMING: &str = "claim link";

/// The choices of the holder of a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyChoices {
    /// The keys to keep.
    pub keep: Vec<KeyId>,
    /// The keys to revoke.
    pub revoke: Vec<KeyId>,
    /// The tier and the name of a new key, if one is requested.
    pub new_key: Option<(TierName, Option<String>)>,
}

/// The result of using a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedLink {
    /// The keys of the decision as they are now, the new one last.
    pub keys: Vec<CurrentKey>,
    /// The new key, whose text is shown only this once.
    pub new_key: Option<Key>,
}

impl CommandClient {
    /// Has a link mailed to an address. Neither the result nor its time reveals anything about the address; there is no rejection.
    ///
    /// # Errors
    ///
    /// If the command was not executed, or its outcome is unknown.
    pub async fn send_link(&self, email: Email, deadline: Deadline) -> Result<(), CommandError> {
        let begun = Instant::now();
        let outcome = self.send(ASKING, Command::SendLink { email }, deadline).await;
        pad_response_time(begun).await;
        match outcome? {
            CommandReply::Accepted => Ok(()),
            _ => Err(unexpected_reply()),
        }
    }

    /// Returns the account and keys of a link, any number of times. Any text may be presented as a token.
    ///
    /// # Errors
    ///
    /// If the link is not valid or the write side does not answer.
    pub async fn open_link(&self, token: &str, deadline: Deadline) -> Result<LinkDetails, CommandError> {
        let command = Command::OpenLink { link: LinkHash::of(token) };
        match self.send(CLAIMING, command, deadline).await? {
            CommandReply::LinkDetails(claim) => Ok(claim),
            _ => Err(unexpected_reply()),
        }
    }

    /// Erases the account of a link: its address is deleted and its keys are revoked.
    ///
    /// # Errors
    ///
    /// If the command was rejected, not executed, or its outcome is unknown.
    pub async fn erase_by_link(&self, token: &str, deadline: Deadline) -> Result<(), CommandError> {
        let command = Command::EraseByLink { link: LinkHash::of(token) };
        match self.send(CLAIMING, command, deadline).await? {
            CommandReply::Account(_) => Ok(()),
            _ => Err(unexpected_reply()),
        }
    }

    /// Uses a link, once. A rejection does not use it up: a link that can still be opened can still be used. This node knows the new
    /// key when this returns, unless the projections lag.
    ///
    /// # Errors
    ///
    /// If the command was rejected, not executed, or its outcome is unknown.
    pub async fn use_link(
        &self,
        models: &ReadModels,
        token: &str,
        decision: KeyChoices,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<UsedLink, CommandError> {
        let KeyChoices { keep, revoke, new_key: wanted } = decision;
        let new_key = wanted.is_some().then(new_key).transpose().map_err(|error| unavailable(&error))?;
        let recorded = new_key.as_ref().zip(wanted).map(|(key, (tier, name))| KeyIssued::of(key, tier, name));
        let link = LinkHash::of(token);
        let (id, command) =
            (CommandId(Uuid::now_v7()), Command::UseLink { link, keep, revoke, new_key: recorded });
        match send_in_time(&self.client, CLAIMING, id, command, deadline, now).await? {
            CommandReply::Account(done) => {
                if let Some(key) = &new_key {
                    wait_until_known(models, key, deadline).await;
                }
                Ok(UsedLink { keys: done.keys, new_key })
            }
            _ => Err(unexpected_reply()),
        }
    }
}

/// Returns the error for a reply of another kind, as from a write side of another version.
fn unexpected_reply() -> CommandError {
    CommandError::OutcomeUnknown(
        "the write side answered with something else; are both of one version?".into(),
    )
}
