//! The taste of a project: what curators write about it, in six dimensions.
//!
//! A dimension is one entry of the list below. Records, answers, the import format, the read models, the tools and the
//! pages iterate over [`Dimension::ALL`]; the published schemas and their examples are generated from it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// The maximum length of the text of a dimension, in characters.
pub const MAX_TEXT: usize = 1_000;

/// Declares the dimensions in display order. `summary` describes one in the schemas of events and answers, `about` in the
/// schema of the import record; `word` is an example of a query, `text` of a record.
macro_rules! dimensions {
    ($($variant:ident {
        name: $name:literal, summary: $summary:literal, about: $about:literal, word: $word:literal, text: $text:literal
    })+) => {
        /// A dimension in which curators describe a project.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dimension {
            $(#[doc = $about] $variant,)+
        }

        impl Dimension {
            /// All dimensions in display order.
            pub const ALL: [Dimension; Dimension::COUNT] = [$(Dimension::$variant),+];

            /// The number of dimensions.
            pub const COUNT: usize = [$($name),+].len();

            /// Their names, in the same order.
            pub const NAMES: [&'static str; Dimension::COUNT] = [$($name),+];

            const TEXTS: [Texts; Dimension::COUNT] = [$(Texts {
                name: $name,
                title: stringify!($variant),
                summary: $summary,
                about: $about,
                word: $word,
                text: $text,
            }),+];
        }
    };
}

dimensions! {
    Material { name: "material", summary: "Materials.", about: "What it is made of.", word: "oak", text: "pale grey brick, larch" }
    Light { name: "light", summary: "Light.", about: "How it is lit.", word: "dusk", text: "even light from the north" }
    Color { name: "color", summary: "Colours.", about: "Its colours.", word: "grey", text: "grey, honey" }
    Mood { name: "mood", summary: "Mood.", about: "Its mood.", word: "calm", text: "calm" }
    Composition { name: "composition", summary: "Composition.", about: "How it is composed.", word: "symmetrical", text: "one long nave" }
    Subject { name: "subject", summary: "Subject or purpose.", about: "What it shows or serves.", word: "library", text: "library" }
}

struct Texts {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    about: &'static str,
    word: &'static str,
    text: &'static str,
}

impl Dimension {
    /// Returns the name in records and arguments, for example `material`.
    pub const fn as_str(self) -> &'static str {
        self.texts().name
    }

    /// Returns the displayed name, for example `Material`.
    pub const fn title(self) -> &'static str {
        self.texts().title
    }

    /// Returns the sentence that explains the dimension to authors of import files.
    pub const fn about(self) -> &'static str {
        self.texts().about
    }

    /// Returns a word that a query for this dimension could have.
    pub const fn example_word(self) -> &'static str {
        self.texts().word
    }

    /// Returns a text that a record could have in this dimension.
    pub const fn example_text(self) -> &'static str {
        self.texts().text
    }

    /// Returns the index in [`Dimension::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Parses a name, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<Dimension> {
        Dimension::ALL.into_iter().find(|dimension| dimension.as_str().eq_ignore_ascii_case(text.trim()))
    }

    const fn texts(self) -> &'static Texts {
        &Dimension::TEXTS[self.index()]
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of dimensions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct DimensionSet(u8);

const _: () = assert!(Dimension::COUNT <= 8, "a set has one bit per dimension");

impl DimensionSet {
    /// Returns the number of dimensions in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the set contains a dimension.
    pub fn contains(self, dimension: Dimension) -> bool {
        self.0 & 1 << dimension.index() != 0
    }

    /// Iterates in display order.
    pub fn iter(self) -> impl Iterator<Item = Dimension> {
        Dimension::ALL.into_iter().filter(move |dimension| self.contains(*dimension))
    }
}

impl FromIterator<Dimension> for DimensionSet {
    fn from_iter<I: IntoIterator<Item = Dimension>>(dimensions: I) -> DimensionSet {
        DimensionSet(dimensions.into_iter().fold(0, |set, dimension| set | 1 << dimension.index()))
    }
}

impl fmt::Debug for DimensionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A set is the list of its names in display order.
impl Serialize for DimensionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Dimension::as_str))
    }
}

