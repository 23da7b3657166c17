//! The pictures of an export: the originals, where an import of the records looks for them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use media::MediaStore;
use schemas::picture::{Form, PictureId};

use crate::config::Config;
use crate::data_folder::DataFolder;
use crate::output::say;

/// How many pictures that are left out are named.
const SHOWN: u64 = 20;

/// Writes pictures below a folder.
pub struct Pictures {
    store: MediaStore,
    folder: PathBuf,
    /// How many are in the folder.
    pub written: u64,
    /// How many cannot be there under the name that their record has for them.
    pub left_out: u64,
}

impl Pictures {
    /// Writes to this folder, which is made.
    pub fn new(config: &Config, folder: &Path) -> Result<Pictures> {
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let store = MediaStore::open_read_only(&DataFolder::new(&config.server.data).media());
        Ok(Pictures { store, folder: folder.to_owned(), written: 0, left_out: 0 })
    }

    /// Writes one picture under the name that its record has for it.
    pub fn write(&mut self, source: &str, id: PictureId) -> Result<()> {
        let reason = match self.bytes(source, id)? {
            Ok(bytes) => self.put(source, &bytes)?,
            Err(reason) => Some(reason),
        };
        match reason {
            None => self.written += 1,
            Some(reason) => {
                self.left_out += 1;
                if self.left_out <= SHOWN {
                    say(&format!("the picture {source} is not written: {reason}"));
                }
            }
        }
        Ok(())
    }

    fn bytes(&self, source: &str, id: PictureId) -> Result<Result<Vec<u8>, &'static str>> {
        let stays = Path::new(source)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !stays {
            return Ok(Err("its name leads out of the folder."));
        }
        let original = self.store.read(id, Form::Original)?;
        Ok(original.ok_or("this data folder does not keep it."))
    }

    /// Writes a file that is not there; gives the reason where another one is.
    fn put(&self, source: &str, bytes: &[u8]) -> Result<Option<&'static str>> {
        let path = self.folder.join(source);
        let failed = || format!("{} cannot be written", path.display());
        match fs::read(&path) {
            Ok(there) if there == bytes => Ok(None),
            Ok(_) => Ok(Some("another picture has its name.")),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder).with_context(failed)?;
                }
                fs::write(&path, bytes).with_context(failed)?;
                Ok(None)
            }
            Err(error) => Err(error).with_context(failed),
        }
    }
}
