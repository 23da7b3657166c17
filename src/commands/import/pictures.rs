//! The pictures of an import: files beside the imported one are uploaded to the write side and attached to their projects.
//! Pictures that records name by URL are fetched by the write side itself.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use futures::{StreamExt, TryStreamExt};
use schemas::command::{Command, CommandReply, LineOutcome, LineResult};
use schemas::ids::{Actor, CommandId};
use schemas::picture::MAX_PICTURE_BYTES;
use schemas::record::PictureSource;
use schemas::slug::Slug;

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
    /// Whether the pictures of the project are stored already, so that the file may be missing.
    is_stored: bool,
    pub picture: PictureSource,
}

pub enum UploadOutcome {
    /// The picture is attached, or was before.
    Attached,
    Refused(String),
}

impl<'s> PictureUploader<'s> {
    /// Returns an uploader of pictures in the folder of the imported file; for standard input, in the current folder.
    pub fn new(
        session: &'s Session,
        actor: Actor,
        correlation: CommandId,
        file: &Path,
    ) -> PictureUploader<'s> {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        PictureUploader { session, actor, correlation, folder }
    }

    /// Returns the picture files of those lines that were imported.
    pub fn of_imported_lines(
        &self,
        files: &HashMap<u64, Vec<PictureSource>>,
        outcomes: &[LineOutcome],
    ) -> Vec<NamedPicture> {
        let mut pictures = Vec::new();
        for outcome in outcomes {
            let Some((slug, is_stored)) = imported(&outcome.result) else { continue };
            pictures.extend(files.get(&outcome.number).into_iter().flatten().map(|picture| NamedPicture {
                line: outcome.number,
                slug: slug.clone(),
                is_stored,
                picture: picture.clone(),
            }));
        }
        pictures
    }

    /// Uploads and attaches pictures, several at a time. Returns the outcome of each.
    pub async fn upload(&self, pictures: Vec<NamedPicture>) -> Result<Vec<(NamedPicture, UploadOutcome)>> {
        let uploads = futures::stream::iter(pictures).map(async |picture| {
            let outcome = self.upload_one(&picture).await?;
            Ok::<_, anyhow::Error>((picture, outcome))
        });
        uploads.buffered(AT_ONCE).try_collect().await
    }

    async fn upload_one(&self, named: &NamedPicture) -> Result<UploadOutcome> {
        let path = self.folder.join(&named.picture.source);
        if named.is_stored && matches!(tokio::fs::try_exists(&path).await, Ok(false)) {
            return Ok(UploadOutcome::Attached);
        }
        let bytes = match read(path).await {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(UploadOutcome::Refused(reason)),
        };
        let stored = match self.session.store_picture(bytes).await? {
            Ok(id) => id,
            Err(reason) => return Ok(UploadOutcome::Refused(reason)),
        };
        let picture = named.picture.clone();
        let slug = named.slug.clone();
        let command = Command::Attach { slug, picture, kept: Some(stored), as_named: false };
        match self.session.send(self.actor.clone(), Some(self.correlation), command).await? {
            CommandReply::Project(_) => Ok(UploadOutcome::Attached),
            CommandReply::Failed(refusal) => Ok(UploadOutcome::Refused(refusal.detail)),
            _ => bail!(UNEXPECTED_REPLY),
        }
    }
}

/// Returns the project of a line that was imported, and whether all its picture files are stored already.
fn imported(result: &LineResult) -> Option<(&Slug, bool)> {
    match result {
        LineResult::New { slug } => Some((slug, false)),
        LineResult::Changed { slug, pictures_kept, .. } | LineResult::Same { slug, pictures_kept } => {
            Some((slug, *pictures_kept))
        }
        LineResult::Rejected { .. } => None,
    }
}

/// Reads a picture file. The error is a sentence for users.
pub async fn read(path: PathBuf) -> Result<Vec<u8>, String> {
    let length = match tokio::fs::metadata(&path).await {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(format!("{} is not a file.", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!("There is no file {}.", path.display()));
        }
        Err(error) => return Err(format!("{} cannot be read: {error}.", path.display())),
    };
    if length > MAX_PICTURE_BYTES as u64 {
        return Err(format!("It has {length} bytes; a picture may have {MAX_PICTURE_BYTES}."));
    }
    tokio::fs::read(&path).await.map_err(|error| format!("{} cannot be read: {error}.", path.display()))
}
