//! Reads the catalog.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use schemas::api::summary;
use schemas::ids::Position;
use sqlite::ChangeDetector;
use sqlx::{QueryBuilder, Sqlite, SqlitePool};
use tokio::sync::{Mutex, watch};

use super::changed_lists::KeptLists;
use super::{FILE, corrupt, options};
use model::error::ModelError;

/// The maximum number of connections to the database.
const CONNECTIONS: u32 = 4;

/// The number of rows that are read ahead: a list of what changed may have a row for every project.
const ROWS_AHEAD: usize = 1_024;

/// Reads one generation of the catalog; clones share their connections.
#[derive(Debug, Clone)]
pub struct CatalogReader {
    pub(super) pool: SqlitePool,
    /// The listed parts, which take a scan of all projects.
    pub(super) parts: Arc<Mutex<Option<CachedParts>>>,
    /// The lists of changed projects that were last asked for.
    pub(super) lists: Arc<KeptLists>,
    detector: Arc<ChangeDetector>,
    /// Notified after commits.
    pub(super) commits: Arc<watch::Sender<()>>,
}

/// What a slug leads to. In rendered texts, URLs of this site begin with [`schemas::api::site::SITE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlugResolution {
    /// A listed project: its full record, rendered as JSON.
    Found(Bytes),
    /// A project with this present slug.
    Redirect(String),
    /// A withdrawn project.
    Gone {
        /// The reason for the withdrawal.
        reason: String,
        /// The URL that its last record brings to be cited, or else that of the last revision.
        citation: Bytes,
        /// The permanent URL of the last revision.
        revision_url: Bytes,
    },
    /// No project has or had the slug.
    NotFound,
}

/// What one of several slugs leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedSlug {
    /// The slug that was looked up.
    pub slug: String,
    /// The present slug of its project.
    pub present: String,
    /// The full record, rendered as JSON; URLs of this site begin with [`schemas::api::site::SITE`]. `None` for a withdrawn project.
    pub record: Option<Bytes>,
}

/// A part of the listed projects: a range of ordinals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPart {
    /// The number of the part, from 0. A project never changes its part, so some parts may be empty.
    pub number: u64,
    /// The day of the last change in this part, as `YYYY-MM-DD`.
    pub updated_on: String,
}

/// The parts as of one commit.
#[derive(Debug)]
pub(super) struct CachedParts {
    pub(super) position: Position,
    /// The maximum number of projects in a part.
    pub(super) size: u32,
    pub(super) parts: Vec<ListedPart>,
}

impl CatalogReader {
    /// Opens the catalog in a generation's folder, read-only.
    pub async fn open(folder: &Path) -> Result<CatalogReader, ModelError> {
        let pool = sqlite::readers(options(folder).row_buffer_size(ROWS_AHEAD), CONNECTIONS).await?;
        let detector = Arc::new(ChangeDetector::new(&folder.join(FILE)));
        let commits = Arc::new(watch::Sender::new(()));
        Ok(CatalogReader { pool, parts: Arc::default(), lists: Arc::default(), detector, commits })
    }

    /// Notifies those who wait for commits, if there may have been one since the last call.
    pub(super) fn notify_of_commits(&self) {
        if let Some(stamps) = self.detector.check() {
            self.detector.mark_read(stamps);
            self.commits.send_replace(());
        }
    }

    /// Resolves a slug.
    pub async fn resolve(&self, slug: &str) -> Result<SlugResolution, ModelError> {
        let row: Option<(String, Option<String>, String, String)> = sqlx::query_as(
            "SELECT p.slug, p.withdrawn, p.citation, p.answer FROM slugs s JOIN projects p USING (project) WHERE s.slug = ?",
        )
        .bind(slug)
        .fetch_optional(&self.pool)
        .await?;
        Ok(match row {
            None => SlugResolution::NotFound,
            Some((_, Some(reason), citation, answer)) => {
                let revision_url = summary::revision_url(answer.as_bytes());
                let revision_url = revision_url.ok_or_else(|| corrupt("a record has no revision_url"))?;
                let revision_url = Bytes::copy_from_slice(revision_url);
                SlugResolution::Gone { reason, citation: citation.into(), revision_url }
            }
            Some((current, None, _, _)) if current != slug => SlugResolution::Redirect(current),
            Some((_, None, _, answer)) => SlugResolution::Found(answer.into()),
        })
    }

    /// Resolves several slugs as of one commit, in any order; slugs that no project has or had are left out.
    pub async fn resolve_all(&self, slugs: &[String]) -> Result<Vec<ResolvedSlug>, ModelError> {
        let mut query = QueryBuilder::<Sqlite>::new(
            "SELECT s.slug, p.slug, CASE WHEN p.withdrawn IS NULL THEN p.answer END FROM slugs s JOIN projects p USING (project) \
             WHERE s.slug IN (",
        );
        let mut list = query.separated(", ");
        for slug in slugs {
            list.push_bind(slug);
        }
        query.push(")");
        let rows: Vec<(String, String, Option<String>)> =
            query.build_query_as().fetch_all(&self.pool).await?;
        let resolved = |(slug, present, record): (_, _, Option<String>)| ResolvedSlug {
            slug,
            present,
            record: record.map(Into::into),
        };
        Ok(rows.into_iter().map(resolved).collect())
    }

    /// Returns the full records of projects by any of their slugs, rendered as JSON, of withdrawn ones the last, as of one commit and in any
    /// order; slugs that no project has or had are left out.
    pub async fn records(&self, slugs: &[String]) -> Result<Vec<(String, Bytes)>, ModelError> {
        let mut query = QueryBuilder::<Sqlite>::new(
            "SELECT s.slug, p.answer FROM slugs s JOIN projects p USING (project) WHERE s.slug IN (",
        );
        let mut list = query.separated(", ");
        for slug in slugs {
            list.push_bind(slug);
        }
        query.push(")");
        let rows: Vec<(String, String)> = query.build_query_as().fetch_all(&self.pool).await?;
        Ok(rows.into_iter().map(|(slug, record)| (slug, record.into())).collect())
    }

    /// Returns the present slug of the project whose record has this URL as its page or as its citation URL. Of several projects listed
    /// ones come first, then the one selected first.
    pub async fn slug_of_address(&self, address: &str) -> Result<Option<String>, ModelError> {
        let slug = sqlx::query_scalar(
            "SELECT slug FROM projects WHERE page = ?1 OR source = ?1 ORDER BY withdrawn IS NOT NULL, ordinal LIMIT 1",
        )
        .bind(address)
        .fetch_optional(&self.pool)
        .await?;
        Ok(slug)
    }

    /// Returns the number of listed projects.
    pub async fn listed(&self) -> Result<u64, ModelError> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM projects WHERE withdrawn IS NULL")
            .fetch_one(&self.pool)
            .await?;
        Ok(count.unsigned_abs())
    }

    /// Closes the database once no query uses it.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
