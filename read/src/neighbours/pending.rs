//! Applied events that the next commit writes.

use std::collections::{HashMap, HashSet};

use schemas::event::{Event, VectorsRecorded};
use schemas::ids::{Position, ProjectId};
use schemas::vector::{Vector, is_own_encoder};
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};

use super::corrupt;
use super::memory::read_ordinal;
use super::rows::{Encoded, Form, Forms, Numbers, Vectors, load_models};
use model::error::ModelError;
use model::project::UnexpectedEvent;

/// The number of rows in one statement; SQLite accepts 32,766 parameters.
const ROWS: usize = 1_000;

/// The number of rows with vectors in one statement: at most tens of megabytes.
const WIDE_ROWS: usize = 500;

/// The names of the sides in errors.
const VISUAL: &str = "visual";
const SEMANTIC: &str = "semantic";

/// The reason why an event cannot be applied. The write side never appends such an event; a log that contains one is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The event cannot follow the previous events of its project.
    #[error(transparent)]
    UnexpectedEvent(#[from] UnexpectedEvent),
    /// The vectors of one model have different dimensions.
    #[error(
        "its {side} vector has {found} dimensions, but those of the model {model} have {known} since the first one; \
         record vectors of other dimensions under another model's name"
    )]
    Dimensions {
        /// Visual or semantic.
        side: &'static str,
        /// The model that computed it.
        model: String,
        /// The number of dimensions of the model's first vector on that side.
        known: usize,
        /// The number of dimensions of this vector.
        found: usize,
    },
    /// The event has no vector.
    #[error("it records no vector at all")]
    NoVector,
    /// The position does not fit into the 32 bits that lists have for it.
    #[error("it is beyond position {}, which neighbours cannot store", u32::MAX)]
    TooFar,
}

/// The changes that the next commit writes.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    /// `None` for a project that was never selected.
    projects: HashMap<ProjectId, Option<Project>>,
    models: HashMap<String, Forms>,
    new_models: HashSet<String>,
}

#[derive(Debug)]
struct Project {
    ordinal: u32,
    listed: bool,
    sides: u8,
    /// What made its visual and its semantic vector.
    models: [Option<String>; 2],
    /// Those that the commit writes.
    vectors: Option<Vectors>,
    /// Whether the commit writes it.
    changed: bool,
    /// Whether it enters lists, leaves them or moves in them.
    moved: bool,
    /// Whether vectors of another encoder of this service replace those of one.
    reencoded: bool,
}

impl PendingChanges {
    /// Returns no changes, with the forms of every known model.
    pub(super) async fn load(connection: &mut SqliteConnection) -> Result<PendingChanges, ModelError> {
        Ok(PendingChanges { models: load_models(connection).await?, ..PendingChanges::default() })
    }