/// Free texts by dimension. An unrecorded dimension is absent, never an empty text.
///
/// ```
/// use schemas::taste::{Dimension, Taste};
///
/// let taste: Taste = serde_json::from_str(r#"{"mood":"calm","material":"oak"}"#).unwrap();
/// assert_eq!(taste.get(Dimension::Mood), Some("calm"));
/// assert_eq!(taste.iter().next(), Some((Dimension::Material, "oak")));
/// assert_eq!(serde_json::to_string(&taste).unwrap(), r#"{"material":"oak","mood":"calm"}"#);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taste([Option<String>; Dimension::COUNT]);

impl Taste {
    /// Returns a taste with the result of `text` for each dimension, called in display order.
    pub fn from_fn(text: impl FnMut(Dimension) -> Option<String>) -> Taste {
        Taste(Dimension::ALL.map(text))
    }

    /// Returns the text of a dimension.
    pub fn get(&self, dimension: Dimension) -> Option<&str> {
        self.0[dimension.index()].as_deref()
    }

    /// Replaces the text of a dimension.
    pub fn set(&mut self, dimension: Dimension, text: Option<String>) {
        self.0[dimension.index()] = text;
    }

    /// Iterates over the recorded dimensions in display order.
    pub fn iter(&self) -> impl Iterator<Item = (Dimension, &str)> {
        let all = Dimension::ALL.into_iter().zip(&self.0);
        all.filter_map(|(dimension, text)| Some((dimension, text.as_deref()?)))
    }

    /// Returns whether no dimension is recorded.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl Serialize for Taste {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(dimension, text)| (dimension.as_str(), text)))
    }
}

/// Reads an object by the names of the dimensions; null counts as absent, and other members are ignored.
impl<'de> Deserialize<'de> for Taste {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Taste, D::Error> {
        deserializer.deserialize_map(TasteVisitor)
    }
}

struct TasteVisitor;

impl<'de> Visitor<'de> for TasteVisitor {
    type Value = Taste;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of texts by dimension")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Taste, A::Error> {
        let (mut taste, mut read) = (Taste::default(), DimensionSet::default());
        while let Some(MemberName(dimension)) = members.next_key()? {
            let Some(dimension) = dimension else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if read.contains(dimension) {
                return Err(de::Error::duplicate_field(dimension.as_str()));
            }
            read = read.iter().chain([dimension]).collect();
            taste.set(dimension, members.next_value()?);
        }
        Ok(taste)
    }
}

/// The dimension with exactly this name, if there is one.
struct MemberName(Option<Dimension>);

impl<'de> Deserialize<'de> for MemberName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MemberName, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = MemberName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<MemberName, E> {
                Ok(MemberName(Dimension::ALL.into_iter().find(|dimension| dimension.as_str() == name)))
            }
        }
        deserializer.deserialize_identifier(NameVisitor)
    }
}

impl JsonSchema for Taste {
    fn schema_name() -> Cow<'static, str> {
        "Taste".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": properties(),
            "description": "The six taste dimensions, each a free text of up to 1,000 characters.",
        })
    }
}

/// Returns the JSON Schema of each dimension as a member that may be null.
pub(crate) fn properties() -> Map<String, Value> {
    let property = |dimension: Dimension| {
        let schema = json!({"type": ["string", "null"], "description": dimension.texts().summary});
        (dimension.as_str().to_owned(), schema)
    };
    Dimension::ALL.into_iter().map(property).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taste_is_read_strictly_by_name() {
        let read = |text: &str| serde_json::from_str::<Taste>(text).map_err(|error| error.to_string());
        assert_eq!(read(r#"{"mood":null,"smell":{"a":[1]},"MOOD":"x"}"#), Ok(Taste::default()));
        let twice = read(r#"{"mood":null,"mood":"calm"}"#).unwrap_err();
        assert!(twice.starts_with("duplicate field `mood`"), "{twice}");
        assert!(read(r#"{"mood":1}"#).is_err());
    }

    #[test]
    fn a_set_contains_its_dimensions_in_display_order() {
        let set: DimensionSet = [Dimension::Subject, Dimension::Light].into_iter().collect();
        assert_eq!((set.len(), set.contains(Dimension::Mood)), (2, false));
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["light","subject"]"#);
    }
}
