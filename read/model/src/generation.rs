//! A generation is a folder with one complete copy of a model. A rebuild fills a new one beside the live one; an atomic rename of the
//! file `current` makes it the one that readers use.

#[cfg(feature = "apply")]
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file of a generation with the layout of its other files.
const LAYOUT: &str = "layout";
/// The file in the root folder that names the current generation.
const POINTER: &str = "current";
/// The most bytes of either file, which have one word each.
const MAX_LINE: u64 = 256;
/// The prefix of the folder of a quarantined generation; the generation's name follows.
#[cfg(feature = "apply")]
const QUARANTINED: &str = "quarantined-";
/// The file of a quarantined generation with the reason.
#[cfg(feature = "apply")]
const REASON: &str = "reason";

/// The generations of one model below a folder, for example `models/search`.
#[derive(Debug, Clone)]
pub struct Generations {
    root: PathBuf,
    layout: u32,
}

/// One complete copy of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// The name of its folder: `g` and a six-digit number that increases with each generation.
    pub name: String,
    /// The path of its folder.
    pub path: PathBuf,
}

/// The reason why a generation could not be found, created or removed.
#[derive(Debug, thiserror::Error)]
#[error("the folder {} cannot be used: {source}; check that it is there, writable and on a disk with room", path.display())]
pub struct GenerationError {
    /// The path that could not be used.
    pub path: PathBuf,
    /// The error of the operating system.
    #[source]
    pub source: io::Error,
}

impl Generations {
    /// Returns the generations in a folder, which need not exist yet, in layout 1.
    pub fn new(root: impl Into<PathBuf>) -> Generations {
        Generations::in_layout(root, 1)
    }

    /// Returns the generations in a folder, which need not exist yet, in the layout that this version reads and writes.
    pub fn in_layout(root: impl Into<PathBuf>, layout: u32) -> Generations {
        Generations { root: root.into(), layout }
    }

    /// Returns the current generation; `None` before the first one in this layout.
    pub fn current(&self) -> Result<Option<Generation>, GenerationError> {
        let Some(generation) = self.pointed_at()? else { return Ok(None) };
        Ok((self.layout_of(&generation)? == self.layout).then_some(generation))
    }

    /// Returns whether there is a current generation, in any layout.
    pub fn has_current(&self) -> Result<bool, GenerationError> {
        Ok(self.pointed_at()?.is_some())
    }

    /// Returns the layout of the current generation if it differs from the one that this version reads.
    pub fn foreign_layout(&self) -> Result<Option<u32>, GenerationError> {
        let Some(generation) = self.pointed_at()? else { return Ok(None) };
        Ok(Some(self.layout_of(&generation)?).filter(|layout| *layout != self.layout))
    }

    fn pointed_at(&self) -> Result<Option<Generation>, GenerationError> {
        match bounded_file::read(&self.pointer(), MAX_LINE) {
            Ok(name) => {
                let name = String::from_utf8_lossy(&name).trim().to_owned();
                // A damaged pointer counts as none.
                Ok(number(&name).map(|_| Generation { path: self.root.join(&name), name }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.error(&self.pointer(), source)),
        }
    }

    fn layout_of(&self, generation: &Generation) -> Result<u32, GenerationError> {
        let path = generation.path.join(LAYOUT);
        match bounded_file::read_to_string(&path, MAX_LINE) {
            // A truncated file is not valid layout.
            Ok(layout) => Ok(layout.trim().parse().unwrap_or(0)),
            // A missing folder does not count as another layout, so that opening it reports the error.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !generation.path.exists() => {
                Ok(self.layout)
            }
            // Created before the layout was stored.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(1),
            Err(source) => Err(self.error(&path, source)),
        }
    }

    fn pointer(&self) -> PathBuf {
        self.root.join(POINTER)
    }

    fn error(&self, path: &Path, source: io::Error) -> GenerationError {
        GenerationError { path: path.to_owned(), source }
    }
}

/// Returns the number in the name of a generation.
fn number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('g').filter(|digits| digits.len() == 6)?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Changes, which only the projection workers of the node make.
#[cfg(feature = "apply")]
impl Generations {
    /// Creates an empty folder for the next generation. Readers do not see it before [`Generations::make_current`].
    pub fn create_next(&self) -> Result<Generation, GenerationError> {
        if !self.root.is_dir() {
            fs::create_dir_all(&self.root).map_err(|source| self.error(&self.root, source))?;
            // The folder of all models may be new too.
            let parents = self.root.ancestors().skip(1).take(2);
            parents
                .filter(|parent| !parent.as_os_str().is_empty())
                .try_for_each(|parent| self.sync(parent))?;
        }
        let (all, quarantined) = (self.all()?, self.quarantined()?);
        // The number of a quarantined generation is not reused: readers identify generations by name.
        let last = all.iter().chain(&quarantined).filter_map(|generation| number(&generation.name)).max();
        let name = format!("g{:06}", last.unwrap_or(0) + 1);
        let path = self.root.join(&name);
        fs::create_dir(&path).map_err(|source| self.error(&path, source))?;
        let layout = path.join(LAYOUT);
        fs::write(&layout, format!("{}\n", self.layout)).map_err(|source| self.error(&layout, source))?;
        self.sync(&layout)?;
        self.sync(&path)?;
        self.sync(&self.root)?;
        Ok(Generation { name, path })
    }

