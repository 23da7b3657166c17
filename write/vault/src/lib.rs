//! The vault: personal data of accounts, in a small SQLite file beside the event log, from which it can be erased.
//!
//! Used by the account and payment services of the write side, by the mail worker, and read-only by the command line. Events
//! contain no address (ADR 7): only the vault connects an address with its account. It looks an address up by the HMAC-SHA-256
//! of its folded form and stores it encrypted; both keys derive from one secret in a file. Erasing an address leaves no byte of
//! it in the file.
//!
//! - This module: addresses and their accounts. `file` opens and migrates the database, `secret` reads the secret, `cipher`
//!   derives the keys from it and encrypts.
//! - `outbox`: queued mails. `links`: the links that prove an address. `key_names`: the names that owners give their keys.
//! - `payment_notices`: notices that cannot be events, because they may name people.
//! - `erasures`: the journal of erased accounts, a file beside the database.

mod cipher;
mod erasures;
mod file;
mod key_names;
mod links;
mod outbox;
mod payment_notices;
mod secret;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemas::email::Email;
use schemas::ids::AccountId;
use sqlx::SqlitePool;
use tokio::sync::Notify;
use uuid::Uuid;

use cipher::VaultCipher;

pub use erasures::{ERASURES_FILE, Erasure, MAX_JOURNAL_BYTES, journal_text, read_erasures};
pub use file::{FILE, check_tables};
pub use links::{Link, new_token};
pub use outbox::{MAIL_INTERVAL, MessageKind, OutboxMessage};
pub use payment_notices::{Notice, StoredNotice};
pub use secret::{SECRET_FILE, check_secret_file};

/// The vault of a data folder. Neither its `Debug` form nor an error contains an address.
pub struct Vault {
    pool: SqlitePool,
    cipher: VaultCipher,
    /// The path of the journal of erasures.
    journal: PathBuf,
    /// Notified of every queued message.
    queued: Notify,
}

/// A failure of the vault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// Temporary: a retry may succeed.
    #[error("the vault of addresses is not available: {0}")]
    Unavailable(String),
    /// The secret is missing, unreadable, or not the one of this vault.
    #[error(
        "the secret of the vault cannot be used: {} {reason}; set secret_file (LOGGIA_SECRET_FILE) to the file with \
         the secret that the vault was made with",
        .path.display()
    )]
    Secret {
        /// The path of the secret.
        path: PathBuf,
        /// The problem, as a sentence.
        reason: String,
    },
    /// The stored data is damaged.
    #[error("the vault of addresses is damaged: {0}; restore the last backup")]
    Corrupt(String),
}

impl Vault {
    /// Opens the vault in the event store's folder for the write side, and creates it if it is absent. The secret is in
    /// `secret_file`, or in [`SECRET_FILE`] beside the vault; it is created, readable by its owner only, if it is absent and the
    /// vault is empty.
    ///
    /// # Errors
    ///
    /// Fails if the file or the secret cannot be used, or the secret is not the one of this vault.
    pub async fn open(folder: &Path, secret_file: Option<&Path>) -> Result<Vault, VaultError> {
        let path = secret_path(folder, secret_file);
        let pool = file::open(&folder.join(FILE)).await?;
        let empty = file::is_empty(&pool).await?;
        let secret = match secret::read(&path)? {
            Some(secret) => secret,
            None if empty => secret::create(&path)?,
            None => return Err(VaultError::secret(&path, "does not exist")),
        };
        let cipher = VaultCipher::new(&secret);
        if empty {
            // Nothing is encrypted yet, so any secret will do.
            file::store_fingerprint(&pool, cipher.fingerprint()).await?;
        }
        let vault = Vault { pool, cipher, journal: folder.join(ERASURES_FILE), queued: Notify::new() };
        vault.check_secret(&path).await?;
        vault.index_notices().await?;
        Ok(vault)
    }

    /// Opens the vault for reading, also while a write side has it open; `None` if there is no vault yet.
    ///
    /// # Errors
    ///
    /// Fails if the file or the secret cannot be used, or the secret is not the one of this vault.
    pub async fn open_read_only(
        folder: &Path,
        secret_file: Option<&Path>,
    ) -> Result<Option<Vault>, VaultError> {
        let path = secret_path(folder, secret_file);
        let Some(pool) = file::open_read_only(&folder.join(FILE)).await? else { return Ok(None) };
        if file::is_empty(&pool).await? {
            return Ok(None);
        }
        let secret = secret::read(&path)?.ok_or_else(|| VaultError::secret(&path, "does not exist"))?;
        let (cipher, journal) = (VaultCipher::new(&secret), folder.join(ERASURES_FILE));
        let vault = Vault { pool, cipher, journal, queued: Notify::new() };
        vault.check_secret(&path).await?;
        Ok(Some(vault))
    }

