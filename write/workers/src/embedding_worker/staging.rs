//! Vectors that are computed and set aside in a file until all are there. After a restart the rest is computed.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use schemas::event::VectorsRecorded;
use schemas::ids::{Position, ProjectId};
use serde::{Deserialize, Serialize};

/// Vectors by project, the newest of each.
#[derive(Debug)]
pub(super) struct Staging {
    path: PathBuf,
    /// The name of the encoder.
    encoder: String,
    /// `None` until the first vectors.
    contents: Mutex<Option<Contents>>,
}

#[derive(Debug)]
struct Contents {
    file: File,
    /// The length of the file in bytes.
    end: u64,
    places: HashMap<ProjectId, Place>,
}

/// Where the line of a project is.
#[derive(Debug, Clone, Copy)]
struct Place {
    position: Position,
    start: u64,
    length: usize,
}

/// The first line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Heading {
    encoder: String,
}

/// Each further line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// A ULID.
    project: String,
    position: Position,
    vectors: VectorsRecorded,
}

impl Staging {
    /// Opens the file, which need not exist. What another encoder has computed is dropped, and so is a line that was cut off.
    ///
    /// # Errors
    ///
    /// If the file exists and cannot be read.
    pub(super) fn open(path: &Path, encoder: &str) -> io::Result<Staging> {
        let contents = match OpenOptions::new().read(true).append(true).open(path) {
            Ok(file) => Contents::read(file, encoder)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Staging { path: path.to_owned(), encoder: encoder.to_owned(), contents: Mutex::new(contents) })
    }

    /// Returns the projects whose vectors are there, and the position as of which they are.
    pub(super) fn positions(&self) -> Vec<(ProjectId, Position)> {
        let contents = self.contents();
        let places = contents.iter().flat_map(|contents| &contents.places);
        places.map(|(project, place)| (*project, place.position)).collect()
    }

    /// Adds the vectors of a project as of this position.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(super) fn put(
        &self,
        project: ProjectId,
        position: Position,
        vectors: &VectorsRecorded,
    ) -> io::Result<()> {
        let mut contents = self.contents();
        let contents = match &mut *contents {
            Some(contents) => contents,
            none => none.insert(Contents::create(&self.path, &self.encoder)?),
        };
        let line = Line { project: project.to_string(), position, vectors: vectors.clone() };
        let (start, length) = contents.append(&line)?;
        contents.places.insert(project, Place { position, start, length });
        Ok(())
    }

    /// Returns the vectors of a project.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(super) fn get(&self, project: ProjectId) -> io::Result<Option<VectorsRecorded>> {
        let contents = self.contents();
        let Some(contents) = &*contents else { return Ok(None) };
        let Some(Place { start, length, .. }) = contents.places.get(&project) else { return Ok(None) };
        let mut line = vec![0; *length];
        contents.file.read_exact_at(&mut line, *start)?;
        let line: Line = serde_json::from_slice(&line)?;
        Ok(Some(line.vectors))
    }

    /// Removes the file, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub(super) fn clear(&self) -> io::Result<()> {
        *self.contents() = None;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn contents(&self) -> MutexGuard<'_, Option<Contents>> {
        // After a panic the file is as it was, or has a line more that is not in use.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    /// Creates the file for an encoder, in place of another one.
    fn create(path: &Path, encoder: &str) -> io::Result<Contents> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        file.set_len(0)?;
        let mut contents = Contents { file, end: 0, places: HashMap::new() };
        contents.append(&Heading { encoder: encoder.to_owned() })?;
        Ok(contents)
    }

    /// Reads an existing file; `None` if another encoder has made it.
    fn read(file: File, encoder: &str) -> io::Result<Option<Contents>> {
        let mut contents = Contents { file, end: 0, places: HashMap::new() };
        let mut reader = BufReader::new(contents.file.try_clone()?);
        let mut text = Vec::new();
        let (mut end, mut is_first) = (0, true);
        while reader.read_until(b'\n', &mut text)? > 0 {
            if is_first {
                let heading: Option<Heading> = serde_json::from_slice(&text).ok();
                if heading.is_none_or(|heading| heading.encoder != encoder) {
                    return Ok(None);
                }
            } else {
                let Ok(Line { project, position, .. }) = serde_json::from_slice(&text) else { break };
                let Ok(project) = project.parse() else { break };
                contents.places.insert(project, Place { position, start: end, length: text.len() });
            }
            if text.last() != Some(&b'\n') {
                break;
            }
            is_first = false;
            end += text.len() as u64;
            text.clear();
        }
        contents.file.set_len(end)?;
        contents.end = end;
        contents.places.retain(|_, place| place.start + place.length as u64 <= end);
        Ok((!is_first).then_some(contents))
    }

    /// Appends a line and returns where it is.
    fn append(&mut self, line: &impl Serialize) -> io::Result<(u64, usize)> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        if let Err(error) = self.file.write_all(&text) {
            // What a full disk took of the line must not precede the next one.
            self.file.set_len(self.end)?;
            return Err(error);
        }
        let start = self.end;
        self.end += text.len() as u64;
        Ok((start, text.len()))
    }
}

