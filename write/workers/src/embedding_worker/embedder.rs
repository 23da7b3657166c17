//! Computes and records the vectors of one project.

use std::sync::Arc;

use embeddings::Encoder;
use event_log::StoreError;
use media::MediaStore;
use schemas::event::{Event, VectorsRecorded};
use schemas::ids::{Actor, ProjectId, StreamId};
use schemas::picture::PictureId;
use schemas::record::Record;
use schemas::vector::{BUILT_IN, Vector};
use tokio::runtime::Handle;
use write::project::{self, Listing, PictureOutcome, Project};
use write::service::{Observed, PictureService};

use super::document::document;
use super::pending::{Job, Recording, Step};
use super::staging::Staging;

/// Computes vectors on threads for blocking work, and records them.
pub(super) struct Embedder {
    pub(super) pictures: Arc<PictureService>,
    pub(super) encoder: Arc<Encoder>,
    pub(super) actor: Actor,
    /// The runtime on whose threads for blocking work vectors are computed.
    pub(super) threads: Handle,
    /// Vectors that are set aside.
    pub(super) staging: Arc<Staging>,
}

/// What came of a project.
pub(super) struct EmbedOutcome {
    pub(super) observed: Observed,
    /// Whether its vectors were set aside.
    pub(super) is_staged: bool,
    /// The reason if its picture could not be read.
    pub(super) unreadable: Option<String>,
}

/// Why vectors were neither recorded nor set aside.
#[derive(Debug, thiserror::Error)]
pub(super) enum EmbedError {
    /// The event store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is set aside cannot be written or read.
    #[error("vectors cannot be set aside in the data folder: {0}")]
    Staging(#[from] std::io::Error),
}

impl Embedder {
    /// Computes the vectors of a project and records them or sets them aside, or records those that were set aside, unless the
    /// project is changed meanwhile.
    pub(super) async fn embed(&self, job: Job) -> Result<EmbedOutcome, EmbedError> {
        let (id, mut unreadable, mut staged) = (job.project, None, None);
        let mut released = match job.step {
            Step::Release => self.released(id).await?,
            Step::Record | Step::Stage => None,
        };
        let observe = async |project: &Project| match project {
            Project::Listed(listing) => {
                let vectors = match released.take() {
                    Some(vectors) => Some(vectors),
                    None => {
                        let vectors;
                        (vectors, unreadable) = self.vectors(job, listing).await;
                        vectors
                    }
                };
                match (vectors, job.step) {
                    (Some(vectors), Step::Record | Step::Release) => record(project, vectors, job.recording),
                    (vectors, Step::Stage) => {
                        staged = vectors;
                        Vec::new()
                    }
                    (None, _) => Vec::new(),
                }
            }
            Project::Absent | Project::Withdrawn { .. } => Vec::new(),
        };
        let observed = self.pictures.projects().observe(&StreamId::project(id), &self.actor, observe).await?;
        let is_staged = staged.is_some();
        if let Some(vectors) = staged {
            let staging = self.staging.clone();
            self.blocking(move || staging.put(id, job.position, &vectors)).await?;
        }
        Ok(EmbedOutcome { observed, is_staged, unreadable })
    }

    /// Returns the vectors of a project that were set aside.
    async fn released(&self, id: ProjectId) -> std::io::Result<Option<VectorsRecorded>> {
        let staging = self.staging.clone();
        self.blocking(move || staging.get(id)).await
    }

    /// Computes the vectors of a project; `None` if it has neither picture nor text. If the attached picture cannot be read, the
    /// visual side stays as recorded and the reason is returned too.
    async fn vectors(&self, job: Job, listing: &Listing) -> (Option<VectorsRecorded>, Option<String>) {
        let (encoder, record) = (self.encoder.clone(), listing.record.clone());
        let (store, id, picture) = (self.pictures.store().clone(), job.project, first_picture(listing));
        let (visual, semantic) = self
            .blocking(move || {
                let visual = picture.map(|picture| visual(&encoder, &store, id, picture));
                (visual, semantic(&encoder, id, &record))
            })
            .await;
        let model = self.encoder.name().to_owned();
        let (visual, unreadable) = match visual.transpose() {
            Ok(visual) => (visual.flatten(), None),
            Err(reason) => {
                let recorded = listing.vectors.as_ref().and_then(VectorsRecorded::visual);
                let recorded = recorded.filter(|(made_by, _)| *made_by == model);
                (recorded.map(|(_, visual)| visual.clone()), Some(reason))
            }
        };
        let is_supplied = job.recording == Recording::MissingSide;
        let has_vectors = visual.is_some() || semantic.is_some() || is_supplied;
        (has_vectors.then_some(VectorsRecorded { model, visual, semantic, computed: None }), unreadable)
    }

    /// Runs `work` on a thread for blocking work.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        match self.threads.spawn_blocking(work).await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(outcome) => outcome,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            // The threads end with the process, and with it this job.
            Err(Err(_cancelled)) => std::future::pending().await,
        }
    }
}

/// Returns the events that record vectors.
fn record(project: &Project, vectors: VectorsRecorded, recording: Recording) -> Vec<Event> {
    match recording {
        Recording::MissingSide => project::record_missing_side(project, vectors),
        Recording::Always => vec![Event::VectorsRecorded(vectors)],
        Recording::Changed => project::record_vectors(project, vectors),
    }
}

/// Returns the first picture that the record names and that is stored.
fn first_picture(listing: &Listing) -> Option<PictureId> {
    listing.record.picture_sources().find_map(|source| match listing.pictures.get(source)? {
        PictureOutcome::Attached(picture) => Some(picture.id),
        PictureOutcome::Refused(_) | PictureOutcome::Erased(_) => None,
    })
}

/// Returns the visual vector of a picture, or `None` if the encoder fails on it; `Err` if the picture cannot be read.
fn visual(
    encoder: &Encoder,
    store: &MediaStore,
    id: ProjectId,
    picture: PictureId,
) -> Result<Option<Vector>, String> {
    let raster = store.raster(picture).map_err(|error| error.to_string())?;
    let raster = raster.ok_or_else(|| {
        format!(
            "the picture {picture} is not in the media folder; restore it from a backup, or attach it again"
        )
    })?;
    let numbers = encoder.visual(&raster).map_err(|error| error.to_string());
    Ok(numbers.and_then(|numbers| vector(encoder, &numbers)).map(Some).unwrap_or_else(|error| {
        tracing::warn!(%error, project = %id, %picture, "a picture has no visual vector: the encoder failed");
        None
    }))
}

fn semantic(encoder: &Encoder, id: ProjectId, record: &Record) -> Option<Vector> {
    let numbers = encoder.semantic(&document(record))?;
    vector(encoder, &numbers)
        .inspect_err(|error| {
            tracing::warn!(%error, project = %id, "a record has no semantic vector: the encoder failed");
        })
        .ok()
}

fn vector(encoder: &Encoder, numbers: &[f32]) -> Result<Vector, String> {
    let model = encoder.name();
    // Those of the built-in encoder alone stay as they always were recorded.
    let is_built_in = model == BUILT_IN;
    let vector = if is_built_in { Vector::new(numbers.to_vec()) } else { Vector::quantized(numbers) };
    vector.map_err(|fault| format!("the encoder {model} gave numbers that {fault}"))
}
