//! The tokenizer of the combined text: each word as often as its field weighs, at one and the same position.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::{FIELD_SEPARATOR, for_each_weighted_word};
use crate::SearchDocument;

/// Returns the combined text of a document: what is indexed, and what the digest covers.
pub(crate) fn combined_text(document: &SearchDocument<'_>) -> String {
    let fields =
        [Some(document.name), document.studio, document.city, Some(document.category), document.intro];
    let fields = fields.map(|field| field.unwrap_or_default().replace(FIELD_SEPARATOR, " "));
    fields.join(&FIELD_SEPARATOR.to_string())
}

/// Splits a combined text into its weighted words.
#[derive(Clone, Default)]
pub(crate) struct WeightedFieldTokenizer {
    /// The folded words of the current text, one after the other.
    folded: String,
    words: Vec<WeightedWord>,
}

#[derive(Clone, Copy)]
struct WeightedWord {
    /// Where it ends in the folded text.
    end: usize,
    position: u32,
    weight: u32,
}

impl Tokenizer for WeightedFieldTokenizer {
    type TokenStream<'a> = WeightedTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WeightedTokenStream<'a> {
        self.folded.clear();
        self.words.clear();
        let (folded, words) = (&mut self.folded, &mut self.words);
        for_each_weighted_word(text, &mut |word, weight| {
            folded.push_str(word.text);
            words.push(WeightedWord { end: folded.len(), position: word.position, weight });
        });
        WeightedTokenStream { source: self, next: 0, repeats: 0, token: Token::default() }
    }
}

/// The tokens of one text.
pub(crate) struct WeightedTokenStream<'a> {
    source: &'a WeightedFieldTokenizer,
    next: usize,
    /// How often the current token still has to be repeated.
    repeats: u32,
    token: Token,
}

impl TokenStream for WeightedTokenStream<'_> {
    fn advance(&mut self) -> bool {
        if self.repeats > 0 {
            self.repeats -= 1;
            return true;
        }
        let Some(&WeightedWord { end, position, weight }) = self.source.words.get(self.next) else {
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
