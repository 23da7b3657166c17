//! Stores pictures durably, each completely or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use bytes::Bytes;
use schemas::erased_pictures::{self, ERASED_PICTURES, ErasedPicture};
use schemas::picture::{Form, PictureId};

use super::MediaReader;

/// The extension of a file that is being written.
const PART: &str = "part";
/// The length of the header of a WebP file, in bytes: `RIFF`, the number of bytes after it, `WEBP`.
const WEBP_HEAD: usize = 12;

impl MediaReader {
    /// Returns whether a picture is stored in a form, with all its bytes.
    pub async fn has(&self, id: PictureId, form: Form) -> bool {
        let path = self.folder.join(form.path(id));
        tokio::task::spawn_blocking(move || file_is_whole(&path, form)).await.unwrap_or(false)
    }

    /// Stores a picture in one of its forms, atomically and durably.
    pub async fn put(&self, id: PictureId, form: Form, bytes: Bytes) -> io::Result<()> {
        let path = self.folder.join(form.path(id));
        tokio::task::spawn_blocking(move || write_durably(&path, &bytes)).await.map_err(io::Error::from)?
    }

    /// Erases a picture permanently and durably: adds it to the journal of the folder, then deletes it. Must not be called concurrently.
    pub async fn erase(&self, erased: ErasedPicture) -> io::Result<()> {
        let mut all = self.erased().await?;
        let (folder, id) = (self.folder.clone(), erased.picture);
        let is_new = all.iter().all(|known| known.picture != id);
        all.push(erased);
        let work = move || {
            if is_new {
                write_durably(&folder.join(ERASED_PICTURES), erased_pictures::text(all).1.as_bytes())?;
            }
            delete(&folder, id)
        };
        tokio::task::spawn_blocking(work).await.map_err(io::Error::from)?
    }

    /// Deletes files of erased pictures that a killed process has left.
    pub async fn finish_erasures(&self) -> io::Result<()> {
        let (erased, folder) = (self.erased().await?, self.folder.clone());
        let work = move || erased.iter().try_for_each(|erased| delete(&folder, erased.picture));
        tokio::task::spawn_blocking(work).await.map_err(io::Error::from)?
    }

    /// Returns truncated files, and removes files that were being written when a process ended. No other process may store pictures
    /// meanwhile.
    pub async fn damaged(&self) -> io::Result<Vec<(PictureId, Form)>> {
        let folder = self.folder.clone();
        tokio::task::spawn_blocking(move || damaged(&folder)).await.map_err(io::Error::from)?
    }
}

/// Returns whether `bytes` is a complete file in this form.
pub fn is_whole(bytes: &[u8], form: Form) -> bool {
    let head = &bytes[..bytes.len().min(WEBP_HEAD)];
    let tail = &bytes[bytes.len().saturating_sub(2)..];
    is_complete(form, bytes.len() as u64, head, tail)
}

/// Returns whether a file of this length, head and tail is complete: WebP files state their length, JPEG files end with a marker.
fn is_complete(form: Form, length: u64, head: &[u8], tail: &[u8]) -> bool {
    match (form, head) {
        (Form::Webp(_), [b'R', b'I', b'F', b'F', a, b, c, d, b'W', b'E', b'B', b'P']) => {
            length >= 8 + u64::from(u32::from_le_bytes([*a, *b, *c, *d]))
        }
        (Form::Jpeg(_), [0xff, 0xd8, ..]) => tail == [0xff, 0xd9],
        (Form::Original, _) => length > 0,
        (Form::Webp(_) | Form::Jpeg(_), _) => false,
    }
}

fn file_is_whole(path: &Path, form: Form) -> bool {
    let check = || -> io::Result<bool> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = Vec::with_capacity(WEBP_HEAD);
        Read::by_ref(&mut file).take(WEBP_HEAD as u64).read_to_end(&mut head)?;
        file.seek(SeekFrom::Start(length.saturating_sub(2)))?;
        let mut tail = Vec::with_capacity(2);
        file.take(2).read_to_end(&mut tail)?;
        Ok(is_complete(form, length, &head, &tail))
    };
    check().unwrap_or(false)
}

fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Err(ErrorKind::InvalidInput.into()) };
    if !folder.is_dir() {
        fs::create_dir_all(folder)?;
        // The folders of the picture, of its first digits and of all pictures may be new.
        folder.ancestors().skip(1).take(3).filter(|above| above.is_dir()).try_for_each(sync)?;
    }
    // The extension is appended, since two forms may have the same width: `640.webp.part`.
    let mut part = path.as_os_str().to_owned();
    part.push(".");
    part.push(PART);
    let mut file = File::create(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&part, path)?;
    sync(folder)
}

