//! Marks what made a project a result in its texts.

use std::ops::{ControlFlow, Range};

use crate::query::{Query, Term};
use crate::search::relaxation::Relaxation;

/// What is marked in the results of one page.
#[derive(Clone, Debug, Default)]
pub struct Highlighter {
    /// Folded words, in all their forms.
    words: Vec<String>,
    /// Folded words that are marked only where they follow each other.
    phrases: Vec<Vec<String>>,
    /// The last word, if longer words that begin with it are results too.
    prefix: Option<String>,
}

/// A word of a text as it is written, and where it is, in bytes.
struct Piece {
    range: Range<usize>,
    /// The position of its first word in the text.
    position: u32,
    /// Its folded words, joined where there are several.
    folded: String,
    /// Its folded words and their parts.
    words: Vec<String>,
    /// Whether it is a run of characters of a script without spaces.
    is_run: bool,
}

impl Highlighter {
    /// Creates the highlighter of a search for `text` that was relaxed in this way: it marks the words of the text in all their forms,
    /// and what matches in their place. Optional words are marked where they are all that was typed.
    pub fn new(text: &str, relaxation: Option<&Relaxation>) -> Highlighter {
        let query = Query::parse(text);
        let mut highlighter = Highlighter::default();
        for term in &query.terms {
            highlighter.add_term(&query, term, relaxation.is_some());
        }
        let word_of = |(word, _): &(usize, u32)| query.words[*word].clone();
        let runs = query.character_runs();
        highlighter.words.retain(|word| !runs.iter().flatten().any(|one| word_of(one) == *word));
        highlighter.phrases.extend(runs.iter().map(|run| run.iter().map(word_of).collect()));
        for replacement in relaxation.map(|relaxation| &relaxation.replacements[..]).unwrap_or_default() {
            let words: Vec<String> = replacement.to.split(' ').map(str::to_owned).collect();
            if words.len() > 1 {
                highlighter.phrases.push(words);
            } else {
                highlighter.words.extend(text::forms(&replacement.to));
                highlighter.words.extend(words);
            }
        }
        let is_completed = query.last_is_prefix && relaxation.is_some();
        highlighter.prefix = query.words.last().filter(|_| is_completed).cloned();
        highlighter
    }

    fn add_term(&mut self, query: &Query, term: &Term, is_relaxed: bool) {
        for (word, _) in &term.words {
            if term.joined.is_empty() || is_relaxed {
                self.words.push(query.words[*word].clone());
                self.words.extend_from_slice(&query.forms[*word]);
            }
        }
        if !term.joined.is_empty() {
            self.words.extend_from_slice(&term.joined);
            self.phrases.push(term.words.iter().map(|(word, _)| query.words[*word].clone()).collect());
        }
    }

    /// Returns the text as HTML, escaped, what matches in `mark` elements; `None` if nothing does. A word that is written with hyphens,
    /// and initials, are marked as a whole where the joined word matches; of a run of characters of a script without spaces what was
    /// typed.
    pub fn mark(&self, text: &str) -> Option<String> {
        let pieces = pieces_of(text);
        let joined = joined_words(text);
        let mut html = String::with_capacity(text.len() + 26);
        let (mut written, mut at) = (0, 0);
        while let Some(piece) = pieces.get(at) {
            let (ranges, count) = self.matches_at(text, &pieces[at..], &joined);
            for range in ranges {
                let range = range.start.max(piece.range.start)..range.end;
                escape(&text[written..range.start], &mut html);
                html.push_str("<mark>");
                escape(&text[range.clone()], &mut html);
                html.push_str("</mark>");
                written = range.end;
            }
            at += count;
        }
        let is_marked = written > 0;
        escape(&text[written..], &mut html);
        is_marked.then_some(html)
    }

    /// Returns what is marked at the first of the pieces, and how many pieces that takes. `joined` are the joined words of the text.
    fn matches_at(
        &self,
        text: &str,
        pieces: &[Piece],
        joined: &[(u32, String)],
    ) -> (Vec<Range<usize>>, usize) {
        let first = &pieces[0];
        let through = |count: usize| Vec::from_iter(Some(first.range.start..pieces[count - 1].range.end));
        for (_, word) in joined.iter().filter(|(position, _)| *position == first.position) {
            if self.matches(word)
                && let Some(count) = pieces_of_joined(pieces, word)
            {
                return (through(count), count);
            }
        }
        let follows = |phrase: &&Vec<String>| {
            phrase.len() <= pieces.len()
                && phrase.iter().zip(pieces).all(|(word, piece)| piece.words.contains(word) && !piece.is_run)
        };
        if let Some(phrase) = self.phrases.iter().find(follows) {
            return (through(phrase.len()), phrase.len());
        }
        if first.is_run {
            return (self.matches_in_run(text, first), 1);
        }
        let is_match = first.words.iter().any(|word| self.matches(word));
        (if is_match { vec![first.range.clone()] } else { Vec::new() }, 1)
    }

