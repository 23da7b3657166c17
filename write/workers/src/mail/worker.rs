//! Mails the letters that wait in the vault. The link in a letter is made when it is mailed, so that it is fresh.

use std::sync::Arc;
use std::time::Duration;

use event_log::EventLog;
use jiff::{SignedDuration, Timestamp};
use schemas::clock::Clock;
use tokio_util::sync::CancellationToken;
use vault::{self, Letter, LetterKind, Vault, VaultError};
use write::service::{Accounts, CommandService, read_account};

use super::{Mailer, letter};

/// How long a letter is tried.
const PATIENCE: SignedDuration = SignedDuration::from_hours(24);

/// How long to wait after the first failure; twice as long after each further one.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(30);

/// The longest wait between two attempts.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// How long to wait before a vault that cannot be used is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest time between two looks at the queue: the clock of the letters may be set.
const LOOK: Duration = Duration::from_secs(60);

/// How long the mail server may take for the letter under way once the process is to end.
const LAST_LETTER: Duration = Duration::from_secs(4);

/// Why the worker cannot start.
#[derive(Debug, thiserror::Error)]
#[error("letters cannot be mailed: this write side knows no addresses")]
pub struct CannotMail;

/// Mails letters.
pub struct MailWorker {
    accounts: Arc<Accounts>,
    store: Arc<EventLog>,
    clock: Clock,
    mailer: Mailer,
    site: String,
}

impl MailWorker {
    /// Mails the letters of this service. `site` is the site's own address as it is configured: links lead there,
    /// whatever a request said.
    pub fn new(
        service: &CommandService,
        clock: Clock,
        mailer: Mailer,
        site: String,
    ) -> Result<MailWorker, CannotMail> {
        let accounts = service.accounts().cloned().ok_or(CannotMail)?;
        Ok(MailWorker { accounts, store: service.store().clone(), clock, mailer, site })
    }

    /// Works until `stop`; the letter that is being mailed then is noted as mailed first, if the server takes it soon.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            match self.round(&stop).await {
                Ok(next) => {
                    let queued = tokio::time::timeout(self.until(next), self.vault().letter_queued());
                    stop.run_until_cancelled(queued).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "letters cannot be mailed at present; they are tried again");
                    stop.run_until_cancelled(tokio::time::sleep(PAUSE)).await;
                }
            }
        }
    }

    /// Mails what is due, clears away what is old, and gives the time of the next letter.
    async fn round(&self, stop: &CancellationToken) -> Result<Option<Timestamp>, VaultError> {
        self.vault().clear_links(self.clock.now()).await?;
        while !stop.is_cancelled()
            && let Some(letter) = self.vault().due_letter(self.clock.now()).await?
        {
            self.mail(&letter, stop).await?;
        }
        self.vault().next_letter().await
    }

    async fn mail(&self, letter: &Letter, stop: &CancellationToken) -> Result<(), VaultError> {
        let (vault, now) = (self.vault(), self.clock.now());
        if now.duration_since(letter.queued_at) >= PATIENCE {
            tracing::error!(
                account = %letter.account,
                attempts = letter.attempts,
                "a letter could not be mailed for a day and is given up; check mail (LOGGIA_MAIL), and print a link with \
                 `loggia keys link`"
            );
            return vault.drop_letter(letter).await;
        }
        if !self.mailer.sends() {
            self.note(letter).await;
            return vault.letter_mailed(letter, now).await;
        }
        let to = match vault.email_of(letter.account).await {
            Err(error @ VaultError::Corrupt { .. }) => {
                tracing::error!(account = %letter.account, %error, "a letter waits: its address cannot be read");
                return vault.letter_failed(letter, now + pause_after(letter.attempts)).await;
            }
            to => to?,
        };
        let token = vault::new_token()?;
        let (Some(to), Some(_)) = (to, vault.make_link(letter.account, token.hash(), now).await?) else {
            // The address was erased meanwhile.
            return vault.drop_letter(letter).await;
        };
        let mail = letter::write(letter.kind, to, &self.site, &token);
        let given_up = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_LETTER).await;
        };
        let sent = tokio::select! {
            biased;
            sent = self.mailer.send(&mail) => sent,
            // The server may have taken it or not; it waits for the next start.
            () = given_up => return Ok(()),
        };
        match sent {
            Ok(()) => vault.letter_mailed(letter, self.clock.now()).await,
            Err(error) if error.is_final() => {
                tracing::error!(
                    account = %letter.account,
                    %error,
                    "a letter is given up, because it would be refused again; make a link with `loggia keys link`, or look at \
                     the address with `loggia keys list`"
                );
                vault.drop_letter(letter).await
            }
            Err(error) => {
                let again = self.clock.now() + pause_after(letter.attempts);
                tracing::warn!(account = %letter.account, %error, %again, "a letter could not be mailed");
                vault.letter_failed(letter, again).await
            }
        }
    }

    /// Writes into the log that a link is wanted: for which keys, by which the operator finds the address.
    async fn note(&self, letter: &Letter) {
        let keys = match read_account(&self.store, letter.account).await {
            Ok(account) => {
                account.live().map(|key| key.issued.key_id.to_string()).collect::<Vec<_>>().join(", ")
            }
            Err(error) => format!("that cannot be read at present ({error})"),
        };
        let wanted = match letter.kind {
            LetterKind::Proof => "a link was asked for",
            LetterKind::Payment => "a payment arrived, and a link is due",
        };
        // Under the program's own name, so that it is shown unless that is turned off.
        tracing::info!(
            target: "loggia::mail",
            account = %letter.account,
            keys,
            "{wanted} for the address of these keys; no mail server is set, so make one with `loggia keys link`"
        );
    }

    fn until(&self, next: Option<Timestamp>) -> Duration {
        let wait = next.map(|next| next.duration_since(self.clock.now()));
        wait.map_or(LOOK, |wait| Duration::try_from(wait).unwrap_or_default().min(LOOK))
    }

    fn vault(&self) -> &Vault {
        self.accounts.vault()
    }
}

/// How long to wait after so many failures and one more.
fn pause_after(attempts: u32) -> SignedDuration {
    let doubled = FIRST_PAUSE.checked_mul(1 << attempts.min(16));
    doubled.map_or(LONGEST_PAUSE, |pause| pause.min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests;
