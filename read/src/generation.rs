//! A generation is a folder that holds one making of a model. A rebuild fills a new one beside the live one; one
//! atomic rename of the file `current` makes it the one that readers use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file of a generation that says in which layout the others are.
const LAYOUT: &str = "layout";
/// The file of the root that names the current generation.
const POINTER: &str = "current";
/// Begins the name of the folder of a generation that was quarantined; the generation's name follows.
#[cfg(feature = "apply")]
const QUARANTINED: &str = "quarantined-";
/// The file of a quarantined generation that says why.
#[cfg(feature = "apply")]
const REASON: &str = "reason";

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

    /// Whether a generation is current, in whatever layout.
    pub fn has_current(&self) -> Result<bool, GenerationError> {
        Ok(self.pointed_at()?.is_some())
    }

    /// The layout of the generation that another version made current, where this version cannot read it.
    pub fn foreign_layout(&self) -> Result<Option<u32>, GenerationError> {
        let Some(generation) = self.pointed_at()? else { return Ok(None) };
        Ok(Some(self.layout_of(&generation)?).filter(|layout| *layout != self.layout))
    }

    fn pointed_at(&self) -> Result<Option<Generation>, GenerationError> {
        match fs::read(self.pointer()) {
            Ok(name) => {
                let name = String::from_utf8_lossy(&name).trim().to_owned();
                // A pointer that is damaged leads nowhere.
                Ok(number(&name).map(|_| Generation { path: self.root.join(&name), name }))
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
            // A folder that is gone was made by no other version: opening it says what is wrong.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !generation.path.exists() => {
                Ok(self.layout)
            }
            // Made before layouts were noted.
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

/// The number in the name of a generation.
fn number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('g').filter(|digits| digits.len() == 6)?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// What only the node's own projection workers do.
#[cfg(feature = "apply")]
impl Generations {
    /// Makes an empty folder for the next generation. Nobody reads it before [`Generations::make_current`].
    pub fn create_next(&self) -> Result<Generation, GenerationError> {
        if !self.root.is_dir() {
            fs::create_dir_all(&self.root).map_err(|source| self.error(&self.root, source))?;
            // The folder of all models may be new as well.
            let parents = self.root.ancestors().skip(1).take(2);
            parents
                .filter(|parent| !parent.as_os_str().is_empty())
                .try_for_each(|parent| self.sync(parent))?;
        }
        let (all, quarantined) = (self.all()?, self.quarantined()?);
        // The number of a quarantined generation is never given again: readers know generations by their names.
        let last = all.iter().chain(&quarantined).filter_map(|generation| number(&generation.name)).max();
        let name = format!("g{:06}", last.unwrap_or(0) + 1);
        let path = self.root.join(&name);
        fs::create_dir(&path).map_err(|source| self.error(&path, source))?;
        let note = path.join(LAYOUT);
        fs::write(&note, format!("{}\n", self.layout)).map_err(|source| self.error(&note, source))?;
        self.sync(&note)?;
        self.sync(&path)?;
        self.sync(&self.root)?;
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

    /// Whether no generation was ever made current here: readers may then see the first one while it is filled.
    pub fn is_new(&self) -> Result<bool, GenerationError> {
        let has_pointer =
            self.pointer().try_exists().map_err(|source| self.error(&self.pointer(), source))?;
        Ok(!has_pointer && self.quarantined()?.is_empty())
    }

    /// Takes the current generation away from readers, for this reason: its folder is renamed and keeps a file with the
    /// reason until [`Generations::remove_others`] finds a later generation current. One that was quarantined before goes.
    /// Returns the folder.
    pub fn quarantine(&self, reason: &str) -> Result<PathBuf, GenerationError> {
        let current = self.pointed_at()?;
        let name = current.as_ref().map_or("unknown", |current| current.name.as_str());
        let aside = self.root.join(format!("{QUARANTINED}{name}"));
        for former in self.quarantined()?.iter().filter(|former| former.path != aside) {
            self.remove(&former.path)?;
        }
        if let Some(current) = current
            && current.path.exists()
        {
            self.remove(&aside)?;
            // Renamed first: as long as there is a pointer or a quarantined folder, the model counts as one that was there.
            fs::rename(&current.path, &aside).map_err(|source| self.error(&current.path, source))?;
        }
        fs::create_dir_all(&aside).map_err(|source| self.error(&aside, source))?;
        let note = aside.join(REASON);
        fs::write(&note, format!("{reason}\n")).map_err(|source| self.error(&note, source))?;
        self.sync(&note)?;
        self.sync(&self.root)?;
        match fs::remove_file(self.pointer()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.error(&self.pointer(), error)),
            _ => {
                self.sync(&self.root)?;
                Ok(aside)
            }
        }
    }

    /// The folders of all generations but the current one: leftovers of a rebuild that was cut off, the one before, or
    /// what was quarantined, once there is a current one again.
    pub fn superseded(&self) -> Result<Vec<PathBuf>, GenerationError> {
        let current = self.pointed_at()?;
        let others = self.all()?.into_iter().filter(|generation| Some(generation) != current.as_ref());
        let mut others: Vec<PathBuf> = others.map(|generation| generation.path).collect();
        if current.is_some() {
            others.extend(self.quarantined()?.into_iter().map(|generation| generation.path));
        }
        Ok(others)
    }

    /// Removes all that [`Generations::superseded`] names. Readers that still hold files of a removed one keep them until
    /// they let go.
    pub fn remove_others(&self) -> Result<(), GenerationError> {
        self.superseded()?.iter().try_for_each(|folder| self.remove(folder))
    }

    /// Removes the folder of a generation; one that is gone already is no error.
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

    /// The quarantined generations, each under the name that it had.
    fn quarantined(&self) -> Result<Vec<Generation>, GenerationError> {
        self.named(|name| name.strip_prefix(QUARANTINED))
    }

    /// The folders whose names `of` finds the name of a generation in.
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
        generations.remove_others().unwrap();
        assert!(!first.path.exists());
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
        now.remove_others().unwrap();
        assert!(!second.path.exists() && first.path.is_dir(), "what is current stays, whoever reads it");
        let second = now.create_next().unwrap();
        now.make_current(&second).unwrap();
        assert_eq!((now.current().unwrap(), now.foreign_layout().unwrap()), (Some(second), None));
        assert_eq!((before.current().unwrap(), before.foreign_layout().unwrap()), (None, Some(2)));
        now.remove_others().unwrap();
        assert!(!first.path.exists());
    }

    #[test]
    fn a_quarantined_generation_is_not_current_and_goes_with_the_next_rebuild() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::new(folder.path().join("models/search"));
        assert!(generations.is_new().unwrap());
        let first = generations.create_next().unwrap();
        generations.make_current(&first).unwrap();
        let aside = generations.quarantine("it is damaged").unwrap();
        assert_eq!(aside, folder.path().join("models/search/quarantined-g000001"));
        assert_eq!(fs::read_to_string(aside.join("reason")).unwrap(), "it is damaged\n");
        assert_eq!((generations.current().unwrap(), generations.is_new().unwrap()), (None, false));
        let second = generations.create_next().unwrap();
        assert_eq!(second.name, "g000002", "readers know generations by their names");
        generations.remove_others().unwrap();
        assert!(aside.is_dir() && !second.path.exists(), "it is kept until there is a current one");
        // A rebuild that is damaged as well takes its place.
        let second = generations.create_next().unwrap();
        generations.make_current(&second).unwrap();
        let next = generations.quarantine("again").unwrap();
        assert!(next.is_dir() && !aside.exists());
        let third = generations.create_next().unwrap();
        generations.make_current(&third).unwrap();
        generations.remove_others().unwrap();
        assert!(!next.exists());
        assert_eq!(generations.current().unwrap(), Some(third));
    }

    #[test]
    fn a_pointer_that_leads_nowhere_is_quarantined_too() {
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
    fn a_folder_that_is_gone_is_no_other_layout() {
        let folder = tempfile::tempdir().unwrap();
        let generations = Generations::in_layout(folder.path(), 2);
        fs::write(folder.path().join("current"), "g999999").unwrap();
        let path = folder.path().join("g999999");
        // Current, so that a reader tries to open it and reports why it cannot.
        assert_eq!(generations.current().unwrap(), Some(Generation { name: "g999999".to_owned(), path }));
        assert_eq!(generations.foreign_layout().unwrap(), None);
    }
}
