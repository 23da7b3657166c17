//! Writes the rows of the catalog's tables, and reads the state of a project from them.

use jiff::Timestamp;
use schemas::api::project::Project as Answer;
use schemas::ids::{CommandId, Position, ProjectId, Revision};
use schemas::picture::PictureId;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row, Sqlite};

use super::{corrupt, render};
use model::error::ModelError;
use model::project::Project;

/// A revision of a project.
#[derive(Debug)]
pub(super) struct RevisionRow {
    pub(super) project: ProjectId,
    pub(super) revision: Revision,
    pub(super) position: Position,
    pub(super) slug: String,
    pub(super) time: String,
    pub(super) actor: String,
    pub(super) command: CommandId,
    pub(super) record: String,
}

/// The JSON in place of a picture that was erased.
pub(super) const ERASED: &str = "null";

/// A picture that was replaced or erased.
#[derive(Debug)]
pub(super) struct ReplacedRow {
    pub(super) project: ProjectId,
    pub(super) source: String,
    pub(super) until: Position,
    pub(super) command: CommandId,
    /// The picture as JSON, or [`ERASED`].
    pub(super) picture: String,
}

/// A change that readers see.
#[derive(Debug)]
pub(super) struct ChangeRow {
    pub(super) position: Position,
    pub(super) project: ProjectId,
    /// The position of the event that selected the project.
    pub(super) ordinal: Position,
    pub(super) mark: i64,
    pub(super) kind: &'static str,
    pub(super) slug: String,
    pub(super) former: Option<String>,
    pub(super) time: Timestamp,
    /// The revision after it.
    pub(super) revision: Revision,
    /// The members that changed with the pictures, separated by commas.
    pub(super) pictured: Option<String>,
}

/// A project with its rendered columns.
pub(super) struct ProjectRow<'a> {
    id: ProjectId,
    project: &'a Project,
    pictures: String,
    awaited: String,
    picture: Option<String>,
    colour: Option<String>,
    citation: String,
    answer: String,
}

pub(super) fn rendered<'a>(
    projects: &[(&ProjectId, &'a Project)],
) -> Result<Vec<ProjectRow<'a>>, ModelError> {
    let row = |(id, project): &(&ProjectId, &'a Project)| {
        let edition = project.edition();
        let answer = render(&Answer::of(&edition, project.updated_at))?;
        let pictures = serde_json::to_string(&project.pictures).map_err(corrupt)?;
        let awaited = serde_json::to_string(&project.awaited).map_err(corrupt)?;
        let citation = edition.citation_url();
        let picture = edition.kept_picture();
        let colour = edition.first_picture().and_then(|first| Some(first.palette.first()?.to_string()));
        Ok(ProjectRow { id: **id, project, pictures, awaited, picture, colour, citation, answer })
    };
    projects.iter().map(row).collect()
}

pub(super) async fn write_projects(
    transaction: &mut SqliteConnection,
    rows: Vec<ProjectRow<'_>>,
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT OR REPLACE INTO projects (project, ordinal, slug, revision, updated_at, withdrawn, pictures, awaited, awaits, picture, colour, page, source, citation, answer) ",
    );
    query.push_values(
        rows,
        |mut row, ProjectRow { id, project, pictures, awaited, picture, colour, citation, answer }| {
            row.push_bind(id.to_string())
                .push_bind(project.ordinal.0.cast_signed())
                .push_bind(project.slug.to_string())
                .push_bind(i64::from(project.revision.0))
                .push_bind(project.updated_at.to_string())
                .push_bind(project.withdrawn.as_deref())
                .push_bind(pictures)
                .push_bind(awaited)
                .push_bind(!project.awaited().is_empty())
                .push_bind(picture)
                .push_bind(colour)
                .push_bind(project.record.url.as_deref())
                .push_bind(project.record.citation_url.as_deref())
                .push_bind(citation)
                .push_bind(answer);
        },
    );
    query.build().execute(transaction).await?;
    Ok(())
}