    /// Loads the projects that the events of a batch concern, as far as they are known.
    pub(super) async fn fetch(
        &mut self,
        connection: &mut SqliteConnection,
        batch: impl Iterator<Item = ProjectId>,
    ) -> Result<(), ModelError> {
        let unknown: HashSet<ProjectId> = batch.filter(|id| !self.projects.contains_key(id)).collect();
        let unknown: Vec<ProjectId> = unknown.into_iter().collect();
        for chunk in unknown.chunks(ROWS) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT ordinal, project, listed, sides, visual_model, semantic_model FROM projects \
                 WHERE project IN (",
            );
            let mut list = query.separated(", ");
            for id in chunk {
                list.push_bind(id.to_string());
                self.projects.insert(*id, None);
            }
            query.push(")");
            for row in query.build().fetch_all(&mut *connection).await? {
                let project = Project {
                    ordinal: read_ordinal(&row)?,
                    listed: row.try_get("listed")?,
                    sides: row.try_get("sides")?,
                    models: [row.try_get("visual_model")?, row.try_get("semantic_model")?],
                    vectors: None,
                    changed: false,
                    moved: false,
                    reencoded: false,
                };
                let id = row.try_get::<&str, _>("project")?.parse().map_err(corrupt)?;
                self.projects.insert(id, Some(project));
            }
        }
        Ok(())
    }

    /// Applies an event to a project that was fetched. An error is the reason to park the event, which changes nothing then.
    pub(super) fn apply(
        &mut self,
        id: ProjectId,
        event: &Event,
        position: Position,
    ) -> Result<(), ApplyError> {
        let known = self.projects.entry(id).or_default();
        match (known, event) {
            (_, Event::Account(_)) => Err(UnexpectedEvent::OfAnAccount.into()),
            (Some(_), Event::ProjectSelected(_)) => Err(UnexpectedEvent::SelectedTwice.into()),
            (known @ None, Event::ProjectSelected(_)) => {
                let ordinal = u32::try_from(position.0).map_err(|_| ApplyError::TooFar)?;
                *known = Some(Project::new(ordinal));
                Ok(())
            }
            (None, _) => Err(UnexpectedEvent::NotSelected.into()),
            (Some(project), Event::ProjectWithdrawn(_)) => {
                project.set_listed(false);
                Ok(())
            }
            (Some(project), Event::ProjectRestored(_)) => {
                project.set_listed(true);
                Ok(())
            }
            (Some(project), Event::VectorsRecorded(recorded)) => {
                for (model, forms) in checked(&self.models, recorded)? {
                    if self.models.insert(model.clone(), forms) != Some(forms) {
                        self.new_models.insert(model);
                    }
                }
                project.set_vectors(vectors(&self.models, recorded));
                Ok(())
            }
            (
                Some(_),
                Event::ProjectRevised(_)
                | Event::ProjectRenamed(_)
                | Event::ProjectIdentified(_)
                | Event::PictureAttached(_)
                | Event::PictureRefused(_)
                | Event::PictureErased(_),
            ) => Ok(()),
        }
    }

    /// Returns the number of projects that enter lists, leave them or move in them.
    pub(super) fn moved(&self) -> usize {
        self.projects.values().flatten().filter(|project| project.moved).count()
    }

    /// Returns whether another encoder of this service has computed vectors again. It does so for all projects.
    pub(super) fn has_reencoded(&self) -> bool {
        self.projects.values().flatten().any(|project| project.reencoded)
    }

    pub(super) async fn write(
        &mut self,
        transaction: &mut SqliteConnection,
        changed: i64,
    ) -> Result<(), ModelError> {
        let projects = std::mem::take(&mut self.projects);
        let projects = projects.into_iter().filter_map(|(id, project)| Some((id, project?)));
        let projects: Vec<(ProjectId, Project)> = projects.filter(|(_, project)| project.changed).collect();
        for chunk in projects.chunks(ROWS) {
            write_projects(transaction, chunk, changed).await?;
        }
        let vectors = projects.iter().filter_map(|(_, p)| Some((p.ordinal, p.vectors.as_ref()?)));
        let vectors: Vec<(u32, &Vectors)> = vectors.collect();
        for chunk in vectors.chunks(WIDE_ROWS) {
            write_vectors(transaction, chunk).await?;
        }
        for model in std::mem::take(&mut self.new_models) {
            let Forms { visual, semantic } = self.models.get(&model).copied().unwrap_or_default();
            let sql = "INSERT OR REPLACE INTO models \
                       (model, visual, visual_is_quantized, semantic, semantic_is_quantized) \
                       VALUES (?, ?, ?, ?, ?)";
            sqlx::query(sql)
                .bind(model)
                .bind(visual.dimensions.cast_signed() as i64)
                .bind(visual.is_quantized)
                .bind(semantic.dimensions.cast_signed() as i64)
                .bind(semantic.is_quantized)
                .execute(&mut *transaction)
                .await?;
        }
        Ok(())
    }
}

impl Project {
    /// Returns a project that was selected at this position, without vectors.
    fn new(ordinal: u32) -> Project {
        let (models, vectors) = ([None, None], None);
        let (changed, moved, reencoded) = (true, false, false);
        Project { ordinal, listed: true, sides: 0, models, vectors, changed, moved, reencoded }
    }

    fn set_listed(&mut self, listed: bool) {
        self.changed = true;
        self.moved |= self.listed != listed && self.sides > 0;
        self.listed = listed;
    }

