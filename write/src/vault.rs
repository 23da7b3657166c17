//! The vault: which address belongs to which account, the only place that knows. It is a small SQLite file beside the
//! event store. An address is found by HMAC-SHA-256 of its folded form and kept encrypted; both keys come from one
//! secret in a file. Beside the addresses stand the names of their keys, the letters that wait to be mailed to them, the
//! links that prove them, and what payment providers told and the log cannot hold. Erasing an address leaves no trace of it in either file, and the events
//! never held one.

mod erasures;
mod file;
mod key_names;
mod letters;
mod links;
mod notices;
mod seal;
mod secret;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemas::email::Email;
use schemas::ids::AccountId;
use sqlx::SqlitePool;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::event_store::{StoreError, sqlite_failure};
use seal::Seal;

pub(crate) use erasures::journal_of;
pub use erasures::{ERASURES_FILE, Erasure, read_erasures};
pub use file::FILE;
pub use letters::{Letter, LetterKind, PAUSE};
pub use links::{Link, new_token};
pub use notices::{Held, HeldNotice};
pub use secret::SECRET_FILE;

/// The addresses of a data folder. No `Debug` form, and no error, shows one.
pub struct Vault {
    pool: SqlitePool,
    seal: Seal,
    /// Where the journal of erasures is.
    journal: PathBuf,
    /// Told of every letter that is queued.
    queued: Notify,
}

/// Why the vault cannot do what it is asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// Not at present: trying again later may help.
    #[error("the vault of addresses is not available: {reason}")]
    Unavailable {
        /// A sentence that says why and what to do.
        reason: String,
    },
    /// The secret is not there, not readable, or another one.
    #[error(
        "the secret of the vault cannot be used: {} {reason}; set secret_file (LOGGIA_SECRET_FILE) to the file with \
         the secret that the vault was made with",
        .path.display()
    )]
    Secret {
        /// Where it was looked for.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// What is stored is not what was written.
    #[error("the vault of addresses is damaged: {reason}; restore the last backup")]
    Corrupt {
        /// What was found.
        reason: String,
    },
}

impl Vault {
    /// Opens the vault in the event store's folder for the one write side, and makes it where it is absent. The
    /// secret is in `secret_file`, or in [`SECRET_FILE`] beside the vault; it is made, readable by its owner only,
    /// where it is absent and the vault holds nothing yet.
    pub async fn open(folder: &Path, secret_file: Option<&Path>) -> Result<Vault, VaultError> {
        let path = secret_path(folder, secret_file);
        let pool = file::open(&folder.join(FILE)).await?;
        let empty = file::is_empty(&pool).await?;
        let secret = match secret::read(&path)? {
            Some(secret) => secret,
            None if empty => secret::make(&path)?,
            None => return Err(VaultError::secret(&path, "is not there")),
        };
        let seal = Seal::new(&secret);
        if empty {
            // Nothing is sealed yet, so whatever secret is there now is the right one.
            file::note_check(&pool, seal.check()).await?;
        }
        let vault = Vault { pool, seal, journal: folder.join(ERASURES_FILE), queued: Notify::new() };
        vault.recognise(&path).await?;
        vault.index_notices().await?;
        Ok(vault)
    }

    /// Opens the vault beside the write side, for reading only; nothing where there is none yet.
    pub async fn open_read_only(
        folder: &Path,
        secret_file: Option<&Path>,
    ) -> Result<Option<Vault>, VaultError> {
        let path = secret_path(folder, secret_file);
        let Some(pool) = file::open_read_only(&folder.join(FILE)).await? else { return Ok(None) };
        if file::is_empty(&pool).await? {
            return Ok(None);
        }
        let secret = secret::read(&path)?.ok_or_else(|| VaultError::secret(&path, "is not there"))?;
        let (seal, journal) = (Seal::new(&secret), folder.join(ERASURES_FILE));
        let vault = Vault { pool, seal, journal, queued: Notify::new() };
        vault.recognise(&path).await?;
        Ok(Some(vault))
    }

    /// Whether the secret is the one that the vault was made with.
    async fn recognise(&self, path: &Path) -> Result<(), VaultError> {
        if file::check(&self.pool).await? == self.seal.check() {
            Ok(())
        } else {
            Err(VaultError::secret(path, "holds another secret than the one of this vault"))
        }
    }

    /// Returns the id of the vault in a folder, which needs no secret; nothing where there is no vault.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, or is no vault.
    pub async fn identity(folder: &Path) -> Result<Option<Uuid>, VaultError> {
        let Some(pool) = file::open_read_only(&folder.join(FILE)).await? else { return Ok(None) };
        let id = file::identity(&pool).await;
        pool.close().await;
        id.map(Some)
    }

