//! Brings the pictures that the log names to a read node whose media folder is not that of the write side, and deletes those
//! that it says are erased.
//!
//! A file is named by what it holds, so one that is there already is right, and bringing one twice changes nothing. Originals
//! stay where they came.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use health::Component;
use read::checkpoint::Checkpoint;
use read::media::{MediaReader, is_whole};
use schemas::control::{PICTURE_LENGTH, ReadPicture};
use schemas::erased_pictures::ErasedPicture;
use schemas::event::Event;
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::picture::{Form, Picture, PictureId};
use schemas::subject;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::continuity::Continuity;
use crate::failure::Failure;
use crate::source::{Arrived, EventSource, SourceError};

/// Events taken at once.
const BATCH: usize = 500;
/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_secs(2);
/// How long to wait before the write side is asked again for what it does not have.
const ABSENT_AGAIN: Duration = Duration::from_secs(60);
/// After a silence of this length the place is compared with the log again.
const SILENCE: Duration = Duration::from_secs(2);
/// Pictures that wait to be brought; behind them the log is left until half of them are there.
const WAITING: usize = 1_000;
/// Absent files that are remembered by name. The place of the folder does not move while there is one, so that a process
/// that starts looks for all of them.
const MOST_ABSENT: usize = 100_000;
/// The file that tells how far the folder has come, below it.
const PLACE: &str = "mirrored";

/// Keeps a media folder like that of the write side.
#[derive(Debug)]
pub struct Mirror {
    source: EventSource,
    media: MediaReader,
    place: PathBuf,
    failing: Component,
}

/// How far the log was heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    position: Position,
    /// The hash of the event there; `None` at the start.
    hash: Option<Hash>,
}

/// What the log says, on its way to the one who brings.
#[derive(Debug)]
enum Heard {
    Attached(Picture),
    Erased(ErasedPicture),
    /// All up to here has been heard.
    Place(Place),
}

/// A file could not be brought.
#[derive(Debug, thiserror::Error)]
enum NotBrought {
    #[error("the write side was asked for a picture and did not answer: {0}")]
    Unanswered(String),
    #[error("the write side does not have {0}")]
    Absent(String),
    #[error("a picture cannot be kept: {0}")]
    Disk(#[from] std::io::Error),
}

/// The files that the write side did not have, or not whole.
#[derive(Debug, Default)]
struct Absent {
    files: HashSet<(PictureId, Form)>,
    /// Whether there are others that are not remembered.
    is_cut: bool,
}

impl Absent {
    fn add(&mut self, id: PictureId, form: Form) {
        match self.files.len() < MOST_ABSENT {
            true => _ = self.files.insert((id, form)),
            false => self.is_cut = true,
        }
    }
}

impl Mirror {
    /// A mirror into this folder, which is made at need. It reports to this component of the process.
    pub fn new(source: EventSource, folder: &Path, failing: Component) -> Mirror {
        Mirror { source, media: MediaReader::new(folder), place: folder.join(PLACE), failing }
    }

    /// Works until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let (heard, queue) = mpsc::channel(WAITING);
        stop.run_until_cancelled(async { tokio::join!(self.listen(heard), self.bring_all(queue)) }).await;
    }

    /// Reads the log. Where pictures come faster than they are brought it leaves the log for a while, since it must not
    /// hold up who reads together with it.
    async fn listen(&self, heard: mpsc::Sender<Heard>) {
        let mut after = self.read_place().await;
        let mut continuity = Continuity::new(self.source.clone());
        loop {
            if !continues(&mut continuity, after).await {
                tracing::warn!(
                    "the log was restored from an older backup: its pictures are looked for from its start"
                );
                after = Place::default();
            }
            let mut following = self.source.follow(after.position);
            let (mut is_full, mut is_broken) = (false, false);
            while !is_full {
                match tokio::time::timeout(SILENCE, following.next(BATCH)).await {
                    Ok(Ok(batch)) if batch.first().is_some_and(|first| !first.follows(after.hash)) => {
                        is_broken = true;
                        break;
                    }
                    Ok(Err(SourceError::Broken { .. })) => {
                        is_broken = true;
                        break;
                    }
                    Ok(Ok(batch)) => is_full = !pass_on(&batch, &mut after, &heard),
                    Ok(Err(_)) => break,
                    Err(_silence) if continues(&mut continuity, after).await => {}
                    Err(_silence) => break,
                }
            }
            drop(following);
            if is_broken
                && let Some(hash) = after.hash
                && let Some(event) = self.source.logged_after(after.position, hash).await
            {
                is_full = !pass_on(&[Arc::new(event)], &mut after, &heard);
            }
            if !is_full {
                // The workers of the projections tell why; here it is only tried again.
                sleep(PAUSE).await;
            } else if let Ok(mut room) = heard.reserve_many(WAITING / 2).await
                && let Some(room) = room.next()
            {
                room.send(Heard::Place(after));
            }
        }
    }

