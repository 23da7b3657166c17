//! potion-base-8M (MinishLab, model2vec; MIT): the vector of a text is the mean of the vectors of its word pieces.
//!
//! Its table has the weights of words in it already: further weights, or removing what all texts have in common, find fewer.

mod delivered;
mod wordpiece;

pub(super) use self::delivered::convert;
use self::wordpiece::{Word, WordPieces};
use super::scale_to;

/// The length of a vector.
pub(super) const DIMENSIONS: usize = 256;
/// Word pieces in the table.
const PIECES: usize = 29_528;
/// Where the rows begin in the file.
const ROWS: usize = PIECES * size_of::<f32>();

/// How well a word of one, two or three pieces is known; one of more pieces is not.
const KNOWN: [f32; 3] = [1.0, 0.7, 0.3];

/// Articles, prepositions and pronouns of French, German, Spanish, Italian, Portuguese, Dutch and Swedish that are no English
/// words. They are pieces of their own, but say that their neighbours are not English.
const NOT_ENGLISH: [&str; 148] = [
    "aan", "agli", "al", "alla", "alle", "allo", "ao", "aos", "att", "au", "auf", "aus", "aux", "av", "avec",
    "bei", "bij", "ce", "ces", "cette", "che", "como", "con", "cual", "da", "dai", "dal", "dalla", "dans",
    "das", "dat", "de", "degli", "dei", "del", "della", "delle", "dello", "dem", "der", "des", "desde",
    "det", "di", "dos", "du", "een", "ein", "eine", "einem", "einen", "einer", "el", "ella", "elle", "em",
    "en", "entre", "es", "est", "esta", "este", "et", "ett", "gli", "hacia", "hasta", "het", "il", "im",
    "ist", "je", "la", "las", "le", "les", "leur", "leurs", "los", "mais", "med", "mit", "muy", "na", "naar",
    "nach", "nas", "ne", "nel", "nella", "nelle", "niet", "nos", "nous", "och", "oder", "onder", "os", "ou",
    "para", "pas", "pela", "pelo", "per", "piu", "por", "pour", "que", "qui", "sa", "se", "sem", "ses",
    "seu", "sich", "sobre", "som", "sono", "sous", "su", "sua", "sul", "sulla", "sur", "te", "tra", "uit",
    "um", "uma", "un", "una", "und", "une", "uno", "unos", "uns", "van", "vers", "vid", "vom", "von", "voor",
    "vor", "wie", "zijn", "zu", "zum", "zur",
];

/// The table and its word pieces. The file that [`convert`] makes: a scale per piece as a 32-bit float, the rows as signed bytes,
/// then the pieces in the order of the rows, a line each.
#[derive(Debug)]
pub(super) struct StaticText {
    file: Vec<u8>,
    pieces: WordPieces,
}

/// The vector of a text.
#[derive(Debug)]
pub(super) struct TextVector {
    /// [`DIMENSIONS`] numbers of unit length.
    pub(super) vector: Vec<f32>,
    /// The share of words that are known well, 0 to 1.
    pub(super) known: f32,
}

impl StaticText {
    /// Reads a converted file; `None` if it is too short or malformed.
    pub(super) fn new(file: Vec<u8>) -> Option<StaticText> {
        let pieces = std::str::from_utf8(file.get(ROWS + PIECES * DIMENSIONS..)?).ok()?;
        let pieces = WordPieces::new(pieces.lines());
        Some(StaticText { pieces, file })
    }

    /// Returns the vector of the texts, read one after the other; `None` if no word piece is in the table.
    pub(super) fn vector<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Option<TextVector> {
        let mut vector = vec![0.0; DIMENSIONS];
        let (mut words, mut known) = (0, 0.0);
        for text in texts {
            wordpiece::words(text, &mut |word| {
                let pieces = self.pieces.of(word.folded);
                if word.folded.contains(char::is_alphanumeric) {
                    words += 1;
                    known += how_well_known(word, pieces.len());
                }
                pieces.into_iter().for_each(|piece| self.add(piece, &mut vector));
            });
        }
        scale_to(&mut vector, 1.0);
        let known = known / words.max(1) as f32;
        vector.iter().any(|n| *n != 0.0).then_some(TextVector { vector, known })
    }

    /// Adds the vector of a piece.
    fn add(&self, piece: usize, sum: &mut [f32]) {
        let (scales, rest) = self.file.split_at(ROWS);
        let scale = scales.as_chunks().0.get(piece).map_or(0.0, |scale| f32::from_le_bytes(*scale));
        let row = rest.chunks_exact(DIMENSIONS).nth(piece).unwrap_or_default();
        sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += scale * f32::from(number.cast_signed()));
    }
}

fn how_well_known(word: Word<'_>, pieces: usize) -> f32 {
    let is_foreign = !word.is_ascii || NOT_ENGLISH.binary_search(&word.folded).is_ok();
    if is_foreign { 0.0 } else { KNOWN.get(pieces.wrapping_sub(1)).copied().unwrap_or_default() }
}

#[cfg(test)]
mod tests;
