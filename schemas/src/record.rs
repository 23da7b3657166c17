//! What editors record of a project: the facts, and nothing derived from them.

use std::fmt;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The facts of one project. Every member but `name` and `category` may be unrecorded; an unrecorded text is
/// absent, never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Up to 1,000 characters.
    pub name: String,
    /// Who made it, up to 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub studio: Option<String>,
    /// Where it stands; may include the country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<Year>,
    /// One of the catalog's five.
    pub category: Category,
    /// A short introduction, up to 2,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intro: Option<String>,
    /// The long text, up to 50,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How the design speaks, up to 5,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design_language: Option<String>,
    /// Further facts in the order in which they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Detail>,
    /// The day the catalog published it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Date>,
    /// The address of an image that the record brings itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<String>,
    /// The address of a public page that the record brings itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The address to cite that the record brings itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_url: Option<String>,
    /// Who selected it, when, and why.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
    /// The six taste dimensions.
    #[serde(default, skip_serializing_if = "Taste::is_empty")]
    pub taste: Taste,
    /// The pictures that the record names, in the order in which they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PictureSource>,
}

impl Record {
    /// The sources of the pictures that stand for it, in the order in which they are preferred: those that it names, then the
    /// image that it brings itself.
    pub fn picture_sources(&self) -> impl Iterator<Item = &str> {
        let named = self.pictures.iter().map(|picture| picture.source.as_str());
        named.chain(self.thumbnail.as_deref())
    }
}

/// One of the five parts of the catalog.
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
    /// All five, in the order in which they are named to people.
    pub const ALL: [Category; 5] =
        [Category::Architecture, Category::Interiors, Category::Design, Category::Photography, Category::Art];

    /// The word used in filters, for example `architecture`.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Architecture => "architecture",
            Category::Interiors => "interiors",
            Category::Design => "design",
            Category::Photography => "photography",
            Category::Art => "art",
        }
    }

    /// The word shown in results, for example `Architecture`.
    pub fn title(self) -> &'static str {
        match self {
            Category::Architecture => "Architecture",
            Category::Interiors => "Interiors",
            Category::Design => "Design",
            Category::Photography => "Photography",
            Category::Art => "Art",
        }
    }

    /// Reads a category in any case, blanks around it forgiven.
    pub fn parse(text: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|c| c.as_str().eq_ignore_ascii_case(text.trim()))
    }
}

/// A year of four digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Year(u16);

/// A text that is no year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a year is four digits")]
pub struct InvalidYear;

impl Year {
    /// Takes the text of four digits.
    pub fn parse(text: &str) -> Result<Year, InvalidYear> {
        if text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()) {
            text.parse().map(Year).map_err(|_| InvalidYear)
        } else {
            Err(InvalidYear)
        }
    }

    /// The year as a number.
    pub fn number(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

impl TryFrom<String> for Year {
    type Error = InvalidYear;

    fn try_from(text: String) -> Result<Self, InvalidYear> {
        Year::parse(&text)
    }
}

impl From<Year> for String {
    fn from(year: Year) -> String {
        year.to_string()
    }
}

impl JsonSchema for Year {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Year".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[0-9]{4}$", "description": "A year of four digits."})
    }
}

/// One labelled fact, for example `Site area` and `240 m²`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Detail {
    /// Up to 200 characters.
    pub label: String,
    /// Up to 5,000 characters.
    pub value: String,
}

/// Where a record comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The curator's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curated_by: Option<String>,
    /// The day it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Date>,
    /// The year since which the archive holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_archive_since: Option<i16>,
    /// What the curator noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Provenance {
    /// Whether nothing of it is recorded.
    pub fn is_empty(&self) -> bool {
        *self == Provenance::default()
    }
}

/// The six dimensions written during curation, each free text of up to 1,000 characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taste {
    /// What it is made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// How it is lit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<String>,
    /// Its colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// Its mood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mood: Option<String>,
    /// How it is composed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composition: Option<String>,
    /// What it shows or serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl Taste {
    /// Whether no dimension is recorded.
    pub fn is_empty(&self) -> bool {
        *self == Taste::default()
    }
}

/// A picture as a record names it, before its bytes are fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PictureSource {
    /// An https URL, or a path relative to the imported file.
    pub source: String,
    /// What the picture shows, for those who cannot see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

impl PictureSource {
    /// Whether it is a file beside the imported one.
    pub fn is_file(&self) -> bool {
        !self.source.contains("://")
    }
}