    async fn bring_all(&self, mut queue: mpsc::Receiver<Heard>) {
        let mut absent = Absent::default();
        if let Err(error) = self.media.finish_erasures().await {
            self.failing.failed(format_args!("erased pictures cannot be deleted: {error}"));
        }
        // What a loss of power has left is brought again, wherever the place of the folder is.
        match self.media.damaged().await {
            Ok(damaged) => damaged.into_iter().for_each(|(id, form)| absent.add(id, form)),
            Err(error) => {
                self.failing.failed(format_args!("the pictures that are kept cannot be looked at: {error}"));
            }
        }
        let mut again = Instant::now();
        let mut reached = None;
        loop {
            if absent.files.is_empty()
                && !absent.is_cut
                && let Some(place) = reached.take()
            {
                self.failing.recovered();
                self.note_place(place).await;
            }
            tokio::select! {
                () = sleep_until(again), if !absent.files.is_empty() => {
                    self.ask_again(&mut absent).await;
                    again = Instant::now() + ABSENT_AGAIN;
                }
                heard = queue.recv() => match heard {
                    None => return,
                    Some(Heard::Attached(picture)) => self.bring(&picture, &mut absent).await,
                    Some(Heard::Erased(erased)) => {
                        absent.files.retain(|(id, _)| *id != erased.picture);
                        self.erase(erased).await;
                    }
                    Some(Heard::Place(place)) => reached = Some(place),
                },
            }
        }
    }

    /// Deletes a picture, however long that takes: the place of the folder does not move before.
    async fn erase(&self, erased: ErasedPicture) {
        while let Err(error) = self.media.erase(erased.clone()).await {
            self.failing
                .failed(format_args!("the erased picture {} cannot be deleted: {error}", erased.picture));
            sleep(PAUSE).await;
        }
    }

    /// Whether a picture was erased; one of which that cannot be told counts as not erased, and the write side decides.
    async fn is_erased(&self, id: PictureId) -> bool {
        self.media.is_erased(id).await.unwrap_or(false)
    }

    /// Brings every form of a picture, however long that takes, but for those that the write side does not have.
    async fn bring(&self, picture: &Picture, absent: &mut Absent) {
        // The log names it before it says that it is erased.
        if self.is_erased(picture.id).await {
            return;
        }
        let forms = picture.widths().map(Form::Webp).chain([Form::Jpeg(picture.list_width())]);
        for form in forms {
            if self.media.has(picture.id, form).await {
                continue;
            }
            while let Err(error) = self.bring_file(picture.id, form).await {
                self.failing.failed(format_args!("pictures cannot be brought: {error}"));
                if matches!(error, NotBrought::Absent(_)) {
                    absent.add(picture.id, form);
                    break;
                }
                sleep(PAUSE).await;
            }
        }
    }

    /// Asks once for each file that was absent or damaged.
    async fn ask_again(&self, absent: &mut Absent) {
        let all: Vec<(PictureId, Form)> = absent.files.iter().copied().collect();
        for (id, form) in all {
            match self.bring_file(id, form).await {
                Ok(()) => _ = absent.files.remove(&(id, form)),
                Err(NotBrought::Absent(_)) => {}
                Err(error) => {
                    self.failing.failed(format_args!("pictures cannot be brought: {error}"));
                    return;
                }
            }
        }
        if !absent.files.is_empty() {
            self.failing.failed(format_args!(
                "the write side does not have {} files of pictures; bring its media folder back from a backup",
                absent.files.len()
            ));
        }
    }

    async fn bring_file(&self, id: PictureId, form: Form) -> Result<(), NotBrought> {
        let bytes = self.ask(id, form).await?;
        if !is_whole(&bytes, form) {
            return Err(NotBrought::Absent(format!("all of {}", form.path(id))));
        }
        Ok(self.media.put(id, form, bytes.into()).await?)
    }

