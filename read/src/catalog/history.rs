//! What a project said in each of its revisions.
//!
//! What a revision says never changes: it is rendered from the record that it recorded, under the slug and the time that it
//! had then. Pictures come later than the record that names them, so a revision shows, for each source that it names, the
//! picture that was kept when it was recorded, or else the first that came; one that replaces it shows from the next revision on.
//! Where that picture was erased it shows none.

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::Timestamp;
use schemas::api::project::Project as Answer;
use schemas::api::summary::Edition;
use schemas::ids::Revision;
use schemas::picture::Picture;
use schemas::record::Record;
use schemas::slug::Slug;
use sqlx::{Row, SqliteConnection};

use super::{CatalogReader, corrupt, render};
use crate::error::ModelError;

/// A project through time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    project: String,
    /// The slug that it has now.
    pub slug: String,
    /// Why and since when it is no longer listed, if it is not.
    pub withdrawn: Option<Withdrawal>,
    /// Every revision, the first one first.
    revisions: Vec<RecordedRevision>,
}

/// A project's leaving of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// Why, in words for readers.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// A revision and when it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRevision {
    /// Which one.
    pub revision: Revision,
    /// Where the project was found then.
    pub slug: String,
    /// When it was recorded.
    pub at: Timestamp,
}

impl History {
    /// Every revision, the first one first. There is at least one.
    pub fn revisions(&self) -> &[RecordedRevision] {
        &self.revisions
    }

    /// One of the revisions.
    pub fn find(&self, revision: Revision) -> Option<&RecordedRevision> {
        self.revisions.iter().find(|recorded| recorded.revision == revision)
    }

    /// The first revision.
    pub fn first(&self) -> &RecordedRevision {
        &self.revisions[0]
    }

    /// The newest revision.
    pub fn newest(&self) -> &RecordedRevision {
        &self.revisions[self.revisions.len() - 1]
    }

    /// The revision that was in force at an instant; none before the first.
    pub fn as_of(&self, instant: Timestamp) -> Option<&RecordedRevision> {
        // Clocks may have been set back: what was recorded later holds.
        self.revisions.iter().rev().find(|recorded| recorded.at <= instant)
    }
}

impl CatalogReader {
    /// The history of the project that has or had this slug, whether it is listed or not; none if there never was one.
    pub async fn history(&self, slug: &str) -> Result<Option<History>, ModelError> {
        let mut view = self.pool().begin().await?;
        let row: Option<(String, String, String, Option<String>)> = sqlx::query_as(
            "SELECT p.project, p.slug, p.updated_at, p.withdrawn FROM slugs s JOIN projects p USING (project) WHERE s.slug = ?",
        )
        .bind(slug)
        .fetch_optional(&mut *view)
        .await?;
        let Some((project, slug, updated_at, withdrawn)) = row else { return Ok(None) };
        let rows: Vec<(i64, String, String)> =
            sqlx::query_as("SELECT revision, slug, time FROM revisions WHERE project = ? ORDER BY revision")
                .bind(&project)
                .fetch_all(&mut *view)
                .await?;
        let revisions: Vec<RecordedRevision> = rows
            .into_iter()
            .map(|(revision, slug, time)| {
                let revision = Revision(u32::try_from(revision).map_err(corrupt)?);
                Ok(RecordedRevision { revision, slug, at: time.parse().map_err(corrupt)? })
            })
            .collect::<Result<_, ModelError>>()?;
        if revisions.is_empty() {
            return Err(corrupt(format!("the project {project} has no revision")));
        }
        let withdrawn = match withdrawn {
            // Nothing changes a withdrawn project but another withdrawal, which is the one that holds, and its return.
            Some(reason) => Some(Withdrawal { reason, at: updated_at.parse().map_err(corrupt)? }),
            None => None,
        };
        Ok(Some(History { project, slug, withdrawn, revisions }))
    }

    /// The full record as a revision recorded it, rendered as JSON with the mark of `schemas::api::site` where the site's
    /// address belongs; none if there is no such revision.
    pub async fn revision(&self, history: &History, revision: Revision) -> Result<Option<Bytes>, ModelError> {
        let mut view = self.pool().begin().await?;
        let row = sqlx::query(
            "SELECT r.position, r.slug, r.time, r.command, r.record, p.pictures \
             FROM revisions r JOIN projects p USING (project) WHERE r.project = ? AND r.revision = ?",
        )
        .bind(&history.project)
        .bind(i64::from(revision.0))
        .fetch_optional(&mut *view)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let slug: Slug = row.try_get::<String, _>("slug")?.parse().map_err(corrupt)?;
        let record: Record = serde_json::from_str(row.try_get("record")?).map_err(corrupt)?;
        let mut pictures: BTreeMap<String, Picture> =
            serde_json::from_str(row.try_get("pictures")?).map_err(corrupt)?;
        let (position, command) = (row.try_get("position")?, row.try_get("command")?);
        put_back(&mut view, &history.project, position, command, &mut pictures).await?;
        let at: Timestamp = row.try_get::<String, _>("time")?.parse().map_err(corrupt)?;
        let edition = Edition {
            slug: &slug,
            revision,
            recorded_slug: &slug,
            record: &record,
            pictures: &pictures,
            added_at: history.first().at,
        };
        Ok(Some(render(&Answer::of(&edition, at))?.into()))
    }
}

/// Puts the pictures back that have been replaced since a revision was recorded at a position by a command.
async fn put_back(
    view: &mut SqliteConnection,
    project: &str,
    position: i64,
    command: &str,
    pictures: &mut BTreeMap<String, Picture>,
) -> Result<(), ModelError> {
    // What the revision's own command attached belongs to it. Of the others the first that gave way later was shown.
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT source, picture FROM replaced WHERE project = ? AND until > ? AND command <> ? ORDER BY source, until DESC",
    )
    .bind(project)
    .bind(position)
    .bind(command)
    .fetch_all(view)
    .await?;
    for (source, picture) in rows {
        match serde_json::from_str(&picture).map_err(corrupt)? {
            Some(picture) => drop(pictures.insert(source, picture)),
            // It was erased; another one does not take its place.
            None => drop(pictures.remove(&source)),
        }
    }
    Ok(())
}
