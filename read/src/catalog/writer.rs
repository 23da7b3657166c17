//! Applies batches of events to the catalog: rows and checkpoint in one transaction.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::ProjectId;
use schemas::picture::PictureId;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, QueryBuilder, Sqlite};

use super::rows::{
    ERASED, ReplacedRow, RevisionRow, erase_replaced, read_project, rendered, write_projects, write_replaced,
    write_revisions, write_slugs,
};
use super::{FILE, NAME, corrupt, options};
use crate::checkpoint::Checkpoint;
use crate::database;
use crate::error::ModelError;
use crate::project::Project;

/// Rows in one statement; SQLite takes 32,766 parameters.
const ROWS: usize = 1_000;

/// Writes one generation of the catalog. There is one writer at a time.
#[derive(Debug)]
pub struct CatalogWriter {
    file: PathBuf,
    connection: SqliteConnection,
    /// Whether commits are neither atomic nor durable at present.
    unprotected: bool,
    checkpoint: Checkpoint,
    staged: Staged,
}

/// What the events since the last commit have made of the projects they speak of.
#[derive(Debug, Default)]
struct Staged {
    projects: HashMap<ProjectId, Project>,
    revisions: Vec<RevisionRow>,
    replaced: Vec<ReplacedRow>,
    erased: Vec<(ProjectId, PictureId)>,
    slugs: Vec<(String, ProjectId)>,
}

impl CatalogWriter {
    /// Opens the catalog in a generation's folder, and makes it where there is none.
    pub async fn open(folder: &Path) -> Result<CatalogWriter, ModelError> {
        let mut connection = options(folder)
            .create_if_missing(true)
            // 16 MB: random slugs touch many pages.
            .pragma("cache_size", "-16384")
            .pragma("wal_autocheckpoint", "8192")
            .connect()
            .await?;
        database::make(&mut connection, include_str!("sql/schema.sql")).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        let file = folder.join(FILE);
        Ok(CatalogWriter { file, connection, unprotected: false, checkpoint, staged: Staged::default() })
    }

    /// Leaves journal and syncs out until [`CatalogWriter::settle`], for a catalog that nobody reads yet: every page is
    /// written once instead of twice. What a crash or a failure leaves before that has to be thrown away.
    pub async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        self.unprotected = true;
        database::unprotect(&mut self.connection).await?;
        Ok(())
    }

    /// Makes the catalog durable, and its commits from now on.
    pub async fn settle(&mut self) -> Result<(), ModelError> {
        if self.unprotected {
            database::protect(&mut self.connection, &self.file).await?;
            self.unprotected = false;
        }
        Ok(())
    }

    /// How far the catalog has come, as of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Fetches what the catalog knows of the projects that a batch is about to change.
    pub async fn load(&mut self, projects: impl Iterator<Item = ProjectId>) -> Result<(), ModelError> {
        let mut wanted: Vec<ProjectId> = projects.filter(|p| !self.staged.projects.contains_key(p)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for chunk in wanted.chunks(ROWS) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT p.project, p.ordinal, p.slug, p.revision, p.updated_at, p.withdrawn, p.pictures, r.record, \
                 r.slug AS recorded_slug, f.time AS added_at FROM projects p JOIN revisions r USING (project, revision) \
                 JOIN revisions f ON f.project = p.project AND f.revision = 1 WHERE p.project IN (",
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
        if let Event::PictureErased(erased) = event {
            self.staged.erased.push((id, erased.picture));
        }
        self.staged.projects.insert(id, project);
        Ok(())
    }

    /// Makes everything staged visible together with the checkpoint.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        let staged = std::mem::take(&mut self.staged);
        let mut transaction = self.connection.begin().await?;
        let projects: Vec<(&ProjectId, &Project)> = staged.projects.iter().collect();
        let mut chunks = projects.chunks(ROWS).map(rendered);
        let mut rows = chunks.next().transpose()?;
        while let Some(ready) = rows {
            // SQLite has a thread of its own; meanwhile the next rows are made.
            let next = async { chunks.next().transpose() };
            let (written, next) = tokio::join!(write_projects(&mut transaction, ready), next);
            written?;
            rows = next?;
        }
        for chunk in staged.revisions.chunks(ROWS) {
            write_revisions(&mut transaction, chunk).await?;
        }
        for chunk in staged.replaced.chunks(ROWS) {
            write_replaced(&mut transaction, chunk).await?;
        }
        for (project, picture) in staged.erased {
            erase_replaced(&mut transaction, project, picture).await?;
        }
        for chunk in staged.slugs.chunks(ROWS) {
            write_slugs(&mut transaction, chunk).await?;
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
    pub async fn close(self) -> Result<(), ModelError> {
        Ok(self.connection.close().await?)
    }
}

/// The pictures that no longer show after an event: the one that gives way to an attached one, or all that were erased.
fn replaced(
    before: Option<&Project>,
    recorded: &Recorded,
    id: ProjectId,
    event: &Event,
) -> Result<Vec<ReplacedRow>, serde_json::Error> {
    let row = |source: &str, picture| ReplacedRow {
        project: id,
        source: source.to_owned(),
        until: recorded.position,
        command: recorded.causation,
        picture,
    };
    let shown = before.map(|project| &project.pictures).into_iter().flatten();
    match event {
        Event::PictureAttached(attached) => shown
            .filter(|(source, former)| **source == attached.source && **former != attached.picture)
            .map(|(source, former)| Ok(row(source, serde_json::to_string(former)?)))
            .collect(),
        Event::PictureErased(erased) => Ok(shown
            .filter(|(_, picture)| picture.id == erased.picture)
            .map(|(source, _)| row(source, ERASED.to_owned()))
            .collect()),
        _ => Ok(Vec::new()),
    }
}
