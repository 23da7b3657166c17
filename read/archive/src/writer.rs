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

use super::facts::{Facts, Pictures};
use super::recorded::Recorded;
use super::stemming::stored_words;
use super::{NAME, SCHEMA, corrupt, options};
use model::checkpoint::Checkpoint;
use model::database;
use model::day;
use model::error::ModelError;
use model::project::UnexpectedEvent;

/// The number of rows in one statement; SQLite accepts 32,766 parameters.
const ROWS: usize = 1_000;

/// Writes one generation of the archive. There must be only one writer at a time.
#[derive(Debug)]
pub struct ArchiveWriter {
    connection: SqliteConnection,
    checkpoint: Checkpoint,
    /// The projects of the events since the last commit; `None` for a project that was never selected.
    pending: HashMap<ProjectId, Option<Project>>,
    /// The number of commits so far.
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
    facts: Facts,
    /// Whether the next commit writes it.
    changed: bool,
}

impl ArchiveWriter {
    /// Opens the archive in a generation's folder, and creates it if there is none.
    pub async fn open(folder: &Path) -> Result<ArchiveWriter, ModelError> {
        let mut connection = options(folder).create_if_missing(true).connect().await?;
        database::create_schema(&mut connection, NAME, SCHEMA).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        let sql = "SELECT coalesce(max(changed), 0) FROM projects";
        let changed = sqlx::query_scalar(sql).fetch_one(&mut connection).await?;
        Ok(ArchiveWriter { connection, checkpoint, pending: HashMap::new(), changed })
    }

    /// Returns the checkpoint of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Loads the projects that the events of a batch concern, as far as they are known.
    pub async fn load(&mut self, batch: impl Iterator<Item = ProjectId>) -> Result<(), ModelError> {
        let unknown: HashSet<ProjectId> = batch.filter(|id| !self.pending.contains_key(id)).collect();
        let unknown: Vec<ProjectId> = unknown.into_iter().collect();
        for chunk in unknown.chunks(ROWS) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT ordinal, project, slug, category, published, added, newest, listed, words, name, city, studio, curator, \
                 year, selected, pictures, recorded FROM projects WHERE project IN (",
            );
            let mut list = query.separated(", ");
            for id in chunk {
                list.push_bind(id.to_string());
                self.pending.insert(*id, None);
            }
            query.push(")");
            for row in query.build().fetch_all(&mut self.connection).await? {
                let id = row.try_get::<&str, _>("project")?.parse().map_err(corrupt)?;
                self.pending.insert(id, Some(read_project(&row)?));
            }
        }
        Ok(())
    }

    /// Applies an event, which was recorded at this position and time, to its project. [`ArchiveWriter::load`] must have loaded the
    /// project.
    ///
    /// # Errors
    ///
    /// Returns the reason to park the event, which changes nothing then.
    pub fn apply(
        &mut self,
        id: ProjectId,
        event: &Event,
        position: Position,
        time: Timestamp,
    ) -> Result<(), UnexpectedEvent> {
        let known = self.pending.entry(id).or_default();
        match (known, event) {
            (_, Event::Account(_)) => Err(UnexpectedEvent::OfAnAccount),
            (Some(_), Event::ProjectSelected(_)) => Err(UnexpectedEvent::SelectedTwice),
            (known @ None, Event::ProjectSelected(selected)) => {
                let added = day::since_1970(TimeZone::UTC.to_datetime(time).date());
                *known = Some(Project::new(position, selected.slug.to_string(), added, &selected.record));
                Ok(())
            }
            (None, _) => Err(UnexpectedEvent::NotSelected),
            (Some(project), event) => {
                project.apply(event);
                Ok(())
            }
        }
    }

    /// Commits the applied events together with the checkpoint.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        let pending = std::mem::take(&mut self.pending).into_iter();
        let changed =
            pending.filter_map(|(id, project)| Some((id, project.filter(|project| project.changed)?)));
        let mut projects: Vec<(ProjectId, Project)> = changed.collect();
        // In the order of the primary key, new rows are appended.
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
            facts: Facts::default(),
            changed: true,
        };
        project.set_record(record);
        project
    }

    fn set_record(&mut self, record: &Record) {
        self.category = record.category.as_str().to_owned();
        self.published = record.published.map(day::since_1970);
        self.words = stored_words(&record.taste);
        self.facts.set_record(record);
        self.newest = self.published.or(self.facts.selected).unwrap_or(self.added);
    }

    /// Applies an event after the selection. Events that do not concern the archive change nothing.
    fn apply(&mut self, event: &Event) {
        match event {
            Event::ProjectRevised(revised) => self.set_record(&revised.record),
            Event::ProjectRenamed(renamed) => self.slug = renamed.slug.to_string(),
            Event::ProjectWithdrawn(_) => self.listed = false,
            Event::ProjectRestored(_) => self.listed = true,
            Event::PictureAttached(_) | Event::PictureErased(_) => self.facts.pictures.apply(event),
            Event::ProjectSelected(_)
            | Event::ProjectIdentified(_)
            | Event::PictureRefused(_)
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
        facts: Facts {
            name: row.try_get("name")?,
            city: row.try_get("city")?,
            studio: row.try_get("studio")?,
            curator: row.try_get("curator")?,
            year: row.try_get("year")?,
            selected: row.try_get("selected")?,
            pictures: Pictures::of_json(row.try_get("pictures")?).map_err(corrupt)?,
            in_record: Recorded::of_bits(row.try_get("recorded")?),
        },
        changed: false,
    })
}

async fn write_projects(
    transaction: &mut SqliteConnection,
    projects: &[(ProjectId, Project)],
    changed: i64,
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO projects (ordinal, project, slug, category, published, added, newest, listed, words, name, city, studio, \
         curator, year, selected, has_picture, palette, pictures, recorded, changed) ",
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
            .push_bind(&project.facts.name)
            .push_bind(&project.facts.city)
            .push_bind(&project.facts.studio)
            .push_bind(&project.facts.curator)
            .push_bind(project.facts.year)
            .push_bind(project.facts.selected)
            .push_bind(project.facts.pictures.has_picture())
            .push_bind(project.facts.pictures.palette())
            .push_bind(project.facts.pictures.to_json())
            .push_bind(project.facts.recorded().bits())
            .push_bind(changed);
    });
    query.push(
        " ON CONFLICT (ordinal) DO UPDATE SET slug = excluded.slug, category = excluded.category, \
         published = excluded.published, newest = excluded.newest, listed = excluded.listed, words = excluded.words, \
         name = excluded.name, city = excluded.city, studio = excluded.studio, curator = excluded.curator, year = excluded.year, \
         selected = excluded.selected, has_picture = excluded.has_picture, palette = excluded.palette, pictures = excluded.pictures, \
         recorded = excluded.recorded, changed = excluded.changed",
    );
    query.build().execute(transaction).await?;
    Ok(())
}
