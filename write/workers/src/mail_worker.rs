//! Sends the outbox messages of the vault: `log`, `print` or SMTP.

mod mailer;
mod message;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use schemas::clock::Clock;
use tokio_util::sync::CancellationToken;
use vault::{self, MessageKind, OutboxMessage, Vault, VaultError};
use write::service::{AccountService, read_account};

pub use mailer::{MailError, Mailer};
pub use transport::{InvalidSender, InvalidTransport, MailTransport, Sender};

/// The age at which a message is given up.
const GIVE_UP_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// The backoff after the first failure; it doubles with each further one.
const FIRST_BACKOFF: SignedDuration = SignedDuration::from_secs(30);

const MAX_BACKOFF: SignedDuration = SignedDuration::from_hours(1);

const VAULT_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The longest time between two reads of the outbox: due times are wall-clock times, and that clock may be set.
const POLL_INTERVAL: Duration = Duration::from_secs(60);

/// How long the mail server may take for the message in flight once the process shuts down.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(4);

/// The worker that sends outbox messages.
pub struct MailWorker {
    accounts: Arc<AccountService>,
    clock: Clock,
    mailer: Mailer,
    /// The configured public URL of the site.
    site: String,
}

impl MailWorker {
    /// Creates a worker for the outbox of this service. Links in mails start with `site`, the configured public URL; no header of
    /// a request changes that.
    pub fn new(accounts: Arc<AccountService>, clock: Clock, mailer: Mailer, site: String) -> MailWorker {
        MailWorker { accounts, clock, mailer, site }
    }

    /// Runs until `stop` is cancelled. The message in flight is finished first, if the server accepts it within 4 seconds.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            match self.send_due(&stop).await {
                Ok(next) => {
                    let queued = tokio::time::timeout(self.until(next), self.vault().message_queued());
                    stop.run_until_cancelled(queued).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "mails cannot be sent at present; they are tried again");
                    stop.run_until_cancelled(tokio::time::sleep(VAULT_RETRY_PAUSE)).await;
                }
            }
        }
    }

    /// Sends all due messages, deletes expired links, and returns when the next message is due.
    async fn send_due(&self, stop: &CancellationToken) -> Result<Option<Timestamp>, VaultError> {
        self.vault().delete_old_links(self.clock.now()).await?;
        while !stop.is_cancelled()
            && let Some(message) = self.vault().due_message(self.clock.now()).await?
        {
            self.send(&message, stop).await?;
        }
        self.vault().next_message_due().await
    }

    async fn send(&self, message: &OutboxMessage, stop: &CancellationToken) -> Result<(), VaultError> {
        let (vault, now) = (self.vault(), self.clock.now());
        if now.duration_since(message.queued_at) >= GIVE_UP_AFTER {
            tracing::error!(
                account = %message.account,
                attempts = message.attempts,
                "a mail could not be sent for a day and is given up; check mail (LOGGIA_MAIL), and print a link with \
                 `loggia keys link`"
            );
            return vault.drop_message(message).await;
        }
        if !self.mailer.sends() {
            self.log_request(message).await;
            return vault.message_sent(message, now).await;
        }
        let to = match vault.email_of(message.account).await {
            Err(error @ VaultError::Corrupt(_)) => {
                tracing::error!(account = %message.account, %error, "a mail waits: its address cannot be read");
                return vault.message_failed(message, now + backoff_after(message.attempts)).await;
            }
            to => to?,
        };
        // The link is created here and not when the message is queued: it is valid for 30 minutes.
        let token = vault::new_token()?;
        let (Some(to), Some(_)) = (to, vault.create_link(message.account, token.hash(), now).await?) else {
            // The address has been erased.
            return vault.drop_message(message).await;
        };
        let mail = message::compose(message.kind, to, &self.site, &token);
        let grace_over = async {
            stop.cancelled().await;
            tokio::time::sleep(SHUTDOWN_GRACE).await;
        };
        let sent = tokio::select! {
            biased;
            sent = self.mailer.send(&mail) => sent,
            // The server may have accepted it or not; it is sent again after the next start.
            () = grace_over => return Ok(()),
        };
        match sent {
            Ok(()) => vault.message_sent(message, self.clock.now()).await,
            Err(error) if error.is_permanent() => {
                tracing::error!(
                    account = %message.account,
                    %error,
                    "a mail is given up, because it would be refused again; make a link with `loggia keys link`, or look at \
                     the address with `loggia keys list`"
                );
                vault.drop_message(message).await
            }
            Err(error) => {
                let again = self.clock.now() + backoff_after(message.attempts);
                tracing::warn!(account = %message.account, %error, %again, "a mail could not be sent");
                vault.message_failed(message, again).await
            }
        }
    }

    /// Logs that a link was requested, with the ids of the keys, by which the operator finds the address.
    async fn log_request(&self, message: &OutboxMessage) {
        let keys = match read_account(self.accounts.log(), message.account).await {
            Ok(account) => {
                account.live().map(|key| key.issued.key_id.to_string()).collect::<Vec<_>>().join(", ")
            }
            Err(error) => format!("that cannot be read at present ({error})"),
        };
        let reason = match message.kind {
            MessageKind::Proof => "a link was asked for",
            MessageKind::Payment => "a payment arrived, and a link is due",
        };
        // The target `loggia::…` is shown by the default log filter.
        tracing::info!(
            target: "loggia::mail",
            account = %message.account,
            keys,
            "{reason} for the address of these keys; no mail server is set, so make one with `loggia keys link`"
        );
    }

    fn until(&self, next: Option<Timestamp>) -> Duration {
        let wait = next.map(|next| next.duration_since(self.clock.now()));
        wait.map_or(POLL_INTERVAL, |wait| Duration::try_from(wait).unwrap_or_default().min(POLL_INTERVAL))
    }

    fn vault(&self) -> &Vault {
        self.accounts.vault()
    }
}

/// Returns the backoff after a failure that follows `attempts` earlier ones.
fn backoff_after(attempts: u32) -> SignedDuration {
    let doubled = FIRST_BACKOFF.checked_mul(1 << attempts.min(16));
    doubled.map_or(MAX_BACKOFF, |pause| pause.min(MAX_BACKOFF))
}

#[cfg(test)]
mod tests;
