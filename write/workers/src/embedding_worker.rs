//! Computes and records the vectors of projects: visual from the first stored picture, semantic from the texts. A side that a
//! record supplies itself is not computed.

mod document;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use embeddings::Encoder;
use event_log::StoreError;
use event_log::log_cursor::LogCursor;
use futures::StreamExt;
use media::MediaStore;
use schemas::envelope::Recorded;
use schemas::event::{Event, VectorsRecorded};
use schemas::ids::{Actor, ProjectId, StreamId};
use schemas::picture::PictureId;
use schemas::record::Record;
use schemas::vector::Vector;
use schemas::versioned::Decoded;
use serde::Deserialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use write::project::{self, COMPUTED_BY, Listing, PictureOutcome, Project, is_built_in};
use write::service::{Observed, PictureService};

use crate::StartError;
use document::document;

/// Projects computed concurrently: their events share commits of the event store.
const MAX_CONCURRENT: usize = 32;

/// Projects computed between two reads of the log.
const BATCH: usize = 256;

/// The pause after the event store failed.
const STORE_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The pause before an unreadable picture is read again.
const UNREADABLE_PAUSE: Duration = Duration::from_secs(10);

/// The worker that records computed vectors and recomputes them when a record or its picture changes.
pub struct EmbeddingWorker {
    pictures: Arc<PictureService>,
    encoder: Arc<Encoder>,
    actor: Actor,
    pending: PendingProjects,
    /// Projects whose picture could not be read, with the time of the next try.
    unreadable: HashMap<ProjectId, Instant>,
    unreadable_pause: Duration,
}

impl EmbeddingWorker {
    /// Creates a worker that reads pictures from the media store of this service and records vectors through it.
    ///
    /// # Errors
    ///
    /// If the name of its actor is invalid.
    pub fn new(pictures: Arc<PictureService>, encoder: Encoder) -> Result<EmbeddingWorker, StartError> {
        let actor: Actor =
            COMPUTED_BY.parse().map_err(|error| StartError::EmbeddingWorker(format!("{error}")))?;
        pictures.projects().computes_with(encoder.name());
        let pending = PendingProjects { model: encoder.name().to_owned(), ..PendingProjects::default() };
        Ok(EmbeddingWorker {
            pictures,
            encoder: Arc::new(encoder),
            actor,
            pending,
            unreadable: HashMap::new(),
            unreadable_pause: UNREADABLE_PAUSE,
        })
    }

