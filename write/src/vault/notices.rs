//! What payment providers told and what the log cannot hold: it may name people, and nobody could ever take it out.

use jiff::Timestamp;
use schemas::email::Email;
use schemas::payment::{KeptNotice, PaymentNotice};
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;

use super::{Vault, VaultError, file};

/// Something that a provider told, as the vault holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// When it came.
    pub received_at: Timestamp,
    /// What it is.
    pub notice: HeldNotice,
}

/// Why something is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldNotice {
    /// It waits until something tells whose it is.
    Waiting(PaymentNotice),
    /// It has no effect.
    Kept(KeptNotice),
}

impl HeldNotice {
    /// The name of the notice, which is one of its provider's.
    pub fn name(&self) -> String {
        match self {
            HeldNotice::Waiting(notice) => notice.payment.event_name(),
            HeldNotice::Kept(notice) => notice.provider.name(&notice.event_id),
        }
    }
}

impl Vault {
    /// Holds something that a provider told, in the place of what was held under its name.
    pub async fn hold(&self, held: &Held) -> Result<(), VaultError> {
        let name = held.notice.name();
        let text = serde_json::to_vec(held)
            .map_err(|error| VaultError::unavailable(format!("a notice cannot be written down: {error}")))?;
        sqlx::query("INSERT OR REPLACE INTO notices (name, waiting, sealed) VALUES (?1, ?2, ?3)")
            .bind(&name)
            .bind(matches!(held.notice, HeldNotice::Waiting(_)))
            .bind(self.seal.seal_text(&text, &name)?)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Everything that waits until something tells whose it is.
    pub async fn waiting(&self) -> Result<Vec<PaymentNotice>, VaultError> {
        let rows = sqlx::query_as("SELECT name, sealed FROM notices WHERE waiting = 1 ORDER BY name");
        let held = self.opened(rows.fetch_all(&self.pool).await?)?;
        let waiting = held.into_iter().filter_map(|held| match held.notice {
            HeldNotice::Waiting(notice) => Some(notice),
            HeldNotice::Kept(_) => None,
        });
        Ok(waiting.collect())
    }

    /// Everything that is held, the oldest first.
    pub async fn held(&self) -> Result<Vec<Held>, VaultError> {
        if !file::has_notices(&self.pool).await? {
            return Ok(Vec::new());
        }
        let rows = sqlx::query_as("SELECT name, sealed FROM notices ORDER BY name");
        let mut held = self.opened(rows.fetch_all(&self.pool).await?)?;
        held.sort_by_key(|held| held.received_at);
        Ok(held)
    }

    /// Lets something go that is in the log now.
    pub async fn let_go(&self, name: &str) -> Result<(), VaultError> {
        delete(&mut *self.pool.acquire().await?, name).await
    }

    /// Lets everything go that names an address, which is about to be erased.
    pub async fn let_go_of(&self, email: &Email) -> Result<(), VaultError> {
        let (names, folded) = (|held: &Held| held.notice.name(), email.folded());
        let mentions = |held: &&Held| match &held.notice {
            HeldNotice::Waiting(notice) => {
                notice.email.as_ref().is_some_and(|other| other.folded() == folded)
            }
            HeldNotice::Kept(notice) => notice.raw.to_lowercase().contains(&folded),
        };
        let held = self.held().await?;
        let mut transaction = self.pool.begin().await?;
        for name in held.iter().filter(mentions).map(names) {
            delete(&mut transaction, &name).await?;
            file::note_traces(&mut transaction).await?;
        }
        Ok(transaction.commit().await?)
    }

    fn opened(&self, rows: Vec<(String, Vec<u8>)>) -> Result<Vec<Held>, VaultError> {
        let open = |(name, sealed): (String, Vec<u8>)| {
            let text = self.seal.open_text(&sealed, &name);
            let held = text.and_then(|text| serde_json::from_slice(&text).ok());
            held.ok_or_else(|| VaultError::corrupt(format!("the notice {name} does not open")))
        };
        rows.into_iter().map(open).collect()
    }
}

async fn delete(connection: &mut SqliteConnection, name: &str) -> Result<(), VaultError> {
    sqlx::query("DELETE FROM notices WHERE name = ?1").bind(name).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
