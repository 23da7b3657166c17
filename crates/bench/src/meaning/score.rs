//! What the answers in a mode are worth, and whether one mode keeps the matches of another.

use serde_json::Value;

use super::PAGE;
use super::questions::Question;

/// The most misses that are kept.
const KEPT: usize = 3;

/// The least score of a project that has all words: below are approximate results.
const ALL_WORDS: f64 = 1.0;

/// The first page of a search.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    results: Vec<Shown>,
}

#[derive(Debug, PartialEq)]
struct Shown {
    slug: String,
    score: f64,
    is_by_meaning: bool,
}

/// The right answers that were found in one mode.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The right answers among the first ten results.
    pub(super) hits: usize,
    /// As many as can be there: of each question at most ten.
    pub(super) possible: usize,
    /// The questions without a hit.
    pub(super) without: Vec<String>,
}

/// The projects with all words that a search by words shows in the first ten, and those of them that another mode shows there too.
#[derive(Debug, Default)]
pub(super) struct KeptMatches {
    pub(super) shown: usize,
    pub(super) kept: usize,
    /// The first queries that lost one, each with a sentence.
    pub(super) misses: Vec<String>,
}

impl Answer {
    /// Reads the answer of `GET /v1/search`; `None` if it is not one.
    pub(super) fn new(body: &Value) -> Option<Answer> {
        let shown = |result: &Value| {
            let (slug, score) = (result["slug"].as_str()?.to_owned(), result["score"].as_f64()?);
            Some(Shown { slug, score, is_by_meaning: result["matched"] == "meaning" })
        };
        Some(Answer { results: body["results"].as_array()?.iter().map(shown).collect::<Option<_>>()? })
    }

    /// Returns whether some results are near in meaning.
    pub(super) fn is_by_meaning(&self) -> bool {
        self.results.iter().any(|shown| shown.is_by_meaning)
    }

    fn first(&self) -> impl Iterator<Item = &Shown> {
        self.results.iter().take(PAGE)
    }
}

impl Tally {
    /// Adds an answer to a question.
    pub(super) fn add(&mut self, question: &Question<'_>, answer: &Answer) {
        let found = answer.first().filter(|shown| question.right.contains(shown.slug.as_str())).count();
        self.hits += found;
        self.possible += question.right.len().min(PAGE);
        if found == 0 {
            self.without.push(question.text.to_owned());
        }
    }

    /// Returns the share of the right answers that can be among the first ten, and are.
    pub(super) fn share(&self) -> f64 {
        self.hits as f64 / self.possible as f64
    }
}

impl KeptMatches {
    /// Adds the answers to one query.
    pub(super) fn add(&mut self, query: &str, words: &Answer, both: &Answer) {
        let with_words = words.first().filter(|shown| shown.score >= ALL_WORDS && !shown.is_by_meaning);
        let (kept, lost): (Vec<&Shown>, Vec<&Shown>) =
            with_words.partition(|shown| both.first().any(|other| other.slug == shown.slug));
        self.shown += kept.len() + lost.len();
        self.kept += kept.len();
        if let Some(lost) = lost.first()
            && self.misses.len() < KEPT
        {
            self.misses.push(format!("“{query}” does not show {} with mode=both", lost.slug));
        }
    }

    /// Returns the share that was kept; 1 if there was nothing to keep.
    pub(super) fn share(&self) -> f64 {
        if self.shown == 0 { 1.0 } else { self.kept as f64 / self.shown as f64 }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns an answer with these slugs and scores; those below 1 are near in meaning.
    fn answer(results: &[(&str, f64)]) -> Answer {
        let result = |(slug, score): &(&str, f64)| {
            let matched = if *score < 1.0 { "meaning" } else { "words" };
            json!({"slug": slug, "score": score, "matched": matched})
        };
        Answer::new(&json!({"results": results.iter().map(result).collect::<Vec<_>>()})).unwrap()
    }

    fn many(slugs: &[String]) -> Answer {
        answer(&slugs.iter().map(|slug| (slug.as_str(), 0.5)).collect::<Vec<_>>())
    }

    #[test]
    fn of_a_question_at_most_ten_right_answers_count() {
        let slugs: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        let right = slugs.iter().map(String::as_str).collect();
        let long = Question { text: "feathered creatures", right };
        let short = Question { text: "lunar glow", right: ["a", "b"].into() };
        let mut tally = Tally::default();
        tally.add(&long, &many(&slugs));
        assert_eq!((tally.hits, tally.possible, tally.share()), (10, 10, 1.0));
        // The eleventh result is not among the first ten.
        tally.add(&Question { text: "eleven", right: ["10", "x"].into() }, &many(&slugs));
        tally.add(&short, &answer(&[("c", 0.9), ("b", 0.8)]));
        tally.add(&short, &answer(&[]));
        assert_eq!((tally.hits, tally.possible), (11, 16));
        assert_eq!(tally.without, ["eleven", "lunar glow"]);
    }

    #[test]
    fn a_match_of_all_words_is_lost_if_both_does_not_show_it() {
        let words = Answer::new(&json!({"results": [
            {"slug": "a", "score": 7.0}, {"slug": "b", "score": 1.0}, {"slug": "c", "score": 0.9},
        ]}));
        let words = words.unwrap();
        let mut kept = KeptMatches::default();
        kept.add("chairs", &words, &answer(&[("b", 1.0), ("a", 7.0), ("d", 0.4)]));
        assert_eq!((kept.shown, kept.kept, kept.share()), (2, 2, 1.0));
        // An approximate result may be replaced, a match may not; nor may it be on the second page.
        let mut full: Vec<(&str, f64)> = vec![("x", 7.0); PAGE];
        full.push(("a", 7.0));
        for both in [answer(&[("a", 7.0)]), answer(&full)] {
            kept.add("stools", &words, &both);
        }
        assert_eq!((kept.shown, kept.kept, kept.share()), (6, 3, 0.5));
        let misses = ["b", "a"].map(|slug| format!("“stools” does not show {slug} with mode=both"));
        assert_eq!(kept.misses, misses);
        assert_eq!(KeptMatches::default().share(), 1.0);
    }

    #[test]
    fn what_is_not_an_answer_is_none() {
        for body in [json!({}), json!({"results": [{"slug": "a"}]}), json!({"results": [{"score": 1.0}]})] {
            assert_eq!(Answer::new(&body), None, "{body}");
        }
        assert!(answer(&[("a", 0.5)]).is_by_meaning() && !answer(&[("a", 1.5)]).is_by_meaning());
    }
}