    fn set_vectors(&mut self, vectors: Vectors) {
        self.sides = vectors.sides();
        let models =
            [&vectors.visual, &vectors.semantic].map(|side| side.as_ref().map(|side| side.model.clone()));
        self.reencoded |= self.models.iter().zip(&models).any(is_reencoded);
        self.models = models;
        self.vectors = Some(vectors);
        self.changed = true;
        self.moved |= self.listed;
    }
}

/// Returns whether the second model replaces the first one on a side, and both are encoders of this service.
fn is_reencoded(models: (&Option<String>, &Option<String>)) -> bool {
    let (Some(former), Some(model)) = models else { return false };
    former != model && is_own_encoder(former) && is_own_encoder(model)
}

/// Returns the forms of the models of these vectors, including them. Each keeps the form of its first vector.
fn checked(
    models: &HashMap<String, Forms>,
    recorded: &VectorsRecorded,
) -> Result<HashMap<String, Forms>, ApplyError> {
    let mut checked: HashMap<String, Forms> = HashMap::new();
    for (side, vector) in [(VISUAL, recorded.visual()), (SEMANTIC, recorded.semantic())] {
        let Some((model, vector)) = vector else { continue };
        let stored = || models.get(model).copied().unwrap_or_default();
        let forms = checked.entry(model.to_owned()).or_insert_with(stored);
        let form = if side == VISUAL { &mut forms.visual } else { &mut forms.semantic };
        let (known, found) = (form.dimensions, vector.dimensions());
        if known == 0 {
            *form = Form::of(vector);
        } else if known != found {
            return Err(ApplyError::Dimensions { side, model: model.to_owned(), known, found });
        }
    }
    if checked.is_empty() { Err(ApplyError::NoVector) } else { Ok(checked) }
}

/// Returns recorded vectors in the forms of their models.
fn vectors(models: &HashMap<String, Forms>, recorded: &VectorsRecorded) -> Vectors {
    let encoded = |(model, vector): (&str, &Vector), form: fn(Forms) -> Form| {
        let form = form(models.get(model).copied().unwrap_or_default());
        Encoded { model: model.to_owned(), numbers: Numbers::of(vector, form) }
    };
    Vectors {
        visual: recorded.visual().map(|side| encoded(side, |forms| forms.visual)),
        semantic: recorded.semantic().map(|side| encoded(side, |forms| forms.semantic)),
    }
}

async fn write_projects(
    transaction: &mut SqliteConnection,
    projects: &[(ProjectId, Project)],
    changed: i64,
) -> Result<(), ModelError> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO projects (ordinal, project, listed, sides, dirty, complete, changed, visual_model, \
         semantic_model, list) ",
    );
    query.push_values(projects, |mut row, (id, project)| {
        row.push_bind(project.ordinal)
            .push_bind(id.to_string())
            .push_bind(project.listed)
            .push_bind(project.sides)
            .push_bind(project.moved)
            .push_bind(false)
            .push_bind(changed)
            .push_bind(project.models[0].as_deref())
            .push_bind(project.models[1].as_deref())
            .push("x''");
    });
    query.push(
        " ON CONFLICT (ordinal) DO UPDATE SET listed = excluded.listed, sides = excluded.sides, \
         dirty = max(dirty, excluded.dirty), changed = excluded.changed, \
         visual_model = excluded.visual_model, semantic_model = excluded.semantic_model",
    );
    query.build().execute(transaction).await?;
    Ok(())
}

async fn write_vectors(
    transaction: &mut SqliteConnection,
    projects: &[(u32, &Vectors)],
) -> Result<(), ModelError> {
    let mut query =
        QueryBuilder::<Sqlite>::new("INSERT OR REPLACE INTO vectors (ordinal, visual, semantic) ");
    query.push_values(projects, |mut row, (ordinal, vectors)| {
        row.push_bind(*ordinal);
        for side in [&vectors.visual, &vectors.semantic] {
            row.push_bind(side.as_ref().map(|side| side.numbers.to_stored()));
        }
    });
    query.build().execute(transaction).await?;
    Ok(())
}
