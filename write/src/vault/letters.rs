//! The letters that wait to be mailed. The vault keeps them because it alone knows where they go to.

use jiff::{SignedDuration, Timestamp};
use schemas::ids::AccountId;

use super::{Vault, VaultError, read_account, read_time};

/// How long an account gets no second mail.
pub const PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// What a letter is about. Each has a link in it that proves the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterKind {
    /// Somebody asked for a link.
    Proof,
    /// A payment came for the address, and keys of it are not proven.
    Payment,
}

/// A letter that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Whose it is.
    pub account: AccountId,
    /// What it is about.
    pub kind: LetterKind,
    /// Since when it waits.
    pub queued_at: Timestamp,
    /// How often it was tried.
    pub attempts: u32,
}

/// How long a letter that cannot be read is left alone.
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
    /// Queues a letter to the holder of an account, unless one of its kind waits already. An account gets one mail
    /// in [`PAUSE`]: what anybody may ask for is dropped until then, and what a payment needs waits. Says whether a
    /// letter was queued by this.
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

    /// The oldest letter whose time has come. One that cannot be read is put off by an hour, so that it holds up no other.
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

    /// When the next letter is to be tried, if any waits.
    pub async fn next_letter(&self) -> Result<Option<Timestamp>, VaultError> {
        let next: Option<i64> =
            sqlx::query_scalar("SELECT min(next_at) FROM letters").fetch_one(&self.pool).await?;
        next.map(read_time).transpose()
    }

    /// Takes a letter that was mailed out of the queue; the next one to its account waits for [`PAUSE`].
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
        // An account that was erased meanwhile leaves no trace here either.
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

    /// Notes that a letter could not be mailed, and when it is tried again.
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

    /// Gives a letter up.
    pub async fn drop_letter(&self, letter: &Letter) -> Result<(), VaultError> {
        sqlx::query("DELETE FROM letters WHERE account = ?1 AND kind = ?2")
            .bind(letter.account.to_string())
            .bind(letter.kind.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Waits until a letter is queued; returns at once where one was since the last call.
    pub async fn letter_queued(&self) {
        self.queued.notified().await;
    }

    /// When the account may get a mail again.
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
