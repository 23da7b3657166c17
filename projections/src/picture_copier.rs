//! Copies the pictures that the log names to a read node whose media folder is not the write side's, and deletes pictures that
//! the log erases.
//!
//! A file is named by the hash of its content, so one that exists is right, and copying it again changes nothing. Originals
//! are not copied.

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
use schemas::picture::{Form, MAX_PICTURE_BYTES, Picture, PictureId};
use schemas::subject;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::error::WorkerError;
use crate::history::HistoryCheck;
use crate::source::{Delivery, EventSource, SourceError};

const MAX_BATCH: usize = 500;
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// How long to wait before asking again for files that the write side does not have.
const MISSING_RETRY_DELAY: Duration = Duration::from_secs(60);
/// After this long without an event the progress is compared with the log.
const HISTORY_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// The most pictures queued; when the queue is full, the log is not read until half of them are copied.
const MAX_QUEUED: usize = 1_000;
/// The most missing files remembered by name. The progress is not saved while one is missing, so that the next process looks
/// for all of them.
const MAX_MISSING: usize = 100_000;
/// The file of the progress, in the media folder.
/// The most bytes of a file, which is kept in memory until it is complete; no file of a picture has nearly as many.
const MAX_FILE_BYTES: usize = 4 * MAX_PICTURE_BYTES;

const PROGRESS_FILE: &str = "mirrored";

/// Copies pictures into a media folder.
#[derive(Debug)]
pub struct PictureCopier {
    source: EventSource,
    media: MediaReader,
    progress_file: PathBuf,
    failing: Component,
}

/// How far the log was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Progress {
    position: Position,
    /// The hash of the event there; `None` at the start.
    hash: Option<Hash>,
}

/// What the log says, queued for copying.
#[derive(Debug)]
enum QueueItem {
    Attached(Picture),
    Erased(ErasedPicture),
    /// Everything up to here was queued before it.
    Progress(Progress),
}

/// Why a file could not be copied.
#[derive(Debug, thiserror::Error)]
enum CopyError {
    #[error("the write side was asked for a picture and did not answer: {0}")]
    NoAnswer(String),
    #[error("the write side does not have {0}")]
    Missing(String),
    #[error("a picture cannot be kept: {0}")]
    Disk(#[from] std::io::Error),
}

/// The files that the write side does not have, or has damaged.
#[derive(Debug, Default)]
struct MissingFiles {
    files: HashSet<(PictureId, Form)>,
    /// Whether there are more than are remembered.
    is_truncated: bool,
}

impl MissingFiles {
    fn add(&mut self, id: PictureId, form: Form) {
        match self.files.len() < MAX_MISSING {
            true => _ = self.files.insert((id, form)),
            false => self.is_truncated = true,
        }
    }
}

impl PictureCopier {
    /// Creates a copier into this folder, which is created when needed; `failing` reports its failures.
    pub fn new(source: EventSource, folder: &Path, failing: Component) -> PictureCopier {
        PictureCopier {
            source,
            media: MediaReader::new(folder),
            progress_file: folder.join(PROGRESS_FILE),
            failing,
        }
    }

    /// Runs until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED);
        stop.run_until_cancelled(async { tokio::join!(self.read_log(sender), self.copy_all(receiver)) })
            .await;
    }

    /// Reads the log and queues its pictures. While the queue is full it does not subscribe to the log, because a subscription
    /// that takes nothing delays the projections.
    async fn read_log(&self, queue: mpsc::Sender<QueueItem>) {
        let saved = tokio::fs::read_to_string(&self.progress_file).await;
        let mut after = Progress::parse(&saved.unwrap_or_default());
        let mut history = HistoryCheck::new(self.source.clone());
        loop {
            if !history_continues(&mut history, after).await {
                tracing::warn!(
                    "the log was restored from an older backup: its pictures are copied from its start"
                );
                after = Progress::default();
            }
            let mut subscription = self.source.subscribe(after.position);
            let (mut is_full, mut is_broken) = (false, false);
            while !is_full {
                match tokio::time::timeout(HISTORY_CHECK_INTERVAL, subscription.next(MAX_BATCH)).await {
                    Ok(Ok(batch)) if batch.first().is_some_and(|first| !first.follows(after.hash)) => {
                        is_broken = true;
                        break;
                    }
                    Ok(Err(SourceError::Broken(_))) => {
                        is_broken = true;
                        break;
                    }
                    Ok(Ok(batch)) => is_full = !enqueue(&batch, &mut after, &queue),
                    Ok(Err(_)) => break,
                    Err(_silence) if history_continues(&mut history, after).await => {}
                    Err(_silence) => break,
                }
            }
            drop(subscription);
            if is_broken
                && let Some(hash) = after.hash
                && let Some(event) = self.source.logged_after(after.position, hash).await
            {
                is_full = !enqueue(&[Arc::new(event)], &mut after, &queue);
            }
            if !is_full {
                // The workers of the projections report why; here it is only retried.
                sleep(RETRY_DELAY).await;
            } else if let Ok(mut room) = queue.reserve_many(MAX_QUEUED / 2).await
                && let Some(room) = room.next()
            {
                room.send(QueueItem::Progress(after));
            }
        }
    }

