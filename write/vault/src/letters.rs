//! The queue of outgoing mail. It is in the vault because only the vault knows the addresses.

use jiff::{SignedDuration, Timestamp};
use schemas::ids::AccountId;

use super::{Vault, VaultError, read_account, read_time};

/// The minimum time between two mails to an account.
pub const PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// The kinds of mail. Each contains a link that proves the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterKind {
    /// A link was requested.
    Proof,
    /// A payment arrived for an address with unproven keys.
    Payment,
}

/// A queued letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The receiving account.
    pub account: AccountId,
    /// The kind of mail.
    pub kind: LetterKind,
    /// The time at which it was queued.
    pub queued_at: Timestamp,
    /// The number of attempts.
    pub attempts: u32,
}

/// How long a letter that cannot be read is postponed.
const UNREADABLE_PAUSE: SignedDuration = SignedDuration::from_hours(1);

fn read(account: &str, kind: &str, queued_at: i64, attempts: u32) -> Result<Letter, VaultError> {
    Ok(Letter {
        account: read_account(account)?,
        kind: LetterKind::read(kind)?,
        queued_at: read_time(queued_at)?,
        attempts,
    })
}

impl LetterKind {
    fn as_str(self) -> &'static str {
        match self {
            LetterKind::Proof => "proof",
            LetterKind::Payment => "payment",
        }
    }

    fn read(text: &str) -> Result<LetterKind, VaultError> {
        match text {
            "proof" => Ok(LetterKind::Proof),
            "payment" => Ok(LetterKind::Payment),
            _ => Err(VaultError::corrupt("a letter is of a kind that is not known")),
        }
    }
}

impl Vault {
    /// Queues a letter to an account, unless one of the same kind is queued already. An account gets one mail in [`PAUSE`]: a
    /// requested link within that time is dropped, a letter about a payment waits. Returns whether a letter was queued.
    pub async fn queue(
        &self,
        account: AccountId,
        kind: LetterKind,
        now: Timestamp,
    ) -> Result<bool, VaultError> {
        let free = self.next_mail(account, now).await?;
        if kind == LetterKind::Proof && (free > now || self.waits(account).await?) {
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

    /// Returns the oldest due letter. One that cannot be read is postponed by an hour, so that it does not block the queue.
    pub async fn due_letter(&self, now: Timestamp) -> Result<Option<Letter>, VaultError> {
        loop {
            let row: Option<(String, String, i64, u32)> = sqlx::query_as(
                "SELECT account, kind, queued_at, attempts FROM letters WHERE next_at <= ?1 ORDER BY queued_at, account LIMIT 1",
            )
            .bind(now.as_microsecond())
            .fetch_optional(&self.pool)
            .await?;
            let Some((account, kind, queued_at, attempts)) = row else { return Ok(None) };
            match read(&account, &kind, queued_at, attempts) {
                Ok(letter) => return Ok(Some(letter)),
                Err(error) => {
                    tracing::error!(%error, "a letter that waits cannot be read; the others go on");
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

    /// Returns the due time of the next letter.
    pub async fn next_letter(&self) -> Result<Option<Timestamp>, VaultError> {
        let next: Option<i64> =
            sqlx::query_scalar("SELECT min(next_at) FROM letters").fetch_one(&self.pool).await?;
        next.map(read_time).transpose()
    }

    /// Removes a letter that was mailed; the next one to its account waits for [`PAUSE`].
    pub async fn letter_mailed(&self, letter: &Letter, now: Timestamp) -> Result<(), VaultError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("DELETE FROM letters WHERE account = ?1 AND kind = ?2")
            .bind(letter.account.to_string())
            .bind(letter.kind.as_str())
            .execute(&mut *transaction)
            .await?;
        sqlx::query("DELETE FROM mailed WHERE at <= ?1")
            .bind((now - PAUSE).as_microsecond())
            .execute(&mut *transaction)
            .await?;
        // Nothing is stored for an account that was erased meanwhile.
        sqlx::query(
            "INSERT INTO mailed (account, at) SELECT account, ?2 FROM addresses WHERE account = ?1 \
             ON CONFLICT (account) DO UPDATE SET at = excluded.at",
        )
        .bind(letter.account.to_string())
        .bind(now.as_microsecond())
        .execute(&mut *transaction)
        .await?;
        sqlx::query("UPDATE letters SET next_at = max(next_at, ?2) WHERE account = ?1")
            .bind(letter.account.to_string())
            .bind((now + PAUSE).as_microsecond())
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// Records a failed attempt and the time of the next one.
    pub async fn letter_failed(&self, letter: &Letter, next_at: Timestamp) -> Result<(), VaultError> {
        sqlx::query(
            "UPDATE letters SET attempts = attempts + 1, next_at = ?3 WHERE account = ?1 AND kind = ?2",
        )
        .bind(letter.account.to_string())
        .bind(letter.kind.as_str())
        .bind(next_at.as_microsecond())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Removes a letter that cannot be delivered.
    pub async fn drop_letter(&self, letter: &Letter) -> Result<(), VaultError> {
        sqlx::query("DELETE FROM letters WHERE account = ?1 AND kind = ?2")
            .bind(letter.account.to_string())
            .bind(letter.kind.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Waits until a letter is queued; returns at once if one was queued since the last call.
    pub async fn letter_queued(&self) {
        self.queued.notified().await;
    }

    /// Returns when the account may get the next mail.
    async fn next_mail(&self, account: AccountId, now: Timestamp) -> Result<Timestamp, VaultError> {
        let at: Option<i64> = sqlx::query_scalar("SELECT at FROM mailed WHERE account = ?1")
            .bind(account.to_string())
            .fetch_optional(&self.pool)
            .await?;
        let last = at.map(read_time).transpose()?;
        Ok(last.map_or(now, |last| now.max(last + PAUSE)))
    }

    async fn waits(&self, account: AccountId) -> Result<bool, VaultError> {
        let any: Option<i64> = sqlx::query_scalar("SELECT 1 FROM letters WHERE account = ?1")
            .bind(account.to_string())
            .fetch_optional(&self.pool)
            .await?;
        Ok(any.is_some())
    }
}

#[cfg(test)]
mod tests;