    /// Makes a generation current, atomically and durably.
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

    /// Returns whether no generation was ever current: readers may then see the first one while it is filled.
    pub fn is_new(&self) -> Result<bool, GenerationError> {
        let has_pointer =
            self.pointer().try_exists().map_err(|source| self.error(&self.pointer(), source))?;
        Ok(!has_pointer && self.quarantined()?.is_empty())
    }

    /// Withdraws the current generation from readers: its folder is renamed and gets a file with the reason. It is kept until
    /// [`Generations::remove_others`] is called with a later current generation. A generation that was quarantined before is removed.
    /// Returns the folder.
    pub fn quarantine(&self, reason: &str) -> Result<PathBuf, GenerationError> {
        let current = self.pointed_at()?;
        let name = current.as_ref().map_or("unknown", |current| current.name.as_str());
        let quarantined = self.root.join(format!("{QUARANTINED}{name}"));
        for former in self.quarantined()?.iter().filter(|former| former.path != quarantined) {
            self.remove(&former.path)?;
        }
        if let Some(current) = current
            && current.path.exists()
        {
            self.remove(&quarantined)?;
            // Renamed before the pointer is removed: without both, the model would count as new.
            fs::rename(&current.path, &quarantined).map_err(|source| self.error(&current.path, source))?;
        }
        fs::create_dir_all(&quarantined).map_err(|source| self.error(&quarantined, source))?;
        let file = quarantined.join(REASON);
        fs::write(&file, format!("{reason}\n")).map_err(|source| self.error(&file, source))?;
        self.sync(&file)?;
        self.sync(&self.root)?;
        match fs::remove_file(self.pointer()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.error(&self.pointer(), error)),
            _ => {
                self.sync(&self.root)?;
                Ok(quarantined)
            }
        }
    }

    /// Returns the folders of all generations but the current one: leftovers of an interrupted rebuild, the previous generation, and,
    /// if there is a current one, quarantined ones.
    pub fn superseded(&self) -> Result<Vec<PathBuf>, GenerationError> {
        let current = self.pointed_at()?;
        let others = self.all()?.into_iter().filter(|generation| Some(generation) != current.as_ref());
        let mut others: Vec<PathBuf> = others.map(|generation| generation.path).collect();
        if current.is_some() {
            others.extend(self.quarantined()?.into_iter().map(|generation| generation.path));
        }
        Ok(others)
    }

    /// Removes all folders that [`Generations::superseded`] returns. Readers keep files that they have open.
    pub fn remove_others(&self) -> Result<(), GenerationError> {
        self.superseded()?.iter().try_for_each(|folder| self.remove(folder))
    }

