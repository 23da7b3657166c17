//! Applies batches of events to the catalog: rows and checkpoint in one transaction.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use schemas::api::project::Project as Answer;
use schemas::api::summary::citation_url;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{CommandId, Position, ProjectId, Revision};
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, QueryBuilder, Row, Sqlite};

use super::{CatalogError, corrupt, options, render};
use crate::checkpoint::Checkpoint;
use crate::database;
use crate::project::Project;

/// Rows in one statement; SQLite takes 32,766 parameters.
const ROWS: usize = 1_000;

/// Writes one generation of the catalog. There is one writer at a time.
#[derive(Debug)]
pub struct CatalogWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    staged: Staged,
}

/// What the events since the last commit have made of the projects they speak of.
#[derive(Debug, Default)]
struct Staged {
    projects: HashMap<ProjectId, Project>,
    revisions: Vec<RevisionRow>,
    replaced: Vec<ReplacedRow>,
    slugs: Vec<(String, ProjectId)>,
}

#[derive(Debug)]
struct RevisionRow {
    project: ProjectId,
    revision: Revision,
    position: Position,
    slug: String,
    time: String,
    actor: String,
    command: CommandId,
    record: String,
}

#[derive(Debug)]
struct ReplacedRow {
    project: ProjectId,
    source: String,
    until: Position,
    command: CommandId,
    picture: String,
}

impl CatalogWriter {
    /// Opens the catalog in a generation's folder, and makes it where there is none.
    pub async fn open(folder: &Path) -> Result<CatalogWriter, CatalogError> {
        let mut connection = options(folder)
            .create_if_missing(true)
            // 16 MB: random slugs touch many pages.
            .pragma("cache_size", "-16384")
            .pragma("wal_autocheckpoint", "8192")
            .connect()
            .await?;
        database::make(&mut connection, include_str!("sql/schema.sql")).await?;
        let checkpoint = database::checkpoint(&mut connection, corrupt).await?;
        Ok(CatalogWriter { connection, checkpoint, staged: Staged::default() })
    }

    /// How far the catalog has come, as of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Fetches what the catalog knows of the projects that a batch is about to change.
    pub async fn load(&mut self, projects: impl Iterator<Item = ProjectId>) -> Result<(), CatalogError> {
        let mut wanted: Vec<ProjectId> = projects.filter(|p| !self.staged.projects.contains_key(p)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for chunk in wanted.chunks(ROWS) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT p.project, p.ordinal, p.slug, p.revision, p.updated_at, p.withdrawn, p.pictures, r.record \
                 FROM projects p JOIN revisions r USING (project, revision) WHERE p.project IN (",
            );
            let mut list = query.separated(", ");
            for project in chunk {
                list.push_bind(project.to_string());
            }
            query.push(")");
            for row in query.build().fetch_all(&mut self.connection).await? {
                let (id, project) = read_project(&row)?;
                self.staged.projects.insert(id, project);
            }
        }
        Ok(())
    }

    /// Stages what an event makes of its project, which [`CatalogWriter::load`] has fetched if the catalog knows it.
    /// An error is for parking the event; nothing is staged then.
    pub fn apply(&mut self, recorded: &Recorded, id: ProjectId, event: &Event) -> Result<(), String> {
        let before = self.staged.projects.get(&id);
        let replaced = replaced(before, recorded, id, event).map_err(|error| error.to_string())?;
        let (revision_before, slug_before) = (before.map(|p| p.revision), before.map(|p| p.slug.clone()));
        let project = Project::after(before.cloned(), event, recorded.position, recorded.time)
            .map_err(|error| error.to_string())?;
        if revision_before != Some(project.revision) {
            let record = serde_json::to_string(&project.record).map_err(|error| error.to_string())?;
            self.staged.revisions.push(RevisionRow {
                project: id,
                revision: project.revision,
                position: recorded.position,
                slug: project.slug.to_string(),
                time: recorded.time.to_string(),
                actor: recorded.actor.to_string(),
                command: recorded.causation,
                record,
            });
        }
        if slug_before.as_ref() != Some(&project.slug) {
            self.staged.slugs.push((project.slug.to_string(), id));
        }
        self.staged.replaced.extend(replaced);
        self.staged.projects.insert(id, project);
        Ok(())
    }

