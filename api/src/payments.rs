//! What payment providers tell the service: whether it is really they, what they say, and the way to the write side.

mod event;
pub(crate) mod offers;
mod signature;
mod terms;

use jiff::Timestamp;
use schemas::command::Answer;

use crate::command_client::{CommandClient, CommandError};
use crate::deadline::Deadline;
pub(crate) use signature::NotSigned;

pub use event::{Told, read};
pub use signature::Secrets;
pub use terms::{Mode, Prices, Terms};

/// Who the events are by.
pub const ACTOR: &str = "stripe";

/// Where a provider's notices arrive.
#[derive(Debug)]
pub struct Payments {
    /// What the provider signs with.
    pub secrets: Secrets,
    /// What is paid for.
    pub terms: Terms,
    /// The way to the write side.
    pub commands: CommandClient,
}

/// Why a notice is not taken.
#[derive(Debug)]
pub(crate) enum NotTaken {
    /// It is not the provider's, or not of this moment.
    NotSigned(NotSigned),
    /// It cannot be made durable at present; the reason is for the log.
    Unavailable(String),
}

impl Payments {
    /// Checks a notice, and makes what it says durable. It is knowingly kept or recorded when this returns.
    pub(crate) async fn take(
        &self,
        signature: &str,
        body: &[u8],
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), NotTaken> {
        self.secrets.check(signature, body, now).map_err(NotTaken::NotSigned)?;
        let told = read(&String::from_utf8_lossy(body), &self.terms);
        told.warn();
        match self.commands.send(ACTOR, told.into_command(), deadline).await {
            Ok(Answer::Payment(_)) => Ok(()),
            Ok(_) => Err(NotTaken::Unavailable("the write side answered with something else".into())),
            Err(
                CommandError::Refused(reason)
                | CommandError::Unavailable(reason)
                | CommandError::Unknown(reason),
            ) => Err(NotTaken::Unavailable(reason)),
        }
    }
}
