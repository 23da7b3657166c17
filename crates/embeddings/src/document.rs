//! The text that an encoder reads, without a notion of what it is about.

/// The text of one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document<'a> {
    /// What the built-in encoder reads. The order counts for the last bits of the vector.
    pub fields: Vec<Field<'a>>,
    /// Fields that the built-in encoder reads too, if another one holds a word.
    pub context: Vec<Field<'a>>,
    /// What a sentence encoder reads, which may be too much for it: the most telling first.
    pub passages: Vec<&'a str>,
    /// What a sentence encoder reads where no passage holds a letter or digit.
    pub title: &'a str,
}

/// A field of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<'a> {
    /// A word counts most in fields of the same name.
    pub name: &'a str,
    /// Its texts.
    pub texts: Vec<&'a str>,
    /// The length of its words together, before the whole is brought to unit length.
    pub weight: f32,
    /// Whether two words side by side count as a pair, which is worth its noise in short phrases only.
    pub has_phrases: bool,
}
