//! The names that owners give their keys. Events are permanent, so names are stored here and deleted with the account.

use std::collections::HashMap;

use schemas::ids::AccountId;
use schemas::key::KeyId;

use super::{Vault, VaultError, file};

impl Vault {
    /// Stores the name of an account's key, replacing the present one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub async fn set_key_name(&self, account: AccountId, key: KeyId, name: &str) -> Result<(), VaultError> {
        sqlx::query("INSERT OR REPLACE INTO key_names (key_id, account, sealed) VALUES (?1, ?2, ?3)")
            .bind(key.as_str())
            .bind(account.to_string())
            .bind(self.cipher.seal_text(name.as_bytes(), &associated_data(key))?)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Returns the names of the keys of one account, or of all accounts.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or a name cannot be decrypted.
    pub async fn key_names(&self, account: Option<AccountId>) -> Result<HashMap<KeyId, String>, VaultError> {
        // A reader does not migrate the tables of an older version.
        if !file::has_table(&self.pool, "key_names").await? {
            return Ok(HashMap::new());
        }
        let rows: Vec<(String, Vec<u8>)> =
            sqlx::query_as("SELECT key_id, sealed FROM key_names WHERE ?1 IS NULL OR account = ?1")
                .bind(account.map(|account| account.to_string()))
                .fetch_all(&self.pool)
                .await?;
        let read = |(key, sealed): (String, Vec<u8>)| {
            let key: KeyId = key.parse().map_err(|_| VaultError::corrupt("a key's id is unreadable"))?;
            let name = self.cipher.open_text(&sealed, &associated_data(key)).map(String::from_utf8);
            match name {
                Some(Ok(name)) => Ok((key, name)),
                _ => Err(VaultError::corrupt(format!("the name of key {key} does not open"))),
            }
        };
        rows.into_iter().map(read).collect()
    }
}

/// Returns the associated data of an encrypted name, distinct from that of every other encrypted text.
fn associated_data(key: KeyId) -> String {
    format!("key {key}")
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::tests::new_vault;

    #[tokio::test]
    async fn names_are_erased_with_their_account() {
        let (folder, vault) = new_vault().await;
        let account = |number| AccountId(Ulid(number));
        let key = |text: &str| text.parse::<KeyId>().unwrap();
        vault.add_address(&"ada@example.org".parse().unwrap(), account(1)).await.unwrap();
        vault.add_address(&"bob@example.org".parse().unwrap(), account(2)).await.unwrap();
        vault.set_key_name(account(1), key("aaaaaaaa"), "the engine").await.unwrap();
        vault.set_key_name(account(1), key("aaaaaaaa"), "the analytical engine").await.unwrap();
        vault.set_key_name(account(2), key("bbbbbbbb"), "laptop").await.unwrap();
        let (ada, bob) =
            ((key("aaaaaaaa"), "the analytical engine".into()), (key("bbbbbbbb"), "laptop".into()));
        assert_eq!(vault.key_names(Some(account(1))).await.unwrap(), HashMap::from([ada.clone()]));
        assert_eq!(vault.key_names(None).await.unwrap(), HashMap::from([ada, bob.clone()]));
        assert!(vault.erase(account(1)).await.unwrap());
        assert_eq!(vault.key_names(None).await.unwrap(), HashMap::from([bob]));
        vault.close().await;

        let reader = Vault::open_read_only(folder.path(), None).await.unwrap().unwrap();
        assert_eq!(reader.key_names(Some(account(1))).await.unwrap(), HashMap::new());
    }
}
