//! Applies batches of events to the archive: rows and checkpoint in one transaction.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemas::event::Event;
use schemas::ids::{Position, ProjectId};
use schemas::record::Record;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions, Connection, QueryBuilder, Row, Sqlite};

use super::{NAME, corrupt, options, words};
use crate::checkpoint::Checkpoint;
use crate::database;
use crate::day;
use crate::error::ModelError;
use crate::project::OutOfPlace;

/// Rows in one statement; SQLite takes 32,766 parameters.
const ROWS: usize = 1_000;

/// Writes one generation of the archive. There is one writer at a time.
#[derive(Debug)]
pub struct ArchiveWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    /// What the events since the last commit have made of the projects that they speak of; none for a project that was
    /// never selected.
    staged: HashMap<ProjectId, Option<Project>>,
    /// Counts commits that changed rows.
    changed: i64,
}

#[derive(Debug)]
struct Project {
    ordinal: Position,
    slug: String,
    category: String,
    published: Option<i32>,
    added: i32,
    newest: i32,
    listed: bool,
    words: String,
    /// Whether the commit must write it.
    changed: bool,
}

impl ArchiveWriter {
    /// Opens the archive in a generation's folder, and makes it where there is none.
    pub async fn open(folder: &Path) -> Result<ArchiveWriter, ModelError> {
        let mut connection = options(folder).create_if_missing(true).connect().await?;
        database::make(&mut connection, include_str!("sql/schema.sql")).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        let sql = "SELECT coalesce(max(changed), 0) FROM projects";
        let changed = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
        Ok(ArchiveWriter { connection, checkpoint, staged: HashMap::new(), changed })
    }

    /// How far the archive has come, as of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Fetches what the model knows of the projects that a batch speaks of.
    pub async fn load(&mut self, batch: impl Iterator<Item = ProjectId>) -> Result<(), ModelError> {
        let unknown: HashSet<ProjectId> = batch.filter(|id| !self.staged.contains_key(id)).collect();
        let unknown: Vec<ProjectId> = unknown.into_iter().collect();
        for chunk in unknown.chunks(ROWS) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT ordinal, project, slug, category, published, added, newest, listed, words FROM projects WHERE project IN (",
            );
            let mut list = query.separated(", ");
            for id in chunk {
                list.push_bind(id.to_string());
                self.staged.insert(*id, None);
            }
            query.push(")");
            for row in query.build().fetch_all(&mut self.connection).await? {
                let id = row.try_get::<&str, _>("project")?.parse().map_err(corrupt)?;
                self.staged.insert(id, Some(read_project(&row)?));
            }
        }
        Ok(())
    }

    /// Stages what an event makes of its project, which [`ArchiveWriter::load`] has fetched if the model knows it. The
    /// event was recorded at this position and time.
    ///
    /// # Errors
    ///
    /// Fails with the reason for which the event is to be parked; nothing is staged then.
    pub fn apply(
        &mut self,
        id: ProjectId,
        event: &Event,
        position: Position,
        time: Timestamp,
    ) -> Result<(), OutOfPlace> {
        let known = self.staged.entry(id).or_default();
        match (known, event) {
            (_, Event::Account(_)) => Err(OutOfPlace::OfAnAccount),
            (Some(_), Event::ProjectSelected(_)) => Err(OutOfPlace::SelectedTwice),
            (known @ None, Event::ProjectSelected(selected)) => {
                let added = day::since_1970(TimeZone::UTC.to_datetime(time).date());
                *known = Some(Project::new(position, selected.slug.to_string(), added, &selected.record));
                Ok(())
            }
            (None, _) => Err(OutOfPlace::NotSelected),
            (Some(project), event) => {
                project.follow(event);
                Ok(())
            }
        }
    }

    /// Makes everything staged visible together with the checkpoint.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        let staged = std::mem::take(&mut self.staged).into_iter();
        let staged =
            staged.filter_map(|(id, project)| Some((id, project.filter(|project| project.changed)?)));
        let mut projects: Vec<(ProjectId, Project)> = staged.collect();
        // In the order of the key, rows are appended.
        projects.sort_unstable_by_key(|(_, project)| project.ordinal);
        let changed = self.changed + 1;
        let mut transaction = self.connection.begin().await?;
        for chunk in projects.chunks(ROWS) {
            write_projects(&mut transaction, chunk, changed).await?;
        }
        let state = serde_json::to_string(&checkpoint).map_err(corrupt)?;
        database::set_state(&mut transaction, state).await?;
        transaction.commit().await?;
        (self.checkpoint, self.changed) = (checkpoint, changed);
        Ok(())
    }

    /// Closes the database cleanly.
    pub async fn close(self) -> Result<(), ModelError> {
        Ok(self.connection.close().await?)
    }
}

impl Project {
    fn new(ordinal: Position, slug: String, added: i32, record: &Record) -> Project {
        let mut project = Project {
            ordinal,
            slug,
            category: String::new(),
            published: None,
            added,
            newest: added,
            listed: true,
            words: String::new(),
            changed: true,
        };
        project.record(record);
        project
    }

    fn record(&mut self, record: &Record) {
        self.category = record.category.as_str().to_owned();
        self.published = record.published.map(day::since_1970);
        let selected = record.provenance.selected.map(day::since_1970);
        self.newest = self.published.or(selected).unwrap_or(self.added);
        self.words = words::kept(&record.taste);
    }

    /// Takes an event in that can follow its selection. One that the archive does not speak of changes nothing.
    fn follow(&mut self, event: &Event) {
        match event {
            Event::ProjectRevised(revised) => self.record(&revised.record),
            Event::ProjectRenamed(renamed) => self.slug = renamed.slug.to_string(),
            Event::ProjectWithdrawn(_) => self.listed = false,
            Event::ProjectRestored(_) => self.listed = true,
            Event::ProjectSelected(_)
            | Event::PictureAttached(_)
            | Event::PictureRefused(_)
            | Event::PictureErased(_)
            | Event::VectorsRecorded(_)
            | Event::Account(_) => return,
        }
        self.changed = true;
    }
}

fn read_project(row: &SqliteRow) -> Result<Project, ModelError> {
    Ok(Project {
        ordinal: Position(row.try_get::<i64, _>("ordinal")?.unsigned_abs()),
        slug: row.try_get("slug")?,
        category: row.try_get("category")?,
        published: row.try_get("published")?,
        added: row.try_get("added")?,
        newest: row.try_get("newest")?,
        listed: row.try_get("listed")?,
        words: row.try_get("words")?,
        changed: false,
    })
}

async fn write_projects(
    transaction: &mut SqliteConnection,
    projects: &[(ProjectId, Project)],
    changed: i64,
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO projects (ordinal, project, slug, category, published, added, newest, listed, words, changed) ",
    );
    query.push_values(projects, |mut row, (id, project)| {
        row.push_bind(project.ordinal.0.cast_signed())
            .push_bind(id.to_string())
            .push_bind(&project.slug)
            .push_bind(&project.category)
            .push_bind(project.published)
            .push_bind(project.added)
            .push_bind(project.newest)
            .push_bind(project.listed)
            .push_bind(&project.words)
            .push_bind(changed);
    });
    query.push(
        " ON CONFLICT (ordinal) DO UPDATE SET slug = excluded.slug, category = excluded.category, \
         published = excluded.published, newest = excluded.newest, listed = excluded.listed, words = excluded.words, changed = excluded.changed",
    );
    query.build().execute(transaction).await?;
    Ok(())
}