    /// Which vault this is: its own id, made with it.
    pub async fn id(&self) -> Result<Uuid, VaultError> {
        file::identity(&self.pool).await
    }

    /// The account of an address.
    pub async fn account_of(&self, email: &Email) -> Result<Option<AccountId>, VaultError> {
        for digest in self.seal.digests(email) {
            let account: Option<String> =
                sqlx::query_scalar("SELECT account FROM addresses WHERE digest = ?1")
                    .bind(digest.as_slice())
                    .fetch_optional(&self.pool)
                    .await?;
            if let Some(account) = account {
                return read_account(&account).map(Some);
            }
        }
        Ok(None)
    }

    /// The address of an account.
    pub async fn email_of(&self, account: AccountId) -> Result<Option<Email>, VaultError> {
        let sealed: Option<Vec<u8>> = sqlx::query_scalar("SELECT sealed FROM addresses WHERE account = ?1")
            .bind(account.to_string())
            .fetch_optional(&self.pool)
            .await?;
        sealed.map(|sealed| self.seal.open(&sealed, account)).transpose()
    }

    /// Every account with its address.
    pub async fn emails(&self) -> Result<Vec<(AccountId, Email)>, VaultError> {
        let rows: Vec<(String, Vec<u8>)> =
            sqlx::query_as("SELECT account, sealed FROM addresses ORDER BY account")
                .fetch_all(&self.pool)
                .await?;
        let read = |(account, sealed): (String, Vec<u8>)| {
            let account = read_account(&account)?;
            Ok((account, self.seal.open(&sealed, account)?))
        };
        rows.into_iter().map(read).collect()
    }

    /// Enters an address with an account, and gives the account that the address has then: the one that it had
    /// before, if it had one.
    pub async fn enter(&self, email: &Email, account: AccountId) -> Result<AccountId, VaultError> {
        if let Some(entered) = self.account_of(email).await? {
            return Ok(entered);
        }
        sqlx::query("INSERT INTO addresses (digest, account, sealed) VALUES (?1, ?2, ?3) ON CONFLICT (digest) DO NOTHING")
            .bind(self.seal.digest(email).as_slice())
            .bind(account.to_string())
            .bind(self.seal.seal(email, account)?)
            .execute(&self.pool)
            .await?;
        let entered = self.account_of(email).await?;
        entered.ok_or_else(|| VaultError::unavailable("an address that was entered is not there; try again"))
    }

    /// Erases the address of an account permanently, with its letters, links and names of keys, and says whether there was one. No
    /// byte of it is in the file when this returns.
    pub async fn erase(&self, account: AccountId) -> Result<bool, VaultError> {
        let mut transaction = self.pool.begin().await?;
        let (mut deleted, mut any) = (0, false);
        for statement in [
            "DELETE FROM letters WHERE account = ?1",
            "DELETE FROM mailed WHERE account = ?1",
            "DELETE FROM links WHERE account = ?1",
            "DELETE FROM key_names WHERE account = ?1",
            "DELETE FROM addresses WHERE account = ?1",
        ] {
            let done = sqlx::query(statement).bind(account.to_string()).execute(&mut *transaction).await?;
            deleted = done.rows_affected();
            any |= deleted > 0;
        }
        if any {
            file::note_traces(&mut transaction).await?;
        }
        transaction.commit().await?;
        file::leave_no_traces(&self.pool).await?;
        Ok(deleted > 0)
    }

    /// Gives the file free.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

fn secret_path(folder: &Path, secret_file: Option<&Path>) -> PathBuf {
    secret_file.map_or_else(|| folder.join(SECRET_FILE), Path::to_owned)
}

fn read_account(text: &str) -> Result<AccountId, VaultError> {
    text.parse().map_err(|_| VaultError::corrupt("an account's id is unreadable"))
}

fn read_time(microseconds: i64) -> Result<Timestamp, VaultError> {
    Timestamp::from_microsecond(microseconds).map_err(|_| VaultError::corrupt("a time is unreadable"))
}

impl VaultError {
    fn unavailable(reason: impl Into<String>) -> VaultError {
        VaultError::Unavailable { reason: reason.into() }
    }

    fn corrupt(reason: impl Into<String>) -> VaultError {
        VaultError::Corrupt { reason: reason.into() }
    }

    fn secret(path: &Path, reason: impl Into<String>) -> VaultError {
        VaultError::Secret { path: path.to_owned(), reason: reason.into() }
    }
}

impl From<sqlx::Error> for VaultError {
    fn from(error: sqlx::Error) -> VaultError {
        match sqlite_failure(error) {
            StoreError::Unavailable { reason } => VaultError::Unavailable { reason },
            StoreError::Corrupt { reason } => VaultError::Corrupt { reason },
        }
    }
}

#[cfg(test)]
mod tests;