/// Deletes all files of a picture, if there are any.
fn delete(root: &Path, id: PictureId) -> io::Result<()> {
    let original = root.join(Form::Original.path(id));
    let Some(folder) = original.parent() else { return Ok(()) };
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.and_then(|()| folder.parent().map_or(Ok(()), sync)),
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn damaged(root: &Path) -> io::Result<Vec<(PictureId, Form)>> {
    let mut damaged = Vec::new();
    for digits in entries(root)? {
        for folder in entries(&digits)? {
            let id = folder.file_name().and_then(|name| name.to_str()?.parse::<PictureId>().ok());
            let Some(id) = id else { continue };
            for file in entries(&folder)? {
                let form = file.file_name().and_then(|name| Form::of(name.to_str()?));
                match form {
                    Some(form) if form != Form::Original && !file_is_whole(&file, form) => {
                        damaged.push((id, form));
                    }
                    None if file.extension().is_some_and(|ending| ending == PART) => fs::remove_file(&file)?,
                    _ => {}
                }
            }
        }
    }
    Ok(damaged)
}

/// Returns the entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: PictureId = PictureId([0x5e; 32]);
    const FORMS: [Form; 2] = [Form::Webp(640), Form::Jpeg(640)];

    fn file(form: Form) -> Bytes {
        match form {
            Form::Jpeg(_) => Bytes::from_static(b"\xff\xd8 a photograph \xff\xd9"),
            _ => Bytes::from_static(b"RIFF\x0c\0\0\0WEBPVP8 body"),
        }
    }

    #[test]
    fn a_file_is_complete_with_its_last_byte() {
        for form in FORMS {
            let bytes = file(form);
            assert!(is_whole(&bytes, form));
            for length in 0..bytes.len() {
                assert!(!is_whole(&bytes[..length], form), "{length} bytes of {form}");
            }
        }
    }

    #[tokio::test]
    async fn an_erased_picture_is_deleted_and_stays_in_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let media = MediaReader::new(folder.path().join("media"));
        assert!(!media.is_erased(ID).await.unwrap());
        media.put(ID, FORMS[0], file(FORMS[0])).await.unwrap();
        let erased =
            |second| ErasedPicture { picture: ID, erased_at: jiff::Timestamp::from_second(second).unwrap() };
        media.erase(erased(1)).await.unwrap();
        assert_eq!(
            (media.read(ID, FORMS[0]).await.unwrap(), media.is_erased(ID).await.unwrap()),
            (None, true)
        );
        media.erase(erased(2)).await.unwrap();
        assert_eq!(media.erased().await.unwrap(), [erased(1)]);
        // As if a process was killed between the two steps.
        media.put(ID, FORMS[0], file(FORMS[0])).await.unwrap();
        media.finish_erasures().await.unwrap();
        assert_eq!(media.read(ID, FORMS[0]).await.unwrap(), None);
        assert!(!folder.path().join("media").join(FORMS[0].path(ID)).parent().unwrap().exists());
        fs::write(folder.path().join("media").join(ERASED_PICTURES), "x\n").unwrap();
        assert_eq!(media.is_erased(ID).await.unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[tokio::test]
    async fn truncated_files_are_found_and_can_be_stored_again() {
        let folder = tempfile::tempdir().unwrap();
        let media = MediaReader::new(folder.path().join("media"));
        assert_eq!(media.damaged().await.unwrap(), []);
        for form in FORMS {
            assert!(!media.has(ID, form).await);
            media.put(ID, form, file(form)).await.unwrap();
            assert!(media.has(ID, form).await);
            assert_eq!(media.read(ID, form).await.unwrap(), Some(file(form)));
        }
        assert_eq!(media.damaged().await.unwrap(), []);
        for (form, left) in [(FORMS[0], 0), (FORMS[1], 5)] {
            let path = folder.path().join("media").join(form.path(ID));
            File::options().write(true).open(path).unwrap().set_len(left).unwrap();
            assert!(!media.has(ID, form).await);
        }
        assert_eq!(media.read(ID, FORMS[0]).await.unwrap(), None, "an empty file is not a picture");
        let left = folder.path().join("media").join(FORMS[0].path(ID)).with_extension("webp.part");
        fs::write(&left, "half").unwrap();
        let mut damaged = media.damaged().await.unwrap();
        damaged.sort_by_key(|(_, form)| form.to_string());
        assert_eq!(damaged, [(ID, FORMS[1]), (ID, FORMS[0])]);
        assert!(!left.exists());
        for form in FORMS {
            media.put(ID, form, file(form)).await.unwrap();
        }
        assert_eq!(media.damaged().await.unwrap(), []);
    }
}
