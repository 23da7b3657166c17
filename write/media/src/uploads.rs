//! Uploads in chunks, which the command line can resume. The length of the partial file is the only state, so uploads survive a
//! restart.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use pictures::PictureError;
use schemas::clock::Clock;
use schemas::picture::{MAX_PICTURE_BYTES, Picture, PictureId};
use sha2::{Digest, Sha256};

use super::{MediaError, MediaStore, PutError};

/// The most bytes of one chunk: half of the default maximum of a NATS message.
pub const MAX_CHUNK_BYTES: usize = 512 << 10;
/// The most concurrent uploads; each takes up to 10 MiB of disk.
const MAX_UPLOADS: usize = 16;
/// The time without a chunk after which an upload is dropped.
const EXPIRY: SignedDuration = SignedDuration::from_hours(1);

/// The uploads into a store. Its methods block, as those of [`MediaStore`] do.
pub struct Uploads {
    store: Arc<MediaStore>,
    folder: PathBuf,
    clock: Clock,
    /// Serialises appends: each checks the length first.
    append_lock: Mutex<()>,
}

/// The state of an upload after a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// More chunks are expected.
    More(u64),
    /// The picture is stored.
    Stored(Picture),
    /// The picture is refused, and its bytes are deleted.
    Refused(String),
}

/// Why a chunk is not added. The bytes received before it stay.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The chunk does not start at the end of the received bytes.
    #[error("the next chunk of picture {id} begins at byte {expected}; continue from there")]
    WrongOffset {
        /// The picture.
        id: PictureId,
        /// The offset of the next chunk, in bytes.
        expected: u64,
    },
    /// The chunk exceeds the length of the picture.
    #[error("the chunk ends at byte {end} of a picture of {total} bytes: send no more than is left")]
    PastEnd {
        /// The end of the chunk, in bytes.
        end: u64,
        /// The length of the picture, in bytes.
        total: u64,
    },
    /// The chunk is too large.
    #[error("the chunk has {0} bytes; the most is {MAX_CHUNK_BYTES}: send smaller ones")]
    ChunkTooLarge(usize),
    /// Too many uploads are active.
    #[error("{MAX_UPLOADS} pictures are being sent already: try again when one of them has come")]
    TooManyUploads,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] MediaError),
}

impl Uploads {
    /// Resumes the uploads in the folder of the store, and removes those without a chunk for an hour.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read or written.
    pub fn open(store: Arc<MediaStore>, clock: Clock) -> Result<Uploads, MediaError> {
        let folder = store.files.incoming();
        let uploads = Uploads { store, folder, clock, append_lock: Mutex::new(()) };
        uploads.count_active()?;
        Ok(uploads)
    }

    /// Adds a chunk at byte `offset` of a picture of `total` bytes. The last chunk stores the picture or refuses it; an empty chunk
    /// at the end repeats that step. A picture that is already stored needs no chunk.
    ///
    /// # Errors
    ///
    /// If the chunk cannot be added, or the store fails.
    pub fn add_chunk(
        &self,
        id: PictureId,
        offset: u64,
        total: u64,
        bytes: &[u8],
    ) -> Result<Progress, UploadError> {
        if let Some(error) = self.store.refuse_erased(id)? {
            return Ok(Progress::Refused(error.to_string()));
        }
        if let Some(stored) = self.store.get(id)? {
            self.remove(id)?;
            return Ok(Progress::Stored(stored));
        }
        if bytes.len() > MAX_CHUNK_BYTES {
            return Err(UploadError::ChunkTooLarge(bytes.len()));
        }
        if total == 0 {
            return Ok(Progress::Refused(PictureError::Empty.to_string()));
        }
        if total > u64::try_from(MAX_PICTURE_BYTES).unwrap_or(u64::MAX) {
            self.remove(id)?;
            return Ok(Progress::Refused(PictureError::TooManyBytes { bytes: total }.to_string()));
        }
        let received = self.append(id, offset, total, bytes)?;
        if received < total { Ok(Progress::More(received)) } else { self.finish(id) }
    }

    /// Appends the bytes to the partial file and returns its length.
    fn append(&self, id: PictureId, offset: u64, total: u64, bytes: &[u8]) -> Result<u64, UploadError> {
        let _guard = self.append_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.part(id);
        let unavailable = |error| MediaError::unavailable(&path, error);
        let length = length(&path).map_err(unavailable)?;
        let expected = length.unwrap_or(0);
        if offset != expected {
            return Err(UploadError::WrongOffset { id, expected });
        }
        let end = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if end > total {
            return Err(UploadError::PastEnd { end, total });
        }
        if length.is_none() && self.count_active()? >= MAX_UPLOADS {
            return Err(UploadError::TooManyUploads);
        }
        let mut file = File::options().create(true).append(true).open(&path).map_err(unavailable)?;
        // A failed write leaves a prefix of the chunk: the next answer gives the sender the offset after it.
        file.write_all(bytes).map_err(unavailable)?;
        Ok(end)
    }

    /// Stores or refuses a picture whose bytes are complete.
    fn finish(&self, id: PictureId) -> Result<Progress, UploadError> {
        let path = self.part(id);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // A concurrent call with the same chunk has finished it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let stored = self.store.get(id)?;
                return stored.map(Progress::Stored).ok_or(UploadError::WrongOffset { id, expected: 0 });
            }
            Err(error) => return Err(MediaError::unavailable(&path, error).into()),
        };
        let progress = if id == PictureId(Sha256::digest(&bytes).into()) {
            match self.store.put(&bytes) {
                Ok(picture) => Progress::Stored(picture),
                Err(PutError::Refused(error)) => Progress::Refused(error.to_string()),
                Err(PutError::Store(error)) => return Err(error.into()),
            }
        } else {
            Progress::Refused(
                "Its bytes changed on the way, or while they were sent; send it again.".to_owned(),
            )
        };
        self.remove(id)?;
        Ok(progress)
    }

    /// Returns the number of active uploads, and removes expired ones.
    fn count_active(&self) -> Result<usize, MediaError> {
        let now = self.clock.now();
        let count = || -> io::Result<usize> {
            let mut count = 0;
            for entry in fs::read_dir(&self.folder)? {
                let path = entry?.path();
                if path.extension().is_none_or(|extension| extension != "part") {
                    continue;
                }
                match fs::metadata(&path).and_then(|metadata| metadata.modified()) {
                    Ok(changed) if is_expired(changed, now) => remove(&path)?,
                    Ok(_) => count += 1,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(count)
        };
        count().map_err(|error| MediaError::unavailable(&self.folder, error))
    }

    fn remove(&self, id: PictureId) -> Result<(), MediaError> {
        let path = self.part(id);
        remove(&path).map_err(|error| MediaError::unavailable(&path, error))
    }

    fn part(&self, id: PictureId) -> PathBuf {
        self.store.files.part(id)
    }
}

/// Returns whether a file was last changed too long ago; an unrepresentable time does not count as expired.
fn is_expired(changed: SystemTime, now: Timestamp) -> bool {
    Timestamp::try_from(changed).is_ok_and(|changed| now.duration_since(changed) > EXPIRY)
}

fn length(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