    /// Runs until `stop` is cancelled.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.work()).await;
    }

    async fn work(mut self) {
        let mut log = LogCursor::new(self.pictures.projects().log().clone());
        loop {
            log.catch_up(|event| self.pending.apply(event)).await;
            self.queue_unreadable();
            if self.pending.projects.is_empty() {
                self.wait(&mut log).await;
            } else {
                self.embed_batch().await;
            }
        }
    }

    /// Computes and records the vectors of up to [`BATCH`] pending projects.
    async fn embed_batch(&mut self) {
        let batch: Vec<ProjectId> = self.pending.projects.iter().copied().take(BATCH).collect();
        let this = &*self;
        let outcomes = futures::stream::iter(batch).map(async |id| (id, this.embed(id).await));
        let outcomes: Vec<_> = outcomes.buffer_unordered(MAX_CONCURRENT).collect().await;
        let mut failed = false;
        for (id, outcome) in outcomes {
            match outcome {
                Ok(EmbedOutcome { observed: Observed::Recorded(_) | Observed::Nothing, unreadable }) => {
                    self.pending.projects.remove(&id);
                    self.set_unreadable(id, unreadable);
                }
                // The project stays pending: the next catch-up reads the event that came first.
                Ok(EmbedOutcome { observed: Observed::Overtaken, .. }) => {}
                Err(error) => {
                    if !std::mem::replace(&mut failed, true) {
                        tracing::warn!(%error, "vectors cannot be recorded at present; they are tried again");
                    }
                }
            }
        }
        if failed {
            tokio::time::sleep(STORE_RETRY_PAUSE).await;
        }
    }

    async fn embed(&self, id: ProjectId) -> Result<EmbedOutcome, StoreError> {
        // Computed vectors that an editor sent are recorded once under the worker's actor, even if they are unchanged.
        let is_sent = self.pending.sent.contains(&id);
        let is_supplied = self.pending.supplied_one_side.contains(&id);
        let mut unreadable = None;
        let observe = async |project: &Project| match project {
            Project::Listed(listing) => {
                let vectors;
                (vectors, unreadable) = self.vectors(id, listing).await;
                match vectors {
                    Some(vectors) if is_supplied => project::record_missing_side(project, vectors),
                    Some(vectors) if is_sent => vec![Event::VectorsRecorded(vectors)],
                    Some(vectors) => project::record_vectors(project, vectors),
                    None => Vec::new(),
                }
            }
            Project::Absent | Project::Withdrawn { .. } => Vec::new(),
        };
        let observed = self.pictures.projects().observe(&StreamId::project(id), &self.actor, observe).await?;
        Ok(EmbedOutcome { observed, unreadable })
    }

    /// Computes the vectors of a project; `None` if it has neither picture nor text. If the attached picture cannot be read, the
    /// visual side stays as recorded and the reason is returned too.
    async fn vectors(&self, id: ProjectId, listing: &Listing) -> (Option<VectorsRecorded>, Option<String>) {
        let (encoder, record) = (self.encoder.clone(), listing.record.clone());
        let picture = first_picture(listing);
        let sides = self.pictures.blocking(move |store| {
            (picture.map(|picture| visual(&encoder, store, id, picture)), semantic(&encoder, id, &record))
        });
        let (visual, semantic) = sides.await;
        let model = self.encoder.name().to_owned();
        let (visual, unreadable) = match visual.transpose() {
            Ok(visual) => (visual.flatten(), None),
            Err(reason) => {
                let recorded = listing.vectors.as_ref().and_then(VectorsRecorded::visual);
                let recorded = recorded.filter(|(made_by, _)| *made_by == model);
                (recorded.map(|(_, visual)| visual.clone()), Some(reason))
            }
        };
        let is_supplied = self.pending.supplied_one_side.contains(&id);
        let has_vectors = visual.is_some() || semantic.is_some() || is_supplied;
        (has_vectors.then_some(VectorsRecorded { model, visual, semantic, computed: None }), unreadable)
    }

    /// Queues projects whose unreadable picture is due for another try.
    fn queue_unreadable(&mut self) {
        let now = Instant::now();
        for (id, due) in self.unreadable.iter_mut().filter(|(_, due)| **due <= now) {
            *due = now + self.unreadable_pause;
            self.pending.projects.insert(*id);
        }
    }

    /// Waits for the next event or for the next try of an unreadable picture.
    async fn wait(&self, log: &mut LogCursor) {
        match self.unreadable.values().min() {
            Some(due) => drop(tokio::time::timeout_at(*due, log.wait()).await),
            None => log.wait().await,
        }
    }

    /// Sets the reason why the picture of a project cannot be read, or clears it; logs the first of a series.
    fn set_unreadable(&mut self, id: ProjectId, reason: Option<String>) {
        match reason {
            None => drop(self.unreadable.remove(&id)),
            Some(reason) => {
                if self.unreadable.insert(id, Instant::now() + self.unreadable_pause).is_none() {
                    tracing::warn!(
                        project = %id,
                        reason,
                        "a picture cannot be read; the project keeps its recorded visual vector until it can"
                    );
                }
            }
        }
    }
}

