//! Payment notices that are not in the log. They may name people, and an event can never be removed.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use schemas::email::Email;
use schemas::payment::{KeptNotice, PaymentNotice};
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;

use super::{Vault, VaultError, file};

/// How long a notice is kept: longer than any provider repeats notices or sends related ones.
const RETENTION: SignedDuration = SignedDuration::from_hours(90 * 24);

/// A stored payment notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredNotice {
    /// The time of arrival.
    pub received_at: Timestamp,
    /// The notice.
    pub notice: Notice,
}

/// Why a notice is stored in the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// Its account is not known yet.
    Waiting(PaymentNotice),
    /// It has no effect.
    Kept(KeptNotice),
}

impl Notice {
    /// Returns the provider's id of the notice.
    pub fn name(&self) -> String {
        match self {
            Notice::Waiting(notice) => notice.payment.event_name(),
            Notice::Kept(notice) => notice.provider.name(&notice.event_id),
        }
    }
}

impl Vault {
    /// Stores a notice, replacing one with the same id.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn store_notice(&self, stored: &StoredNotice) -> Result<(), VaultError> {
        let name = stored.notice.name();
        let text = serde_json::to_vec(stored)
            .map_err(|error| VaultError::unavailable(format!("a notice cannot be written down: {error}")))?;
        let mut transaction = self.pool.begin().await?;
        delete(&mut transaction, &name).await?;
        sqlx::query("INSERT INTO notices (name, waiting, sealed) VALUES (?1, ?2, ?3)")
            .bind(&name)
            .bind(matches!(stored.notice, Notice::Waiting(_)))
            .bind(self.cipher.seal_text(&text, &name)?)
            .execute(&mut *transaction)
            .await?;
        self.index(&mut transaction, stored).await?;
        Ok(transaction.commit().await?)
    }

    /// Indexes a notice by the ids that it names and by its time of arrival.
    async fn index(
        &self,
        connection: &mut SqliteConnection,
        stored: &StoredNotice,
    ) -> Result<(), VaultError> {
        let name = stored.notice.name();
        if let Notice::Waiting(notice) = &stored.notice {
            for named in notice.payment.names() {
                sqlx::query("INSERT OR IGNORE INTO notice_names (digest, notice) VALUES (?1, ?2)")
                    .bind(self.cipher.digest_name(&named).as_slice())
                    .bind(&name)
                    .execute(&mut *connection)
                    .await?;
            }
        }
        sqlx::query("UPDATE notices SET received_at = ?2 WHERE name = ?1")
            .bind(&name)
            .bind(stored.received_at.as_microsecond())
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Indexes the notices that an older version stored.
    pub(super) async fn index_notices(&self) -> Result<(), VaultError> {
        let rows =
            sqlx::query_as("SELECT name, sealed FROM notices WHERE received_at IS NULL AND set_aside = 0")
                .fetch_all(&self.pool)
                .await?;
        let stored = self.decrypt_or_set_aside(rows).await?;
        let mut transaction = self.pool.begin().await?;
        for stored in &stored {
            self.index(&mut transaction, stored).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Returns all notices whose account is not known. A notice that cannot be decrypted is set aside.
    ///
    /// # Errors
    ///
    /// If the file cannot be used.
    pub async fn waiting_notices(&self) -> Result<Vec<PaymentNotice>, VaultError> {
        let rows = sqlx::query_as(
            "SELECT name, sealed FROM notices WHERE waiting = 1 AND set_aside = 0 ORDER BY name",
        );
        Ok(only_waiting(self.decrypt_or_set_aside(rows.fetch_all(&self.pool).await?).await?))
    }

    /// Returns the waiting notices that name one of these subscriptions, customers or other ids. A notice that cannot be decrypted is
    /// set aside.
    ///
    /// # Errors
    ///
    /// If the file cannot be used.
    pub async fn waiting_notices_for(
        &self,
        names: impl IntoIterator<Item = &String>,
    ) -> Result<Vec<PaymentNotice>, VaultError> {
        let mut rows = BTreeMap::new();
        for name in names {
            let found: Vec<(String, Vec<u8>)> = sqlx::query_as(
                "SELECT notices.name, sealed FROM notice_names JOIN notices ON notices.name = notice \
                 WHERE digest = ?1 AND waiting = 1 AND set_aside = 0",
            )
            .bind(self.cipher.digest_name(name).as_slice())
            .fetch_all(&self.pool)
            .await?;
            rows.extend(found);
        }
        Ok(only_waiting(self.decrypt_or_set_aside(rows.into_iter().collect()).await?))
    }

    /// Deletes notices older than 90 days that still wait or have no effect. Returns the number of deleted notices.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn delete_old_notices(&self, now: Timestamp) -> Result<u64, VaultError> {
        let before =
            now.saturating_sub(RETENTION).map_err(|error| VaultError::unavailable(error.to_string()))?;
        let mut transaction = self.pool.begin().await?;
        sqlx::query(
            "DELETE FROM notice_names WHERE notice IN \
             (SELECT name FROM notices WHERE received_at < ?1)",
        )
        .bind(before.as_microsecond())
        .execute(&mut *transaction)
        .await?;
        let deleted = sqlx::query("DELETE FROM notices WHERE received_at < ?1")
            .bind(before.as_microsecond())
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        if deleted > 0 {
            file::mark_for_rewrite(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(deleted)
    }

    /// Returns all stored notices, oldest first. A notice that cannot be decrypted is logged and left out.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn notices(&self) -> Result<Vec<StoredNotice>, VaultError> {
        if !file::has_table(&self.pool, "notices").await? {
            return Ok(Vec::new());
        }
        let rows = sqlx::query_as("SELECT name, sealed FROM notices ORDER BY name");
        let (mut stored, _) = self.decrypt(rows.fetch_all(&self.pool).await?);
        stored.sort_by_key(|stored| stored.received_at);
        Ok(stored)
    }

    /// Deletes a notice that is in the log now.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn delete_notice(&self, name: &str) -> Result<(), VaultError> {
        delete(&mut *self.pool.acquire().await?, name).await
    }

    /// Deletes all notices that name an address that is about to be erased.
    ///
    /// # Errors
    ///
    /// If the file cannot be used.
    pub async fn delete_notices_of(&self, email: &Email) -> Result<(), VaultError> {
        let (names, folded) = (|stored: &StoredNotice| stored.notice.name(), email.folded());
        let mentions = |stored: &&StoredNotice| match &stored.notice {
            Notice::Waiting(notice) => notice.email.as_ref().is_some_and(|other| other.folded() == folded),
            Notice::Kept(notice) => {
                let raw = notice.raw.to_lowercase();
                email.spellings().iter().any(|spelling| raw.contains(spelling))
            }
        };
        let stored = self.notices().await?;
        let mut transaction = self.pool.begin().await?;
        for name in stored.iter().filter(mentions).map(names) {
            delete(&mut transaction, &name).await?;
            file::mark_for_rewrite(&mut transaction).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Returns the notices that can be decrypted, and the ids of the others.
    fn decrypt(&self, rows: Vec<(String, Vec<u8>)>) -> (Vec<StoredNotice>, Vec<String>) {
        let (mut stored, mut damaged) = (Vec::with_capacity(rows.len()), Vec::new());
        for (name, sealed) in rows {
            let text = self.cipher.open_text(&sealed, &name);
            match text.and_then(|text| serde_json::from_slice(&text).ok()) {
                Some(notice) => stored.push(notice),
                None => {
                    tracing::error!(
                        "the notice {name} in the vault is damaged and is left out; fetch it again with \
                         `loggia payments replay`, or restore the last backup"
                    );
                    damaged.push(name);
                }
            }
        }
        (stored, damaged)
    }

    /// Returns the notices that can be decrypted; the others are not read again.
    async fn decrypt_or_set_aside(
        &self,
        rows: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<StoredNotice>, VaultError> {
        let (stored, damaged) = self.decrypt(rows);
        for name in damaged {
            sqlx::query("UPDATE notices SET set_aside = 1 WHERE name = ?1")
                .bind(name)
                .execute(&self.pool)
                .await?;
        }
        Ok(stored)
    }
}

fn only_waiting(stored: Vec<StoredNotice>) -> Vec<PaymentNotice> {
    let waiting = stored.into_iter().filter_map(|stored| match stored.notice {
        Notice::Waiting(notice) => Some(notice),
        Notice::Kept(_) => None,
    });
    waiting.collect()
}

async fn delete(connection: &mut SqliteConnection, name: &str) -> Result<(), VaultError> {
    for statement in ["DELETE FROM notice_names WHERE notice = ?1", "DELETE FROM notices WHERE name = ?1"] {
        sqlx::query(statement).bind(name).execute(&mut *connection).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