    /// Checks that the secret is the one of this vault.
    async fn check_secret(&self, path: &Path) -> Result<(), VaultError> {
        if file::fingerprint(&self.pool).await? == self.cipher.fingerprint() {
            Ok(())
        } else {
            Err(VaultError::secret(path, "contains a secret other than the one of this vault"))
        }
    }

    /// Returns the id of the vault in a folder, without the secret; `None` if there is no vault.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a vault.
    pub async fn identity(folder: &Path) -> Result<Option<Uuid>, VaultError> {
        let Some(pool) = file::open_read_only(&folder.join(FILE)).await? else { return Ok(None) };
        let id = file::identity(&pool).await;
        pool.close().await;
        id.map(Some)
    }

    /// Returns the random id that the vault was created with.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn id(&self) -> Result<Uuid, VaultError> {
        file::identity(&self.pool).await
    }

    /// Returns the account of an address.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn account_of(&self, email: &Email) -> Result<Option<AccountId>, VaultError> {
        for digest in self.cipher.digests(email) {
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

    /// Returns the address of an account.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or the address cannot be decrypted.
    pub async fn email_of(&self, account: AccountId) -> Result<Option<Email>, VaultError> {
        let sealed: Option<Vec<u8>> = sqlx::query_scalar("SELECT sealed FROM addresses WHERE account = ?1")
            .bind(account.to_string())
            .fetch_optional(&self.pool)
            .await?;
        sealed.map(|sealed| self.cipher.open(&sealed, account)).transpose()
    }

    /// Returns every account with its address.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or an address cannot be decrypted.
    pub async fn emails(&self) -> Result<Vec<(AccountId, Email)>, VaultError> {
        let rows: Vec<(String, Vec<u8>)> =
            sqlx::query_as("SELECT account, sealed FROM addresses ORDER BY account")
                .fetch_all(&self.pool)
                .await?;
        let read = |(account, sealed): (String, Vec<u8>)| {
            let account = read_account(&account)?;
            Ok((account, self.cipher.open(&sealed, account)?))
        };
        rows.into_iter().map(read).collect()
    }

    /// Stores the address of an account and returns the account of the address, which is another one if it was stored before.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn add_address(&self, email: &Email, account: AccountId) -> Result<AccountId, VaultError> {
        if let Some(known) = self.account_of(email).await? {
            return Ok(known);
        }
        sqlx::query("INSERT INTO addresses (digest, account, sealed) VALUES (?1, ?2, ?3) ON CONFLICT (digest) DO NOTHING")
            .bind(self.cipher.digest(email).as_slice())
            .bind(account.to_string())
            .bind(self.cipher.seal(email, account)?)
            .execute(&self.pool)
            .await?;
        let stored = self.account_of(email).await?;
        stored.ok_or_else(|| VaultError::unavailable("an address that was stored cannot be found; try again"))
    }

    /// Erases the address of an account permanently, with its queued mails, links and names of keys; returns whether there was
    /// one. When this returns, the file contains no byte of it.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
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
            file::mark_for_rewrite(&mut transaction).await?;
        }
        transaction.commit().await?;
        file::rewrite_if_marked(&self.pool).await?;
        Ok(deleted > 0)
    }

    /// Closes the file.
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
        VaultError::Unavailable(reason.into())
    }

    fn corrupt(reason: impl Into<String>) -> VaultError {
        VaultError::Corrupt(reason.into())
    }

    fn secret(path: &Path, reason: impl Into<String>) -> VaultError {
        VaultError::Secret { path: path.to_owned(), reason: reason.into() }
    }
}

impl From<sqlite::Error> for VaultError {
    fn from(error: sqlite::Error) -> VaultError {
        match error {
            sqlite::Error::Unavailable(reason) => VaultError::Unavailable(reason),
            sqlite::Error::Corrupt(reason) => VaultError::Corrupt(reason),
        }
    }
}

impl From<sqlx::Error> for VaultError {
    fn from(error: sqlx::Error) -> VaultError {
        sqlite::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests;
