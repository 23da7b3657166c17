//! Brings the pictures that the log names to a read node whose media folder is not that of the write side.
//!
//! A file is named by what it holds, so one that is there already is right, and bringing one twice changes nothing. Originals
//! stay where they came.

use std::path::{Path, PathBuf};
use std::time::Duration;

use read::media::MediaReader;
use schemas::control::{PICTURE_LENGTH, ReadPicture};
use schemas::event::Event;
use schemas::ids::Position;
use schemas::picture::{Form, Picture};
use schemas::subject;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::source::{Arrived, EventSource};

/// Events taken at once.
const BATCH: usize = 500;
/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_secs(2);
/// The file that tells how far the folder has come, below it.
const PLACE: &str = "mirrored";

/// Keeps a media folder like that of the write side.
#[derive(Debug)]
pub struct Mirror {
    source: EventSource,
    media: MediaReader,
    place: PathBuf,
}

/// What the log says, on its way to the one who brings.
enum Heard {
    Attached(Picture),
    /// All up to here has been heard.
    Position(Position),
}

/// A file could not be brought.
#[derive(Debug, thiserror::Error)]
enum NotBrought {
    #[error("the write side was asked for a picture and did not answer: {0}")]
    Unanswered(String),
    #[error("the write side does not have {0}")]
    Absent(String),
    #[error("it cannot be kept: {0}")]
    Disk(#[from] std::io::Error),
}

impl Mirror {
    /// A mirror into this folder, which is made at need.
    pub fn new(source: EventSource, folder: &Path) -> Mirror {
        Mirror { source, media: MediaReader::new(folder), place: folder.join(PLACE) }
    }

    /// Works until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let (heard, queue) = mpsc::unbounded_channel();
        stop.run_until_cancelled(async { tokio::join!(self.listen(heard), self.bring_all(queue)) }).await;
    }

    /// Reads the log; slow files must not hold up who reads together with it.
    async fn listen(&self, heard: mpsc::UnboundedSender<Heard>) {
        let text = tokio::fs::read_to_string(&self.place).await.unwrap_or_default();
        let mut after = Position(text.trim().parse().unwrap_or(0));
        loop {
            let mut following = self.source.follow(after);
            while let Ok(batch) = following.next(BATCH).await {
                for arrived in &batch {
                    after = arrived.position;
                    if let Some(picture) = attached(arrived) {
                        let _ = heard.send(Heard::Attached(picture));
                    }
                }
                let _ = heard.send(Heard::Position(after));
            }
            // The workers of the projections tell why; here it is only tried again.
            sleep(PAUSE).await;
        }
    }

    async fn bring_all(&self, mut queue: mpsc::UnboundedReceiver<Heard>) {
        let mut failing = false;
        while let Some(heard) = queue.recv().await {
            match heard {
                Heard::Attached(picture) => {
                    while let Err(error) = self.bring(&picture).await {
                        if !std::mem::replace(&mut failing, true) {
                            tracing::warn!(%error, "pictures cannot be brought at present; they are tried again");
                        }
                        if matches!(error, NotBrought::Absent(_)) {
                            break;
                        }
                        sleep(PAUSE).await;
                    }
                }
                Heard::Position(position) => {
                    failing = false;
                    // What is lost of it is looked at once more.
                    let _ = tokio::fs::write(&self.place, format!("{position}\n")).await;
                }
            }
        }
    }

    async fn bring(&self, picture: &Picture) -> Result<(), NotBrought> {
        let forms = picture.widths().map(Form::Webp).chain([Form::Jpeg(picture.list_width())]);
        for form in forms {
            if !self.media.has(picture.id, form).await {
                let bytes = self.ask(picture, form).await?;
                self.media.put(picture.id, form, &bytes).await?;
            }
        }
        Ok(())
    }

    /// Asks the write side for a file, part by part.
    async fn ask(&self, picture: &Picture, form: Form) -> Result<Vec<u8>, NotBrought> {
        let mut bytes = Vec::new();
        loop {
            let wanted = ReadPicture { id: picture.id, file: form.to_string(), offset: bytes.len() as u64 };
            let unanswered = |error: &dyn std::fmt::Display| NotBrought::Unanswered(error.to_string());
            let request = serde_json::to_vec(&wanted).map_err(|error| unanswered(&error))?;
            let answer = self.source.client().request(subject::READ_PICTURE, request.into()).await;
            let answer = answer.map_err(|error| unanswered(&error))?;
            let length = answer.headers.as_ref().and_then(|headers| headers.get(PICTURE_LENGTH));
            let Some(length) = length.and_then(|length| length.as_str().parse::<usize>().ok()) else {
                return Err(NotBrought::Absent(form.path(picture.id)));
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
}

fn attached(arrived: &Arrived) -> Option<Picture> {
    match &**arrived.found.as_ref().ok()?.event.as_ref().ok()?.as_ref()? {
        Event::PictureAttached(attached) => Some(attached.picture.clone()),
        _ => None,
    }
}