    /// Asks the write side for a file, part by part.
    async fn ask(&self, id: PictureId, form: Form) -> Result<Vec<u8>, NotBrought> {
        let mut bytes = Vec::new();
        loop {
            let wanted = ReadPicture { id, file: form.to_string(), offset: bytes.len() as u64 };
            let unanswered = |error: &dyn std::fmt::Display| NotBrought::Unanswered(error.to_string());
            let request = serde_json::to_vec(&wanted).map_err(|error| unanswered(&error))?;
            let answer = self.source.client().request(subject::READ_PICTURE, request.into()).await;
            let answer = answer.map_err(|error| unanswered(&error))?;
            let length = answer.headers.as_ref().and_then(|headers| headers.get(PICTURE_LENGTH));
            let Some(length) = length.and_then(|length| length.as_str().parse::<usize>().ok()) else {
                return Err(NotBrought::Absent(form.path(id)));
            };
            bytes.extend_from_slice(&answer.payload);
            if bytes.len() >= length {
                return Ok(bytes);
            }
            if answer.payload.is_empty() {
                return Err(NotBrought::Unanswered("a part was empty".into()));
            }
        }
    }

    /// Returns how far the folder has come.
    async fn read_place(&self) -> Place {
        Place::read(&tokio::fs::read_to_string(&self.place).await.unwrap_or_default())
    }

    /// Notes how far the folder has come; every file up to there is on the disk. What is lost of it is looked at once
    /// more.
    async fn note_place(&self, place: Place) {
        let part = self.place.with_extension("part");
        let note = async {
            tokio::fs::write(&part, place.text()).await?;
            tokio::fs::rename(&part, &self.place).await
        };
        if let Err(error) = note.await {
            tracing::debug!(%error, "how far pictures were brought could not be noted");
        }
    }
}

impl Place {
    /// Reads what was noted. What is unreadable is the start, and so is a position alone: version 0.1 noted that, and passed
    /// over what the log says of erased pictures.
    fn read(text: &str) -> Place {
        let mut parts = text.split_whitespace();
        let position = parts.next().and_then(|position| position.parse().ok());
        let hash = parts.next().and_then(|hash| hash.parse().ok());
        match (position, hash) {
            (Some(position), Some(hash)) => Place { position: Position(position), hash: Some(hash) },
            _ => Place::default(),
        }
    }

    /// As it is noted.
    fn text(self) -> String {
        match self.hash {
            Some(hash) => format!("{} {hash}\n", self.position),
            None => format!("{}\n", self.position),
        }
    }
}

/// Whether the log still has what was heard of it, as far as that can be known at present.
async fn continues(continuity: &mut Continuity, place: Place) -> bool {
    let checkpoint = Checkpoint { position: place.position, hash: place.hash, ..Checkpoint::default() };
    !matches!(continuity.look("pictures", &checkpoint).await, Err(Failure::Diverged { .. }))
}

/// Passes on what a batch says of pictures, and moves the place behind what was passed on; false where there was no room
/// for all of it.
fn pass_on(batch: &[Arc<Arrived>], after: &mut Place, heard: &mpsc::Sender<Heard>) -> bool {
    for arrived in batch {
        if let Some(of_a_picture) = of_a_picture(arrived)
            && heard.try_send(of_a_picture).is_err()
        {
            return false;
        }
        *after = Place { position: arrived.position, hash: arrived.hash() };
    }
    heard.try_send(Heard::Place(*after)).is_ok()
}

fn of_a_picture(arrived: &Arrived) -> Option<Heard> {
    let found = arrived.found.as_ref().ok()?;
    match &**found.event.as_ref().ok()?.as_ref()? {
        Event::PictureAttached(attached) => Some(Heard::Attached(attached.picture.clone())),
        Event::PictureErased(erased) => {
            let erased_at = found.recorded.time;
            Some(Heard::Erased(ErasedPicture { picture: erased.picture, erased_at }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_its_note_and_that_of_version_0_1_is_the_start() {
        let place = Place { position: Position(41), hash: Some(Hash([7; 32])) };
        assert_eq!(Place::read(&place.text()), place);
        assert_eq!(Place::read(&Place::default().text()), Place::default());
        for unreadable in ["", "41\n", "\0\0\0", "x y"] {
            assert_eq!(Place::read(unreadable), Place::default());
        }
    }
}
