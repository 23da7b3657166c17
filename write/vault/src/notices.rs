//! Payment notices that are not in the log. They may name people, and an event can never be removed.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use schemas::email::Email;
use schemas::payment::{KeptNotice, PaymentNotice};
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;

use super::{Vault, VaultError, file};

/// How long a notice is kept: longer than any provider repeats notices or sends related ones.
const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// A stored payment notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The time of arrival.
    pub received_at: Timestamp,
    /// The notice.
    pub notice: HeldNotice,
}

/// Why a notice is stored in the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldNotice {
    /// Its account is not known yet.
    Waiting(PaymentNotice),
    /// It has no effect.
    Kept(KeptNotice),
}

impl HeldNotice {
    /// Returns the provider's id of the notice.
    pub fn name(&self) -> String {
        match self {
            HeldNotice::Waiting(notice) => notice.payment.event_name(),
            HeldNotice::Kept(notice) => notice.provider.name(&notice.event_id),
        }
    }
}

impl Vault {
    /// Stores a notice, replacing one with the same id.
    pub async fn hold(&self, held: &Held) -> Result<(), VaultError> {
        let name = held.notice.name();
        let text = serde_json::to_vec(held)
            .map_err(|error| VaultError::unavailable(format!("a notice cannot be written down: {error}")))?;
        let mut transaction = self.pool.begin().await?;
        delete(&mut transaction, &name).await?;
        sqlx::query("INSERT INTO notices (name, waiting, sealed) VALUES (?1, ?2, ?3)")
            .bind(&name)
            .bind(matches!(held.notice, HeldNotice::Waiting(_)))
            .bind(self.seal.seal_text(&text, &name)?)
            .execute(&mut *transaction)
            .await?;
        self.index(&mut transaction, held).await?;
        Ok(transaction.commit().await?)
    }

    /// Indexes a notice by the ids that it names and by its time of arrival.
    async fn index(&self, connection: &mut SqliteConnection, held: &Held) -> Result<(), VaultError> {
        let name = held.notice.name();
        if let HeldNotice::Waiting(notice) = &held.notice {
            for named in notice.payment.names() {
                sqlx::query("INSERT OR IGNORE INTO notice_names (digest, notice) VALUES (?1, ?2)")
                    .bind(self.seal.digest_name(&named).as_slice())
                    .bind(&name)
                    .execute(&mut *connection)
                    .await?;
            }
        }
        sqlx::query("UPDATE notices SET received_at = ?2 WHERE name = ?1")
            .bind(&name)
            .bind(held.received_at.as_microsecond())
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
        let held = self.opened_or_set_aside(rows).await?;
        let mut transaction = self.pool.begin().await?;
        for held in &held {
            self.index(&mut transaction, held).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Returns all notices whose account is not known. A notice that cannot be decrypted is set aside.
    pub async fn waiting(&self) -> Result<Vec<PaymentNotice>, VaultError> {
        let rows = sqlx::query_as(
            "SELECT name, sealed FROM notices WHERE waiting = 1 AND set_aside = 0 ORDER BY name",
        );
        Ok(waiting(self.opened_or_set_aside(rows.fetch_all(&self.pool).await?).await?))
    }

    /// Returns the waiting notices that name one of these subscriptions, customers or other ids. A notice that cannot be decrypted is
    /// set aside.
    pub async fn waiting_for(
        &self,
        names: impl IntoIterator<Item = &String>,
    ) -> Result<Vec<PaymentNotice>, VaultError> {
        let mut rows = BTreeMap::new();
        for name in names {
            let found: Vec<(String, Vec<u8>)> = sqlx::query_as(
                "SELECT notices.name, sealed FROM notice_names JOIN notices ON notices.name = notice \
                 WHERE digest = ?1 AND waiting = 1 AND set_aside = 0",
            )
            .bind(self.seal.digest_name(name).as_slice())
            .fetch_all(&self.pool)
            .await?;
            rows.extend(found);
        }
        Ok(waiting(self.opened_or_set_aside(rows.into_iter().collect()).await?))
    }

    /// Deletes notices older than `KEPT` that still wait or have no effect. Returns the number of deleted notices.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn expire_notices(&self, now: Timestamp) -> Result<u64, VaultError> {
        let before = now.saturating_sub(KEPT).map_err(|error| VaultError::unavailable(error.to_string()))?;
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
            file::note_traces(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(deleted)
    }

    /// Returns all stored notices, oldest first. A notice that cannot be decrypted is logged and left out.
    pub async fn held(&self) -> Result<Vec<Held>, VaultError> {
        if !file::has_notices(&self.pool).await? {
            return Ok(Vec::new());
        }
        let rows = sqlx::query_as("SELECT name, sealed FROM notices ORDER BY name");
        let (mut held, _) = self.opened(rows.fetch_all(&self.pool).await?);
        held.sort_by_key(|held| held.received_at);
        Ok(held)
    }

    /// Deletes a notice that is in the log now.
    pub async fn let_go(&self, name: &str) -> Result<(), VaultError> {
        delete(&mut *self.pool.acquire().await?, name).await
    }

    /// Deletes all notices that name an address that is about to be erased.
    pub async fn let_go_of(&self, email: &Email) -> Result<(), VaultError> {
        let (names, folded) = (|held: &Held| held.notice.name(), email.folded());
        let mentions = |held: &&Held| match &held.notice {
            HeldNotice::Waiting(notice) => {
                notice.email.as_ref().is_some_and(|other| other.folded() == folded)
            }
            HeldNotice::Kept(notice) => {
                let raw = notice.raw.to_lowercase();
                email.spellings().iter().any(|spelling| raw.contains(spelling))
            }
        };
        let held = self.held().await?;
        let mut transaction = self.pool.begin().await?;
        for name in held.iter().filter(mentions).map(names) {
            delete(&mut transaction, &name).await?;
            file::note_traces(&mut transaction).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Returns the notices that can be decrypted, and the ids of the others.
    fn opened(&self, rows: Vec<(String, Vec<u8>)>) -> (Vec<Held>, Vec<String>) {
        let (mut held, mut damaged) = (Vec::with_capacity(rows.len()), Vec::new());
        for (name, sealed) in rows {
            let text = self.seal.open_text(&sealed, &name);
            match text.and_then(|text| serde_json::from_slice(&text).ok()) {
                Some(notice) => held.push(notice),
                None => {
                    tracing::error!(
                        "the notice {name} in the vault is damaged and is left out; fetch it again with \
                         `loggia payments replay`, or restore the last backup"
                    );
                    damaged.push(name);
                }
            }
        }
        (held, damaged)
    }

    /// Returns the notices that can be decrypted; the others are not read again.
    async fn opened_or_set_aside(&self, rows: Vec<(String, Vec<u8>)>) -> Result<Vec<Held>, VaultError> {
        let (held, damaged) = self.opened(rows);
        for name in damaged {
            sqlx::query("UPDATE notices SET set_aside = 1 WHERE name = ?1")
                .bind(name)
                .execute(&self.pool)
                .await?;
        }
        Ok(held)
    }
}

fn waiting(held: Vec<Held>) -> Vec<PaymentNotice> {
    let waiting = held.into_iter().filter_map(|held| match held.notice {
        HeldNotice::Waiting(notice) => Some(notice),
        HeldNotice::Kept(_) => None,
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
