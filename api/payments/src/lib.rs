//! The notices of a payment provider (Stripe): their signature, their meaning, and the prices that the site shows. The webhook of
//! the API verifies and parses notices here before it sends them to the write side; `loggia payments replay` parses those of a
//! file.
//!
//! Only the provider's signature makes a notice count, and the same notice always becomes the same command. Nothing here does I/O:
//! the caller sends the command. A notice that means nothing, or that cannot be read, becomes a command that keeps it.
//!
//! In reading order: `signature` verifies a notice, `event` parses it by the [`Terms`] of `terms`, and `offers` has what the pricing
//! page says.

mod event;
mod offers;
mod signature;
mod terms;

use jiff::Timestamp;
use schemas::command::Command;

pub use event::ParsedEvent;
pub use offers::{Checkouts, InvalidOffers, Offer, Offers, Prices};
pub use signature::{Secrets, SignatureError};
pub use terms::{Mode, StripePrices, Terms};

/// The actor of the commands that notices become.
pub const ACTOR: &str = "stripe";

/// Turns the notices of a provider into commands.
#[derive(Debug)]
pub struct Payments {
    /// The secrets that the provider signs with.
    pub secrets: Secrets,
    /// What its prices mean.
    pub terms: Terms,
}

impl Payments {
    /// Verifies a notice and returns the command that records it. `signature` is the header `Stripe-Signature`, `body` the bytes
    /// that were signed. Logs a warning if the notice should have had an effect and has none.
    ///
    /// # Errors
    ///
    /// If the provider did not sign these bytes, or not within five minutes of `now`.
    pub fn command(&self, signature: &str, body: &[u8], now: Timestamp) -> Result<Command, SignatureError> {
        self.secrets.verify(signature, body, now)?;
        let event = ParsedEvent::parse(&String::from_utf8_lossy(body), &self.terms);
        event.warn();
        Ok(event.into_command())
    }
}
