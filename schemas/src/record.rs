//! The record of a project: what editors enter, and nothing derived from it.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::taste::Taste;
use crate::text_form::{string_conversions, string_schema};

/// The record of a project. All fields but `name` and `category` are optional; an unrecorded text is absent, never
/// empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The name, up to 1,000 characters.
    pub name: String,
    /// The maker, up to 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub studio: Option<String>,
    /// The place, which may include the country; up to 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// The year of completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<Year>,
    /// The category.
    pub category: Category,
    /// A short introduction, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intro: Option<String>,
    /// The long text, up to 50,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The design language, up to 5,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design_language: Option<String>,
    /// Further facts in display order, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Detail>,
    /// The day of publication in the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Date>,
    /// The URL of an image elsewhere, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<String>,
    /// The URL of a public page elsewhere, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The URL to cite instead of the catalog's own, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_url: Option<String>,
    /// Who selected it, when, and why.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
    /// The six taste dimensions.
    #[serde(default, skip_serializing_if = "Taste::is_empty")]
    pub taste: Taste,
    /// The pictures in display order, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PictureSource>,
}

impl Record {
    /// Returns the sources of the pictures that can represent the project, in order of preference: its pictures, then
    /// its thumbnail.
    pub fn picture_sources(&self) -> impl Iterator<Item = &str> {
        let named = self.pictures.iter().map(|picture| picture.source.as_str());
        named.chain(self.thumbnail.as_deref())
    }
}

/// The category of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Buildings and landscapes.
    Architecture,
    /// Rooms.
    Interiors,
    /// Objects and graphics.
    Design,
    /// Photographs and series.
    Photography,
    /// Works of art.
    Art,
}

impl Category {
    /// All categories in display order.
    pub const ALL: [Category; 5] =
        [Category::Architecture, Category::Interiors, Category::Design, Category::Photography, Category::Art];

    /// Returns the name used in filters, for example `architecture`.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Architecture => "architecture",
            Category::Interiors => "interiors",
            Category::Design => "design",
            Category::Photography => "photography",
            Category::Art => "art",
        }
    }

    /// Returns the displayed name, for example `Architecture`.
    pub fn title(self) -> &'static str {
        match self {
            Category::Architecture => "Architecture",
            Category::Interiors => "Interiors",
            Category::Design => "Design",
            Category::Photography => "Photography",
            Category::Art => "Art",
        }
    }

    /// Parses a category, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|c| c.as_str().eq_ignore_ascii_case(text.trim()))
    }
}

/// A year of four digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Year(u16);

/// Why a text is not a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a year is four digits")]
pub struct InvalidYear;

impl Year {
    /// Returns the year as a number.
    pub fn number(self) -> u16 {
        self.0
    }
}

impl FromStr for Year {
    type Err = InvalidYear;

    fn from_str(text: &str) -> Result<Self, InvalidYear> {
        if text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()) {
            text.parse().map(Year).map_err(|_| InvalidYear)
        } else {
            Err(InvalidYear)
        }
    }
}

impl fmt::Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

string_conversions!(Year);
string_schema!(Year, inline: true, "pattern": "^[0-9]{4}$", "description": "A year of four digits.");

/// A labelled fact, for example `Site area` and `240 m²`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// The label, up to 200 characters.
    pub label: String,
    /// The value, up to 5,000 characters.
    pub value: String,
}

/// The provenance of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The curator's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curated_by: Option<String>,
    /// The day it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Date>,
    /// The year since which it has been in the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_archive_since: Option<i16>,
    /// The curator's note, up to 10,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Provenance {
    /// Returns whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        *self == Provenance::default()
    }
}

/// A picture as a record names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureSource {
    /// An https URL, or a path relative to the imported file.
    pub source: String,
    /// The alternative text for readers who cannot see the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
    /// Whom to name with the picture: the photographer, the archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit: Option<String>,
    /// What others may do with the picture: a text, or the URL of a licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<String>,
}

impl PictureSource {
    /// Returns the picture of this source, of which nothing else is recorded.
    pub fn of(source: impl Into<String>) -> PictureSource {
        PictureSource { source: source.into(), ..PictureSource::default() }
    }

    /// Returns the names of the texts that both pictures have and that differ.
    pub fn differences(&self, other: &PictureSource) -> Vec<&'static str> {
        let texts = [
            ("alt", &self.alt, &other.alt),
            ("credit", &self.credit, &other.credit),
            ("rights", &self.rights, &other.rights),
        ];
        let differing =
            texts.into_iter().filter(|(_, one, other)| one.is_some() && other.is_some() && one != other);
        differing.map(|(name, ..)| name).collect()
    }

    /// Returns the source and the texts that are recorded.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.alt, &self.credit, &self.rights].into_iter().flatten();
        std::iter::once(&self.source).chain(texts).map(String::as_str)
    }

    /// Takes the texts of `other` that it has; its own texts stay where `other` has none.
    pub fn update(&mut self, other: &PictureSource) {
        for (own, other) in [
            (&mut self.alt, &other.alt),
            (&mut self.credit, &other.credit),
            (&mut self.rights, &other.rights),
        ] {
            if other.is_some() {
                own.clone_from(other);
            }
        }
    }

    /// Returns whether the source is a path, not a URL.
    pub fn is_file(&self) -> bool {
        !self.source.contains("://")
    }
}
