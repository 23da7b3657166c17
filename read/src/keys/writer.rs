//! Applies batches of events to the keys: rows and checkpoint in one transaction.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use schemas::account::AccountEvent;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::{AccountId, Position};
use schemas::key::{KeyHash, KeyId, SealedName};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions, Connection, QueryBuilder, Row, Sqlite};

use super::account::{Account, AccountKey, UnexpectedEvent};
use super::{NAME, SCHEMA, corrupt, options, read_key};
use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;

/// The number of rows in one statement; SQLite accepts 32,766 parameters.
const ROWS: usize = 1_000;

/// Writes one generation of the keys. There must be only one writer at a time.
#[derive(Debug)]
pub struct KeysWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    pending: PendingChanges,
}

/// The accounts of the events since the last commit.
#[derive(Debug, Default)]
struct PendingChanges {
    accounts: HashMap<AccountId, Account>,
    /// The ids and hashes in the batch's issued keys that are in use.
    ids: HashSet<KeyId>,
    hashes: HashSet<KeyHash>,
}

impl KeysWriter {
    /// Opens the keys in a generation's folder, and creates them if there are none.
    pub async fn open(folder: &Path) -> Result<KeysWriter, ModelError> {
        let mut connection = options(folder).create_if_missing(true).connect().await?;
        database::create_schema(&mut connection, NAME, SCHEMA).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        Ok(KeysWriter { connection, checkpoint, pending: PendingChanges::default() })
    }

    /// Returns the checkpoint of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Loads the accounts and keys that the events of a batch concern, as far as they are known.
    pub async fn load(
        &mut self,
        batch: impl Iterator<Item = (AccountId, &AccountEvent)>,
    ) -> Result<(), ModelError> {
        let (mut accounts, mut issued) = (HashSet::new(), Vec::new());
        for (account, event) in batch {
            if !self.pending.accounts.contains_key(&account) {
                accounts.insert(account);
            }
            if let AccountEvent::KeyIssued(key) = event {
                issued.push((key.key_id, key.hash));
            }
        }
        let accounts: Vec<AccountId> = accounts.into_iter().collect();
        for chunk in accounts.chunks(ROWS) {
            self.load_accounts(chunk).await?;
        }
        for chunk in issued.chunks(ROWS) {
            self.load_used(chunk).await?;
        }
        Ok(())
    }

    async fn load_accounts(&mut self, accounts: &[AccountId]) -> Result<(), ModelError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM keys WHERE account IN (");
        let mut list = query.separated(", ");
        for account in accounts {
            list.push_bind(account.to_string());
            self.pending.accounts.insert(*account, Account::default());
        }
        query.push(") ORDER BY created_at, key_id");
        for row in query.build().fetch_all(&mut self.connection).await? {
            let account = row.try_get::<&str, _>("account")?.parse().map_err(corrupt)?;
            self.pending.accounts.entry(account).or_default().keys.push(read_account_key(&row)?);
        }
        Ok(())
    }

    /// Loads the ids and hashes of new keys that are in use already.
    async fn load_used(&mut self, issued: &[(KeyId, KeyHash)]) -> Result<(), ModelError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT key_id, hash FROM keys WHERE key_id IN (");
        let mut list = query.separated(", ");
        for (key_id, _) in issued {
            list.push_bind(key_id.as_str());
        }
        query.push(") OR hash IN (");
        let mut list = query.separated(", ");
        for (_, hash) in issued {
            list.push_bind(hash.0.0.as_slice());
        }
        query.push(")");
        for row in query.build().fetch_all(&mut self.connection).await? {
            self.pending.ids.insert(row.try_get::<&str, _>("key_id")?.parse().map_err(corrupt)?);
            self.pending.hashes.insert(read_hash(&row)?);
        }
        Ok(())
    }

    /// Applies an event to its account. [`KeysWriter::load`] must have loaded the account.
    ///
    /// # Errors
    ///
    /// Returns the reason to park the event, which changes nothing then.
    pub fn apply(
        &mut self,
        recorded: &Recorded,
        account: AccountId,
        event: AccountEvent,
    ) -> Result<(), String> {
        let pending = &mut self.pending;
        if let AccountEvent::KeyIssued(key) = &event {
            // Both sets are checked before either is changed: a failed event must change nothing.
            if pending.ids.contains(&key.key_id) || pending.hashes.contains(&key.hash) {
                return Err(UnexpectedEvent::IssuedTwice.to_string());
            }
            pending.ids.insert(key.key_id);
            pending.hashes.insert(key.hash);
        }
        let account = pending.accounts.entry(account).or_default();
        account.apply(event, recorded.position, recorded.time).map_err(|error| error.to_string())
    }

    /// Commits the applied events together with the checkpoint.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        let pending = std::mem::take(&mut self.pending);
        let before = self.checkpoint.position;
        let changed: Vec<(&AccountId, &AccountKey)> = pending
            .accounts
            .iter()
            .flat_map(|(id, account)| account.keys.iter().map(move |key| (id, key)))
            .filter(|(_, key)| key.changed > before)
            .collect();
        let mut transaction = self.connection.begin().await?;
        for chunk in changed.chunks(ROWS) {
            write_keys(&mut transaction, chunk).await?;
        }
        let state = serde_json::to_string(&checkpoint).map_err(corrupt)?;
        database::set_state(&mut transaction, state).await?;
        transaction.commit().await?;
        self.checkpoint = checkpoint;
        Ok(())
    }

    /// Closes the database cleanly.
    pub async fn close(self) -> Result<(), ModelError> {
        Ok(self.connection.close().await?)
    }
}

async fn write_keys(
    transaction: &mut SqliteConnection,
    keys: &[(&AccountId, &AccountKey)],
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO keys (key_id, hash, account, hint, name, sealed_name, tier, created_at, revoked_at, proven, changed) ",
    );
    query.push_values(keys, |mut row, (account, AccountKey { key, hash, changed })| {
        row.push_bind(key.key_id.as_str())
            .push_bind(hash.0.0.as_slice())
            .push_bind(account.to_string())
            .push_bind(&key.hint)
            .push_bind(key.name.as_deref())
            .push_bind(key.sealed_name.as_ref().map(SealedName::as_str))
            .push_bind(key.tier.as_str())
            .push_bind(key.created_at.to_string())
            .push_bind(key.revoked_at.map(|time| time.to_string()))
            .push_bind(key.proven)
            .push_bind(changed.0.cast_signed());
    });
    query.push(
        " ON CONFLICT (key_id) DO UPDATE SET tier = excluded.tier, revoked_at = excluded.revoked_at, \
         proven = excluded.proven, changed = excluded.changed",
    );
    query.build().execute(transaction).await?;
    Ok(())
}

fn read_account_key(row: &SqliteRow) -> Result<AccountKey, ModelError> {
    let changed = Position(row.try_get::<i64, _>("changed")?.unsigned_abs());
    Ok(AccountKey { key: read_key(row)?, hash: read_hash(row)?, changed })
}

fn read_hash(row: &SqliteRow) -> Result<KeyHash, ModelError> {
    let hash = row.try_get::<&[u8], _>("hash")?.try_into().map_err(corrupt)?;
    Ok(KeyHash(Hash(hash)))
}
