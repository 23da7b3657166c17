//! Applies batches of events to the catalog: rows and checkpoint in one transaction.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use schemas::api::project::Project as Answer;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::ProjectId;
use schemas::picture::PictureId;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, QueryBuilder, Sqlite};

use super::change_kind::ChangeKind;
use super::rows::{
    ChangeRow, ERASED, ReplacedRow, RevisionRow, erase_replaced, read_project, rendered, write_changes,
    write_projects, write_replaced, write_revisions, write_slugs,
};
use super::{FILE, NAME, SCHEMA, corrupt, options};
use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;
use model::project::Project;

/// The number of rows in one statement; SQLite accepts 32,766 parameters.
const ROWS: usize = 1_000;

/// Writes one generation of the catalog. There must be only one writer at a time.
#[derive(Debug)]
pub struct CatalogWriter {
    file: PathBuf,
    connection: SqliteConnection,
    /// Whether commits are neither atomic nor durable, during a replay.
    journal_disabled: bool,
    checkpoint: Checkpoint,
    pending: PendingChanges,
}

/// The rows of the events since the last commit.
#[derive(Debug, Default)]
struct PendingChanges {
    projects: HashMap<ProjectId, Project>,
    revisions: Vec<RevisionRow>,
    replaced: Vec<ReplacedRow>,
    erased: Vec<(ProjectId, PictureId)>,
    slugs: Vec<(String, ProjectId)>,
    changes: Vec<ChangeRow>,
}

impl CatalogWriter {
    /// Opens the catalog in a generation's folder, and creates it if there is none.
    pub async fn open(folder: &Path) -> Result<CatalogWriter, ModelError> {
        let mut connection = options(folder)
            .create_if_missing(true)
            // 16 MB: rows of random slugs are on many pages.
            .pragma("cache_size", "-16384")
            .pragma("wal_autocheckpoint", "8192")
            .connect()
            .await?;
        database::create_schema(&mut connection, NAME, SCHEMA).await?;
        let checkpoint = database::checkpoint(&mut connection, NAME).await?;
        let file = folder.join(FILE);
        Ok(CatalogWriter {
            file,
            connection,
            journal_disabled: false,
            checkpoint,
            pending: PendingChanges::default(),
        })
    }

