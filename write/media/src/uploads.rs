//! Pictures that arrive in pieces, from a command line that may stop and go on. How much of one has come is told by the
//! length of its file alone, so a restart forgets nothing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use pictures::Fault;
use schemas::clock::Clock;
use schemas::picture::{MAX_PICTURE_BYTES, Picture, PictureId};
use sha2::{Digest, Sha256};

use super::{MediaError, MediaStore, TakeError};

/// The most bytes of one chunk, so that it fits into a message with room to spare.
pub const MAX_CHUNK_BYTES: usize = 512 << 10;
/// The most pictures that may be on their way at once; each takes up to 10 MiB of disk.
const MOST: usize = 16;
/// One that nothing was added to for so long is given up.
const GIVEN_UP_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// The pictures that are on their way into a store. As there, callers wait for the disk and the processor.
pub struct Uploads {
    store: Arc<MediaStore>,
    folder: PathBuf,
    clock: Clock,
    /// One chunk is added at a time: its place is looked up first.
    adding: Mutex<()>,
}

/// What has become of a picture after a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// So many bytes of it are here, and the next chunk begins there.
    More {
        /// In bytes.
        received: u64,
    },
    /// It is kept.
    Taken(Picture),
    /// It is not kept, and nothing of it is here.
    Refused(
        /// Why, in a sentence for editors.
        String,
    ),
}

/// Why a chunk is not added. The bytes before it are still here.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// It does not follow what is here.
    #[error("the next chunk of picture {id} begins at byte {expected}: go on from there")]
    OutOfStep {
        /// Of the picture.
        id: PictureId,
        /// Where the next chunk begins, in bytes.
        expected: u64,
    },
    /// It goes beyond the end of the picture.
    #[error("the chunk ends at byte {end} of a picture of {total} bytes: send no more than is left")]
    BeyondTheEnd {
        /// Where it ends, in bytes.
        end: u64,
        /// The length of the picture, in bytes.
        total: u64,
    },
    /// It has too many bytes.
    #[error("the chunk has {bytes} bytes; the most is {MAX_CHUNK_BYTES}: send smaller ones")]
    ChunkTooLarge {
        /// How many it has.
        bytes: usize,
    },
    /// Too many pictures are on their way.
    #[error("{MOST} pictures are being sent already: try again when one of them has come")]
    TooMany,
    /// The disk does not do it.
    #[error(transparent)]
    Store(#[from] MediaError),
}

impl Uploads {
    /// Goes on with what the folder of the store holds; what nothing was added to for an hour is removed.
    pub fn open(store: Arc<MediaStore>, clock: Clock) -> Result<Uploads, MediaError> {
        let folder = store.files.incoming();
        let uploads = Uploads { store, folder, clock, adding: Mutex::new(()) };
        uploads.under_way()?;
        Ok(uploads)
    }

    /// Adds a chunk that begins at byte `offset` of a picture of `total` bytes. With the last one the picture is taken
    /// or refused; that may be asked for again, with a chunk of no bytes at its end. Of a picture that is kept already
    /// no chunk is needed.
    pub fn chunk(
        &self,
        id: PictureId,
        offset: u64,
        total: u64,
        bytes: &[u8],
    ) -> Result<Progress, UploadError> {
        if let Some(fault) = self.store.refuse_erased(id)? {
            return Ok(Progress::Refused(fault.to_string()));
        }
        if let Some(kept) = self.store.get(id)? {
            self.remove(id)?;
            return Ok(Progress::Taken(kept));
        }
        if bytes.len() > MAX_CHUNK_BYTES {
            return Err(UploadError::ChunkTooLarge { bytes: bytes.len() });
        }
        if total == 0 {
            return Ok(Progress::Refused(Fault::Empty.to_string()));
        }
        if total > u64::try_from(MAX_PICTURE_BYTES).unwrap_or(u64::MAX) {
            self.remove(id)?;
            return Ok(Progress::Refused(Fault::TooManyBytes { bytes: total }.to_string()));
        }
        let received = self.add(id, offset, total, bytes)?;
        if received < total { Ok(Progress::More { received }) } else { self.finish(id) }
    }

    /// Adds the bytes to the file, and tells its length then.
    fn add(&self, id: PictureId, offset: u64, total: u64, bytes: &[u8]) -> Result<u64, UploadError> {
        let _one = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.part(id);
        let unavailable = |error| MediaError::unavailable(&path, error);
        let here = length(&path).map_err(unavailable)?;
        let expected = here.unwrap_or(0);
        if offset != expected {
            return Err(UploadError::OutOfStep { id, expected });
        }
        let end = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if end > total {
            return Err(UploadError::BeyondTheEnd { end, total });
        }
        if here.is_none() && self.under_way()? >= MOST {
            return Err(UploadError::TooMany);
        }
        let mut file = File::options().create(true).append(true).open(&path).map_err(unavailable)?;
        // What is written of a chunk that fails is a beginning of it: the sender is told to go on behind that.
        file.write_all(bytes).map_err(unavailable)?;
        Ok(end)
    }

    /// Takes or refuses the picture whose bytes are all here.
    fn finish(&self, id: PictureId) -> Result<Progress, UploadError> {
        let path = self.part(id);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            // The same was asked for twice, and the other was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let kept = self.store.get(id)?;
                return kept.map(Progress::Taken).ok_or(UploadError::OutOfStep { id, expected: 0 });
            }
            Err(error) => return Err(MediaError::unavailable(&path, error).into()),
        };
        let progress = if id == PictureId(Sha256::digest(&bytes).into()) {
            match self.store.take(&bytes) {
                Ok(picture) => Progress::Taken(picture),
                Err(TakeError::Refused(fault)) => Progress::Refused(fault.to_string()),
                Err(TakeError::Store(error)) => return Err(error.into()),
            }
        } else {
            Progress::Refused(
                "Its bytes changed on the way, or while they were sent; send it again.".to_owned(),
            )
        };
        self.remove(id)?;
        Ok(progress)
    }

    /// How many pictures are on their way, without those that are given up, which are removed.
    fn under_way(&self) -> Result<usize, MediaError> {
        let now = self.clock.now();
        let count = || -> io::Result<usize> {
            let mut count = 0;
            for entry in fs::read_dir(&self.folder)? {
                let path = entry?.path();
                if path.extension().is_none_or(|extension| extension != "part") {
                    continue;
                }
                match fs::metadata(&path).and_then(|metadata| metadata.modified()) {
                    Ok(changed) if given_up(changed, now) => remove(&path)?,
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

/// Whether a file was last changed too long ago; a time that cannot be told is no reason to give up.
fn given_up(changed: SystemTime, now: Timestamp) -> bool {
    Timestamp::try_from(changed).is_ok_and(|changed| now.duration_since(changed) > GIVEN_UP_AFTER)
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
