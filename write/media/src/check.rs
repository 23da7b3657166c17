//! Whether kept pictures are whole, and smaller forms made again from originals.

use pictures::{Fault, Format};
use schemas::picture::{Form, Picture, PictureId};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Forms, MediaError, MediaStore, made};

/// How closely the smaller forms are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Their headers and lengths.
    Outline,
    /// Every pixel is decoded.
    Pixels,
}

/// A picture in all its forms.
pub(super) struct Whole {
    pub(super) picture: Picture,
    pub(super) original: Vec<u8>,
    pub(super) forms: Forms,
    /// Why the forms are not those that are kept but made again; `None` where the kept ones are right.
    pub(super) remade: Option<String>,
}

/// What a check of all pictures found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The pictures that were looked at.
    pub pictures: u64,
    /// The pictures whose smaller forms or description were made again.
    pub repaired: u64,
    /// What is wrong and was not repaired, a sentence for each picture.
    pub faults: Vec<String>,
}

impl MediaStore {
    /// Checks every picture: the original has the bytes that its name is the hash of, and each smaller form decodes to
    /// its size. With `repair`, smaller forms and descriptions are made again where the original is right. `progress`
    /// gets the number of pictures checked so far.
    ///
    /// # Errors
    ///
    /// Fails where the folder cannot be read, or not be written by a repair.
    pub fn check(&self, repair: bool, mut progress: impl FnMut(u64)) -> Result<Checked, MediaError> {
        let mut checked = Checked::default();
        for id in self.ids()? {
            match self.whole(id, Look::Pixels) {
                Ok(Whole { remade: None, .. }) => {}
                Ok(whole) if repair => {
                    self.files.replace(&whole.picture, &whole.original, &whole.forms)?;
                    self.refuse_erased(id)?;
                    checked.repaired += 1;
                }
                Ok(Whole { remade: Some(reason), .. }) => checked.faults.push(format!(
                    "the picture {id} is damaged: {reason}; `loggia verify media --repair` makes it again from its original"
                )),
                Err(error @ MediaError::Damaged { .. }) => checked.faults.push(error.to_string()),
                Err(error @ MediaError::Unavailable { .. }) => return Err(error),
            }
            checked.pictures += 1;
            progress(checked.pictures);
        }
        Ok(checked)
    }

    /// Makes the description and the smaller forms of a picture again from its original, and returns the description and
    /// whether anything is other than before. Forms have the same names as before.
    ///
    /// # Errors
    ///
    /// Fails where the original is missing, has other bytes than its name says, or cannot be decoded, and where the folder
    /// cannot be written.
    pub fn remake(&self, id: PictureId) -> Result<(Picture, bool), MediaError> {
        let path = self.path(id, Form::Original);
        let damaged = |reason: String| MediaError::damaged(&path, reason);
        let original = self.read(id, Form::Original)?.ok_or_else(|| damaged("it is not there".to_owned()))?;
        if PictureId(Sha256::digest(&original).into()) != id {
            return Err(damaged("its bytes are not those that its name is made of".to_owned()));
        }
        let (picture, forms) = made(id, &original).map_err(|fault| damaged(fault.to_string()))?;
        let mut same = self.get(id).is_ok_and(|kept| kept.as_ref() == Some(&picture));
        for (form, bytes) in &forms {
            same = same && self.read(id, *form)?.as_ref() == Some(bytes);
        }
        if !same {
            self.files.replace(&picture, &original, &forms)?;
            if let Some(fault) = self.refuse_erased(id)? {
                return Err(damaged(fault.to_string()));
            }
        }
        Ok((picture, !same))
    }

    /// Reads a picture in all its forms; where a smaller one or the description is not right, all are made again.
    pub(super) fn whole(&self, id: PictureId, look: Look) -> Result<Whole, MediaError> {
        let path = self.path(id, Form::Original);
        let damaged = |reason: &str| MediaError::damaged(&path, reason);
        let original = self.read(id, Form::Original)?.ok_or_else(|| damaged("it is not there"))?;
        if PictureId(Sha256::digest(&original).into()) != id {
            return Err(damaged("its bytes are not those that its name is made of"));
        }
        let reason = match self.get(id) {
            Ok(Some(picture)) => match self.forms(&picture, look)? {
                Ok(forms) => return Ok(Whole { picture, original, forms, remade: None }),
                Err(reason) => reason,
            },
            Ok(None) => "its description is not there".to_owned(),
            Err(MediaError::Damaged { .. }) => "its description is not readable".to_owned(),
            Err(error) => return Err(error),
        };
        let (picture, forms) = made(id, &original).map_err(|fault| damaged(&fault.to_string()))?;
        Ok(Whole { picture, original, forms, remade: Some(reason) })
    }

