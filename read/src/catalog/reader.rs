//! Asks the catalog.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use sqlx::SqlitePool;
use tokio::sync::Mutex;

use super::options;
use super::parts::Parts;
use crate::error::ModelError;

/// How many requests may read at once; more wait their turn.
const CONNECTIONS: u32 = 4;

/// Reads one generation of the catalog; clones share their connections.
#[derive(Debug, Clone)]
pub struct CatalogReader {
    pool: SqlitePool,
    /// The listed parts, for which all projects are counted.
    pub(super) parts: Arc<Mutex<Option<Parts>>>,
}

/// What stands at a slug. Rendered texts hold the mark of `schemas::api::site` where the site's address belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The project's full record, rendered as JSON.
    Listed(Bytes),
    /// The project moved to this slug.
    Moved(String),
    /// The project left the catalog.
    Withdrawn {
        /// Why.
        reason: String,
        /// What may still be cited, rendered without quotes.
        citation: Bytes,
    },
    /// Nothing, now or ever.
    Unknown,
}

impl CatalogReader {
    /// Opens the catalog in a generation's folder, for reading only.
    pub async fn open(folder: &Path) -> Result<CatalogReader, ModelError> {
        let pool = sqlite::readers(options(folder), CONNECTIONS).await?;
        Ok(CatalogReader { pool, parts: Arc::default() })
    }

    /// What stands at this slug.
    pub async fn find(&self, slug: &str) -> Result<Found, ModelError> {
        let row: Option<(String, Option<String>, String, String)> = sqlx::query_as(
            "SELECT p.slug, p.withdrawn, p.citation, p.answer FROM slugs s JOIN projects p USING (project) WHERE s.slug = ?",
        )
        .bind(slug)
        .fetch_optional(&self.pool)
        .await?;
        Ok(match row {
            None => Found::Unknown,
            Some((_, Some(reason), citation, _)) => Found::Withdrawn { reason, citation: citation.into() },
            Some((current, None, _, _)) if current != slug => Found::Moved(current),
            Some((_, None, _, answer)) => Found::Listed(answer.into()),
        })
    }

    /// The present slug of the project whose record brings this address, as its page or as the address to cite. Of several
    /// a listed one, then the one that was selected first.
    pub async fn slug_of_address(&self, address: &str) -> Result<Option<String>, ModelError> {
        let slug = sqlx::query_scalar(
            "SELECT slug FROM projects WHERE page = ?1 OR source = ?1 ORDER BY withdrawn IS NOT NULL, ordinal LIMIT 1",
        )
        .bind(address)
        .fetch_optional(&self.pool)
        .await?;
        Ok(slug)
    }

    /// How many projects are listed.
    pub async fn listed(&self) -> Result<u64, ModelError> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM projects WHERE withdrawn IS NULL")
            .fetch_one(&self.pool)
            .await?;
        Ok(count.unsigned_abs())
    }

    /// Lets the database go once nobody asks it any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(super) fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}
