//! Erases a picture: in the journal, in the media store, and in every project that shows it in any revision.

use std::collections::{BTreeMap, HashMap, HashSet};

use event_log::{AppendError, StoreError};
use schemas::command::{CommandMessage, PictureErasure};
use schemas::erased_pictures::ErasedPicture;
use schemas::event::{Event, PictureErased};
use schemas::ids::{Actor, Position, StreamId};
use schemas::picture::PictureId;

use super::{CommandError, PictureService};
use crate::project::Rejection;
use crate::service::event_writer::Causation;
use crate::service::{ATTEMPTS, decode_known};

/// The number of events that are read at once.
const PAGE: usize = 1_000;

/// The types of events that attach or erase a picture, in every version.
const KINDS: [&str; 2] = ["loggia.curation.picture_attached.", "loggia.curation.picture_erased."];

/// The projects that show a picture, or did before it was erased.
#[derive(Default)]
struct Uses {
    /// Whether each still shows it.
    projects: BTreeMap<StreamId, bool>,
    /// The position of the last event that erases it.
    erased: Position,
}

impl PictureService {
    pub(super) async fn erase(
        &self,
        message: &CommandMessage,
        id: PictureId,
    ) -> Result<PictureErasure, CommandError> {
        let _turn = self.erasing.write().await;
        let (before, is_kept) =
            self.on_store(move |store| Ok((store.erased_at(id)?, store.contains(id)))).await?;
        let mut uses = self.uses(&HashSet::from([id])).await?.remove(&id).unwrap_or_default();
        if before.is_none() && !is_kept && uses.projects.is_empty() {
            let reason = format!(
                "{id} is kept nowhere here, and no project shows it; `loggia pictures list` names those that are"
            );
            return Err(Rejection::invalid("picture", reason).into());
        }
        let erased_at = before.unwrap_or_else(|| self.projects.writer.clock.now());
        self.on_store(move |store| store.erase(&[ErasedPicture { picture: id, erased_at }])).await?;
        let projects = uses.projects.len() as u64;
        for (stream, _) in std::mem::take(&mut uses.projects).into_iter().filter(|(_, shows)| *shows) {
            uses.erased =
                uses.erased.max(self.erase_in_project(&stream, id, || Causation::of(message)).await?);
        }
        let changed = before.is_none() || !self.projects.log().streams_of(message.id).await?.is_empty();
        Ok(PictureErasure { picture: id, erased_at, projects, position: uses.erased, changed })
    }

    /// Makes the log, the journal of erased pictures and the media store agree: a picture that is erased in the log or in the
    /// journal is erased in both and not stored. Returns the number of pictures that projects showed until now.
    ///
    /// # Errors
    ///
    /// Fails if log or media store cannot be used; it can be repeated.
    pub async fn finish_erasures(
        &self,
        in_log: &HashSet<PictureId>,
        actor: &Actor,
    ) -> Result<u64, CommandError> {
        let _turn = self.erasing.write().await;
        let now = self.projects.writer.clock.now();
        let in_log: Vec<ErasedPicture> =
            in_log.iter().map(|picture| ErasedPicture { picture: *picture, erased_at: now }).collect();
        let erased = self.on_store(move |store| {
            if !in_log.is_empty() {
                store.erase(&in_log)?;
            }
            store.erased()
        });
        let erased: HashSet<PictureId> = erased.await?.into_iter().map(|erased| erased.picture).collect();
        if erased.is_empty() {
            return Ok(0);
        }
        let mut pictures = 0;
        for (id, Uses { projects, .. }) in self.uses(&erased).await? {
            let command = self.projects.writer.clock.command_id();
            let mut showing = projects.into_iter().filter(|(_, shows)| *shows).peekable();
            pictures += u64::from(showing.peek().is_some());
            for (stream, _) in showing {
                self.erase_in_project(&stream, id, || Causation::own(command, actor)).await?;
            }
        }
        Ok(pictures)
    }

    /// Returns the projects that ever showed any of these pictures, from the whole log.
    async fn uses(&self, pictures: &HashSet<PictureId>) -> Result<HashMap<PictureId, Uses>, StoreError> {
        let (mut uses, mut after) = (HashMap::<PictureId, Uses>::new(), Position::START);
        loop {
            let page = self.projects.log().read_all(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(uses) };
            after = last.position;
            for recorded in page.iter().filter(|event| KINDS.iter().any(|kind| event.kind.starts_with(kind)))
            {
                let (picture, shows) = match decode_known(recorded)? {
                    Event::PictureAttached(attached) => (attached.picture.id, true),
                    Event::PictureErased(erased) => (erased.picture, false),
                    _ => continue,
                };
                if pictures.contains(&picture) {
                    let of_picture = uses.entry(picture).or_default();
                    of_picture.projects.insert(recorded.stream.clone(), shows);
                    if !shows {
                        of_picture.erased = recorded.position;
                    }
                }
            }
        }
    }

    /// Records in a project that a picture is erased, and returns the position of the event.
    async fn erase_in_project<'c>(
        &self,
        stream: &StreamId,
        picture: PictureId,
        causation: impl Fn() -> Causation<'c>,
    ) -> Result<Position, CommandError> {
        for _ in 0..ATTEMPTS {
            let history = self.projects.history_of(stream.clone()).await?;
            if !history.shows(picture) {
                return Ok(Position::START);
            }
            let target = self.projects.target(&history);
            let events = vec![Event::PictureErased(PictureErased { picture })];
            match self.projects.writer.append(causation(), target, events).await {
                Ok(appended) | Err(AppendError::Repeated(appended)) => return Ok(appended.last),
                Err(AppendError::Conflict(_) | AppendError::Claimed { .. }) => {}
                Err(AppendError::Invalid(reason)) => return Err(CommandError::Invalid(reason)),
                Err(AppendError::Store(error)) => return Err(error.into()),
            }
        }
        Err(CommandError::Contended)
    }
}

#[cfg(test)]
mod tests;