    /// The smaller forms as they are kept, or what is wrong with one.
    fn forms(&self, picture: &Picture, look: Look) -> Result<Result<Forms, String>, MediaError> {
        let wanted = picture.widths().map(Form::Webp).chain([Form::Jpeg(picture.list_width())]);
        let mut forms = Vec::new();
        for form in wanted {
            let Some(bytes) = self.read(picture.id, form)? else {
                return Ok(Err(format!("{form} is not there")));
            };
            if let Err(fault) = look_at(picture, form, &bytes, look) {
                return Ok(Err(format!("{form} is not what it was ({fault})")));
            }
            forms.push((form, bytes));
        }
        Ok(Ok(forms))
    }
}

/// Whether bytes are a form of a picture, in the right format and size.
fn look_at(picture: &Picture, form: Form, bytes: &[u8], look: Look) -> Result<(), Fault> {
    let (expected, width) = match form {
        Form::Original => return Ok(()),
        Form::Webp(width) => (Format::Webp, width),
        Form::Jpeg(width) => (Format::Jpeg, width),
    };
    let (found, size) = match look {
        Look::Outline => pictures::outline(bytes)?,
        Look::Pixels => {
            let found = pictures::decode(bytes)?;
            (found.format, found.pixels.dimensions())
        }
    };
    if found == expected && size == (width, picture.height_at(width)) {
        Ok(())
    } else {
        Err(Fault::damaged("it has another format or size"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use kit::samples::{in_every_format, scene};

    /// What becomes of a file's bytes; `None` removes the file.
    type Damage = fn(&[u8]) -> Option<Vec<u8>>;

    /// What may happen to a kept picture's files, by the name of the file.
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
    fn damaged_forms_are_found_and_made_again_from_the_original() {
        let folder = tempfile::tempdir().unwrap();
        let store = MediaStore::open(folder.path()).unwrap();
        let picture = store.take(&in_every_format(&scene(700, 500))[0].1).unwrap();
        let whole = Checked { pictures: 1, ..Checked::default() };
        assert_eq!(store.check(false, |_| {}).unwrap(), whole);
        let place = store.path(picture.id, Form::Original).parent().unwrap().to_owned();
        let before = files(&place);
        for (name, damage) in damages() {
            let file = place.join(name);
            match damage(&fs::read(&file).unwrap()) {
                Some(bytes) => fs::write(&file, bytes).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            let found = store.check(false, |_| {}).unwrap();
            assert_eq!((found.repaired, found.faults.len()), (0, 1), "{name}");
            assert!(found.faults[0].contains(&format!("the picture {} is damaged", picture.id)), "{found:?}");
            assert_eq!(
                store.check(true, |_| {}).unwrap(),
                Checked { repaired: 1, ..whole.clone() },
                "{name}"
            );
            assert_eq!(store.check(false, |_| {}).unwrap(), whole, "{name}");
            assert_eq!(files(&place), before, "{name}");
        }
        assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    }

    #[test]
    fn forms_and_description_are_made_again_as_this_version_makes_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = MediaStore::open(folder.path()).unwrap();
        let picture = store.take(&in_every_format(&scene(90, 90))[0].1).unwrap();
        assert_eq!(store.remake(picture.id).unwrap(), (picture.clone(), false));
        let former = Picture { palette: Vec::new(), ..picture.clone() };
        let description = store.path(picture.id, Form::Original).with_file_name("picture.json");
        fs::write(&description, serde_json::to_vec(&former).unwrap()).unwrap();
        let form = store.path(picture.id, Form::Webp(90));
        let bytes = fs::read(&form).unwrap();
        fs::write(&form, b"RIFF").unwrap();
        assert_eq!(store.remake(picture.id).unwrap(), (picture.clone(), true));
        assert_eq!(
            (store.get(picture.id).unwrap(), fs::read(&form).unwrap()),
            (Some(picture.clone()), bytes)
        );
        fs::write(store.path(picture.id, Form::Original), b"other").unwrap();
        assert!(store.remake(picture.id).is_err());
    }

    #[test]
    fn a_damaged_original_cannot_be_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = MediaStore::open(folder.path()).unwrap();
        let picture = store.take(&in_every_format(&scene(90, 90))[0].1).unwrap();
        fs::write(store.path(picture.id, Form::Original), b"other").unwrap();
        let found = store.check(true, |_| {}).unwrap();
        assert_eq!((found.pictures, found.repaired), (1, 0));
        assert!(found.faults[0].contains("its bytes are not those that its name is made of"), "{found:?}");
    }
}