struct EmbedOutcome {
    observed: Observed,
    /// The reason if its picture could not be read.
    unreadable: Option<String>,
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
    Ok(numbers.and_then(|numbers| vector(encoder, numbers)).unwrap_or_else(|error| {
        tracing::warn!(%error, project = %id, %picture, "a picture has no visual vector: the encoder failed");
        None
    }))
}

fn semantic(encoder: &Encoder, id: ProjectId, record: &Record) -> Option<Vector> {
    let numbers = encoder.semantic(&document(record)).map_err(|error| error.to_string());
    numbers.and_then(|numbers| vector(encoder, numbers)).unwrap_or_else(|error| {
        tracing::warn!(%error, project = %id, "a record has no semantic vector: the encoder failed");
        None
    })
}

fn vector(encoder: &Encoder, numbers: Option<Vec<f32>>) -> Result<Option<Vector>, String> {
    let vector = numbers.map(Vector::new).transpose();
    let model = encoder.name();
    vector.map_err(|fault| format!("the encoder {model} gave numbers that {fault}; choose another model"))
}

/// The fields of a [`VectorsRecorded`] of this worker that [`PendingProjects`] reads.
#[derive(Deserialize)]
struct ComputedVectors<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    /// The computed side beside a supplied one.
    #[serde(borrow)]
    computed: Option<ComputedSide<'a>>,
}

#[derive(Deserialize)]
struct ComputedSide<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
}

/// The projects whose vectors are to be computed, derived from the event log.
#[derive(Debug, Default)]
struct PendingProjects {
    /// The encoder of this worker.
    model: String,
    projects: HashSet<ProjectId>,
    /// Projects whose record supplies the vectors of both sides.
    supplied: HashSet<ProjectId>,
    /// Projects whose record supplies the vector of one side; the other is computed.
    supplied_one_side: HashSet<ProjectId>,
    /// Projects whose newest vectors are of an encoder of this service and were sent by another actor, for example by the
    /// import of an export.
    sent: HashSet<ProjectId>,
}

impl PendingProjects {
    /// Applies an event of the log.
    fn apply(&mut self, recorded: &Recorded) {
        let Some(id) = recorded.stream.as_project() else { return };
        // Every project has such an event; parsing only its model skips hundreds of numbers.
        if recorded.actor.as_str() == COMPUTED_BY {
            let Ok(ComputedVectors { model, computed }) = serde_json::from_str(recorded.data.get()) else {
                return;
            };
            self.sent.remove(&id);
            if computed.is_none() {
                // The supplied vectors were unset before.
                self.supplied.remove(&id);
                self.supplied_one_side.remove(&id);
            }
            if computed.map_or(model, |side| side.model) == self.model {
                self.projects.remove(&id);
            } else {
                self.projects.insert(id);
            }
            return;
        }
        let Ok(Decoded::Known(event)) = recorded.decode() else { return };
        match *event {
            Event::VectorsRecorded(vectors) if vectors.model == self.model || is_built_in(&vectors.model) => {
                self.supplied.remove(&id);
                self.supplied_one_side.remove(&id);
                self.sent.insert(id);
                self.projects.insert(id);
            }
            Event::VectorsRecorded(vectors) => {
                self.sent.remove(&id);
                if vectors.visual.is_some() && vectors.semantic.is_some() {
                    self.supplied_one_side.remove(&id);
                    self.supplied.insert(id);
                    self.projects.remove(&id);
                } else {
                    self.supplied.remove(&id);
                    self.supplied_one_side.insert(id);
                    self.projects.insert(id);
                }
            }
            Event::ProjectWithdrawn(_) => {
                self.projects.remove(&id);
            }
            Event::ProjectSelected(_)
            | Event::ProjectRevised(_)
            | Event::ProjectRestored(_)
            | Event::PictureAttached(_)
            | Event::PictureErased(_) => {
                if !self.supplied.contains(&id) {
                    self.projects.insert(id);
                }
            }
            Event::ProjectRenamed(_) | Event::PictureRefused(_) | Event::Account(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
