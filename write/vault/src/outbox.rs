//! The outbox: mails that are sent after a commit. It is in the vault because only the vault has the addresses.

use jiff::{SignedDuration, Timestamp};
use schemas::ids::AccountId;

use super::{Vault, VaultError, read_account, read_time};

/// The minimum time between two mails to an account.
pub const MAIL_INTERVAL: SignedDuration = SignedDuration::from_mins(10);

/// The kinds of mail. Each contains a link that proves the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// A link was requested.
    Proof,
    /// A payment arrived for an address with unproven keys.
    Payment,
}

/// A queued message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxMessage {
    /// The receiving account.
    pub account: AccountId,
    /// The kind of mail.
    pub kind: MessageKind,
    /// The time at which it was queued.
    pub queued_at: Timestamp,
    /// The number of attempts.
    pub attempts: u32,
}

/// How long a message that cannot be read is postponed.
const UNREADABLE_PAUSE: SignedDuration = SignedDuration::from_hours(1);

fn read(account: &str, kind: &str, queued_at: i64, attempts: u32) -> Result<OutboxMessage, VaultError> {
    Ok(OutboxMessage {
        account: read_account(account)?,
        kind: MessageKind::read(kind)?,
        queued_at: read_time(queued_at)?,
        attempts,
    })
}

impl MessageKind {
    fn as_str(self) -> &'static str {
        match self {
            MessageKind::Proof => "proof",
            MessageKind::Payment => "payment",
        }
    }

    fn read(text: &str) -> Result<MessageKind, VaultError> {
        match text {
            "proof" => Ok(MessageKind::Proof),
            "payment" => Ok(MessageKind::Payment),
            _ => Err(VaultError::corrupt("a queued mail is of an unknown kind")),
        }
    }
}

impl Vault {
    /// Queues a message to an account, unless one of the same kind is queued already. An account gets one mail in
    /// [`MAIL_INTERVAL`]: a requested link within that time is dropped, a message about a payment waits. Returns whether a message
    /// was queued.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn queue_message(
        &self,
        account: AccountId,
        kind: MessageKind,
        now: Timestamp,
    ) -> Result<bool, VaultError> {
        let free = self.next_mail_time(account, now).await?;
        if kind == MessageKind::Proof && (free > now || self.has_queued(account).await?) {
            return Ok(false);
        }
        let queued = sqlx::query(
            "INSERT INTO letters (account, kind, queued_at, next_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        )
        .bind(account.to_string())
        .bind(kind.as_str())
        .bind(now.as_microsecond())
        .bind(free.as_microsecond())
        .execute(&self.pool)
        .await?;
        self.queued.notify_one();
        Ok(queued.rows_affected() > 0)
    }

    /// Returns the oldest due message. One that cannot be read is postponed by an hour, so that it does not block the queue.
    ///
    /// # Errors
    ///
    /// If the file cannot be used.
    pub async fn due_message(&self, now: Timestamp) -> Result<Option<OutboxMessage>, VaultError> {
        loop {
            let row: Option<(String, String, i64, u32)> = sqlx::query_as(
                "SELECT account, kind, queued_at, attempts FROM letters WHERE next_at <= ?1 ORDER BY queued_at, account LIMIT 1",
            )
            .bind(now.as_microsecond())
            .fetch_optional(&self.pool)
            .await?;
            let Some((account, kind, queued_at, attempts)) = row else { return Ok(None) };
            match read(&account, &kind, queued_at, attempts) {
                Ok(message) => return Ok(Some(message)),
                Err(error) => {
                    tracing::error!(%error, "a queued mail cannot be read and is postponed by an hour; the others are sent");
                    sqlx::query("UPDATE letters SET next_at = ?3 WHERE account = ?1 AND kind = ?2")
                        .bind(account)
                        .bind(kind)
                        .bind((now + UNREADABLE_PAUSE).as_microsecond())
                        .execute(&self.pool)
                        .await?;
                }
            }
        }
    }

    /// Returns the due time of the next message.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn next_message_due(&self) -> Result<Option<Timestamp>, VaultError> {
        let next: Option<i64> =
            sqlx::query_scalar("SELECT min(next_at) FROM letters").fetch_one(&self.pool).await?;
        next.map(read_time).transpose()
    }

    /// Removes a message that was sent; the next one to its account waits for [`MAIL_INTERVAL`].
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn message_sent(&self, message: &OutboxMessage, now: Timestamp) -> Result<(), VaultError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("DELETE FROM letters WHERE account = ?1 AND kind = ?2")
            .bind(message.account.to_string())
            .bind(message.kind.as_str())
            .execute(&mut *transaction)
            .await?;
        sqlx::query("DELETE FROM mailed WHERE at <= ?1")
            .bind((now - MAIL_INTERVAL).as_microsecond())
            .execute(&mut *transaction)
            .await?;
        // Nothing is stored for an account that was erased meanwhile.
        sqlx::query(
            "INSERT INTO mailed (account, at) SELECT account, ?2 FROM addresses WHERE account = ?1 \
             ON CONFLICT (account) DO UPDATE SET at = excluded.at",
        )
        .bind(message.account.to_string())
        .bind(now.as_microsecond())
        .execute(&mut *transaction)
        .await?;
        sqlx::query("UPDATE letters SET next_at = max(next_at, ?2) WHERE account = ?1")
            .bind(message.account.to_string())
            .bind((now + MAIL_INTERVAL).as_microsecond())
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// Records a failed attempt and the time of the next one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn message_failed(
        &self,
        message: &OutboxMessage,
        next_at: Timestamp,
    ) -> Result<(), VaultError> {
        sqlx::query(
            "UPDATE letters SET attempts = attempts + 1, next_at = ?3 WHERE account = ?1 AND kind = ?2",
        )
        .bind(message.account.to_string())
        .bind(message.kind.as_str())
        .bind(next_at.as_microsecond())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Removes a message that cannot be delivered.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn drop_message(&self, message: &OutboxMessage) -> Result<(), VaultError> {
        sqlx::query("DELETE FROM letters WHERE account = ?1 AND kind = ?2")
            .bind(message.account.to_string())
            .bind(message.kind.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Waits until a message is queued; returns at once if one was queued since the last call.
    pub async fn message_queued(&self) {
        self.queued.notified().await;
    }

    async fn next_mail_time(&self, account: AccountId, now: Timestamp) -> Result<Timestamp, VaultError> {
        let at: Option<i64> = sqlx::query_scalar("SELECT at FROM mailed WHERE account = ?1")
            .bind(account.to_string())
            .fetch_optional(&self.pool)
            .await?;
        let last = at.map(read_time).transpose()?;
        Ok(last.map_or(now, |last| now.max(last + MAIL_INTERVAL)))
    }

    async fn has_queued(&self, account: AccountId) -> Result<bool, VaultError> {
        let any: Option<i64> = sqlx::query_scalar("SELECT 1 FROM letters WHERE account = ?1")
            .bind(account.to_string())
            .fetch_optional(&self.pool)
            .await?;
        Ok(any.is_some())
    }
}

#[cfg(test)]
mod tests;
