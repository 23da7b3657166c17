//! The pictures of an import: files beside the imported one are brought to the write side and attached to their projects.
//! Those that records name by URL are fetched by the write side itself.

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

use crate::session::Session;

/// How many pictures are under way at once.
const AT_ONCE: usize = 8;

/// Brings the pictures of lines that were taken.
pub struct Pictures<'s> {
    session: &'s Session,
    actor: Actor,
    correlation: CommandId,
    /// The folder of the imported file.
    folder: PathBuf,
}

/// A picture that a line names.
pub struct Wanted {
    /// The line's number.
    pub line: u64,
    /// The project.
    slug: Slug,
    /// Whether one is kept already: its file need not be there.
    is_kept: bool,
    /// As the record names it.
    pub picture: PictureSource,
}

/// What became of a picture.
pub enum Brought {
    /// It is attached, as it may have been before.
    Attached,
    /// It is not, for this reason.
    Refused(String),
}

impl<'s> Pictures<'s> {
    /// The pictures of a file of records; those of standard input are looked for in the working folder.
    pub fn new(session: &'s Session, actor: Actor, correlation: CommandId, file: &Path) -> Pictures<'s> {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        Pictures { session, actor, correlation, folder }
    }

    /// Returns the files of those lines that were taken.
    pub fn of(&self, files: &HashMap<u64, Vec<PictureSource>>, outcomes: &[LineOutcome]) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for outcome in outcomes {
            let Some((slug, is_kept)) = taken(&outcome.result) else { continue };
            wanted.extend(files.get(&outcome.number).into_iter().flatten().map(|picture| Wanted {
                line: outcome.number,
                slug: slug.clone(),
                is_kept,
                picture: picture.clone(),
            }));
        }
        wanted
    }

    /// Brings them, several at a time, and tells of each.
    pub async fn bring(&self, wanted: Vec<Wanted>) -> Result<Vec<(Wanted, Brought)>> {
        let brought = futures::stream::iter(wanted).map(async |wanted| {
            let brought = self.bring_one(&wanted).await?;
            Ok::<_, anyhow::Error>((wanted, brought))
        });
        brought.buffered(AT_ONCE).try_collect().await
    }

    async fn bring_one(&self, wanted: &Wanted) -> Result<Brought> {
        let path = self.folder.join(&wanted.picture.source);
        if wanted.is_kept && matches!(tokio::fs::try_exists(&path).await, Ok(false)) {
            return Ok(Brought::Attached);
        }
        let bytes = match read(path).await {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(Brought::Refused(reason)),
        };
        let kept = match self.session.keep_picture(bytes).await? {
            Ok(kept) => kept,
            Err(reason) => return Ok(Brought::Refused(reason)),
        };
        let picture = wanted.picture.clone();
        let slug = wanted.slug.clone();
        let command = Command::Attach { slug, picture, kept: Some(kept), as_named: false };
        match self.session.send(self.actor.clone(), Some(self.correlation), command).await? {
            CommandReply::Done(_) => Ok(Brought::Attached),
            CommandReply::Failed(refusal) => Ok(Brought::Refused(refusal.detail)),
            _ => bail!("the write side answered with something else; are both of one version?"),
        }
    }
}

/// The project of a line that was taken, and whether all its files are kept already.
fn taken(result: &LineResult) -> Option<(&Slug, bool)> {
    match result {
        LineResult::New { slug } => Some((slug, false)),
        LineResult::Changed { slug, pictures_kept, .. } | LineResult::Same { slug, pictures_kept } => {
            Some((slug, *pictures_kept))
        }
        LineResult::Rejected { .. } => None,
    }
}

/// The bytes of a picture's file, or why there are none.
pub async fn read(path: PathBuf) -> Result<Vec<u8>, String> {
    let length = match tokio::fs::metadata(&path).await {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(format!("{} is no file.", path.display())),
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
