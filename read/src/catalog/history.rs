//! The revisions of a project.
//!
//! The content of a revision never changes: it is rendered from its record, with the slug and the time of the revision. Pictures are
//! attached after the record that names them, so for each source a revision shows the picture that was stored when it was recorded,
//! or else the first that was attached later; a replacement is shown from the next revision on. If that picture was erased, the
//! revision shows none.

use std::collections::BTreeMap;

use bytes::Bytes;
use jiff::Timestamp;
use schemas::api::project::Project as Answer;
use schemas::api::summary::Edition;
use schemas::history::{History, RecordedRevision, Withdrawal};
use schemas::ids::Revision;
use schemas::picture::Picture;
use schemas::record::Record;
use schemas::slug::Slug;
use sqlx::{Row, SqliteConnection};

use super::{CatalogReader, corrupt, render};
use model::awaited_pictures::AwaitedPictures;
use model::error::ModelError;

impl CatalogReader {
    /// Returns the history of the project that has or had this slug, listed or withdrawn.
    pub async fn history(&self, slug: &str) -> Result<Option<History>, ModelError> {
        let mut view = self.pool.begin().await?;
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
        let withdrawn = match withdrawn {
            // A withdrawn project changes only by another withdrawal, which is then the current one, or by its restoration.
            Some(reason) => Some(Withdrawal { reason, at: updated_at.parse().map_err(corrupt)? }),
            None => None,
        };
        let history = History::new(project.clone(), slug, withdrawn, revisions);
        history.map(Some).ok_or_else(|| corrupt(format!("the project {project} has no revision")))
    }

    /// Returns the full record of a revision, rendered as JSON; URLs of this site begin with [`schemas::api::site::SITE`].
    pub async fn revision(&self, history: &History, revision: Revision) -> Result<Option<Bytes>, ModelError> {
        let mut view = self.pool.begin().await?;
        rendered(&mut view, history.project(), revision).await
    }
}

/// Returns the full record of a revision of a project, rendered as [`CatalogReader::revision`] returns it.
pub(super) async fn rendered(
    view: &mut SqliteConnection,
    project: &str,
    revision: Revision,
) -> Result<Option<Bytes>, ModelError> {
    let row = sqlx::query(
        "SELECT r.position, r.slug, r.time, r.command, r.record, p.pictures, p.awaited, p.awaits, f.time AS added_at \
         FROM revisions r JOIN projects p USING (project) JOIN revisions f ON f.project = r.project AND f.revision = 1 \
         WHERE r.project = ? AND r.revision = ?",
    )
    .bind(project)
    .bind(i64::from(revision.0))
    .fetch_optional(&mut *view)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let time = |column| row.try_get::<String, _>(column)?.parse::<Timestamp>().map_err(corrupt);
    let slug: Slug = row.try_get::<String, _>("slug")?.parse().map_err(corrupt)?;
    let record: Record = serde_json::from_str(row.try_get("record")?).map_err(corrupt)?;
    let mut pictures: BTreeMap<String, Picture> =
        serde_json::from_str(row.try_get("pictures")?).map_err(corrupt)?;
    let mut awaited = AwaitedPictures::default();
    if row.try_get("awaits")? {
        awaited = serde_json::from_str(row.try_get("awaited")?).map_err(corrupt)?;
    }
    let (position, command) = (row.try_get("position")?, row.try_get("command")?);
    restore_replaced(view, project, position, command, &mut pictures).await?;
    let edition = Edition {
        slug: &slug,
        revision,
        recorded_slug: &slug,
        record: &record,
        pictures: &pictures,
        awaited: awaited.sources(),
        added_at: time("added_at")?,
    };
    Ok(Some(render(&Answer::of(&edition, time("time")?))?.into()))
}

/// Restores the pictures that were replaced after the revision that a command recorded at a position.
async fn restore_replaced(
    view: &mut SqliteConnection,
    project: &str,
    position: i64,
    command: &str,
    pictures: &mut BTreeMap<String, Picture>,
) -> Result<(), ModelError> {
    // Pictures that the revision's own command attached belong to it. Of the others the first one that was replaced later was shown.
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
            // It was erased; no other picture takes its place.
            None => drop(pictures.remove(&source)),
        }
    }
    Ok(())
}
