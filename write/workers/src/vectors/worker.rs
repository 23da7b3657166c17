//! Describes every project by the sides of which it brings no vector of its own: from its first picture that is kept, and
//! from its texts.

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
use write::computed::{ACTOR, is_built_in};
use write::project::{self, Listing, PictureFate, Project};
use write::service::{CommandService, Observed, Pictures};

use super::document::document;

/// Projects described at once: their events share commits of the store.
const AT_ONCE: usize = 32;

/// Projects described between two looks at the log.
const ROUND: usize = 256;

/// How long to wait before a store that cannot be written is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// How long to wait before a picture that could not be looked at is tried again.
const UNREAD_PAUSE: Duration = Duration::from_secs(10);

/// Why the worker cannot start.
#[derive(Debug, thiserror::Error)]
#[error("vectors cannot be recorded: {0}")]
pub struct CannotDescribe(String);

/// Records computed vectors, and keeps them true.
pub struct Describer {
    service: CommandService,
    pictures: Arc<Pictures>,
    encoder: Arc<Encoder>,
    actor: Actor,
    wanting: Wanting,
    /// The projects whose picture could not be looked at, and when it is tried again.
    unread: HashMap<ProjectId, Instant>,
    unread_pause: Duration,
}

impl Describer {
    /// A worker that describes through this service, whose pictures it looks at.
    pub fn new(service: CommandService, encoder: Encoder) -> Result<Describer, CannotDescribe> {
        let pictures = service.pictures().cloned();
        let pictures = pictures.ok_or_else(|| CannotDescribe("this write side keeps no pictures".into()))?;
        let actor: Actor = ACTOR.parse().map_err(|error| CannotDescribe(format!("{error}")))?;
        service.computes_with(encoder.name());
        let wanting = Wanting { model: encoder.name().to_owned(), ..Wanting::default() };
        Ok(Describer {
            service,
            pictures,
            encoder: Arc::new(encoder),
            actor,
            wanting,
            unread: HashMap::new(),
            unread_pause: UNREAD_PAUSE,
        })
    }

    /// Works until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.work()).await;
    }

    async fn work(mut self) {
        let mut log = LogCursor::new(self.service.store().clone());
        loop {
            log.catch_up(|event| self.wanting.hear(event)).await;
            self.retry_due();
            if self.wanting.projects.is_empty() {
                self.wait(&mut log).await;
            } else {
                self.round().await;
            }
        }
    }

    /// Describes some of the projects that want it.
    async fn round(&mut self) {
        let round: Vec<ProjectId> = self.wanting.projects.iter().copied().take(ROUND).collect();
        let this = &*self;
        let described = futures::stream::iter(round).map(async |id| (id, this.describe(id).await));
        let described: Vec<_> = described.buffer_unordered(AT_ONCE).collect().await;
        let mut failed = false;
        for (id, outcome) in described {
            match outcome {
                Ok(Described { observed: Observed::Recorded(_) | Observed::Nothing, unread }) => {
                    self.wanting.projects.remove(&id);
                    self.note(id, unread);
                }
                // What overtook it is about to be heard.
                Ok(Described { observed: Observed::Overtaken, .. }) => {}
                Err(error) => {
                    if !std::mem::replace(&mut failed, true) {
                        tracing::warn!(%error, "vectors cannot be recorded at present; they are tried again");
                    }
                }
            }
        }
        if failed {
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn describe(&self, id: ProjectId) -> Result<Described, StoreError> {
        // Computed vectors that an editor sent are recorded as computed once, whether they are right or not.
        let is_sent = self.wanting.sent.contains(&id);
        let is_brought = self.wanting.brought_one_side.contains(&id);
        let mut unread = None;
        let observe = async |project: &Project| match project {
            Project::Listed(listing) => {
                let vectors;
                (vectors, unread) = self.vectors(id, listing).await;
                match vectors {
                    Some(vectors) if is_brought => project::describe_beside(project, vectors),
                    Some(vectors) if is_sent => vec![Event::VectorsRecorded(vectors)],
                    Some(vectors) => project::describe(project, vectors),
                    None => Vec::new(),
                }
            }
            Project::Absent | Project::Withdrawn { .. } => Vec::new(),
        };
        let observed = self.service.observe(&StreamId::project(id), &self.actor, observe).await?;
        Ok(Described { observed, unread })
    }

    /// What a project looks and reads like; nothing where it does neither. Where its picture is attached and cannot be read,
    /// it keeps the side that it has, and the reason is returned too.
    async fn vectors(&self, id: ProjectId, listing: &Listing) -> (Option<VectorsRecorded>, Option<String>) {
        let (encoder, record) = (self.encoder.clone(), listing.record.clone());
        let picture = first_picture(listing);
        let sides = self.pictures.blocking(move |store| {
            (picture.map(|picture| visual(&encoder, store, id, picture)), semantic(&encoder, id, &record))
        });
        let (visual, semantic) = sides.await;
        let model = self.encoder.name().to_owned();
        let (visual, unread) = match visual.transpose() {
            Ok(visual) => (visual.flatten(), None),
            Err(reason) => {
                let former = listing.vectors.as_ref().and_then(VectorsRecorded::visual);
                let former = former.filter(|(former, _)| *former == model).map(|(_, visual)| visual.clone());
                (former, Some(reason))
            }
        };
        let described = visual.is_some() || semantic.is_some() || self.wanting.brought_one_side.contains(&id);
        (described.then_some(VectorsRecorded { model, visual, semantic, computed: None }), unread)
    }

    /// Wants what could not be looked at again, where its time has come.
    fn retry_due(&mut self) {
        let now = Instant::now();
        for (id, again) in self.unread.iter_mut().filter(|(_, again)| **again <= now) {
            *again = now + self.unread_pause;
            self.wanting.projects.insert(*id);
        }
    }

    /// Waits until the log goes on or a picture is to be looked at again.
    async fn wait(&self, log: &mut LogCursor) {
        match self.unread.values().min() {
            Some(again) => drop(tokio::time::timeout_at(*again, log.wait()).await),
            None => log.wait().await,
        }
    }

    /// Notes whether the picture of a project could be read; one that could not is tried again until it can.
    fn note(&mut self, id: ProjectId, unread: Option<String>) {
        match unread {
            None => drop(self.unread.remove(&id)),
            Some(reason) => {
                if self.unread.insert(id, Instant::now() + self.unread_pause).is_none() {
                    tracing::warn!(
                        project = %id,
                        reason,
                        "a picture cannot be looked at; the project keeps what is known of its looks until it can"
                    );
                }
            }
        }
    }
}

/// What became of a project.
struct Described {
    observed: Observed,
    /// Why its picture could not be looked at.
    unread: Option<String>,
}

/// The first of the pictures that stand for the record, of those that are kept.
fn first_picture(listing: &Listing) -> Option<PictureId> {
    listing.record.picture_sources().find_map(|source| match listing.pictures.get(source)? {
        PictureFate::Attached(picture) => Some(picture.id),
        PictureFate::Refused(_) | PictureFate::Erased(_) => None,
    })
}

/// A picture that the encoder cannot look at leaves its side open; the rest goes on.
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
        tracing::warn!(%error, project = %id, %picture, "a picture cannot be compared");
        None
    }))
}

