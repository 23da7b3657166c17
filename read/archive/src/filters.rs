//! Filters: which listed projects a search, a list or a count is about.

use std::hash::Hasher;
use std::sync::Arc;

use jiff::civil::Date;
use lexical::{Fnv, OrdinalSet};
use schemas::picture::Colour;
use schemas::record::{Category, Year};
use schemas::taste::Taste;
use text::fold;

use super::blocks::bitmap;
use super::columns::chunk::{Chunk, FIRST_DAY, LAST_YEAR};
use super::columns::oklab::{self, Oklab};
use super::columns::texts::{Texts, value_of};
use super::columns::{Columns, TextColumn};
use super::facets::Facet;
use super::recent::Recent;
use model::day;

/// What projects must have. Several values of one filter are alternatives; all filters hold. Texts are compared in the form of values
/// ([`text::value_form`]): `Oxenham and Wardlaw` is `Oxenham & Wardlaw`, but `C` is not `C++`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// The category.
    pub categories: Vec<Category>,
    /// The whole place.
    pub cities: Vec<String>,
    /// The whole name of the studio.
    pub studios: Vec<String>,
    /// The whole name of the curator.
    pub curators: Vec<String>,
    /// A part of the place between commas, or the whole.
    pub places: Vec<String>,
    /// The first year. A project without a year does not match.
    pub year_from: Option<Year>,
    /// The last year. A project without a year does not match.
    pub year_to: Option<Year>,
    /// Whether a picture is required.
    pub has_picture: bool,
    /// A colour that is near to one of the palettes of the pictures, in OKLab.
    pub colours: Vec<Colour>,
    /// The first day of the project's first event.
    pub added_since: Option<Date>,
    /// The first day on which a curator selected the project. One without such a day does not match.
    pub selected_from: Option<Date>,
    /// The last day on which a curator selected the project. One without such a day does not match.
    pub selected_to: Option<Date>,
    /// The words of each dimension, all of which must be recorded there.
    pub taste: Taste,
}

impl Filters {
    /// Returns the filter by one category or none.
    pub fn of_category(category: Option<Category>) -> Filters {
        Filters { categories: category.into_iter().collect(), ..Filters::default() }
    }

    /// Returns whether every project matches.
    pub fn is_empty(&self) -> bool {
        *self == Filters::default()
    }

    /// Returns the category if it is the only filter and has one value, and `None` inside if there is no filter at all: what models
    /// answer without a set of projects.
    pub fn only_category(&self) -> Option<Option<Category>> {
        let category = match self.categories.as_slice() {
            [] => None,
            [one] => Some(*one),
            _ => return None,
        };
        let is_all = *self == Filters::of_category(category);
        is_all.then_some(category)
    }

    /// Returns whether a facet counts the values of one of the filters. A range is none: it applies to its own facet.
    pub fn restricts(&self, facet: Facet) -> bool {
        self.without(facet) != *self
    }

    /// Returns the other filters than those by the values of a facet; ranges remain.
    #[must_use]
    pub fn without(&self, facet: Facet) -> Filters {
        let mut others = self.clone();
        match facet {
            Facet::Category => others.categories.clear(),
            Facet::City => others.cities.clear(),
            Facet::Studio => others.studios.clear(),
            Facet::Curator => others.curators.clear(),
            Facet::Year | Facet::Taste(_) => {}
        }
        others
    }

    /// Returns a hash that is equal for equal filters, in whatever order and spelling their values are, and in all processes.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::default();
        let mut write = |kind: u8, mut values: Vec<String>| {
            values.sort_unstable();
            values.dedup();
            hash.write(&[kind]);
            for value in values {
                hash.write(value.as_bytes());
                hash.write(&[0]);
            }
        };
        let folded = |texts: &[String]| texts.iter().map(|text| value_of(text)).collect();
        write(1, self.categories.iter().map(|category| category.as_str().to_owned()).collect());
        write(2, folded(&self.cities));
        write(3, folded(&self.studios));
        write(4, folded(&self.curators));
        write(5, folded(&self.places));
        write(6, self.year_from.iter().map(Year::to_string).collect());
        write(7, self.year_to.iter().map(Year::to_string).collect());
        write(8, self.has_picture.then(String::new).into_iter().collect());
        write(9, self.colours.iter().map(Colour::to_string).collect());
        write(10, self.added_since.iter().map(Date::to_string).collect());
        for (dimension, text) in self.taste.iter() {
            // Every word of a taste counts, `and` too.
            write(11, vec![format!("{}={}", dimension.as_str(), fold(text))]);
        }
        write(12, self.selected_from.iter().map(Date::to_string).collect());
        write(13, self.selected_to.iter().map(Date::to_string).collect());
        hash.finish()
    }
}

/// The selections that were last asked for in one snapshot, with a bit for each project of the archive: readers page through a filtered
/// list, and the facets beside it need the same filters without one of them.
pub(super) type RecentSelections = Recent<Filters, Arc<OrdinalSet>, 16>;

/// Filters with their values looked up in the columns of one snapshot.
struct Lookup {
    /// The indices in [`Category::ALL`], one bit each.
    categories: Option<u8>,
    texts: Vec<(TextColumn, TextNumbers)>,
    years: Option<(u16, u16)>,
    has_picture: bool,
    colours: Vec<Oklab>,
    added_since: Option<i32>,
    /// The first and the last day of selection.
    selected: Option<(i32, i32)>,
}

