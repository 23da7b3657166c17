//! The links that prove an address. Only the SHA-256 of a link's token is stored.

use jiff::{SignedDuration, Timestamp};
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use schemas::ids::{AccountId, CommandId};
use schemas::link::{self, LinkHash, LinkToken};
use uuid::Uuid;

use super::{Vault, VaultError, read_account, read_time};

/// How long an expired link is kept, so that a command that used it can be sent again.
const RETENTION: SignedDuration = SignedDuration::from_hours(1);

/// A stored link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The account whose address it proves.
    pub account: AccountId,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The id of the command that used it.
    pub used_by: Option<CommandId>,
}

/// Returns an unguessable token, from a generator that the operating system seeds for this token alone.
///
/// # Errors
///
/// If the system returns no random bytes.
pub fn new_token() -> Result<LinkToken, VaultError> {
    let mut random = StdRng::try_from_rng(&mut SysRng).map_err(|error| {
        VaultError::unavailable(format!("the system gives no random bytes ({error}); try again"))
    })?;
    Ok(LinkToken::generate(|bytes| random.fill_bytes(bytes)))
}

impl Vault {
    /// Creates a link for the address of an account and returns when it expires; the same token gives the same link. `None` if
    /// the vault does not have the account's address.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn create_link(
        &self,
        account: AccountId,
        link: LinkHash,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, VaultError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO links (digest, account, made_at, expires_at) \
             SELECT ?1, account, ?3, ?4 FROM addresses WHERE account = ?2 ON CONFLICT (digest) DO NOTHING",
        )
        .bind(link.0.0.as_slice())
        .bind(account.to_string())
        .bind(now.as_microsecond())
        .bind((now + link::VALIDITY).as_microsecond())
        .execute(&mut *transaction)
        .await?;
        let expires_at: Option<i64> =
            sqlx::query_scalar("SELECT expires_at FROM links WHERE digest = ?1 AND account = ?2")
                .bind(link.0.0.as_slice())
                .bind(account.to_string())
                .fetch_optional(&mut *transaction)
                .await?;
        transaction.commit().await?;
        expires_at.map(read_time).transpose()
    }

    /// Deletes links that expired more than an hour ago.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn delete_old_links(&self, now: Timestamp) -> Result<(), VaultError> {
        sqlx::query("DELETE FROM links WHERE expires_at <= ?1")
            .bind((now - RETENTION).as_microsecond())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Returns the link with this token.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn link(&self, link: LinkHash) -> Result<Option<Link>, VaultError> {
        let row: Option<(String, i64, Option<Vec<u8>>)> =
            sqlx::query_as("SELECT account, expires_at, used_by FROM links WHERE digest = ?1")
                .bind(link.0.0.as_slice())
                .fetch_optional(&self.pool)
                .await?;
        let Some((account, expires_at, used_by)) = row else { return Ok(None) };
        let read_command = |bytes: Vec<u8>| {
            Uuid::from_slice(&bytes)
                .map(CommandId)
                .map_err(|_| VaultError::corrupt("a link's command is unreadable"))
        };
        Ok(Some(Link {
            account: read_account(&account)?,
            expires_at: read_time(expires_at)?,
            used_by: used_by.map(read_command).transpose()?,
        }))
    }

    /// Records the command that uses a link.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn mark_link_used(&self, link: LinkHash, command: CommandId) -> Result<(), VaultError> {
        sqlx::query("UPDATE links SET used_by = ?2 WHERE digest = ?1")
            .bind(link.0.0.as_slice())
            .bind(command.0.as_bytes().as_slice())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Makes a link expire now.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn invalidate_link(&self, link: LinkHash, now: Timestamp) -> Result<(), VaultError> {
        sqlx::query("UPDATE links SET expires_at = min(expires_at, ?2) WHERE digest = ?1")
            .bind(link.0.0.as_slice())
            .bind(now.as_microsecond())
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