#[cfg(test)]
mod tests {
    use schemas::vector::Vector;

    use super::*;

    fn project(number: u8) -> ProjectId {
        format!("01ARZ3NDEKTSV4RRFFQ69G5F{number:02}").parse().unwrap()
    }

    fn vectors(numbers: &[f32]) -> VectorsRecorded {
        let semantic = Some(Vector::quantized(numbers).unwrap());
        VectorsRecorded { model: "loggia-1+b".into(), visual: None, semantic, computed: None }
    }

    #[test]
    fn what_is_set_aside_is_there_after_a_restart_for_the_same_encoder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("staged");
        let staging = Staging::open(&path, "loggia-1+b").unwrap();
        assert_eq!((staging.positions(), staging.get(project(1)).unwrap()), (vec![], None));
        assert!(!path.exists(), "most services never replace an encoder");
        staging.put(project(1), Position(5), &vectors(&[1.0, 0.5])).unwrap();
        staging.put(project(2), Position(6), &vectors(&[0.0, 1.0])).unwrap();
        staging.put(project(1), Position(9), &vectors(&[0.0, -1.0])).unwrap();
        for _ in 0..2 {
            let staging = Staging::open(&path, "loggia-1+b").unwrap();
            let mut positions = staging.positions();
            positions.sort_unstable();
            assert_eq!(positions, [(project(1), Position(9)), (project(2), Position(6))]);
            assert_eq!(staging.get(project(1)).unwrap(), Some(vectors(&[0.0, -1.0])));
            assert_eq!(staging.get(project(2)).unwrap(), Some(vectors(&[0.0, 1.0])));
            assert_eq!(staging.get(project(3)).unwrap(), None);
        }
        let other = Staging::open(&path, "loggia-1").unwrap();
        assert_eq!(other.positions(), []);
        other.put(project(3), Position(1), &vectors(&[1.0])).unwrap();
        assert_eq!(Staging::open(&path, "loggia-1").unwrap().positions(), [(project(3), Position(1))]);
        other.clear().unwrap();
        other.clear().unwrap();
        assert_eq!((path.exists(), other.positions()), (false, vec![]));
    }

    #[test]
    fn a_line_that_was_cut_off_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("staged");
        let staging = Staging::open(&path, "loggia-1+b").unwrap();
        staging.put(project(1), Position(5), &vectors(&[1.0])).unwrap();
        staging.put(project(2), Position(6), &vectors(&[1.0])).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let first_two = whole.len() - whole.iter().rev().skip(1).position(|byte| *byte == b'\n').unwrap() - 1;
        for cut in [first_two, first_two + 1, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let staging = Staging::open(&path, "loggia-1+b").unwrap();
            assert_eq!(staging.positions(), [(project(1), Position(5))], "cut after {cut}");
            staging.put(project(3), Position(7), &vectors(&[1.0])).unwrap();
            let again = Staging::open(&path, "loggia-1+b").unwrap();
            assert_eq!(again.positions().len(), 2, "cut after {cut}");
            assert_eq!(again.get(project(3)).unwrap(), Some(vectors(&[1.0])));
        }
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(Staging::open(&path, "loggia-1+b").unwrap().positions(), []);
    }
}
