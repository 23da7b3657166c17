//! The stored pictures of a node: files named by the hash of their content, so that they never change.

#[cfg(feature = "apply")]
mod writer;

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use bytes::Bytes;
use schemas::erased_pictures::{self, ERASED_PICTURES, ErasedPicture};
use schemas::picture::{Form, PictureId};
#[cfg(feature = "apply")]
pub use writer::is_whole;

/// Reads the media folder of a node.
#[derive(Debug, Clone)]
pub struct MediaReader {
    folder: PathBuf,
}

impl MediaReader {
    /// Returns the reader of a folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> MediaReader {
        MediaReader { folder: folder.into() }
    }

    /// Returns the bytes of a picture in one of its forms, if they are stored. An empty file, as a power cut may leave it, counts as
    /// missing.
    pub async fn read(&self, id: PictureId, form: Form) -> io::Result<Option<Bytes>> {
        match tokio::fs::read(self.folder.join(form.path(id))).await {
            Ok(bytes) => Ok(Some(Bytes::from(bytes)).filter(|bytes| !bytes.is_empty())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the width of the widest stored rendition of a picture, in pixels, if any is stored.
    pub async fn largest_width(&self, id: PictureId) -> io::Result<Option<u32>> {
        let file = self.folder.join(Form::Original.path(id));
        let Some(folder) = file.parent() else { return Ok(None) };
        let mut entries = match tokio::fs::read_dir(folder).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut largest = None;
        while let Some(entry) = entries.next_entry().await? {
            if let Some(Form::Webp(width)) = entry.file_name().to_str().and_then(Form::of) {
                largest = largest.max(Some(width));
            }
        }
        Ok(largest)
    }

    /// Returns whether a picture was erased permanently, according to the journal of the folder. The journal is read each time: other
    /// processes write it, and it is needed only for missing pictures.
    pub async fn is_erased(&self, id: PictureId) -> io::Result<bool> {
        Ok(self.erased().await?.iter().any(|erased| erased.picture == id))
    }

    /// Returns the permanently erased pictures.
    async fn erased(&self) -> io::Result<Vec<ErasedPicture>> {
        let path = self.folder.join(ERASED_PICTURES);
        let text = match tokio::fs::read_to_string(&path).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            text => text?,
        };
        erased_pictures::parse(&text).map_err(|line| {
            let reason = format!("line {line} of {} names no erased picture", path.display());
            io::Error::new(ErrorKind::InvalidData, reason)
        })
    }
}
