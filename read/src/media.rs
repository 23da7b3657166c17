//! The kept pictures of a node: files named by what they hold, so that none ever changes.

#[cfg(feature = "apply")]
mod keeping;

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use bytes::Bytes;
#[cfg(feature = "apply")]
pub use keeping::is_whole;
use schemas::erased_pictures::{self, ERASED_PICTURES, ErasedPicture};
use schemas::picture::{Form, PictureId};

/// Reads the media folder of a node.
#[derive(Debug, Clone)]
pub struct MediaReader {
    folder: PathBuf,
}

impl MediaReader {
    /// The pictures below this folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> MediaReader {
        MediaReader { folder: folder.into() }
    }

    /// The bytes of a picture in one of its forms; nothing where it is not kept in that form. A file that a loss of power
    /// has left empty counts as none.
    pub async fn read(&self, id: PictureId, form: Form) -> io::Result<Option<Bytes>> {
        match tokio::fs::read(self.folder.join(form.path(id))).await {
            Ok(bytes) => Ok(Some(Bytes::from(bytes)).filter(|bytes| !bytes.is_empty())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a picture was taken down for good, as the journal of the folder says. It is read each time: other processes
    /// write it, and it is asked only for what is not kept.
    pub async fn is_erased(&self, id: PictureId) -> io::Result<bool> {
        Ok(self.erased().await?.iter().any(|erased| erased.picture == id))
    }

    /// The pictures that were taken down for good.
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
