//! The kept pictures of a node: files named by what they hold, so that none ever changes.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use bytes::Bytes;
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

    /// The bytes of a picture in one of its forms; nothing where it is not kept in that form.
    pub async fn read(&self, id: PictureId, form: Form) -> io::Result<Option<Bytes>> {
        match tokio::fs::read(self.folder.join(form.path(id))).await {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a picture is kept in a form.
    #[cfg(feature = "apply")]
    pub async fn has(&self, id: PictureId, form: Form) -> bool {
        tokio::fs::try_exists(self.folder.join(form.path(id))).await.unwrap_or(false)
    }

    /// Keeps a picture in one of its forms: whole or not at all.
    #[cfg(feature = "apply")]
    pub async fn put(&self, id: PictureId, form: Form, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(form.path(id));
        if let Some(folder) = path.parent() {
            tokio::fs::create_dir_all(folder).await?;
        }
        let part = path.with_extension("part");
        tokio::fs::write(&part, bytes).await?;
        tokio::fs::rename(&part, &path).await
    }
}
