//! The text model alone, for those who ask and encode nothing: the read nodes.

use std::path::Path;

use super::static_text::StaticText;
use super::weights::{self, EncoderError};
use super::{Query, UNDERSTOOD};

/// The model of the meaning of texts. It takes 8 MB of memory.
#[derive(Debug)]
pub struct TextModel(StaticText);

impl TextModel {
    /// Its name, a part of the names of the encoders that compute meanings with it.
    pub const NAME: &str = weights::POTION_BASE_8M.name;

    /// Opens the model in a folder of weights; `None` if it is not there.
    ///
    /// # Errors
    ///
    /// If its file cannot be read or has another hash.
    pub fn open(folder: &Path) -> Result<Option<TextModel>, EncoderError> {
        Ok(weights::static_text(folder)?.map(TextModel))
    }

    /// Returns the model of a table in the form of the weights, whatever its hash: a scale for each of 29,528 word pieces as a
    /// little-endian 32-bit float, 256 numbers of a signed byte for each, then the pieces, a line each. `None` if it is too short, or the
    /// pieces are not UTF-8.
    pub fn from_table(table: Vec<u8>) -> Option<TextModel> {
        StaticText::new(table).map(TextModel)
    }

    /// Returns the meaning of a question; `None` if the model knows no word of it.
    pub fn query(&self, text: &str) -> Option<Query> {
        let meaning = self.0.vector([text])?;
        Some(Query { vector: meaning.vector, known: meaning.known })
    }

    /// Returns the meaning of a question that is understood: most of its words are known ([`UNDERSTOOD`]), and they are not a single
    /// letter.
    pub fn understood(&self, text: &str) -> Option<Query> {
        let is_long = text.split(|of: char| !of.is_alphanumeric()).any(|word| word.chars().nth(1).is_some());
        if is_long { self.query(text).filter(|query| query.known >= UNDERSTOOD) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table in which the first pieces are these, each of one number, and all others mean nothing.
    fn model(pieces: &[&str]) -> TextModel {
        let mut table = [1.0_f32.to_le_bytes(); 29_528].concat();
        let mut rows = vec![0; 29_528 * 256];
        (0..pieces.len()).for_each(|piece| rows[257 * piece] = 100);
        table.append(&mut rows);
        let others = (pieces.len()..29_528).map(|piece| format!("[unused{piece}]"));
        let lines: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).chain(others).collect();
        table.extend(lines.join("\n").into_bytes());
        TextModel::from_table(table).unwrap()
    }

    #[test]
    fn most_words_of_a_question_must_be_known() {
        let model = model(&["house", "sea", "a", "x", "la", "."]);
        let understood = |text: &str| model.understood(text).map(|query| query.known);
        assert_eq!(understood("A house. Sea!"), Some(1.0));
        assert_eq!(understood("house sea quay"), Some(2.0 / 3.0));
        for text in
            ["", " ", "🏛️🎨", "a", "X", "a x", "quay house", "...", "la house", "美術館", &"q".repeat(10_000)]
        {
            assert_eq!(understood(text), None, "{text}");
        }
        let query = model.query("sea").unwrap();
        assert_eq!((query.vector.len(), query.vector[1], query.known), (256, 1.0, 1.0));
        assert_eq!(model.query("🏛️🎨"), None);
    }

    #[test]
    fn a_table_that_is_too_short_is_none() {
        assert!(TextModel::from_table(vec![0; 29_528 * 260 - 1]).is_none());
        assert!(TextModel::open(Path::new("/nowhere")).unwrap().is_none());
    }
}