pub(super) async fn write_revisions(
    transaction: &mut SqliteConnection,
    rows: &[RevisionRow],
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT OR REPLACE INTO revisions (project, revision, position, slug, time, actor, command, record) ",
    );
    query.push_values(rows, |mut row, revision| {
        row.push_bind(revision.project.to_string())
            .push_bind(i64::from(revision.revision.0))
            .push_bind(revision.position.0.cast_signed())
            .push_bind(&revision.slug)
            .push_bind(&revision.time)
            .push_bind(&revision.actor)
            .push_bind(revision.command.0.to_string())
            .push_bind(&revision.record);
    });
    query.build().execute(transaction).await?;
    Ok(())
}

pub(super) async fn write_replaced(
    transaction: &mut SqliteConnection,
    rows: &[ReplacedRow],
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT OR REPLACE INTO replaced (project, source, until, command, picture) ",
    );
    query.push_values(rows, |mut row, replaced| {
        row.push_bind(replaced.project.to_string())
            .push_bind(&replaced.source)
            .push_bind(replaced.until.0.cast_signed())
            .push_bind(replaced.command.0.to_string())
            .push_bind(&replaced.picture);
    });
    query.build().execute(transaction).await?;
    Ok(())
}

pub(super) async fn write_changes(
    transaction: &mut SqliteConnection,
    rows: &[ChangeRow],
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT OR REPLACE INTO changes (position, project, ordinal, mark, kind, slug, former, time, at, revision, pictured) ",
    );
    query.push_values(rows, |mut row, change| {
        row.push_bind(change.position.0.cast_signed())
            .push_bind(change.project.to_string())
            .push_bind(change.ordinal.0.cast_signed())
            .push_bind(change.mark)
            .push_bind(change.kind)
            .push_bind(&change.slug)
            .push_bind(change.former.as_deref())
            .push_bind(change.time.to_string())
            .push_bind(change.time.as_microsecond())
            .push_bind(i64::from(change.revision.0))
            .push_bind(change.pictured.as_deref());
    });
    query.build().execute(transaction).await?;
    Ok(())
}

/// Replaces an erased picture in former revisions, which show none in its place.
pub(super) async fn erase_replaced(
    transaction: &mut SqliteConnection,
    project: ProjectId,
    picture: PictureId,
) -> Result<(), ModelError> {
    sqlx::query("UPDATE replaced SET picture = ?1 WHERE project = ?2 AND picture ->> 'id' = ?3")
        .bind(ERASED)
        .bind(project.to_string())
        .bind(picture.to_string())
        .execute(transaction)
        .await?;
    Ok(())
}

pub(super) async fn write_slugs(
    transaction: &mut SqliteConnection,
    rows: &[(String, ProjectId)],
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new("INSERT OR REPLACE INTO slugs (slug, project) ");
    query.push_values(rows, |mut row, (slug, project)| {
        row.push_bind(slug).push_bind(project.to_string());
    });
    query.build().execute(transaction).await?;
    Ok(())
}

pub(super) fn read_project(row: &SqliteRow) -> Result<(ProjectId, Project), ModelError> {
    let id = row.try_get::<String, _>("project")?.parse().map_err(corrupt)?;
    let project = Project {
        ordinal: Position(row.try_get::<i64, _>("ordinal")?.unsigned_abs()),
        slug: row.try_get::<String, _>("slug")?.parse().map_err(corrupt)?,
        revision: Revision(u32::try_from(row.try_get::<i64, _>("revision")?).map_err(corrupt)?),
        recorded_slug: row.try_get::<String, _>("recorded_slug")?.parse().map_err(corrupt)?,
        added_at: row.try_get::<String, _>("added_at")?.parse::<Timestamp>().map_err(corrupt)?,
        updated_at: row.try_get::<String, _>("updated_at")?.parse::<Timestamp>().map_err(corrupt)?,
        withdrawn: row.try_get("withdrawn")?,
        record: serde_json::from_str(row.try_get("record")?).map_err(corrupt)?,
        pictures: serde_json::from_str(row.try_get("pictures")?).map_err(corrupt)?,
        awaited: serde_json::from_str(row.try_get("awaited")?).map_err(corrupt)?,
    };
    Ok((id, project))
}