    async fn copy_all(&self, mut queue: mpsc::Receiver<QueueItem>) {
        let mut missing = MissingFiles::default();
        if let Err(error) = self.media.finish_erasures().await {
            self.failing.failed(format_args!("erased pictures cannot be deleted: {error}"));
        }
        // Files damaged by a power loss are copied again, whatever the progress is.
        match self.media.damaged().await {
            Ok(damaged) => damaged.into_iter().for_each(|(id, form)| missing.add(id, form)),
            Err(error) => {
                self.failing.failed(format_args!("the kept pictures cannot be checked: {error}"));
            }
        }
        let mut again = Instant::now();
        let mut reached = None;
        loop {
            if missing.files.is_empty()
                && !missing.is_truncated
                && let Some(progress) = reached.take()
            {
                self.failing.recovered();
                self.save_progress(progress).await;
            }
            tokio::select! {
                () = sleep_until(again), if !missing.files.is_empty() => {
                    self.retry_missing(&mut missing).await;
                    again = Instant::now() + MISSING_RETRY_DELAY;
                }
                item = queue.recv() => match item {
                    None => return,
                    Some(QueueItem::Attached(picture)) => self.copy(&picture, &mut missing).await,
                    Some(QueueItem::Erased(erased)) => {
                        missing.files.retain(|(id, _)| *id != erased.picture);
                        self.erase(erased).await;
                    }
                    Some(QueueItem::Progress(progress)) => reached = Some(progress),
                },
            }
        }
    }

    /// Deletes a picture, retrying until it succeeds: the progress must not be saved before.
    async fn erase(&self, erased: ErasedPicture) {
        while let Err(error) = self.media.erase(erased.clone()).await {
            self.failing
                .failed(format_args!("the erased picture {} cannot be deleted: {error}", erased.picture));
            sleep(RETRY_DELAY).await;
        }
    }

    /// Returns whether a picture was erased; `false` if this cannot be read, because the write side decides in any case.
    async fn is_erased(&self, id: PictureId) -> bool {
        self.media.is_erased(id).await.unwrap_or(false)
    }

    /// Copies every form of a picture, retrying until it succeeds, except forms that the write side does not have.
    async fn copy(&self, picture: &Picture, missing: &mut MissingFiles) {
        // The event that attached it comes before the one that erased it.
        if self.is_erased(picture.id).await {
            return;
        }
        for form in picture.forms().chain(picture.detail_form()) {
            if self.media.has(picture.id, form).await {
                continue;
            }
            while let Err(error) = self.copy_file(picture.id, form).await {
                // A picture that was stored by an earlier version does not have it.
                if matches!(error, CopyError::Missing(_)) && picture.detail_form() == Some(form) {
                    break;
                }
                self.failing.failed(format_args!("pictures cannot be copied: {error}"));
                if matches!(error, CopyError::Missing(_)) {
                    missing.add(picture.id, form);
                    break;
                }
                sleep(RETRY_DELAY).await;
            }
        }
    }

    /// Requests each missing or damaged file once.
    async fn retry_missing(&self, missing: &mut MissingFiles) {
        let all: Vec<(PictureId, Form)> = missing.files.iter().copied().collect();
        for (id, form) in all {
            match self.copy_file(id, form).await {
                Ok(()) => _ = missing.files.remove(&(id, form)),
                Err(CopyError::Missing(_)) => {}
                Err(error) => {
                    self.failing.failed(format_args!("pictures cannot be copied: {error}"));
                    return;
                }
            }
        }
        if !missing.files.is_empty() {
            self.failing.failed(format_args!(
                "the write side does not have {} files of pictures; restore its media folder from a backup",
                missing.files.len()
            ));
        }
    }

    async fn copy_file(&self, id: PictureId, form: Form) -> Result<(), CopyError> {
        let bytes = self.request_file(id, form).await?;
        if !is_whole(&bytes, form) {
            return Err(CopyError::Missing(format!("all of {}", form.path(id))));
        }
        Ok(self.media.put(id, form, bytes.into()).await?)
    }