    /// Makes everything staged visible together with the checkpoint.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), CatalogError> {
        let staged = std::mem::take(&mut self.staged);
        let mut transaction = self.connection.begin().await?;
        let projects: Vec<(&ProjectId, &Project)> = staged.projects.iter().collect();
        for chunk in projects.chunks(ROWS) {
            write_projects(&mut transaction, chunk).await?;
        }
        for chunk in staged.revisions.chunks(ROWS) {
            write_revisions(&mut transaction, chunk).await?;
        }
        for chunk in staged.replaced.chunks(ROWS) {
            write_replaced(&mut transaction, chunk).await?;
        }
        for chunk in staged.slugs.chunks(ROWS) {
            let mut query = QueryBuilder::<Sqlite>::new("INSERT OR REPLACE INTO slugs (slug, project) ");
            query.push_values(chunk, |mut row, (slug, project)| {
                row.push_bind(slug).push_bind(project.to_string());
            });
            query.build().execute(&mut *transaction).await?;
        }
        let state = serde_json::to_string(&checkpoint).map_err(corrupt)?;
        database::set_state(&mut transaction, state).await?;
        transaction.commit().await?;
        self.checkpoint = checkpoint;
        Ok(())
    }

    /// Forgets what was staged since the last commit, after a commit that failed.
    pub fn discard(&mut self) {
        self.staged = Staged::default();
    }

    /// Closes the database cleanly.
    pub async fn close(self) -> Result<(), CatalogError> {
        Ok(self.connection.close().await?)
    }
}

async fn write_projects(
    transaction: &mut SqliteConnection,
    projects: &[(&ProjectId, &Project)],
) -> Result<(), CatalogError> {
    let mut rendered = Vec::with_capacity(projects.len());
    for (_, project) in projects {
        let answer = Answer::of(
            &project.slug,
            project.revision,
            &project.record,
            &project.pictures,
            project.updated_at,
        );
        let pictures = serde_json::to_string(&project.pictures).map_err(corrupt)?;
        let citation = citation_url(&project.slug, project.revision, &project.record);
        rendered.push((pictures, citation, render(&answer)?));
    }
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT OR REPLACE INTO projects (project, ordinal, slug, revision, updated_at, withdrawn, pictures, citation, answer) ",
    );
    query.push_values(
        projects.iter().zip(rendered),
        |mut row, ((id, project), (pictures, citation, answer))| {
            row.push_bind(id.to_string())
                .push_bind(project.ordinal.0.cast_signed())
                .push_bind(project.slug.to_string())
                .push_bind(i64::from(project.revision.0))
                .push_bind(project.updated_at.to_string())
                .push_bind(project.withdrawn.as_deref())
                .push_bind(pictures)
                .push_bind(citation)
                .push_bind(answer);
        },
    );
    query.build().execute(transaction).await?;
    Ok(())
}

async fn write_revisions(
    transaction: &mut SqliteConnection,
    rows: &[RevisionRow],
) -> Result<(), CatalogError> {
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

async fn write_replaced(
    transaction: &mut SqliteConnection,
    rows: &[ReplacedRow],
) -> Result<(), CatalogError> {
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

/// The picture that gives way to the one that an event attaches.
fn replaced(
    before: Option<&Project>,
    recorded: &Recorded,
    id: ProjectId,
    event: &Event,
) -> Result<Option<ReplacedRow>, serde_json::Error> {
    let Event::PictureAttached(attached) = event else { return Ok(None) };
    let former = before.and_then(|project| project.pictures.get(&attached.source));
    let Some(former) = former.filter(|former| **former != attached.picture) else { return Ok(None) };
    Ok(Some(ReplacedRow {
        project: id,
        source: attached.source.clone(),
        until: recorded.position,
        command: recorded.causation,
        picture: serde_json::to_string(former)?,
    }))
}

fn read_project(row: &sqlx::sqlite::SqliteRow) -> Result<(ProjectId, Project), CatalogError> {
    let id = row.try_get::<String, _>("project")?.parse().map_err(corrupt)?;
    let project = Project {
        ordinal: Position(row.try_get::<i64, _>("ordinal")?.unsigned_abs()),
        slug: row.try_get::<String, _>("slug")?.parse().map_err(corrupt)?,
        revision: Revision(u32::try_from(row.try_get::<i64, _>("revision")?).map_err(corrupt)?),
        updated_at: row.try_get::<String, _>("updated_at")?.parse::<Timestamp>().map_err(corrupt)?,
        withdrawn: row.try_get("withdrawn")?,
        record: serde_json::from_str(row.try_get("record")?).map_err(corrupt)?,
        pictures: serde_json::from_str(row.try_get("pictures")?).map_err(corrupt)?,
    };
    Ok((id, project))
}
