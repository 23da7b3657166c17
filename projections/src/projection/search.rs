//! The projection of the search index.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use read::checkpoint::Checkpoint;
use read::day;
use read::error::ModelError;
use read::model::Model;
use read::project::Project;
use read::search::{SearchDocument, SearchReader, SearchWriter};
use schemas::api::site;
use schemas::api::summary::ListedSummary;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Position, ProjectId};
use schemas::record::Record;
use schemas::taste::Taste;

use crate::projection::{PoisonEvent, ProjectEvent, Projection};

/// Writes the search index.
pub struct SearchProjection {
    writer: SearchWriter,
    checkpoint: Checkpoint,
    /// The projects that events have changed since the last commit.
    staged: HashMap<ProjectId, Staged>,
    /// The projects of an index that was empty when it was opened: any other project need not be looked up. `None` for an
    /// index that was not empty.
    since_empty: Option<HashSet<ProjectId>>,
}

/// A changed project that is not committed yet.
struct Staged {
    project: Project,
    /// Whether an earlier commit has indexed it.
    indexed: bool,
}

impl Projection for SearchProjection {
    type Model = SearchReader;

    type Event = ProjectEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        ProjectEvent::if_visible_to_readers(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ModelError> {
        let writer = SearchWriter::open_or_create(folder)?;
        let checkpoint = read::search::checkpoint(writer.payload())?;
        let since_empty = (checkpoint.position == Position::START).then(HashSet::new);
        Ok(SearchProjection { writer, checkpoint, staged: HashMap::new(), since_empty })
    }

    fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        let mut poison = Vec::new();
        for ProjectEvent { recorded, project: id, event } in batch {
            let (before, indexed) = match self.staged.get(&id) {
                Some(staged) => (Some(staged.project.clone()), staged.indexed),
                None => {
                    let committed = self.committed(id)?;
                    let indexed = committed.is_some();
                    (committed, indexed)
                }
            };
            match Project::evolve(before, &event, &recorded) {
                Ok(project) => {
                    self.staged.insert(id, Staged { project: without_unsearched(project), indexed });
                }
                Err(error) => poison.push(PoisonEvent::new(&recorded, error)),
            }
        }
        Ok(poison)
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        for (id, staged) in std::mem::take(&mut self.staged) {
            self.write(id, &staged)?;
            if let Some(indexed) = &mut self.since_empty {
                indexed.insert(id);
            }
        }
        let payload = serde_json::to_string(&checkpoint).map_err(unreadable)?;
        self.writer.commit(&payload)?;
        self.checkpoint = checkpoint;
        Ok(())
    }

    async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        self.writer.pause_merging();
        Ok(())
    }

    async fn optimize(&mut self) -> Result<(), ModelError> {
        // It saves lookups during a replay; afterwards it would keep the ids of all projects in memory.
        self.since_empty = None;
        Ok(self.writer.compact().await?)
    }
}

impl SearchProjection {
    /// Returns a project as of the last commit.
    fn committed(&mut self, id: ProjectId) -> Result<Option<Project>, ModelError> {
        if self.since_empty.as_ref().is_some_and(|indexed| !indexed.contains(&id)) {
            return Ok(None);
        }
        match self.writer.state(&id.to_string())? {
            None => Ok(None),
            Some(state) => serde_json::from_slice(&state).map(Some).map_err(unreadable),
        }
    }

    fn write(&mut self, id: ProjectId, staged: &Staged) -> Result<(), ModelError> {
        let project = &staged.project;
        let record = &project.record;
        let mut summary = site::render(&ListedSummary::of(&project.edition())).map_err(unreadable)?;
        // The answer appends the score after the last member.
        summary.pop();
        let (project_id, state) = (id.to_string(), serde_json::to_vec(project).map_err(unreadable)?);
        let document = SearchDocument {
            project: &project_id,
            ordinal: project.ordinal.0,
            slug: project.slug.as_str(),
            name: &record.name,
            studio: record.studio.as_deref(),
            city: record.city.as_deref(),
            category: record.category.as_str(),
            intro: record.intro.as_deref(),
            published: record.published.map(day::since_1970),
            summary: &summary,
            state: &state,
            listed: project.withdrawn.is_none(),
        };
        if staged.indexed {
            self.writer.upsert(&document)?
        } else {
            self.writer.insert(&document)?
        }
        Ok(())
    }
}

/// Returns the project without members that no search result shows, so that the index stays small.
fn without_unsearched(mut project: Project) -> Project {
    project.record = Record {
        description: None,
        design_language: None,
        details: Vec::new(),
        taste: Taste::default(),
        ..project.record
    };
    project
}

fn unreadable(error: serde_json::Error) -> ModelError {
    ModelError::Corrupt { model: SearchReader::NAME, reason: error.to_string() }
}