    /// Requests a file from the write side, part by part.
    async fn request_file(&self, id: PictureId, form: Form) -> Result<Vec<u8>, CopyError> {
        let mut bytes = Vec::new();
        loop {
            let part = ReadPicture { id, file: form.to_string(), offset: bytes.len() as u64 };
            let no_answer = |error: &dyn std::fmt::Display| CopyError::NoAnswer(error.to_string());
            let request = serde_json::to_vec(&part).map_err(|error| no_answer(&error))?;
            let answer = self.source.client().request(subject::READ_PICTURE, request.into()).await;
            let answer = answer.map_err(|error| no_answer(&error))?;
            let length = answer.headers.as_ref().and_then(|headers| headers.get(PICTURE_LENGTH));
            let Some(length) = length.and_then(|length| length.as_str().parse::<usize>().ok()) else {
                return Err(CopyError::Missing(form.path(id)));
            };
            if length > MAX_FILE_BYTES {
                return Err(CopyError::Missing(format!(
                    "{} in a usable size ({length} bytes)",
                    form.path(id)
                )));
            }
            bytes.extend_from_slice(&answer.payload);
            if bytes.len() >= length {
                return Ok(bytes);
            }
            if answer.payload.is_empty() {
                return Err(CopyError::NoAnswer("a part was empty".into()));
            }
        }
    }

    /// Saves the progress; every file up to it is on disk. If saving fails, the files are only checked again.
    async fn save_progress(&self, progress: Progress) {
        let part = self.progress_file.with_extension("part");
        let save = async {
            tokio::fs::write(&part, progress.text()).await?;
            tokio::fs::rename(&part, &self.progress_file).await
        };
        if let Err(error) = save.await {
            tracing::debug!(%error, "the progress of copied pictures could not be saved");
        }
    }
}

impl Progress {
    /// Parses a saved progress. Unreadable text is the start, and so is a position alone: version 0.1 saved that, and did not
    /// delete erased pictures.
    fn parse(text: &str) -> Progress {
        let mut parts = text.split_whitespace();
        let position = parts.next().and_then(|position| position.parse().ok());
        let hash = parts.next().and_then(|hash| hash.parse().ok());
        match (position, hash) {
            (Some(position), Some(hash)) => Progress { position: Position(position), hash: Some(hash) },
            _ => Progress::default(),
        }
    }

    fn text(self) -> String {
        match self.hash {
            Some(hash) => format!("{} {hash}\n", self.position),
            None => format!("{}\n", self.position),
        }
    }
}

/// Returns whether the log still has the history that was read, as far as this can be known at present.
async fn history_continues(history: &mut HistoryCheck, progress: Progress) -> bool {
    let checkpoint = Checkpoint { position: progress.position, hash: progress.hash, ..Checkpoint::default() };
    !matches!(history.check("pictures", &checkpoint).await, Err(WorkerError::Diverged { .. }))
}

/// Queues what a batch says about pictures, and moves `after` to the last event that was queued. Returns whether the queue had
/// room for the whole batch.
fn enqueue(batch: &[Arc<Delivery>], after: &mut Progress, queue: &mpsc::Sender<QueueItem>) -> bool {
    for delivery in batch {
        if let Some(item) = picture_event(delivery)
            && queue.try_send(item).is_err()
        {
            return false;
        }
        *after = Progress { position: delivery.position, hash: delivery.hash() };
    }
    queue.try_send(QueueItem::Progress(*after)).is_ok()
}

fn picture_event(delivery: &Delivery) -> Option<QueueItem> {
    let decoded = delivery.decoded.as_ref().ok()?;
    match &**decoded.event.as_ref().ok()?.as_ref()? {
        Event::PictureAttached(attached) => Some(QueueItem::Attached(attached.picture.clone())),
        Event::PictureErased(erased) => {
            let erased_at = decoded.recorded.time;
            Some(QueueItem::Erased(ErasedPicture { picture: erased.picture, erased_at }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_progress_is_loaded_and_that_of_version_0_1_is_the_start() {
        let progress = Progress { position: Position(41), hash: Some(Hash([7; 32])) };
        assert_eq!(Progress::parse(&progress.text()), progress);
        assert_eq!(Progress::parse(&Progress::default().text()), Progress::default());
        for unreadable in ["", "41\n", "\0\0\0", "x y"] {
            assert_eq!(Progress::parse(unreadable), Progress::default());
        }
    }
}
