//! The files of pictures: found in whichever Unicode form the disk has their names, and read only below the folder of the
//! imported file.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use schemas::picture::MAX_PICTURE_BYTES;
use schemas::text::{canonical, composed, decomposed};

/// Finds the file of a name: as the name is written, in NFC, or in NFD, in that order for each folder of the path. Archives
/// and disks of macOS have NFD where the table has NFC, or the other way round. `None` if there is none.
pub fn find(folder: &Path, name: &Path) -> Option<PathBuf> {
    let mut rest = name.components();
    let Some(part) = rest.next() else { return Some(folder.to_owned()) };
    let rest = rest.as_path();
    let written = Path::new(&part);
    let mut spellings = vec![written.to_owned()];
    if let Some(text) = written.to_str().filter(|text| !text.is_ascii()) {
        spellings.extend([PathBuf::from(&*composed(text)), PathBuf::from(decomposed(text))]);
    }
    let paths = spellings.into_iter().map(|spelling| folder.join(spelling));
    // What cannot be examined is left to reading, which says why.
    let mut existing = paths.filter(|path| path.try_exists().unwrap_or(true));
    existing.find_map(|path| find(&path, rest))
}

/// Reads a picture file. The error is a sentence for users.
pub async fn read(path: PathBuf) -> Result<Vec<u8>, String> {
    blocking(move || {
        let found = find(Path::new(""), &path).ok_or_else(|| absent(&path))?;
        read_file(&found)
    })
    .await
}

/// Reads a picture file below a folder, for which the name of the file is written in a record; `None` if there is none.
/// Links that lead out of the folder are not followed: a file of records may come from somebody else, and names only what
/// comes with it. The error is a sentence for users.
pub async fn read_below(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, String> {
    // The folder of a file without one is the current folder.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.to_owned();
    let name = name.to_owned();
    blocking(move || {
        // A name may have blanks at its ends, which its record has not.
        let found = find(&folder, Path::new(&name)).or_else(|| find(&folder, Path::new(&*canonical(&name))));
        let Some(path) = found else { return Ok(None) };
        let unreadable = |error| unreadable(&path, &error);
        let real = path.canonicalize().map_err(unreadable)?;
        if !real.starts_with(folder.canonicalize().map_err(unreadable)?) {
            return Err(format!(
                "{} is a link that leads out of the folder of the imported file, to {}; copy the picture into that folder.",
                path.display(),
                real.display()
            ));
        }
        read_file(&real).map(Some)
    })
    .await
}

/// Returns the sentence about a file that is not there.
pub fn absent(path: &Path) -> String {
    format!("There is no file {}.", path.display())
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}.", path.display())
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error| unreadable(path, &error);
    let length = match std::fs::metadata(path) {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(format!("{} is not a file.", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(absent(path)),
        Err(error) => return Err(unreadable(error)),
    };
    let too_long = |length| format!("It has {length} bytes; a picture may have {MAX_PICTURE_BYTES}.");
    if length > MAX_PICTURE_BYTES as u64 {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile is read no further than a picture may be long.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_PICTURE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_PICTURE_BYTES { Err(too_long(bytes.len() as u64)) } else { Ok(bytes) }
}

/// Runs work on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        folder
    }

    async fn text(folder: &Path, name: &str) -> Result<Option<String>, String> {
        let bytes = read_below(folder, name).await?;
        Ok(bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
    }

    #[tokio::test]
    async fn a_name_is_found_as_it_is_written_and_in_the_other_forms() {
        let (composed, decomposed) = ("T\u{fc}r.jpg", "Tu\u{308}r.jpg");
        let both = folder(&[(composed, "nfc"), (decomposed, "nfd")]);
        for (name, content) in [(composed, "nfc"), (decomposed, "nfd")] {
            assert_eq!(text(both.path(), name).await, Ok(Some(content.to_owned())), "as it is written");
            let one = folder(&[(name, "the only one")]);
            for written in [composed, decomposed] {
                let found = text(one.path(), written).await;
                assert_eq!(found, Ok(Some("the only one".to_owned())), "{name:?} as {written:?}");
                assert_eq!(read(one.path().join(written)).await, Ok(b"the only one".to_vec()));
            }
        }
        let nested = folder(&[("Ha\u{308}user/2019/T\u{fc}r.jpg", "nested"), ("H\u{e4}user/b.jpg", "other")]);
        for written in ["H\u{e4}user/2019/Tu\u{308}r.jpg", "Ha\u{308}user/2019/T\u{fc}r.jpg"] {
            assert_eq!(text(nested.path(), written).await, Ok(Some("nested".to_owned())), "{written:?}");
        }
        let plain = folder(&[("a.jpg", "without blanks")]);
        assert_eq!(text(plain.path(), " a.jpg\u{a0}").await, Ok(Some("without blanks".to_owned())));
        assert_eq!(text(nested.path(), "Tor.jpg").await, Ok(None));
        let missing = nested.path().join(composed);
        assert_eq!(read(missing.clone()).await, Err(absent(&missing)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_link_is_followed_only_within_the_folder() {
        use std::os::unix::fs::symlink;

        let outside = folder(&[("secret.jpg", "outside")]);
        let import = folder(&[("photos/a.jpg", "inside")]);
        let at = |name: &str| import.path().join(name);
        symlink(outside.path(), at("linked")).unwrap();
        symlink(outside.path().join("secret.jpg"), at("photos/linked.jpg")).unwrap();
        symlink(at("photos"), at("pictures")).unwrap();
        symlink("a.jpg", at("photos/b.jpg")).unwrap();
        symlink("nowhere", at("broken.jpg")).unwrap();
        let real = outside.path().join("secret.jpg").canonicalize().unwrap();
        for name in ["linked/secret.jpg", "photos/linked.jpg"] {
            let reason = format!(
                "{} is a link that leads out of the folder of the imported file, to {}; copy the picture into that folder.",
                at(name).display(),
                real.display()
            );
            assert_eq!(text(import.path(), name).await, Err(reason));
        }
        for name in ["photos/a.jpg", "photos/b.jpg", "pictures/a.jpg"] {
            assert_eq!(text(import.path(), name).await, Ok(Some("inside".to_owned())), "{name}");
        }
        assert_eq!(text(import.path(), "broken.jpg").await, Ok(None));
        // The folder of the imported file may itself be a link, and so may a file that a person names.
        let link = outside.path().join("import");
        symlink(import.path(), &link).unwrap();
        assert_eq!(text(&link, "photos/a.jpg").await, Ok(Some("inside".to_owned())));
        assert_eq!(read(at("photos/linked.jpg")).await, Ok(b"outside".to_vec()));
    }

    #[tokio::test]
    async fn what_is_no_picture_file_is_refused_with_a_sentence() {
        let folder = folder(&[("photos/a.jpg", "a")]);
        let photos = folder.path().canonicalize().unwrap().join("photos");
        assert_eq!(text(folder.path(), "photos").await, Err(format!("{} is not a file.", photos.display())));
        let long = std::fs::File::create(folder.path().join("long.jpg")).unwrap();
        long.set_len(MAX_PICTURE_BYTES as u64 + 1).unwrap();
        let reason =
            format!("It has {} bytes; a picture may have {MAX_PICTURE_BYTES}.", MAX_PICTURE_BYTES + 1);
        assert_eq!(text(folder.path(), "long.jpg").await, Err(reason));
    }
}
