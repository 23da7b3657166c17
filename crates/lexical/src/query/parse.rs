//! The query parser.

use std::ops::ControlFlow;

use text::{Kind, words};

use super::{MAX_QUERY_WORDS, Phrase, Query, Term};

/// The most words that are compared with names.
const MAX_NAME_WORDS: usize = 64;
/// Outside quotes this is punctuation, as `&` is, unless nothing else was typed.
const AND: &str = "and";
/// Words that restrict nothing outside quotes, beside at least one other; sorted. A project that has them as well ranks first.
const OPTIONAL_WORDS: [&str; 22] = [
    "a", "an", "at", "by", "de", "des", "du", "et", "for", "from", "in", "is", "la", "le", "les", "of", "on",
    "or", "the", "to", "und", "with",
];

/// A word as it was typed.
struct TypedWord {
    /// Its index in the query.
    word: usize,
    position: u32,
    kind: Kind,
    /// What it is the possessive of.
    owner: Option<String>,
}

/// Words of a text outside quotes, or between two of them.
#[derive(Default)]
struct Piece {
    words: Vec<TypedWord>,
    /// For each run of words that is also one word: the position of the first, the index in `words` after the last, and the joined word.
    compounds: Vec<(u32, usize, String)>,
}

impl Query {
    /// Parses a text. Quotes of any style make phrases; a quote that is never closed counts as a space. A run of characters of a
    /// script without spaces is a phrase too.
    pub(crate) fn parse(text: &str) -> Query {
        let query = Parser { drops_and: true, ..Parser::default() }.parse(text);
        if query.typed.is_empty() && query.words.len() < 2 {
            // There may be nothing else.
            return Parser::default().parse(text);
        }
        query
    }
}

#[derive(Default)]
struct Parser {
    query: Query,
    /// Whether `and` is punctuation.
    drops_and: bool,
    /// The number of words so far.
    count: usize,
    /// The number of words that are compared with names.
    name_words: usize,
    /// The phrases of compounds.
    compounds: Vec<Phrase>,
    /// Whether the words for names lack one that was typed in quotes.
    lacks_quoted: bool,
    /// Terms that are optional if there is another.
    optional: Vec<usize>,
}

impl Parser {
    fn parse(mut self, text: &str) -> Query {
        let pieces: Vec<&str> = text.split(is_quote).collect();
        for (index, piece) in pieces.iter().enumerate() {
            let is_quoted = index % 2 == 1 && index + 1 < pieces.len();
            let mut read = Piece::default();
            let flow = words(piece, &mut |word| self.word(word, is_quoted, &mut read));
            if is_quoted {
                self.end_quotes(&read);
            } else {
                self.end_piece(read);
            }
            if flow.is_break() {
                break;
            }
        }
        self.finish()
    }