    /// Disables the journal and syncs until [`CatalogWriter::finish_replay`], for a catalog without readers: every page is written once
    /// instead of twice. After a crash or a failure before that, the catalog must be discarded.
    pub async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        self.journal_disabled = true;
        database::disable_journal(&mut self.connection).await?;
        Ok(())
    }

    /// Makes the catalog and its future commits durable.
    pub async fn finish_replay(&mut self) -> Result<(), ModelError> {
        if self.journal_disabled {
            database::restore_durability(&mut self.connection, &self.file).await?;
            self.journal_disabled = false;
        }
        Ok(())
    }

    /// Returns the checkpoint of the last commit.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Loads the projects that the events of a batch concern, as far as they are known.
    pub async fn load(&mut self, projects: impl Iterator<Item = ProjectId>) -> Result<(), ModelError> {
        let mut unknown: Vec<ProjectId> =
            projects.filter(|p| !self.pending.projects.contains_key(p)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        for chunk in unknown.chunks(ROWS) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT p.project, p.ordinal, p.slug, p.revision, p.updated_at, p.withdrawn, p.pictures, p.awaited, r.record, \
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
                self.pending.projects.insert(id, project);
            }
        }
        Ok(())
    }

    /// Applies an event to its project. [`CatalogWriter::load`] must have loaded the project.
    ///
    /// # Errors
    ///
    /// Returns the reason to park the event, which changes nothing then.
    pub fn apply(&mut self, recorded: &Recorded, id: ProjectId, event: &Event) -> Result<(), String> {
        let before = self.pending.projects.get(&id);
        let replaced = replaced(before, recorded, id, event).map_err(|error| error.to_string())?;
        let (revision_before, slug_before) = (before.map(|p| p.revision), before.map(|p| p.slug.clone()));
        let project = Project::evolve(before.cloned(), event, recorded).map_err(|error| error.to_string())?;
        let pictured = before
            .filter(|before| before.pictures != project.pictures)
            .map(|before| pictured(before, &project));
        if revision_before != Some(project.revision) {
            let record = serde_json::to_string(&project.record).map_err(|error| error.to_string())?;
            self.pending.revisions.push(RevisionRow {
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
        if let Some(kind) = change_kind(event, pictured.is_some()) {
            let [first, second, third, fourth, fifth, sixth, seventh, eighth, ..] = recorded.hash.0;
            self.pending.changes.push(ChangeRow {
                position: recorded.position,
                project: id,
                ordinal: project.ordinal,
                mark: i64::from_be_bytes([first, second, third, fourth, fifth, sixth, seventh, eighth]),
                kind: kind.as_str(),
                slug: project.slug.to_string(),
                former: slug_before.as_ref().filter(|_| kind == ChangeKind::Renamed).map(ToString::to_string),
                time: recorded.time,
                revision: project.revision,
                pictured,
            });
        }
        if slug_before.as_ref() != Some(&project.slug) {
            self.pending.slugs.push((project.slug.to_string(), id));
        }
        self.pending.replaced.extend(replaced);
        if let Event::PictureErased(erased) = event {
            self.pending.erased.push((id, erased.picture));
        }
        self.pending.projects.insert(id, project);
        Ok(())
    }

    /// Commits the applied events together with the checkpoint.
    pub async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        let pending = std::mem::take(&mut self.pending);
        let mut transaction = self.connection.begin().await?;
        let projects: Vec<(&ProjectId, &Project)> = pending.projects.iter().collect();
        let mut chunks = projects.chunks(ROWS).map(rendered);
        let mut rows = chunks.next().transpose()?;
        while let Some(ready) = rows {
            // SQLite writes on its own thread; meanwhile the next rows are rendered.
            let next = async { chunks.next().transpose() };
            let (written, next) = tokio::join!(write_projects(&mut transaction, ready), next);
            written?;
            rows = next?;
        }
        for chunk in pending.revisions.chunks(ROWS) {
            write_revisions(&mut transaction, chunk).await?;
        }
        for chunk in pending.replaced.chunks(ROWS) {
            write_replaced(&mut transaction, chunk).await?;
        }
        for (project, picture) in pending.erased {
            erase_replaced(&mut transaction, project, picture).await?;
        }
        for chunk in pending.changes.chunks(ROWS) {
            write_changes(&mut transaction, chunk).await?;
        }
        for chunk in pending.slugs.chunks(ROWS) {
            write_slugs(&mut transaction, chunk).await?;
        }
        let state = serde_json::to_string(&checkpoint).map_err(corrupt)?;
        database::set_state(&mut transaction, state).await?;
        transaction.commit().await?;
        self.checkpoint = checkpoint;
        Ok(())
    }

    /// Discards the events since the last commit, after a failed commit.
    pub fn discard(&mut self) {
        self.pending = PendingChanges::default();
    }

    /// Closes the database cleanly.
    pub async fn close(self) -> Result<(), ModelError> {
        Ok(self.connection.close().await?)
    }
}

/// Returns the kind of the change that readers see after an event, if they see one. `has_new_pictures` is whether it changed the
/// stored pictures.
fn change_kind(event: &Event, has_new_pictures: bool) -> Option<ChangeKind> {
    match event {
        Event::ProjectSelected(_) => Some(ChangeKind::Selected),
        Event::ProjectRevised(_) => Some(ChangeKind::Revised),
        Event::PictureAttached(_) | Event::PictureErased(_) => {
            has_new_pictures.then_some(ChangeKind::Revised)
        }
        Event::ProjectRenamed(_) => Some(ChangeKind::Renamed),
        Event::ProjectWithdrawn(_) => Some(ChangeKind::Withdrawn),
        Event::ProjectRestored(_) => Some(ChangeKind::Restored),
        Event::ProjectIdentified(_)
        | Event::PictureRefused(_)
        | Event::VectorsRecorded(_)
        | Event::Account(_) => None,
    }
}

/// Returns the members that readers see changed after an event that changed the stored pictures, separated by commas.
fn pictured(before: &Project, now: &Project) -> String {
    let [before, now] = [before, now].map(|project| Answer::of(&project.edition(), project.updated_at));
    let members = [
        ("thumbnail", before.summary.thumbnail != now.summary.thumbnail),
        ("images", before.images != now.images),
    ];
    let changed: Vec<&str> =
        members.into_iter().filter(|(_, differs)| *differs).map(|(member, _)| member).collect();
    changed.join(",")
}

/// Returns the pictures that the project no longer shows after an event: the one that an attached picture replaces, or all that were
/// erased.
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