fn semantic(encoder: &Encoder, id: ProjectId, record: &Record) -> Option<Vector> {
    let numbers = encoder.semantic(&document(record)).map_err(|error| error.to_string());
    numbers.and_then(|numbers| vector(encoder, numbers)).unwrap_or_else(|error| {
        tracing::warn!(%error, project = %id, "a record's texts cannot be compared");
        None
    })
}

fn vector(encoder: &Encoder, numbers: Option<Vec<f32>>) -> Result<Option<Vector>, String> {
    let vector = numbers.map(Vector::new).transpose();
    let model = encoder.name();
    vector.map_err(|fault| format!("the encoder {model} gave numbers that {fault}; choose another model"))
}

/// What is read of vectors that were computed here.
#[derive(Deserialize)]
struct Made<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    /// The side beside one that was brought.
    #[serde(borrow)]
    computed: Option<MadeBeside<'a>>,
}

#[derive(Deserialize)]
struct MadeBeside<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
}

/// The projects that want describing, as the log tells it.
#[derive(Debug, Default)]
struct Wanting {
    model: String,
    projects: HashSet<ProjectId>,
    /// Those that bring vectors of both sides.
    brought: HashSet<ProjectId>,
    /// Those that bring a vector of one side; the other is computed.
    brought_one_side: HashSet<ProjectId>,
    /// Those whose newest vectors are of an encoder of the service's own and were sent by someone else, as by the import
    /// of an export.
    sent: HashSet<ProjectId>,
}

impl Wanting {
    fn hear(&mut self, recorded: &Recorded) {
        let Some(id) = recorded.stream.as_project() else { return };
        // There is one for every project: hundreds of numbers that need not be read.
        if recorded.actor.as_str() == ACTOR {
            let Ok(Made { model, computed }) = serde_json::from_str(recorded.data.get()) else { return };
            self.sent.remove(&id);
            if computed.is_none() {
                // What was brought was given back to the encoder.
                self.brought.remove(&id);
                self.brought_one_side.remove(&id);
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
                self.brought.remove(&id);
                self.brought_one_side.remove(&id);
                self.sent.insert(id);
                self.projects.insert(id);
            }
            Event::VectorsRecorded(vectors) => {
                self.sent.remove(&id);
                if vectors.visual.is_some() && vectors.semantic.is_some() {
                    self.brought_one_side.remove(&id);
                    self.brought.insert(id);
                    self.projects.remove(&id);
                } else {
                    self.brought.remove(&id);
                    self.brought_one_side.insert(id);
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
                if !self.brought.contains(&id) {
                    self.projects.insert(id);
                }
            }
            Event::ProjectRenamed(_) | Event::PictureRefused(_) | Event::Account(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
