//! One hash over everything that the catalog says, equal for equal catalogs however they were made.

use futures::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection};

use super::{CatalogError, CatalogReader};
use crate::checkpoint::Checkpoint;

impl CatalogReader {
    /// The checkpoint and the digest of all rows at it, in one consistent view even while a worker writes.
    pub async fn digest(&self) -> Result<(Checkpoint, [u8; 32]), CatalogError> {
        let mut view = self.pool().begin().await?;
        let state: Option<String> =
            sqlx::query_scalar("SELECT state FROM checkpoint").fetch_optional(&mut *view).await?;
        let checkpoint = match state {
            None => Checkpoint::default(),
            Some(state) => serde_json::from_str(&state).map_err(|e| CatalogError::Corrupt(e.to_string()))?,
        };
        let mut sha = Sha256::new();
        for sql in [
            "SELECT project, ordinal, slug, revision, updated_at, withdrawn, citation, answer FROM projects ORDER BY project",
            "SELECT project, revision, position, slug, time, actor, record FROM revisions ORDER BY project, revision",
            "SELECT slug, project FROM slugs ORDER BY slug",
        ] {
            add_rows(&mut view, sql, &mut sha).await?;
        }
        Ok((checkpoint, sha.finalize().into()))
    }
}

async fn add_rows(
    view: &mut SqliteConnection,
    sql: &'static str,
    sha: &mut Sha256,
) -> Result<(), CatalogError> {
    let mut rows = sqlx::query(sql).fetch(view);
    while let Some(row) = rows.try_next().await? {
        for column in 0..row.len() {
            let value: Option<String> = match row.try_get_unchecked::<Option<String>, _>(column) {
                Ok(text) => text,
                Err(error) => return Err(error.into()),
            };
            // Null and text are told apart by what stands before the length.
            sha.update([u8::from(value.is_some())]);
            let text = value.unwrap_or_default();
            sha.update((text.len() as u64).to_be_bytes());
            sha.update(text);
        }
    }
    Ok(())
}
