//! A generation is a folder that holds one making of a model. A rebuild fills a new one beside the live one; one
//! atomic rename of the file `current` makes it the one that readers use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file of a generation that says in which layout the others are.
const LAYOUT: &str = "layout";

/// The generations of one model below a folder, for example `models/search`.
#[derive(Debug, Clone)]
pub struct Generations {
    root: PathBuf,
    layout: u32,
}

/// One making of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// Its folder's name: `g` and a number that only grows.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
}

/// A generation could not be found, made or removed.
#[derive(Debug, thiserror::Error)]
#[error("the folder {} cannot be used: {source}; check that it is there, writable and on a disk with room", path.display())]
pub struct GenerationError {
    /// Where it failed.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl Generations {
    /// The generations below this folder, which need not exist yet, of a model that never changed its layout.
    pub fn new(root: impl Into<PathBuf>) -> Generations {
        Generations::in_layout(root, 1)
    }

    /// The generations below this folder, which need not exist yet, in the layout that this version reads and writes.
    pub fn in_layout(root: impl Into<PathBuf>, layout: u32) -> Generations {
        Generations { root: root.into(), layout }
    }

    /// The generation that readers use; none before the first was made in this layout.
    pub fn current(&self) -> Result<Option<Generation>, GenerationError> {
        let Some(generation) = self.pointed_at()? else { return Ok(None) };
        Ok((self.layout_of(&generation)? == self.layout).then_some(generation))
    }

    /// The layout of the generation that another version made current, where this version cannot read it.
    pub fn foreign_layout(&self) -> Result<Option<u32>, GenerationError> {
        let Some(generation) = self.pointed_at()? else { return Ok(None) };
        Ok(Some(self.layout_of(&generation)?).filter(|layout| *layout != self.layout))
    }

    fn pointed_at(&self) -> Result<Option<Generation>, GenerationError> {
        match fs::read_to_string(self.pointer()) {
            Ok(name) => {
                let name = name.trim().to_owned();
                Ok(Some(Generation { path: self.root.join(&name), name }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.error(&self.pointer(), source)),
        }
    }

    fn layout_of(&self, generation: &Generation) -> Result<u32, GenerationError> {
        let path = generation.path.join(LAYOUT);
        match fs::read_to_string(&path) {
            // A note that was cut off belongs to no layout.
            Ok(noted) => Ok(noted.trim().parse().unwrap_or(0)),
            // Made before layouts were noted.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(1),
            Err(source) => Err(self.error(&path, source)),
        }
    }

    fn pointer(&self) -> PathBuf {
        self.root.join("current")
    }

    fn error(&self, path: &Path, source: io::Error) -> GenerationError {
        GenerationError { path: path.to_owned(), source }
    }
}

/// What only the node's own projection workers do.
#[cfg(feature = "apply")]
impl Generations {
    /// Makes an empty folder for the next generation. Nobody reads it before [`Generations::make_current`].
    pub fn create_next(&self) -> Result<Generation, GenerationError> {
        fs::create_dir_all(&self.root).map_err(|source| self.error(&self.root, source))?;
        let last = self.all()?.iter().filter_map(|g| g.name[1..].parse::<u32>().ok()).max().unwrap_or(0);
        let name = format!("g{:06}", last + 1);
        let path = self.root.join(&name);
        fs::create_dir(&path).map_err(|source| self.error(&path, source))?;
        let note = path.join(LAYOUT);
        fs::write(&note, format!("{}\n", self.layout)).map_err(|source| self.error(&note, source))?;
        Ok(Generation { name, path })
    }

    /// Makes this generation the one that readers use, durably and at once.
    pub fn make_current(&self, generation: &Generation) -> Result<(), GenerationError> {
        let new = self.root.join("current.new");
        let write = || -> io::Result<()> {
            fs::write(&new, &generation.name)?;
            fs::File::open(&new)?.sync_all()?;
            fs::rename(&new, self.pointer())?;
            fs::File::open(&self.root)?.sync_all()
        };
        write().map_err(|source| self.error(&new, source))
    }

    /// Removes every generation but the current one: leftovers of a rebuild that was cut off, or the one before.
    /// Readers that still hold files of a removed one keep them until they let go.
    pub fn remove_others(&self) -> Result<Vec<String>, GenerationError> {
        let current = self.pointed_at()?.map(|g| g.name);
        let mut removed = Vec::new();
        for generation in self.all()? {
            if Some(&generation.name) != current.as_ref() {
                fs::remove_dir_all(&generation.path)
                    .map_err(|source| self.error(&generation.path, source))?;
                removed.push(generation.name);
            }
        }
        Ok(removed)
    }

    fn all(&self) -> Result<Vec<Generation>, GenerationError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.error(&self.root, source)),
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| self.error(&self.root, source))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.len() == 7 && name.starts_with('g') && name[1..].bytes().all(|b| b.is_ascii_digit()) {
                all.push(Generation { name, path: entry.path() });
            }
        }
        Ok(all)
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;

    #[test]
    fn a_generation_becomes_current_at_once_and_others_go() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::new(folder.path().join("search"));
        assert_eq!(generations.current().unwrap(), None);
        let first = generations.create_next().unwrap();
        assert_eq!(generations.current().unwrap(), None, "an unfinished generation is not current");
        generations.make_current(&first).unwrap();
        let second = generations.create_next().unwrap();
        assert_eq!((first.name.as_str(), second.name.as_str()), ("g000001", "g000002"));
        assert_eq!(generations.current().unwrap(), Some(first.clone()));
        generations.make_current(&second).unwrap();
        assert_eq!(generations.remove_others().unwrap(), [first.name]);
        assert_eq!(generations.current().unwrap(), Some(second.clone()));
        assert_eq!(generations.create_next().unwrap().name, "g000003");
        assert!(second.path.is_dir());
    }

    #[test]
    fn a_generation_in_another_layout_is_not_read_and_goes_with_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let (before, now) = (Generations::new(folder.path()), Generations::in_layout(folder.path(), 2));
        assert_eq!(now.foreign_layout().unwrap(), None);
        let first = before.create_next().unwrap();
        before.make_current(&first).unwrap();
        // As it was before layouts were noted.
        fs::remove_file(first.path.join(LAYOUT)).unwrap();
        assert_eq!(before.current().unwrap(), Some(first.clone()));
        assert_eq!((now.current().unwrap(), now.foreign_layout().unwrap()), (None, Some(1)));
        let second = now.create_next().unwrap();
        assert!(
            now.remove_others().unwrap().contains(&second.name),
            "what is current stays, whoever reads it"
        );
        assert!(first.path.is_dir());
        let second = now.create_next().unwrap();
        now.make_current(&second).unwrap();
        assert_eq!((now.current().unwrap(), now.foreign_layout().unwrap()), (Some(second), None));
        assert_eq!((before.current().unwrap(), before.foreign_layout().unwrap()), (None, Some(2)));
        assert_eq!(now.remove_others().unwrap(), [first.name]);
    }
}
