//! The tokenizer that gives tantivy the combined text: each word as often as its field weighs, at one and the same position.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::super::SearchDocument;
use super::{FIELD_SEPARATOR, weighted_words};

/// The combined text of a document: what is indexed and what the digest covers.
pub(crate) fn combined(document: &SearchDocument<'_>) -> String {
    let fields =
        [Some(document.name), document.studio, document.city, Some(document.category), document.intro];
    let fields = fields.map(|field| field.unwrap_or_default().replace(FIELD_SEPARATOR, " "));
    fields.join(&FIELD_SEPARATOR.to_string())
}

/// Splits a combined text into its weighted words.
#[derive(Clone, Default)]
pub(crate) struct WeightedFields {
    /// The folded words of the text at hand, one after the other.
    folded: String,
    words: Vec<Weighted>,
}

#[derive(Clone, Copy)]
struct Weighted {
    end: usize,
    position: u32,
    weight: u32,
}

impl Tokenizer for WeightedFields {
    type TokenStream<'a> = WeightedStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WeightedStream<'a> {
        self.folded.clear();
        self.words.clear();
        let (folded, words) = (&mut self.folded, &mut self.words);
        weighted_words(text, &mut |word, weight| {
            folded.push_str(word.text);
            words.push(Weighted { end: folded.len(), position: word.position, weight });
        });
        WeightedStream { source: self, next: 0, repeats: 0, token: Token::default() }
    }
}

/// Hands the words of a [`WeightedFields`] to the indexer.
pub(crate) struct WeightedStream<'a> {
    source: &'a WeightedFields,
    next: usize,
    /// How often the current token still has to be repeated.
    repeats: u32,
    token: Token,
}

impl TokenStream for WeightedStream<'_> {
    fn advance(&mut self) -> bool {
        if self.repeats > 0 {
            self.repeats -= 1;
            return true;
        }
        let Some(&Weighted { end, position, weight }) = self.source.words.get(self.next) else {
            return false;
        };
        let start = self.next.checked_sub(1).map_or(0, |before| self.source.words[before].end);
        self.token.text.clear();
        self.token.text.push_str(&self.source.folded[start..end]);
        self.token.position = position as usize;
        self.token.offset_from = start;
        self.token.offset_to = end;
        self.repeats = weight - 1;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
