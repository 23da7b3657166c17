//! What the archive stores of a record beside its order and its words: the values that projects are filtered, counted and sorted by.

use std::collections::BTreeMap;

use model::day;
use schemas::event::Event;
use schemas::picture::{Colour, Picture, PictureId};
use schemas::record::Record;
use serde::{Deserialize, Serialize};
use text::fold_whole;

use super::cursor::LONGEST_KEY;
use super::recorded::{Member, Recorded};

/// Returns what a project is sorted by in the order of names: the whole folded name. Names that agree in it are in the order of creation.
/// A name of at most 1,000 characters is not longer than [`LONGEST_KEY`]; what ligatures become beyond that is cut.
pub(super) fn name_key(name: &str) -> String {
    let mut key = fold_whole(name);
    key.truncate(key.floor_char_boundary(LONGEST_KEY));
    key
}

/// The values of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) city: Option<String>,
    pub(super) studio: Option<String>,
    pub(super) curator: Option<String>,
    pub(super) year: Option<u16>,
    /// The day on which a curator selected it, in days since 1970-01-01.
    pub(super) selected: Option<i32>,
    pub(super) pictures: Pictures,
    /// The members that have a value, of pictures whether it names any.
    pub(super) in_record: Recorded,
}

/// The pictures that a record names, and those of them that are stored. They are stored as JSON; readers use what is derived from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pictures {
    /// Whether the record has an image URL of its own.
    #[serde(default)]
    has_thumbnail: bool,
    /// The sources in the record.
    #[serde(default)]
    sources: Vec<String>,
    /// The stored pictures by source, including sources that only former revisions name.
    #[serde(default)]
    stored: BTreeMap<String, StoredPicture>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredPicture {
    id: PictureId,
    palette: Vec<Colour>,
}

impl Facts {
    /// Takes the values of a record; the stored pictures remain.
    pub(super) fn set_record(&mut self, record: &Record) {
        self.name = name_key(&record.name);
        self.city.clone_from(&record.city);
        self.studio.clone_from(&record.studio);
        self.curator.clone_from(&record.provenance.curated_by);
        self.year = record.year.map(|year| year.number());
        self.selected = record.provenance.selected.map(day::since_1970);
        self.in_record = Recorded::of(record);
        self.pictures.has_thumbnail = record.thumbnail.is_some();
        self.pictures.sources = record.picture_sources().map(str::to_owned).collect();
    }

    /// Returns the members that have a value in answers.
    pub(super) fn recorded(&self) -> Recorded {
        let has_image = self.pictures.shown().next().is_some();
        self.in_record.with(Member::Thumbnail, self.pictures.has_picture()).with(Member::Images, has_image)
    }
}

impl Pictures {
    /// Returns whether a summary of the project has a thumbnail.
    pub(super) fn has_picture(&self) -> bool {
        self.has_thumbnail || self.shown().next().is_some()
    }

    /// Returns the distinct colours of the palettes of all stored pictures that the record names, three bytes each.
    pub(super) fn palette(&self) -> Vec<u8> {
        let mut colours: Vec<Colour> = Vec::new();
        for colour in self.shown().flat_map(|picture| &picture.palette) {
            if !colours.contains(colour) {
                colours.push(*colour);
            }
        }
        colours.iter().flat_map(|Colour(rgb)| *rgb).collect()
    }

    /// Applies an event: one that attaches or erases a picture changes them.
    pub(super) fn apply(&mut self, event: &Event) {
        if let Event::PictureAttached(attached) = event {
            let Picture { id, palette, .. } = attached.picture.clone();
            self.stored.insert(attached.source.clone(), StoredPicture { id, palette });
        } else if let Event::PictureErased(erased) = event {
            self.stored.retain(|_, picture| picture.id != erased.picture);
        }
    }

    /// Returns the stored form: empty where there is nothing to say.
    pub(super) fn to_json(&self) -> String {
        if *self == Pictures::default() {
            return String::new();
        }
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the stored form.
    pub(super) fn of_json(text: &str) -> Result<Pictures, serde_json::Error> {
        if text.is_empty() { Ok(Pictures::default()) } else { serde_json::from_str(text) }
    }

    fn shown(&self) -> impl Iterator<Item = &StoredPicture> {
        self.sources.iter().filter_map(|source| self.stored.get(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_sorted_by_all_of_its_words() {
        let name = |end: &str| format!("{} {end}", "Näme ".repeat(199).trim_end());
        assert_eq!(name_key(&name("b")), format!("{}b", "name ".repeat(199)));
        assert!(name_key(&name("23809")) < name_key(&name("23810")));
        // A word of 51 bytes, in a script whose letters have three.
        assert!(name_key(&"ა".repeat(17)) < name_key(&format!("{}ბ", "ა".repeat(16))));
        let longest = name_key(&"𠀀".repeat(1_000));
        assert_eq!(longest.len(), 4_999, "every character is a word");
        let ligatures = name_key(&"ﷺ".repeat(1_000));
        assert!((LONGEST_KEY - 3..=LONGEST_KEY).contains(&ligatures.len()), "{}", ligatures.len());
    }
}