    /// Removes the folder of a generation, if it exists.
    pub fn remove(&self, folder: &Path) -> Result<(), GenerationError> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.error(folder, error)),
            _ => Ok(()),
        }
    }

    fn sync(&self, path: &Path) -> Result<(), GenerationError> {
        fs::File::open(path).and_then(|file| file.sync_all()).map_err(|source| self.error(path, source))
    }

    fn all(&self) -> Result<Vec<Generation>, GenerationError> {
        self.named(|name| number(name).map(|_| name))
    }

    /// Returns the quarantined generations by their former names.
    fn quarantined(&self) -> Result<Vec<Generation>, GenerationError> {
        self.named(|name| name.strip_prefix(QUARANTINED))
    }

    /// Returns the folders from whose names `of` extracts the name of a generation.
    fn named(&self, of: impl Fn(&str) -> Option<&str>) -> Result<Vec<Generation>, GenerationError> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.error(&self.root, source)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| self.error(&self.root, source))?;
            if let Some(name) = of(&entry.file_name().to_string_lossy()) {
                found.push(Generation { name: name.to_owned(), path: entry.path() });
            }
        }
        Ok(found)
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;

    #[test]
    fn a_generation_becomes_current_and_others_are_removed() {
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
        generations.remove_others().unwrap();
        assert!(!first.path.exists());
        assert_eq!(generations.current().unwrap(), Some(second.clone()));
        assert_eq!(generations.create_next().unwrap().name, "g000003");
        assert!(second.path.is_dir());
    }

    #[test]
    fn a_generation_in_another_layout_is_not_current_and_is_removed_after_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let (before, now) = (Generations::new(folder.path()), Generations::in_layout(folder.path(), 2));
        assert_eq!(now.foreign_layout().unwrap(), None);
        let first = before.create_next().unwrap();
        before.make_current(&first).unwrap();
        // As it was before layouts were stored.
        fs::remove_file(first.path.join(LAYOUT)).unwrap();
        assert_eq!(before.current().unwrap(), Some(first.clone()));
        assert_eq!((now.current().unwrap(), now.foreign_layout().unwrap()), (None, Some(1)));
        let second = now.create_next().unwrap();
        now.remove_others().unwrap();
        assert!(!second.path.exists() && first.path.is_dir(), "the current one stays, in any layout");
        let second = now.create_next().unwrap();
        now.make_current(&second).unwrap();
        assert_eq!((now.current().unwrap(), now.foreign_layout().unwrap()), (Some(second), None));
        assert_eq!((before.current().unwrap(), before.foreign_layout().unwrap()), (None, Some(2)));
        now.remove_others().unwrap();
        assert!(!first.path.exists());
    }

    #[test]
    fn a_quarantined_generation_is_removed_after_the_next_rebuild() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::new(folder.path().join("models/search"));
        assert!(generations.is_new().unwrap());
        let first = generations.create_next().unwrap();
        generations.make_current(&first).unwrap();
        let quarantined = generations.quarantine("it is damaged").unwrap();
        assert_eq!(quarantined, folder.path().join("models/search/quarantined-g000001"));
        assert_eq!(fs::read_to_string(quarantined.join("reason")).unwrap(), "it is damaged\n");
        assert_eq!((generations.current().unwrap(), generations.is_new().unwrap()), (None, false));
        let second = generations.create_next().unwrap();
        assert_eq!(second.name, "g000002", "readers identify generations by name");
        generations.remove_others().unwrap();
        assert!(quarantined.is_dir() && !second.path.exists(), "it is kept until there is a current one");
        // A damaged rebuild replaces it.
        let second = generations.create_next().unwrap();
        generations.make_current(&second).unwrap();
        let next = generations.quarantine("again").unwrap();
        assert!(next.is_dir() && !quarantined.exists());
        let third = generations.create_next().unwrap();
        generations.make_current(&third).unwrap();
        generations.remove_others().unwrap();
        assert!(!next.exists());
        assert_eq!(generations.current().unwrap(), Some(third));
    }

    #[test]
    fn a_pointer_without_a_folder_is_quarantined_too() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::new(folder.path());
        let first = generations.create_next().unwrap();
        generations.make_current(&first).unwrap();
        fs::remove_dir_all(&first.path).unwrap();
        assert!(generations.quarantine("it is gone").unwrap().is_dir());
        assert_eq!(generations.create_next().unwrap().name, "g000002");
        fs::write(folder.path().join("current"), [0xff; 20]).unwrap();
        assert_eq!((generations.current().unwrap(), generations.is_new().unwrap()), (None, false));
        generations.quarantine("the pointer is damaged").unwrap();
        assert!(!folder.path().join("current").exists());
    }

    #[test]
    fn a_missing_folder_is_no_other_layout() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::in_layout(folder.path(), 2);
        fs::write(folder.path().join("current"), "g999999").unwrap();
        let path = folder.path().join("g999999");
        // It is current, so that a reader tries to open it and reports the error.
        assert_eq!(generations.current().unwrap(), Some(Generation { name: "g999999".to_owned(), path }));
        assert_eq!(generations.foreign_layout().unwrap(), None);
    }
}
