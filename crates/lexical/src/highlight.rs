//! Marks the words of a query in the texts of results.

use crate::query::Query;
use crate::search::relaxation::Relaxation;

/// The words that are marked in the results of one page.
#[derive(Clone, Debug)]
pub struct Highlighter {
    /// Folded words.
    words: Vec<String>,
    /// The last word, if longer words that begin with it are results too.
    prefix: Option<String>,
}

impl Highlighter {
    /// Creates the highlighter of a search for `text` that was relaxed in this way: it marks the words of the text, and those that
    /// match in their place.
    pub fn new(text: &str, relaxation: Option<&Relaxation>) -> Highlighter {
        let query = Query::parse(text);
        let prefix = query.words.last().filter(|_| query.last_is_prefix && relaxation.is_some()).cloned();
        let replacements = relaxation.map(|relaxation| &relaxation.replacements[..]).unwrap_or_default();
        let mut words = query.words;
        words.extend(replacements.iter().map(|replacement| replacement.to.clone()));
        Highlighter { words, prefix }
    }

    /// Returns the text as HTML, escaped, each word that matches in a `mark` element; `None` if no word does. Of a run of
    /// characters of a script without spaces the whole run is marked.
    pub fn mark(&self, text: &str) -> Option<String> {
        let mut html = String::with_capacity(text.len() + 26);
        let (mut written, mut is_marked) = (0, false);
        for piece in text::pieces(text) {
            if !text::fold(piece).split(' ').any(|word| self.matches(word)) {
                continue;
            }
            // A piece is a part of the text.
            let start = piece.as_ptr().addr() - text.as_ptr().addr();
            escape(&text[written..start], &mut html);
            html.push_str("<mark>");
            escape(piece, &mut html);
            html.push_str("</mark>");
            (written, is_marked) = (start + piece.len(), true);
        }
        escape(&text[written..], &mut html);
        is_marked.then_some(html)
    }

    fn matches(&self, word: &str) -> bool {
        let is_completed = self.prefix.as_deref().is_some_and(|prefix| word.starts_with(prefix));
        !word.is_empty() && (is_completed || self.words.iter().any(|other| other == word))
    }
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
        let pair = |(from, to): &(&str, &str)| Replacement { from: (*from).into(), to: (*to).into() };
        Relaxation {
            kind,
            exact: 0,
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
            Some("A museum&#39;s <mark>museum</mark>")
        );
    }

    #[test]
    fn a_run_of_characters_is_marked_as_a_whole() {
        assert_eq!(Highlighter::new("東京", None).mark("東京駅 2").as_deref(), Some("<mark>東京駅</mark> 2"));
    }
}
