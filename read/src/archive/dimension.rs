//! The six dimensions of taste.

use std::fmt;

use schemas::record::Taste;

/// One of the six dimensions that curators describe a project in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// What it is made of.
    Material,
    /// How it is lit.
    Light,
    /// Its colours.
    Color,
    /// Its mood.
    Mood,
    /// How it is composed.
    Composition,
    /// What it shows or serves.
    Subject,
}

impl Dimension {
    /// All six, in the order in which they are named to people.
    pub const ALL: [Dimension; 6] = [
        Dimension::Material,
        Dimension::Light,
        Dimension::Color,
        Dimension::Mood,
        Dimension::Composition,
        Dimension::Subject,
    ];

    /// The name in records and arguments, for example `material`.
    pub fn as_str(self) -> &'static str {
        match self {
            Dimension::Material => "material",
            Dimension::Light => "light",
            Dimension::Color => "color",
            Dimension::Mood => "mood",
            Dimension::Composition => "composition",
            Dimension::Subject => "subject",
        }
    }

    /// Reads a name in any case, blanks around it forgiven.
    pub fn parse(text: &str) -> Option<Dimension> {
        Dimension::ALL.into_iter().find(|dimension| dimension.as_str().eq_ignore_ascii_case(text.trim()))
    }

    /// What a record says in this dimension.
    pub fn text_of(self, taste: &Taste) -> Option<&str> {
        match self {
            Dimension::Material => taste.material.as_deref(),
            Dimension::Light => taste.light.as_deref(),
            Dimension::Color => taste.color.as_deref(),
            Dimension::Mood => taste.mood.as_deref(),
            Dimension::Composition => taste.composition.as_deref(),
            Dimension::Subject => taste.subject.as_deref(),
        }
    }

    /// Its place among [`Dimension::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Some of the six dimensions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Dimensions(u8);

impl Dimensions {
    /// How many they are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this one is among them.
    pub fn contains(self, dimension: Dimension) -> bool {
        self.0 & 1 << dimension.index() != 0
    }

    /// They, in the order of [`Dimension::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Dimension> {
        Dimension::ALL.into_iter().filter(move |dimension| self.contains(*dimension))
    }
}

impl FromIterator<Dimension> for Dimensions {
    fn from_iter<I: IntoIterator<Item = Dimension>>(dimensions: I) -> Dimensions {
        Dimensions(dimensions.into_iter().fold(0, |all, dimension| all | 1 << dimension.index()))
    }
}

impl fmt::Debug for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