    /// Adds a word of a piece.
    fn word(&mut self, word: text::Word<'_>, is_quoted: bool, piece: &mut Piece) -> ControlFlow<()> {
        match word.kind {
            Kind::Part => {
                if let Some(whole) = piece.words.last_mut()
                    && whole.position == word.position
                    && !self.query.is_truncated
                {
                    let typed = &self.query.words[whole.word];
                    let owner = typed.strip_suffix('s').filter(|_| word.text == "s");
                    whole.owner = owner.filter(|owner| !owner.is_empty()).map(str::to_owned);
                }
                return ControlFlow::Continue(());
            }
            Kind::Joined => {
                if !self.query.is_truncated {
                    piece.compounds.push((word.position, piece.words.len(), word.text.to_owned()));
                }
                return ControlFlow::Continue(());
            }
            Kind::Whole | Kind::Character { .. } => {}
        }
        let is_and = self.drops_and && word.text == AND;
        if is_and && !is_quoted {
            return ControlFlow::Continue(());
        }
        self.count += 1;
        if is_and {
            self.lacks_quoted = true;
        } else {
            self.push_typed(word.text);
        }
        self.query.is_open = !is_quoted && word.kind == Kind::Whole;
        if self.count > MAX_QUERY_WORDS {
            self.query.is_truncated = true;
            return if self.name_words > MAX_NAME_WORDS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            };
        }
        self.query.last_is_prefix = self.query.is_open;
        self.query.open_compound = None;
        let index = self.intern(word.text, is_quoted);
        piece.words.push(TypedWord { word: index, position: word.position, kind: word.kind, owner: None });
        ControlFlow::Continue(())
    }

    fn push_typed(&mut self, word: &str) {
        self.name_words += 1;
        let typed = &mut self.query.typed;
        if self.name_words > MAX_NAME_WORDS {
            typed.clear();
        } else {
            if self.name_words > 1 {
                typed.push(' ');
            }
            typed.push_str(word);
        }
    }

    /// Returns the index of a word; appends it if it is new.
    fn intern(&mut self, word: &str, is_quoted: bool) -> usize {
        match self.query.words.iter().position(|other| other == word) {
            Some(index) => {
                // The last distinct word may then not be the one that was typed last.
                self.query.last_is_prefix &= index + 1 == self.query.words.len();
                self.query.is_quoted[index] |= is_quoted;
                index
            }
            None => {
                self.query.words.push(word.to_owned());
                self.query.forms.push(Vec::new());
                self.query.is_quoted.push(is_quoted);
                self.query.words.len() - 1
            }
        }
    }

    /// Ends a piece in quotes: its words are a phrase.
    fn end_quotes(&mut self, piece: &Piece) {
        self.push_phrase(&piece.words);
        piece.words.iter().for_each(|typed| self.push_term(word_term(typed.word)));
    }

    /// Ends a piece outside quotes: compounds are a term each, runs of characters a phrase.
    fn end_piece(&mut self, piece: Piece) {
        let Piece { words, compounds } = piece;
        let mut compounds = compounds.into_iter().peekable();
        let mut at = 0;
        while let Some(typed) = words.get(at) {
            // Its first words are part of the compound before it, or are punctuation.
            while compounds.next_if(|(first, ..)| *first < typed.position).is_some() {}
            if let Some((_, end, joined)) = compounds.next_if(|(first, ..)| *first == typed.position)
                && end > at + 1
            {
                let compound = self.push_compound(&words[at..end], joined);
                self.query.open_compound = Some(compound).filter(|_| end == words.len());
                at = end;
                continue;
            }
            let run =
                words[at + 1..].iter().take_while(|word| word.kind == Kind::Character { continues: true });
            let run = &words[at..=at + run.count()];
            self.push_phrase(run);
            for typed in run {
                self.push_word(typed);
            }
            at += run.len();
        }
    }

    fn push_word(&mut self, typed: &TypedWord) {
        let word = self.query.words[typed.word].as_str();
        let mut forms = text::forms(word);
        if let Some(owner) = &typed.owner {
            forms.push(owner.clone());
            forms.extend(text::forms_of_owner(owner));
        }
        let is_optional = OPTIONAL_WORDS.binary_search(&word).is_ok();
        let known = &mut self.query.forms[typed.word];
        for form in forms {
            if form != self.query.words[typed.word] && !known.contains(&form) {
                known.push(form);
            }
        }
        let term = word_term(typed.word);
        if is_optional && !self.query.terms.contains(&term) {
            self.optional.push(typed.word);
        }
        self.push_term(term);
    }

    fn push_compound(&mut self, typed: &[TypedWord], joined: String) -> Term {
        let words = phrase_of(typed);
        let forms = text::forms(&joined);
        self.compounds.push(words.clone());
        let compound = Term { words, joined: std::iter::once(joined).chain(forms).collect() };
        self.push_term(compound.clone());
        compound
    }

    fn push_phrase(&mut self, typed: &[TypedWord]) {
        if typed.len() > 1 {
            self.query.phrases.push(phrase_of(typed));
        }
    }

    fn push_term(&mut self, term: Term) {
        if !self.query.terms.contains(&term) {
            self.query.terms.push(term);
        }
    }

    fn finish(self) -> Query {
        let Parser { mut query, compounds, lacks_quoted, optional, .. } = self;
        query.strict_phrases = query.phrases.len();
        query.phrases.extend(compounds);
        // In quotes a word is itself only.
        for (forms, is_quoted) in query.forms.iter_mut().zip(&query.is_quoted) {
            if *is_quoted {
                forms.clear();
            }
        }
        // Letters with points are not unfinished.
        let is_of_letters =
            |term: &Term| term.words.iter().all(|(word, _)| is_single_letter(&query.words[*word]));
        let ends_with_initials = query.open_compound.as_ref().is_some_and(is_of_letters);
        query.last_is_prefix &= !query.is_truncated && !ends_with_initials;
        // A name that goes on with the last word is not known to have a word that names are compared without.
        query.is_open &= !lacks_quoted;
        query.ends_with_letter =
            query.last_is_prefix && query.words.last().is_some_and(|word| is_single_letter(word));
        let last_letter = query.words.len().checked_sub(1).filter(|_| query.ends_with_letter);
        let is_optional = |term: &Term| {
            term.only_word().is_some_and(|word| {
                optional.contains(&word) && !query.is_quoted[word] && Some(word) != last_letter
            })
        };
        let required: Vec<Term> = query.terms.iter().filter(|term| !is_optional(term)).cloned().collect();
        if !required.is_empty() {
            query.terms = required;
        }
        query
    }
}

fn word_term(word: usize) -> Term {
    Term { words: vec![(word, 0)], joined: Vec::new() }
}

/// Returns the phrase of words that follow each other.
fn phrase_of(typed: &[TypedWord]) -> Phrase {
    let first = typed.first().map_or(0, |word| word.position);
    typed.iter().map(|typed| (typed.word, typed.position - first)).collect()
}

fn is_single_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

/// Returns whether a character begins or ends words in quotes, which are a phrase and are never corrected.
pub fn is_quote(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '〝' | '〞' | '〟')
}
