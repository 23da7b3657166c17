//! Links that prove an address: asking for one, looking at it, using it. Of a link's token only the hash leaves this
//! process.

use jiff::Timestamp;
use read::models::ReadModels;
use schemas::account::KeyIssued;
use schemas::command::{Claim, Command, CommandReply, KeyNow};
use schemas::email::Email;
use schemas::ids::CommandId;
use schemas::key::{Key, KeyId};
use schemas::link::LinkHash;
use schemas::tier::TierName;
use tokio::time::Instant;
use uuid::Uuid;

use crate::command_client::padding::pad_response_time;
use crate::command_client::sending::{send_in_time, unavailable};
use crate::command_client::{CommandClient, CommandError, known, new_key};
use crate::deadline::Deadline;

/// Who asks for links.
const ASKING: &str = "key form";

/// Who uses them.
const CLAIMING: &str = "claim link";

/// What the holder of a link decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The keys that are theirs.
    pub(crate) keep: Vec<KeyId>,
    /// The keys that end.
    pub(crate) revoke: Vec<KeyId>,
    /// The tier and the name of a new key, if one is wanted.
    pub(crate) new_key: Option<(TierName, Option<String>)>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claimed {
    /// The keys that were decided about, as they are now, the new one last.
    pub(crate) keys: Vec<KeyNow>,
    /// The new key, whose text is shown this once.
    pub(crate) new_key: Option<Key>,
}

impl CommandClient {
    /// Asks that a link be mailed to an address. Whoever asks learns nothing about the address, by the answer or by
    /// its time; there is no refusal.
    pub(crate) async fn send_link(&self, email: Email, deadline: Deadline) -> Result<(), CommandError> {
        let begun = Instant::now();
        let outcome = self.send(ASKING, Command::SendLink { email }, deadline).await;
        pad_response_time(begun).await;
        match outcome? {
            CommandReply::Accepted => Ok(()),
            _ => Err(unexpected()),
        }
    }

    /// Tells what a link is for; any text may be presented. It can be asked as often as wanted.
    pub(crate) async fn open_link(&self, token: &str, deadline: Deadline) -> Result<Claim, CommandError> {
        let command = Command::OpenLink { link: LinkHash::of(token) };
        match self.send(CLAIMING, command, deadline).await? {
            CommandReply::Claim(claim) => Ok(claim),
            _ => Err(unexpected()),
        }
    }

    /// Uses a link, once. A refusal uses nothing up: a link that can still be opened can still be used. The new key is
    /// known on this node when it is returned, unless the projections lag.
    pub(crate) async fn use_link(
        &self,
        models: &ReadModels,
        token: &str,
        decision: Decision,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Claimed, CommandError> {
        let Decision { keep, revoke, new_key: wanted } = decision;
        let new_key = wanted.is_some().then(new_key).transpose().map_err(|error| unavailable(&error))?;
        let recorded = new_key.as_ref().zip(wanted).map(|(key, (tier, name))| KeyIssued::of(key, tier, name));
        let link = LinkHash::of(token);
        let (id, command) =
            (CommandId(Uuid::now_v7()), Command::UseLink { link, keep, revoke, new_key: recorded });
        match send_in_time(&self.client, CLAIMING, id, command, deadline, now).await? {
            CommandReply::Account(done) => {
                if let Some(key) = &new_key {
                    known(models, key, deadline).await;
                }
                Ok(Claimed { keys: done.keys, new_key })
            }
            _ => Err(unexpected()),
        }
    }
}

/// What a write side of another version answers.
fn unexpected() -> CommandError {
    CommandError::Unknown("the write side answered with something else; are both of one version?".into())
}