    /// Returns what is marked in a run of characters.
    fn matches_in_run(&self, text: &str, run: &Piece) -> Vec<Range<usize>> {
        let written = &text[run.range.clone()];
        let characters: Vec<(usize, String)> = written
            .char_indices()
            .map(|(at, character)| (at, text::fold(character.encode_utf8(&mut [0; 4]))))
            .collect();
        if characters.iter().map(|(_, folded)| folded).ne(&run.words) {
            // Written in another way than it is compared: the run as a whole.
            let is_match = run.words.iter().any(|word| {
                self.words.contains(word) || self.phrases.iter().any(|phrase| phrase.contains(word))
            });
            return if is_match { vec![run.range.clone()] } else { Vec::new() };
        }
        let end_of = |at: usize| {
            let end = characters.get(at).map_or(written.len(), |(end, _)| *end);
            run.range.start + end
        };
        let begins = |at: usize, phrase: &[String]| {
            let rest = run.words.get(at..at + phrase.len());
            rest.is_some_and(|rest| rest == phrase)
        };
        let (mut ranges, mut at) = (Vec::new(), 0);
        while at < characters.len() {
            let phrase = self.phrases.iter().filter(|phrase| begins(at, phrase)).map(Vec::len).max();
            let single = self.words.contains(&run.words[at]).then_some(1);
            match phrase.or(single) {
                Some(count) => {
                    ranges.push(end_of(at)..end_of(at + count));
                    at += count;
                }
                None => at += 1,
            }
        }
        ranges
    }

    fn matches(&self, word: &str) -> bool {
        let is_completed = self.prefix.as_deref().is_some_and(|prefix| word.starts_with(prefix));
        !word.is_empty() && (is_completed || self.words.iter().any(|other| other == word))
    }
}

fn pieces_of(text: &str) -> Vec<Piece> {
    let mut position = 0;
    let piece = |written: &str| {
        let (piece, count) = Piece::new(text, written, position);
        position += count;
        piece
    };
    text::pieces(text).map(piece).collect()
}

impl Piece {
    /// Returns the piece and the number of its words.
    fn new(text: &str, written: &str, position: u32) -> (Piece, u32) {
        // It is a part of the text.
        let start = written.as_ptr().addr() - text.as_ptr().addr();
        let (mut folded, mut words, mut is_run) = (String::new(), Vec::new(), false);
        let mut count = 0;
        let _ = text::words(written, &mut |word| {
            is_run |= matches!(word.kind, text::Kind::Character { .. });
            if matches!(word.kind, text::Kind::Whole | text::Kind::Character { .. }) {
                folded.push_str(word.text);
                count += 1;
            }
            words.push(word.text.to_owned());
            ControlFlow::Continue(())
        });
        (Piece { range: start..start + written.len(), position, folded, words, is_run }, count)
    }
}

/// Returns the words of a text that are written with hyphens, or as letters with points, with the position of their first.
fn joined_words(text: &str) -> Vec<(u32, String)> {
    let mut joined = Vec::new();
    let _ = text::words(text, &mut |word| {
        if word.kind == text::Kind::Joined {
            joined.push((word.position, word.text.to_owned()));
        }
        ControlFlow::Continue(())
    });
    joined
}

/// Returns how many of the pieces are the joined word.
fn pieces_of_joined(pieces: &[Piece], word: &str) -> Option<usize> {
    let mut rest = word;
    for (index, piece) in pieces.iter().enumerate() {
        rest = rest.strip_prefix(piece.folded.as_str())?;
        if rest.is_empty() {
            return Some(index + 1);
        }
    }
    None
}