/// Numbers of texts.
enum TextNumbers {
    One(u32),
    /// A bit for each number.
    Several(Vec<u64>),
}

/// Returns the ordinals of the listed projects that match all filters but the taste.
pub(super) fn select(columns: &Columns, filters: &Filters) -> OrdinalSet {
    let mut set = OrdinalSet::with_room(columns.bound());
    let Some(lookup) = Lookup::of(columns, filters) else { return set };
    let mut rows = Vec::new();
    for chunk in columns.chunks() {
        rows.clear();
        rows.resize(bitmap::word_count(chunk.len()), u64::MAX);
        if let Some(last) = rows.last_mut().filter(|_| !chunk.len().is_multiple_of(64)) {
            *last = (1 << (chunk.len() % 64)) - 1;
        }
        lookup.retain_matching(chunk, &mut rows);
        chunk.add_to(&mut set, &rows);
    }
    set
}

impl Lookup {
    /// Looks the values up; `None` if a filter has no value that a project has.
    fn of(columns: &Columns, filters: &Filters) -> Option<Lookup> {
        let bit = |category: &Category| 1 << *category as u8;
        let categories = filters.categories.iter().map(bit).reduce(|all, one| all | one);
        let wanted = [
            (TextColumn::City, &filters.cities),
            (TextColumn::Studio, &filters.studios),
            (TextColumn::Curator, &filters.curators),
        ];
        let mut texts = Vec::new();
        for (column, wanted) in wanted.into_iter().filter(|(_, wanted)| !wanted.is_empty()) {
            let known = columns.texts(column);
            let numbers = wanted.iter().flat_map(|text| known.spellings(&value_of(text)));
            texts.push((column, TextNumbers::of(known, numbers)?));
        }
        if !filters.places.is_empty() {
            let known = columns.texts(TextColumn::City);
            let places = filters.places.iter().map(|text| value_of(text));
            let numbers = places.flat_map(|place| known.containing(&place).chain(known.spellings(&place)));
            texts.push((TextColumn::City, TextNumbers::of(known, numbers)?));
        }
        let years = (filters.year_from.is_some() || filters.year_to.is_some()).then(|| {
            let from = filters.year_from.map_or(0, Year::number);
            (from, filters.year_to.map_or(LAST_YEAR, Year::number))
        });
        let selected = (filters.selected_from.is_some() || filters.selected_to.is_some()).then(|| {
            let from = filters.selected_from.map_or(FIRST_DAY, day::since_1970);
            (from, filters.selected_to.map_or(i32::MAX, day::since_1970))
        });
        Some(Lookup {
            categories,
            texts,
            years,
            has_picture: filters.has_picture,
            colours: filters.colours.iter().map(|Colour(rgb)| Oklab::of(*rgb)).collect(),
            added_since: filters.added_since.map(day::since_1970),
            selected,
        })
    }

    /// Clears the bits of the rows that do not match.
    fn retain_matching(&self, chunk: &Chunk, rows: &mut [u64]) {
        if let Some(categories) = self.categories {
            retain(rows, &chunk.categories, |category| categories >> category & 1 == 1);
        }
        for (column, numbers) in &self.texts {
            match numbers {
                TextNumbers::One(wanted) => retain(rows, chunk.texts(*column), |number| number == *wanted),
                TextNumbers::Several(wanted) => {
                    retain(rows, chunk.texts(*column), |number| bitmap::contains(wanted, number as usize));
                }
            }
        }
        if let Some((from, to)) = self.years {
            retain(rows, &chunk.years, |year| (from..=to).contains(&year));
        }
        if self.has_picture {
            retain(rows, &chunk.has_picture, |has_picture| has_picture);
        }
        if let Some(since) = self.added_since {
            retain(rows, &chunk.added, |added| added >= since);
        }
        if let Some((from, to)) = self.selected {
            retain(rows, &chunk.selected, |selected| (from..=to).contains(&selected));
        }
        if !self.colours.is_empty() {
            for (index, word) in rows.iter_mut().enumerate() {
                let far = bitmap::ones(index, *word)
                    .filter(|row| oklab::nearest(chunk.palette(*row), &self.colours).is_none());
                *word &= !far.fold(0, |far, row| far | 1 << (row % 64));
            }
        }
    }
}

impl TextNumbers {
    /// Returns the numbers as a set; `None` without any.
    fn of(texts: &Texts, mut numbers: impl Iterator<Item = u32>) -> Option<TextNumbers> {
        let first = numbers.next()?;
        let Some(second) = numbers.next() else { return Some(TextNumbers::One(first)) };
        // Bit 0 stands for rows without a text.
        let mut bits = vec![0; bitmap::word_count(texts.count() + 1)];
        for number in [first, second].into_iter().chain(numbers) {
            bitmap::set(&mut bits, number as usize);
        }
        Some(TextNumbers::Several(bits))
    }
}

/// Clears the bits of the rows whose value does not pass.
fn retain<T: Copy>(rows: &mut [u64], values: &[T], passes: impl Fn(T) -> bool) {
    for (word, values) in rows.iter_mut().zip(values.chunks(64)).filter(|(word, _)| **word != 0) {
        let passing = values.iter().enumerate();
        *word &= passing.fold(0, |bits, (at, value)| bits | u64::from(passes(*value)) << at);
    }
}
