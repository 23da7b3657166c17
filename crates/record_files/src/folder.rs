//! A folder with one JSON file for each record.

use std::fs::{self, FileType};
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::record::{Content, Refusal, SourceReason, SourceRecord};
use crate::source_error::SourceError;
use crate::{MAX_RECORD_BYTES, Place, decode, detection};

/// The most files of a folder. Their names are held in memory to be sorted.
pub const MAX_FOLDER_FILES: usize = 1_000_000;

/// What a folder has.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Its JSON files, and what is no file but would be read as one, in the order of their names.
    files: Vec<PathBuf>,
    /// The number of other entries, and the name of one.
    others: (usize, String),
}

impl Listing {
    /// Lists a folder, without the folders in it.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, has no JSON file, or more than [`MAX_FOLDER_FILES`].
    pub(crate) fn new(folder: &Path) -> Result<Listing, SourceError> {
        let name = || folder.display().to_string();
        let unreadable = |source| SourceError::Unreadable { file: name(), source };
        let (mut files, mut others) = (Vec::new(), (0, String::new()));
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // Hidden files are those of the system, such as .DS_Store and ._name.json of macOS.
            if file_name.starts_with('.') {
                continue;
            }
            let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
            if is_json || special_kind(&path).is_some() {
                files.push(path);
            } else {
                others.0 += 1;
                if others.1.is_empty() || file_name < others.1 {
                    others.1 = file_name;
                }
            }
            if files.len() > MAX_FOLDER_FILES {
                return Err(SourceError::ManyFiles { file: name(), most: MAX_FOLDER_FILES });
            }
        }
        if files.is_empty() {
            return Err(SourceError::EmptyFolder { file: name() });
        }
        files.sort();
        Ok(Listing { files, others })
    }

    /// Returns a sentence about what is not read.
    pub(crate) fn note(&self, folder: &str) -> Option<String> {
        let (count, example) = &self.others;
        match count {
            0 => None,
            1 => Some(format!("{example} in {folder} does not end in .json and is not read.")),
            _ => Some(format!(
                "{count} entries of {folder} do not end in .json and are not read, for example {example}."
            )),
        }
    }

    /// Returns the records of the files, which are read one by one.
    pub(crate) fn records(self) -> impl Iterator<Item = SourceRecord> + Send + use<> {
        (1..).zip(self.files).map(|(number, path)| {
            let place = Place::File { file: Arc::from(path.display().to_string()), number };
            SourceRecord { place, content: read(&path) }
        })
    }
}

/// Reads the record of a file.
fn read(path: &Path) -> Result<Content, Refusal> {
    let refusal = |reason| Refusal { text: String::new(), reason };
    // Nothing but a file is opened: a named pipe would wait for its writer.
    if let Some(kind) = special_kind(path) {
        return Err(refusal(SourceReason::Special { kind }));
    }
    let bytes = bounded_file::read(path, MAX_RECORD_BYTES as u64).map_err(|error| {
        refusal(match bounded_file::Refusal::of(&error) {
            Some(bounded_file::Refusal::TooLarge(_)) => SourceReason::TooLong,
            Some(bounded_file::Refusal::NotRegular) => SourceReason::Special { kind: "folder" },
            None => SourceReason::Unreadable(error.to_string()),
        })
    })?;
    let encoding = detection::by_mark_or_zeros(&bytes).unwrap_or(crate::Encoding::Utf8);
    let mut text = Vec::new();
    decode(Box::new(&bytes[..]), encoding)
        .and_then(|mut reader| Ok(reader.read_to_end(&mut text)?))
        .map_err(|error| refusal(SourceReason::Unreadable(error.to_string())))?;
    let text = text.trim_ascii();
    match crate::ndjson::record(text) {
        Ok(text) if text.is_empty() => Err(refusal(SourceReason::Blank)),
        Ok(text) => Ok(Content::Json(text)),
        Err(invalid) => Err(invalid.into()),
    }
}

/// Returns what a path is that is neither a file nor a folder, links followed; `None` if it is one of these, or gone.
fn special_kind(path: &Path) -> Option<&'static str> {
    kind(fs::metadata(path).ok()?.file_type())
}

fn kind(file: FileType) -> Option<&'static str> {
    if file.is_fifo() {
        Some("named pipe")
    } else if file.is_socket() {
        Some("socket")
    } else if file.is_block_device() || file.is_char_device() {
        Some("device")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs::write;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn files_are_read_in_the_order_of_their_names_and_special_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        write(path("b.json"), "\u{feff}{\"id\": 2}\n").unwrap();
        write(path("a.JSON"), "{\n\"id\": 1}").unwrap();
        write(path("c.json"), " \n").unwrap();
        write(path("d.json"), vec![b' '; MAX_RECORD_BYTES + 1]).unwrap();
        write(path("e.json"), b"{\"name\":\"Z\xfcrich\"}").unwrap();
        write(path("._b.json"), "x").unwrap();
        write(path("read me.txt"), "x").unwrap();
        std::fs::create_dir(path("images")).unwrap();
        std::fs::create_dir(path("f.json")).unwrap();
        std::os::unix::fs::symlink("nowhere", path("g.json")).unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(path("pipe.json")).status().unwrap();
        assert!(pipe.success());

        let listing = Listing::new(folder.path()).unwrap();
        let note = "2 entries of works do not end in .json and are not read, for example images.";
        assert_eq!(listing.note("works").as_deref(), Some(note));
        let prefix = format!("{}/", folder.path().display());
        let records = listing.records().map(|SourceRecord { place, content }| {
            let name = place.to_string().replacen(&prefix, "", 1);
            match content {
                Ok(Content::Json(text)) => format!("{} {name}: {text}", place.number()),
                Ok(Content::Cells(cells)) => panic!("{cells:?}"),
                Err(refusal) => format!("{} {name} {}", place.number(), refusal.reason),
            }
        });
        assert_eq!(
            records.collect::<Vec<_>>(),
            [
                "1 a.JSON: {\n\"id\": 1}",
                "2 b.json: {\"id\": 2}",
                "3 c.json is blank; write the record in it, or take it out of the folder",
                "4 d.json is longer than 1 MiB, the maximum of a record; take out of it what is no text of the record",
                "5 e.json has the byte 0xFC at byte 11, which is not UTF-8; save it as UTF-8",
                "6 f.json is a folder, which is not read; move it out of the folder",
                "7 g.json cannot be read: No such file or directory (os error 2)",
                "8 pipe.json is a named pipe, which is not read; move it out of the folder",
                "9 socket is a socket, which is not read; move it out of the folder",
            ]
        );
    }

    #[test]
    fn a_folder_without_json_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let error = Listing::new(folder.path()).unwrap_err().to_string();
        let name = folder.path().display();
        assert_eq!(
            error,
            format!(
                "{name} has no file whose name ends in .json; name the folder with the records, one JSON file each"
            )
        );
    }
}
