//! Verifies stored pictures, and derives damaged forms again from their originals.

use pictures::{Format, PictureError};
use schemas::picture::{Form, Picture, PictureId};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::forms::{Forms, derive};
use super::{MediaError, MediaStore};

/// What of the smaller forms is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckDepth {
    /// Headers and lengths.
    Headers,
    /// Every pixel is decoded.
    Pixels,
}

/// A picture with all its forms.
pub(super) struct LoadedPicture {
    pub(super) picture: Picture,
    pub(super) original: Vec<u8>,
    pub(super) forms: Forms,
    /// The damage because of which description and forms were derived again; `None` if the stored ones are intact.
    pub(super) damage: Option<String>,
}

impl LoadedPicture {
    /// Returns whether the form for details is not stored although the picture is large enough.
    fn lacks_details(&self) -> bool {
        let form = self.picture.detail_form();
        form.is_some_and(|form| self.forms.iter().all(|(stored, _)| *stored != form))
    }
}

/// The result of a check of all pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The number of checked pictures.
    pub pictures: u64,
    /// The number of pictures whose description and smaller forms were derived again.
    pub repaired: u64,
    /// Damage that was not repaired, one sentence per picture.
    pub faults: Vec<String>,
}

impl MediaStore {
    /// Checks every picture: the hash of the original is its id, and each smaller form decodes to its size. With `repair`,
    /// damaged forms and descriptions are derived again from an intact original. `progress` receives the number of pictures
    /// checked so far.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or cannot be written by a repair.
    pub fn check(&self, repair: bool, mut progress: impl FnMut(u64)) -> Result<CheckReport, MediaError> {
        let mut report = CheckReport::default();
        for id in self.ids()? {
            match self.load(id, CheckDepth::Pixels) {
                // It was stored by an earlier version.
                Ok(loaded) if repair && loaded.damage.is_none() && loaded.lacks_details() => {
                    self.rederive(id)?;
                    report.repaired += 1;
                }
                Ok(LoadedPicture { damage: None, .. }) => {}
                Ok(loaded) if repair => {
                    self.files.replace(&loaded.picture, &loaded.original, &loaded.forms)?;
                    self.refuse_erased(id)?;
                    report.repaired += 1;
                }
                Ok(LoadedPicture { damage: Some(reason), .. }) => report.faults.push(format!(
                    "the picture {id} is damaged: {reason}; `loggia verify media --repair` makes it again from its original"
                )),
                Err(error @ MediaError::Damaged { .. }) => report.faults.push(error.to_string()),
                Err(error @ MediaError::Unavailable { .. }) => return Err(error),
            }
            report.pictures += 1;
            progress(report.pictures);
        }
        Ok(report)
    }

    /// Derives description and smaller forms of a picture again from its original. Returns the description and whether anything
    /// changed; the names of the forms stay.
    ///
    /// # Errors
    ///
    /// If the original is missing, does not match its id or cannot be decoded, or the folder cannot be written.
    pub fn rederive(&self, id: PictureId) -> Result<(Picture, bool), MediaError> {
        let path = self.path(id, Form::Original);
        let damaged = |reason: String| MediaError::damaged(&path, reason);
        let original = self.read(id, Form::Original)?.ok_or_else(|| damaged("it is not there".to_owned()))?;
        if PictureId(Sha256::digest(&original).into()) != id {
            return Err(damaged("its bytes do not match its id".to_owned()));
        }
        let (picture, forms) = derive(id, &original).map_err(|fault| damaged(fault.to_string()))?;
        let mut same = self.get(id).is_ok_and(|stored| stored.as_ref() == Some(&picture));
        for (form, bytes) in &forms {
            same = same && self.read(id, *form)?.as_ref() == Some(bytes);
        }
        if !same {
            self.files.replace(&picture, &original, &forms)?;
            if let Some(error) = self.refuse_erased(id)? {
                return Err(damaged(error.to_string()));
            }
        }
        Ok((picture, !same))
    }

    /// Reads a picture with all its forms; if the description or one form is damaged, all are derived again, in memory.
    pub(super) fn load(&self, id: PictureId, depth: CheckDepth) -> Result<LoadedPicture, MediaError> {
        let path = self.path(id, Form::Original);
        let damaged = |reason: &str| MediaError::damaged(&path, reason);
        let original = self.read(id, Form::Original)?.ok_or_else(|| damaged("it is not there"))?;
        if PictureId(Sha256::digest(&original).into()) != id {
            return Err(damaged("its bytes do not match its id"));
        }
        let reason = match self.get(id) {
            Ok(Some(picture)) => match self.forms(&picture, depth)? {
                Ok(forms) => return Ok(LoadedPicture { picture, original, forms, damage: None }),
                Err(reason) => reason,
            },
            Ok(None) => "its description is not there".to_owned(),
            Err(MediaError::Damaged { .. }) => "its description is not readable".to_owned(),
            Err(error) => return Err(error),
        };
        let (picture, forms) = derive(id, &original).map_err(|fault| damaged(&fault.to_string()))?;
        Ok(LoadedPicture { picture, original, forms, damage: Some(reason) })
    }

    /// Returns the stored smaller forms, or the damage of the first damaged one.
    fn forms(&self, picture: &Picture, depth: CheckDepth) -> Result<Result<Forms, String>, MediaError> {
        let mut forms = Vec::new();
        for form in picture.forms().chain(picture.detail_form()) {
            let read = match self.read(picture.id, form) {
                Err(MediaError::Damaged { reason, .. }) => return Ok(Err(format!("{form}: {reason}"))),
                read => read?,
            };
            let Some(bytes) = read else {
                if picture.detail_form() == Some(form) {
                    continue;
                }
                return Ok(Err(format!("{form} is not there")));
            };
            if let Err(fault) = check_form(picture, form, &bytes, depth) {
                return Ok(Err(format!("{form} is not what it was ({fault})")));
            }
            forms.push((form, bytes));
        }
        Ok(Ok(forms))
    }
}

