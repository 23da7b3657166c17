//! Erasing a picture: noted, deleted, and said to every project that shows it or did in a former revision.

use std::collections::{BTreeMap, HashMap, HashSet};

use event_log::{AppendError, StoreError};
use media::{MediaError, MediaStore};
use schemas::command::{CommandMessage, PictureErasure, Refusal};
use schemas::erased_pictures::ErasedPicture;
use schemas::event::{Event, PictureErased};
use schemas::ids::{Actor, Position, StreamId, StreamVersion};
use schemas::picture::PictureId;

use super::Pictures;
use crate::project::Rejection;
use crate::service::past::{Past, known};
use crate::service::refused::Refused;
use crate::service::{ATTEMPTS, Cause, CommandService, Target};

/// Events read at once.
const PAGE: usize = 1_000;

/// How the types of events begin that matter here, in every version.
const KINDS: [&str; 2] = ["loggia.curation.picture_attached.", "loggia.curation.picture_erased."];

/// The projects that show a picture, or did before it was erased.
#[derive(Default)]
struct Uses {
    /// Whether each shows it still.
    projects: BTreeMap<StreamId, bool>,
    /// Where the last event stands that says that it is erased.
    erased: Position,
}

impl CommandService {
    pub(in crate::service) async fn erase_picture(
        &self,
        message: &CommandMessage,
        id: PictureId,
    ) -> Result<PictureErasure, Refused> {
        let pictures = self.pictures.as_ref().ok_or(Refused::NoPictures)?;
        let _turn = pictures.erasing.write().await;
        let (before, is_kept) =
            pictures.on_store(move |store| Ok((store.erased_at(id)?, store.contains(id)))).await?;
        let mut uses = self.uses(&HashSet::from([id])).await?.remove(&id).unwrap_or_default();
        if before.is_none() && !is_kept && uses.projects.is_empty() {
            let reason = format!(
                "{id} is kept nowhere here, and no project shows it; `loggia pictures list` names those that are"
            );
            return Err(Rejection::fault("picture", reason).into());
        }
        let erased_at = before.unwrap_or_else(|| self.clock.now());
        pictures.on_store(move |store| store.erase(&[ErasedPicture { picture: id, erased_at }])).await?;
        let cause = || Cause { command: message.id, correlation: message.correlation, actor: &message.actor };
        let projects = uses.projects.len() as u64;
        for (stream, _) in std::mem::take(&mut uses.projects).into_iter().filter(|(_, shows)| *shows) {
            uses.erased = uses.erased.max(self.say_erased(&stream, id, cause).await?);
        }
        let changed = before.is_none() || !self.store.streams_of(message.id).await?.is_empty();
        Ok(PictureErasure { picture: id, erased_at, projects, position: uses.erased, changed })
    }

    /// Brings the log, the journal of erased pictures and what is kept to agree: what is erased in one of log and journal
    /// is erased in both, and nothing of it is kept. Returns how many pictures projects showed until now.
    ///
    /// # Errors
    ///
    /// Fails where store or media folder cannot be used; it can be repeated.
    pub async fn finish_picture_erasures(
        &self,
        in_log: &HashSet<PictureId>,
        actor: &Actor,
    ) -> Result<u64, Refusal> {
        Ok(self.finish_picture_erasures_of(in_log, actor).await?)
    }

    async fn finish_picture_erasures_of(
        &self,
        in_log: &HashSet<PictureId>,
        actor: &Actor,
    ) -> Result<u64, Refused> {
        let pictures = self.pictures.as_ref().ok_or(Refused::NoPictures)?;
        let _turn = pictures.erasing.write().await;
        let now = self.clock.now();
        let in_log: Vec<ErasedPicture> =
            in_log.iter().map(|picture| ErasedPicture { picture: *picture, erased_at: now }).collect();
        let erased = pictures.on_store(move |store| {
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
            let command = self.clock.command_id();
            let cause = || Cause { command, correlation: command, actor };
            let mut showing = projects.into_iter().filter(|(_, shows)| *shows).peekable();
            pictures += u64::from(showing.peek().is_some());
            for (stream, _) in showing {
                self.say_erased(&stream, id, cause).await?;
            }
        }
        Ok(pictures)
    }

    /// Looks in the log for the projects that ever showed any of these pictures.
    async fn uses(&self, pictures: &HashSet<PictureId>) -> Result<HashMap<PictureId, Uses>, StoreError> {
        let (mut uses, mut after) = (HashMap::<PictureId, Uses>::new(), Position::START);
        loop {
            let page = self.store.read_all(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(uses) };
            after = last.position;
            for recorded in page.iter().filter(|event| KINDS.iter().any(|kind| event.kind.starts_with(kind)))
            {
                let (picture, shows) = match known(recorded)? {
                    Event::PictureAttached(attached) => (attached.picture.id, true),
                    Event::PictureErased(erased) => (erased.picture, false),
                    _ => continue,
                };
                if pictures.contains(&picture) {
                    let of_it = uses.entry(picture).or_default();
                    of_it.projects.insert(recorded.stream.clone(), shows);
                    if !shows {
                        of_it.erased = recorded.position;
                    }
                }
            }
        }
    }

    /// Records with a project that a picture is erased, and returns where that stands.
    async fn say_erased<'c>(
        &self,
        stream: &StreamId,
        picture: PictureId,
        cause: impl Fn() -> Cause<'c>,
    ) -> Result<Position, Refused> {
        for _ in 0..ATTEMPTS {
            let past = Past::of(stream.clone(), self.store.read_stream(stream, StreamVersion(0)).await?)?;
            if !past.shows(picture) {
                return Ok(Position::START);
            }
            let target = Target { stream, version: past.version, time: self.clock.now(), claims: Vec::new() };
            let events = vec![Event::PictureErased(PictureErased { picture })];
            match self.append_to(cause(), target, events).await {
                Ok(appended) | Err(AppendError::Repeated(appended)) => return Ok(appended.last),
                Err(AppendError::Conflict { .. } | AppendError::Claimed { .. }) => {}
                Err(AppendError::Invalid { reason }) => return Err(Refused::Impossible(reason)),
                Err(AppendError::Store(error)) => return Err(error.into()),
            }
        }
        Err(Refused::Contended)
    }
}

impl Pictures {
    /// Works on the store where that disturbs nobody; what the disk does not do may be done later.
    pub(super) async fn on_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&MediaStore) -> Result<T, MediaError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.blocking(work).await.map_err(|error| StoreError::unavailable(error.to_string()))
    }
}

#[cfg(test)]
mod tests;
