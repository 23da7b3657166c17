//! The pictures of an import: files beside the imported one are uploaded to the write side and attached to their projects.
//! Pictures that records name by URL are fetched by the write side itself.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, bail};
use cli_output::count;
use daemon::signals::Signals;
use futures::{Stream, StreamExt};
use schemas::command::{Command, CommandReply, LineOutcome, LineResult};
use schemas::ids::{Actor, CommandId, Position};
use schemas::import::WrittenPicture;
use schemas::picture::PictureId;
use schemas::slug::Slug;
use sha2::{Digest, Sha256};

use super::picture_files::{absent, absent_below, read_below};
use crate::session::{Session, UNEXPECTED_REPLY};

/// The number of concurrent uploads.
const AT_ONCE: usize = 8;

pub struct PictureUploader<'s> {
    session: &'s Session,
    actor: Actor,
    correlation: CommandId,
    /// The folder of the imported file.
    folder: PathBuf,
}

pub struct NamedPicture {
    pub line: u64,
    slug: Slug,
    /// Whether the project has a picture from this source, so that the file may be missing.
    is_stored: bool,
    pub named: WrittenPicture,
}

pub enum UploadOutcome {
    /// The picture is attached now, at this position of the log.
    Attached(Position),
    /// The project has the picture, and the file is the same.
    Same,
    /// The project has the picture, and the file is not there.
    WithoutFile,
    Refused(String),
}

/// The pictures of imported lines that are still to be sent, or have no reply yet.
#[derive(Debug)]
pub struct Unsent {
    pub number: usize,
    /// The first of them, as the record names it.
    pub first: String,
}

impl Unsent {
    /// Returns how many these are; `None` if there are none.
    pub fn of(pictures: &[NamedPicture]) -> Option<Unsent> {
        let first = pictures.first()?.named.picture.source.clone();
        Some(Unsent { number: pictures.len(), first })
    }
}

/// A clause about them, and what to do.
impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unsent { number, first } = self;
        match number {
            1 => write!(f, "1 picture of these records is still to be sent, {first}")?,
            _ => {
                let number = count(*number as u64);
                write!(f, "{number} pictures of these records are still to be sent, {first} the first")?;
            }
        }
        f.write_str("; run the same command again: it sends only what is missing")
    }
}

impl<'s> PictureUploader<'s> {
    /// Returns an uploader of pictures in the folder of the imported file.
    pub fn new(
        session: &'s Session,
        actor: Actor,
        correlation: CommandId,
        folder: PathBuf,
    ) -> PictureUploader<'s> {
        PictureUploader { session, actor, correlation, folder }
    }

    /// Returns the picture files of those lines that were imported.
    pub fn of_imported_lines(
        &self,
        files: &HashMap<u64, Vec<WrittenPicture>>,
        outcomes: &[LineOutcome],
    ) -> Vec<NamedPicture> {
        let mut pictures = Vec::new();
        for outcome in outcomes {
            let Some((slug, all, some)) = imported(&outcome.result) else { continue };
            pictures.extend(files.get(&outcome.number).into_iter().flatten().map(|named| NamedPicture {
                line: outcome.number,
                slug: slug.clone(),
                is_stored: all || some.contains(&named.picture.source),
                named: named.clone(),
            }));
        }
        pictures
    }

    /// Uploads and attaches pictures, several at a time, and returns the outcome of each in their order. After a signal those that are
    /// being sent are completed, and no others are begun.
    pub fn upload(
        &self,
        pictures: &[NamedPicture],
        mut signals: Signals,
    ) -> impl Stream<Item = Result<UploadOutcome>> {
        let interrupted = async move { signals.next().await };
        let begun = futures::stream::iter(pictures).take_until(interrupted);
        begun.map(move |picture| self.upload_one(picture)).buffered(AT_ONCE)
    }

    /// Returns the names of files that are needed and do not exist.
    pub async fn absent(&self, pictures: Vec<NamedPicture>) -> Vec<String> {
        let needed = pictures.into_iter().filter(|picture| !picture.is_stored);
        absent_below(&self.folder, needed.map(|picture| picture.named.written).collect()).await
    }

    async fn upload_one(&self, named: &NamedPicture) -> Result<UploadOutcome> {
        let WrittenPicture { written, .. } = &named.named;
        let bytes = match read_below(&self.folder, written).await {
            Ok(Some(bytes)) => bytes,
            Ok(None) if named.is_stored => return Ok(UploadOutcome::WithoutFile),
            Ok(None) => return Ok(UploadOutcome::Refused(absent(&self.folder.join(written)))),
            Err(reason) => return Ok(UploadOutcome::Refused(reason)),
        };
        // What the project has is not sent again.
        if named.is_stored
            && let Ok(outcome) = self.attach(named, PictureId(Sha256::digest(&bytes).into())).await?
        {
            return Ok(outcome);
        }
        match self.session.store_picture(bytes).await? {
            Ok(stored) => Ok(self.attach(named, stored).await?.unwrap_or_else(UploadOutcome::Refused)),
            Err(reason) => Ok(UploadOutcome::Refused(reason)),
        }
    }

    /// Attaches a stored picture. The inner error is why it is refused.
    async fn attach(&self, named: &NamedPicture, stored: PictureId) -> Result<Result<UploadOutcome, String>> {
        let (slug, picture) = (named.slug.clone(), named.named.picture.clone());
        let command = Command::Attach { slug, picture, kept: Some(stored), as_named: false };
        match self.session.send(self.actor.clone(), Some(self.correlation), command).await? {
            CommandReply::Project(outcome) if outcome.changed => {
                Ok(Ok(UploadOutcome::Attached(outcome.position)))
            }
            CommandReply::Project(_) => Ok(Ok(UploadOutcome::Same)),
            CommandReply::Failed(refusal) => Ok(Err(refusal.detail)),
            _ => bail!(UNEXPECTED_REPLY),
        }
    }
}

/// Returns the project of a line that was imported, whether it has all pictures that the line names as files, and which if it has some.
fn imported(result: &LineResult) -> Option<(&Slug, bool, &[String])> {
    match result {
        LineResult::New { slug } => Some((slug, false, &[])),
        LineResult::Changed { slug, pictures_kept, kept_pictures, .. }
        | LineResult::Same { slug, pictures_kept, kept_pictures } => {
            Some((slug, *pictures_kept, kept_pictures))
        }
        LineResult::Rejected { .. } => None,
    }
}

/// Returns the sentence about pictures whose files are not there and that their projects have.
pub fn pictures_that_stay(number: u64) -> Option<String> {
    match number {
        0 => None,
        1 => Some("Pictures: 1 stays although its file was not found.".to_owned()),
        _ => Some(format!("Pictures: {} stay although their files were not found.", count(number))),
    }
}