/// Checks that bytes are this form of the picture, in the right format and size.
fn check_form(picture: &Picture, form: Form, bytes: &[u8], depth: CheckDepth) -> Result<(), PictureError> {
    let (expected, width) = match form {
        Form::Original => return Ok(()),
        Form::Webp(width) => (Format::Webp, width),
        Form::Jpeg(width) => (Format::Jpeg, width),
    };
    let (found, size) = match depth {
        CheckDepth::Headers => pictures::probe(bytes)?,
        CheckDepth::Pixels => {
            let found = pictures::decode(bytes)?;
            (found.format, found.pixels.dimensions())
        }
    };
    if found == expected && size == (width, picture.height_at(width)) {
        Ok(())
    } else {
        Err(PictureError::damaged("it has another format or size"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tests::store;
    use kit::samples::{in_every_format, scene};

    /// Changes the bytes of a file; `None` removes the file.
    type Damage = fn(&[u8]) -> Option<Vec<u8>>;

    /// Kinds of damage to the files of a picture, by file name.
    fn damages() -> Vec<(&'static str, Damage)> {
        vec![
            ("320.webp", |_| Some(Vec::new())),
            ("700.webp", |_| None),
            ("640.webp", |bytes| Some(bytes[..bytes.len() / 2].to_vec())),
            ("640.jpg", |bytes| Some(bytes[..bytes.len() - 2].to_vec())),
            ("320.webp", |_| Some(b"<html>".to_vec())),
            ("picture.json", |_| None),
            ("picture.json", |_| Some(b"{}".to_vec())),
        ]
    }

    fn files(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> = entries
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    }

    #[test]
    fn damaged_forms_are_found_and_derived_again_from_the_original() {
        let (folder, store) = store();
        let picture = store.put(&in_every_format(&scene(700, 500))[0].1).unwrap();
        let intact = CheckReport { pictures: 1, ..CheckReport::default() };
        assert_eq!(store.check(false, |_| {}).unwrap(), intact);
        let own_folder = store.path(picture.id, Form::Original).parent().unwrap().to_owned();
        let before = files(&own_folder);
        for (name, damage) in damages() {
            let file = own_folder.join(name);
            match damage(&fs::read(&file).unwrap()) {
                Some(bytes) => fs::write(&file, bytes).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            let found = store.check(false, |_| {}).unwrap();
            assert_eq!((found.repaired, found.faults.len()), (0, 1), "{name}");
            assert!(found.faults[0].contains(&format!("the picture {} is damaged", picture.id)), "{found:?}");
            assert_eq!(
                store.check(true, |_| {}).unwrap(),
                CheckReport { repaired: 1, ..intact.clone() },
                "{name}"
            );
            assert_eq!(store.check(false, |_| {}).unwrap(), intact, "{name}");
            assert_eq!(files(&own_folder), before, "{name}");
        }
        assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    }

    #[test]
    fn a_large_picture_of_an_earlier_version_gets_its_form_for_details() {
        let (_folder, store) = store();
        let picture = store.put(&in_every_format(&scene(1_400, 100))[0].1).unwrap();
        let form = store.path(picture.id, Form::Webp(1_400));
        let bytes = fs::read(&form).unwrap();
        fs::remove_file(&form).unwrap();
        let intact = CheckReport { pictures: 1, ..CheckReport::default() };
        assert_eq!(store.check(false, |_| {}).unwrap(), intact);
        assert_eq!(store.check(true, |_| {}).unwrap(), CheckReport { repaired: 1, ..intact.clone() });
        assert_eq!(fs::read(&form).unwrap(), bytes);
        assert_eq!(store.check(true, |_| {}).unwrap(), intact);
    }

    #[test]
    fn forms_and_description_of_another_version_are_derived_again() {
        let (_folder, store) = store();
        let picture = store.put(&in_every_format(&scene(90, 90))[0].1).unwrap();
        assert_eq!(store.rederive(picture.id).unwrap(), (picture.clone(), false));
        let former = Picture { palette: Vec::new(), ..picture.clone() };
        let description = store.path(picture.id, Form::Original).with_file_name("picture.json");
        fs::write(&description, serde_json::to_vec(&former).unwrap()).unwrap();
        let form = store.path(picture.id, Form::Webp(90));
        let bytes = fs::read(&form).unwrap();
        fs::write(&form, b"RIFF").unwrap();
        assert_eq!(store.rederive(picture.id).unwrap(), (picture.clone(), true));
        assert_eq!(
            (store.get(picture.id).unwrap(), fs::read(&form).unwrap()),
            (Some(picture.clone()), bytes)
        );
        fs::write(store.path(picture.id, Form::Original), b"other").unwrap();
        assert!(store.rederive(picture.id).is_err());
    }

    #[test]
    fn a_damaged_original_cannot_be_repaired() {
        let (_folder, store) = store();
        let picture = store.put(&in_every_format(&scene(90, 90))[0].1).unwrap();
        fs::write(store.path(picture.id, Form::Original), b"other").unwrap();
        let found = store.check(true, |_| {}).unwrap();
        assert_eq!((found.pictures, found.repaired), (1, 0));
        assert!(found.faults[0].contains("its bytes do not match its id"), "{found:?}");
    }
}
