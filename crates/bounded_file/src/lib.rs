//! Reads files that somebody else may have written, such as those of a backup: only regular files, and no more bytes than a file of
//! its kind can have.
//!
//! Opening a named pipe waits until somebody writes to it, a device may never end, and a file of gigabytes that is read into memory ends
//! the process. None of these is opened or read here.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! let file = folder.path().join("manifest.json");
//! std::fs::write(&file, "{}")?;
//! assert_eq!(bounded_file::read(&file, 64)?, b"{}");
//! let refused = bounded_file::read(&file, 1).unwrap_err();
//! assert_eq!(refused.to_string(), "it has more than 1 byte, the most that a file of its kind has");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Why a file that exists and may be read is not read: the source of an [`io::Error`]. Trying again does not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is a folder, a named pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is larger than a file of its kind can be.
    #[error("it has more than {0} byte{s}, the most that a file of its kind has", s = if *.0 == 1 { "" } else { "s" })]
    TooLarge(u64),
}

impl Refusal {
    /// Returns why the file of an error was refused; `None` if it could not be read for another reason.
    pub fn of(error: &io::Error) -> Option<Refusal> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        let kind = match refusal {
            Refusal::NotRegular => io::ErrorKind::InvalidInput,
            Refusal::TooLarge(_) => io::ErrorKind::FileTooLarge,
        };
        io::Error::new(kind, refusal)
    }
}

/// Opens a regular file, or a link to one, for reading. Never waits for a writer.
///
/// # Errors
///
/// Fails with [`Refusal::NotRegular`] for anything else, and if the file is absent or may not be read.
pub fn open(path: &Path) -> io::Result<File> {
    // Looked at first, since opening some devices has effects.
    if !fs::metadata(path)?.is_file() {
        return Err(Refusal::NotRegular.into());
    }
    // Another file may be there by now; without blocking, a pipe is opened at once, and then refused.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Refusal::NotRegular.into()),
    }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
///
/// Fails as [`open`] does, with [`Refusal::TooLarge`], and if the file cannot be read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    if file.metadata()?.len() > limit {
        return Err(Refusal::TooLarge(limit).into());
    }
    read_all(file, limit)
}

/// Reads a regular file of at most `limit` bytes of UTF-8.
///
/// # Errors
///
/// Fails as [`read`] does, and if the bytes are not UTF-8.
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    text(read(path, limit)?)
}

/// Reads anything to its end, which comes after at most `limit` bytes.
///
/// # Errors
///
/// Fails with [`Refusal::TooLarge`] after so many bytes, and if it cannot be read.
pub fn read_all(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(Refusal::TooLarge(limit).into()),
        false => Ok(bytes),
    }
}

/// Reads anything of UTF-8 to its end, which comes after at most `limit` bytes.
///
/// # Errors
///
/// Fails as [`read_all`] does, and if the bytes are not UTF-8.
pub fn read_all_to_string(from: impl Read, limit: u64) -> io::Result<String> {
    text(read_all(from, limit)?)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_regular_file_is_read_up_to_its_limit_also_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "wörds").unwrap();
        symlink(&file, &link).unwrap();
        for path in [&file, &link] {
            assert_eq!(read_to_string(path, 6).unwrap(), "wörds");
            let refused = read(path, 5).unwrap_err();
            assert_eq!(Refusal::of(&refused), Some(Refusal::TooLarge(5)));
            let reason = "it has more than 5 bytes, the most that a file of its kind has";
            assert_eq!(
                (refused.kind(), refused.to_string()),
                (io::ErrorKind::FileTooLarge, reason.to_owned())
            );
        }
        fs::write(&file, [0xff]).unwrap();
        assert_eq!(read_to_string(&file, 6).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let refused = read(path, 6).unwrap_err();
            assert_eq!(Refusal::of(&refused), Some(Refusal::NotRegular), "{}", path.display());
            assert_eq!(refused.to_string(), "it is not a regular file");
        }
        let absent = open(&folder.path().join("absent")).unwrap_err();
        assert_eq!((absent.kind(), Refusal::of(&absent)), (io::ErrorKind::NotFound, None));
    }

    #[test]
    fn a_large_file_and_an_endless_source_are_not_read_into_memory() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sparse");
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(Refusal::of(&read(&file, 1 << 20).unwrap_err()), Some(Refusal::TooLarge(1 << 20)));
        assert_eq!(Refusal::of(&read_all(io::repeat(b'a'), 9).unwrap_err()), Some(Refusal::TooLarge(9)));
        assert_eq!(read_all_to_string(&b"nine byte"[..], 9).unwrap(), "nine byte");
    }
}
