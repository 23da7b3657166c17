//! The listed projects in the order of their selection, for site maps and feeds.

use bytes::Bytes;
use schemas::ids::ProjectId;
use sqlx::{QueryBuilder, Row, Sqlite};

use super::reader::CachedParts;
use super::{CatalogReader, ListedPart, corrupt};
use model::Model;
use model::error::ModelError;

/// The slug of a listed project and the time of its last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProject {
    /// The slug.
    pub slug: String,
    /// The time of the last change, as RFC 3339.
    pub updated_at: String,
}

/// The first stored picture of a project, or that one is being fetched or drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPicture {
    /// The slug of the project.
    pub slug: String,
    /// The URL in the width for lists, which begins with [`schemas::api::site::SITE`]; `None` if no picture is stored yet.
    pub url: Option<String>,
    /// The main colour as `#rrggbb`.
    pub colour: Option<String>,
}

/// A listed project with its full record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRecord {
    /// The id, which renames do not change.
    pub project: ProjectId,
    /// The record, rendered as JSON; URLs of this site begin with [`schemas::api::site::SITE`].
    pub record: Bytes,
}

impl CatalogReader {
    /// Returns the parts that are not empty, each of at most `size` projects. They are counted once per commit.
    pub async fn listed_parts(&self, size: u32) -> Result<Vec<ListedPart>, ModelError> {
        let mut cached = self.parts.lock().await;
        let position = Model::checkpoint(self).await?.position;
        match &*cached {
            Some(known) if (known.position, known.size) == (position, size) => Ok(known.parts.clone()),
            _ => {
                let parts = self.count_parts(size).await?;
                *cached = Some(CachedParts { position, size, parts: parts.clone() });
                Ok(parts)
            }
        }
    }

    async fn count_parts(&self, size: u32) -> Result<Vec<ListedPart>, ModelError> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT (ordinal - 1) / ? AS part, max(substr(updated_at, 1, 10)) FROM projects INDEXED BY listed \
             WHERE withdrawn IS NULL GROUP BY part ORDER BY part",
        )
        .bind(i64::from(size))
        .fetch_all(&self.pool)
        .await?;
        let part =
            |(number, updated_on): (i64, String)| ListedPart { number: number.unsigned_abs(), updated_on };
        Ok(rows.into_iter().map(part).collect())
    }

    /// Returns the projects of a part, in the order of their selection.
    pub async fn listed_part(&self, size: u32, number: u64) -> Result<Vec<ListedProject>, ModelError> {
        // Ordinals count from 1; a number beyond all of them is an empty part.
        let size = u64::from(size);
        let last = i64::try_from(number.saturating_add(1).saturating_mul(size)).unwrap_or(i64::MAX);
        let rows: Vec<(String, String)> = sqlx::query_as(
            "SELECT slug, updated_at FROM projects INDEXED BY listed \
             WHERE withdrawn IS NULL AND ordinal > ? AND ordinal <= ? ORDER BY ordinal",
        )
        .bind(last.saturating_sub(size.cast_signed()))
        .bind(last)
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|(slug, updated_at)| ListedProject { slug, updated_at }).collect())
    }

    /// Returns the first stored picture of each of these projects that has one, or for which one is being fetched or drawn.
    pub async fn pictures(
        &self,
        slugs: impl Iterator<Item = &str>,
    ) -> Result<Vec<ListedPicture>, ModelError> {
        let mut query = QueryBuilder::<Sqlite>::new(
            "SELECT s.slug, p.picture, p.colour FROM slugs s JOIN projects p USING (project) WHERE (p.picture IS NOT NULL OR p.awaits) AND s.slug IN (",
        );
        let mut list = query.separated(", ");
        slugs.for_each(|slug| {
            list.push_bind(slug.to_owned());
        });
        query.push(")");
        let rows: Vec<(String, Option<String>, Option<String>)> =
            query.build_query_as().fetch_all(&self.pool).await?;
        Ok(rows.into_iter().map(|(slug, url, colour)| ListedPicture { slug, url, colour }).collect())
    }

    /// Returns the listed projects among these ordinals, in the same order.
    pub async fn listed_records(&self, ordinals: &[u64]) -> Result<Vec<ListedRecord>, ModelError> {
        let mut query =
            QueryBuilder::<Sqlite>::new("SELECT ordinal, project, answer FROM projects WHERE ordinal IN (");
        let mut list = query.separated(", ");
        for ordinal in ordinals {
            list.push_bind(ordinal.cast_signed());
        }
        query.push(") AND withdrawn IS NULL");
        let mut found = Vec::with_capacity(ordinals.len());
        for row in query.build().fetch_all(&self.pool).await? {
            let ordinal = row.try_get::<i64, _>("ordinal")?.unsigned_abs();
            let project = row.try_get::<String, _>("project")?.parse().map_err(corrupt)?;
            let record = row.try_get::<String, _>("answer")?.into();
            found.push((ordinal, ListedRecord { project, record }));
        }
        let in_order = ordinals.iter().filter_map(|ordinal| found.iter().find(|(own, _)| own == ordinal));
        Ok(in_order.map(|(_, record)| record.clone()).collect())
    }
}
