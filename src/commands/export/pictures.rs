//! The pictures of an export: the originals, in the files where an import of the records expects them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use cli_output::say;
use data_folder::DataFolder;
use media::MediaStore;
use schemas::picture::{Form, PictureId};

use crate::config::Config;

/// The number of omitted pictures that are named.
const SHOWN: u64 = 20;

/// Writes pictures below a folder.
pub struct Pictures {
    store: MediaStore,
    folder: PathBuf,
    /// The number of pictures in the folder.
    pub written: u64,
    /// The number of pictures that cannot be written under the name that their record has for them.
    pub omitted: u64,
}

impl Pictures {
    pub fn new(config: &Config, folder: &Path) -> Result<Pictures> {
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
        let store = MediaStore::open_read_only(&DataFolder::new(&config.server.data).media());
        Ok(Pictures { store, folder: folder.to_owned(), written: 0, omitted: 0 })
    }

    /// Writes a picture under the name that its record has for it.
    pub fn write(&mut self, source: &str, id: PictureId) -> Result<()> {
        let reason = match self.bytes(source, id)? {
            Ok(bytes) => self.put(source, &bytes)?,
            Err(reason) => Some(reason),
        };
        match reason {
            None => self.written += 1,
            Some(reason) => {
                self.omitted += 1;
                if self.omitted <= SHOWN {
                    say(&format!("the picture {source} is not written: {reason}"));
                }
            }
        }
        Ok(())
    }

    fn bytes(&self, source: &str, id: PictureId) -> Result<Result<Vec<u8>, &'static str>> {
        let is_below = Path::new(source)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_below {
            return Ok(Err("its name leads out of the folder."));
        }
        let original = self.store.read(id, Form::Original)?;
        Ok(original.ok_or("this data folder does not have it."))
    }

    /// Writes a file unless it exists. Returns the reason if another file has its name.
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
