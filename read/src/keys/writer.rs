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

use super::account::{Account, AccountKey, OutOfPlace};
use super::{NAME, corrupt, options, read_key};
use crate::checkpoint::Checkpoint;
use crate::database;
use crate::error::ModelError;

/// Rows in one statement; SQLite takes 32,766 parameters.
const ROWS: usize = 1_000;

/// Writes one generation of the keys. There is one writer at a time.
#[derive(Debug)]
pub struct KeysWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    staged: Staged,
}

/// What the events since the last commit have made of the accounts they speak of.
#[derive(Debug, Default)]
struct Staged {
    accounts: HashMap<AccountId, Account>,
    /// Ids and hashes that keys have, among those that events of the batch issue.
    ids: HashSet<KeyId>,
    hashes: HashSet<KeyHash>,
}

impl KeysWriter {
    /// Opens the keys in a generation's folder, and makes them where there are none.
    pub async fn open(folder: &Path) -> Result<KeysWriter, ModelError> {
        let mut connection = options(folder).create_if_missing(true).connect().await?;
        database::make(&mut connection, include_str!("sql/schema.sql")).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        Ok(KeysWriter { connection, checkpoint, staged: Staged::default() })
    }

    /// How far the keys have come, as of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Fetches what the model knows of the accounts and keys that a batch speaks of.
    pub async fn load(
        &mut self,
        batch: impl Iterator<Item = (AccountId, &AccountEvent)>,
    ) -> Result<(), ModelError> {
        let (mut accounts, mut issued) = (HashSet::new(), Vec::new());
        for (account, event) in batch {
            if !self.staged.accounts.contains_key(&account) {
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
            self.load_taken(chunk).await?;
        }
        Ok(())
    }

    async fn load_accounts(&mut self, accounts: &[AccountId]) -> Result<(), ModelError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM keys WHERE account IN (");
        let mut list = query.separated(", ");
        for account in accounts {
            list.push_bind(account.to_string());
            self.staged.accounts.insert(*account, Account::default());
        }
        query.push(") ORDER BY created_at, key_id");
        for row in query.build().fetch_all(&mut self.connection).await? {
            let account = row.try_get::<&str, _>("account")?.parse().map_err(corrupt)?;
            self.staged.accounts.entry(account).or_default().keys.push(read_account_key(&row)?);
        }
        Ok(())
    }

    /// Of the ids and hashes of new keys, those that a key has already.
    async fn load_taken(&mut self, issued: &[(KeyId, KeyHash)]) -> Result<(), ModelError> {
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
            self.staged.ids.insert(row.try_get::<&str, _>("key_id")?.parse().map_err(corrupt)?);
            self.staged.hashes.insert(read_hash(&row)?);
        }
        Ok(())
    }

    /// Stages what an event makes of its account, which [`KeysWriter::load`] has fetched if the model knows it. An error
    /// is for parking the event; nothing is staged then.
    pub fn apply(
        &mut self,
        recorded: &Recorded,
        account: AccountId,
        event: AccountEvent,
    ) -> Result<(), String> {
        let staged = &mut self.staged;
        if let AccountEvent::KeyIssued(key) = &event {
            // The sets are looked at before either is changed: an event is applied wholly or not at all.
            if staged.ids.contains(&key.key_id) || staged.hashes.contains(&key.hash) {
                return Err(OutOfPlace::IssuedTwice.to_string());
            }
            staged.ids.insert(key.key_id);
            staged.hashes.insert(key.hash);
        }
        let account = staged.accounts.entry(account).or_default();
        account.apply(event, recorded.position, recorded.time).map_err(|error| error.to_string())
    }

    /// Makes everything staged visible together with the checkpoint.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        let staged = std::mem::take(&mut self.staged);
        let before = self.checkpoint.position;
        let changed: Vec<(&AccountId, &AccountKey)> = staged
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