fn escape(text: &str, html: &mut String) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::relaxation::{RelaxationKind, Replacement};

    fn relaxed(kind: RelaxationKind, replaced: &[(&str, &str)]) -> Relaxation {
        let pair = |(from, to): &(&str, &str)| Replacement {
            from: (*from).into(),
            to: (*to).into(),
            is_completion: false,
        };
        Relaxation {
            kind,
            exact: 0,
            excluded: 0,
            ends_with_letter: false,
            unknown_words: Vec::new(),
            replacements: replaced.iter().map(pair).collect(),
            matched_words: Vec::new(),
            unmatched_words: Vec::new(),
            did_you_mean: None,
        }
    }

    #[test]
    fn words_are_marked_as_they_are_written_and_the_rest_is_escaped() {
        let highlighter = Highlighter::new("zurich o'keeffe", None);
        for (text, marked) in [
            ("Haus in Zürich", Some("Haus in <mark>Zürich</mark>")),
            (
                "ZÜRICH, <b>&\"O’Keeffe\"",
                Some("<mark>ZÜRICH</mark>, &lt;b&gt;&amp;&quot;<mark>O’Keeffe</mark>&quot;"),
            ),
            ("Zürichsee", None),
            ("<script>", None),
            ("", None),
        ] {
            assert_eq!(highlighter.mark(text).as_deref(), marked, "{text}");
        }
    }

    #[test]
    fn completions_and_corrections_are_marked_where_they_are_results() {
        let completed = relaxed(RelaxationKind::Prefix, &[]);
        let highlighter = Highlighter::new("stone tow", Some(&completed));
        assert_eq!(
            highlighter.mark("Stone towers").as_deref(),
            Some("<mark>Stone</mark> <mark>towers</mark>")
        );
        assert_eq!(Highlighter::new("stone tow", None).mark("Towers"), None);
        let corrected = relaxed(RelaxationKind::Fuzzy, &[("musuem", "museum")]);
        let highlighter = Highlighter::new("musuem", Some(&corrected));
        assert_eq!(
            highlighter.mark("A museum's museum").as_deref(),
            Some("A <mark>museum&#39;s</mark> <mark>museum</mark>")
        );
    }

    #[test]
    fn of_a_run_of_characters_what_was_typed_is_marked() {
        for (typed, text, marked) in [
            ("東京", "東京駅 2", Some("<mark>東京</mark>駅 2")),
            ("東京", "東の京都", None),
            ("京", "東京と京都", Some("東<mark>京</mark>と<mark>京</mark>都")),
            ("ガラス", "ｶﾞﾗｽの家", Some("<mark>ｶﾞﾗｽの家</mark>")),
        ] {
            assert_eq!(Highlighter::new(typed, None).mark(text).as_deref(), marked, "{typed}");
        }
    }

    #[test]
    fn forms_and_joined_words_are_marked_and_optional_words_are_not() {
        for (typed, text, marked) in [
            ("libraries", "A library of libraries", Some("A <mark>library</mark> of <mark>libraries</mark>")),
            (
                "house in Rome",
                "In the houses in Rome",
                Some("In the <mark>houses</mark> in <mark>Rome</mark>"),
            ),
            ("in the", "In the houses", Some("<mark>In</mark> <mark>the</mark> houses")),
            ("reuse", "Re-use, use again", Some("<mark>Re-use</mark>, use again")),
            (
                "re-use",
                "Re-use, reuse, re use, use",
                Some("<mark>Re-use</mark>, <mark>reuse</mark>, <mark>re use</mark>, use"),
            ),
            ("smak", "The S.M.A.K. in S. Ghent", Some("The <mark>S.M.A.K</mark>. in S. Ghent")),
            (
                "reuse",
                "Re\u{2011}use, re\u{ff0d}use",
                Some("<mark>Re\u{2011}use</mark>, <mark>re\u{ff0d}use</mark>"),
            ),
            ("smak", "S.\u{a0}M.\u{a0}A.\u{a0}K.", Some("<mark>S.\u{a0}M.\u{a0}A.\u{a0}K</mark>.")),
            ("reuse core", "Co-re-use", None),
            ("co-re-use", "Co-re-use", Some("<mark>Co-re-use</mark>")),
            ("opoponax", "L’Opoponax", Some("<mark>L’Opoponax</mark>")),
            ("Zürich's", "Zürich, Zurichs", Some("<mark>Zürich</mark>, <mark>Zurichs</mark>")),
            (
                "Oxenham and Wardlaw",
                "Oxenham and Wardlaw",
                Some("<mark>Oxenham</mark> and <mark>Wardlaw</mark>"),
            ),
            ("house", "Housing, greenhouse", None),
        ] {
            assert_eq!(Highlighter::new(typed, None).mark(text).as_deref(), marked, "{typed}");
        }
    }
}
