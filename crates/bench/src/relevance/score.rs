//! What an answer is worth, and the sums of a kind.

use serde_json::Value;

use super::{PAGE, Question};

/// The most misses of a kind that are kept.
const KEPT: usize = 3;

/// The first page of a search.
#[derive(Debug)]
pub(super) struct Answer {
    slugs: Vec<String>,
    total: u64,
    /// Whether it says that results do not have every word.
    is_approximate: bool,
}

/// The sums of the queries of one kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) queries: usize,
    in_ten: f64,
    first: usize,
    /// The first queries that did not find all they want, with what they found.
    pub(super) misses: Vec<String>,
}

impl Answer {
    /// Reads the answer of `GET /v1/search`; `None` if it is not one.
    pub(super) fn new(body: &Value) -> Option<Answer> {
        let results = body["results"].as_array()?;
        Some(Answer {
            slugs: results
                .iter()
                .map(|result| result["slug"].as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            total: body["total"].as_u64()?,
            is_approximate: body["approximate"].as_bool()?,
        })
    }
}

impl Tally {
    /// Adds an answer to a question.
    pub(super) fn add(&mut self, question: &Question, answer: &Answer) {
        let Question { query, wanted, .. } = question;
        let (in_ten, is_first, miss) = if wanted.is_empty() {
            // Results that are said to be others than asked for are honest, and may be of use.
            let holds = answer.total == 0 || answer.is_approximate;
            let miss = format!("“{query}” has {} results, as if they had every word", answer.total);
            (f64::from(u8::from(holds)), holds, miss)
        } else {
            let found = answer.slugs.iter().take(PAGE).filter(|slug| wanted.contains(*slug)).count();
            let most = wanted.len().min(PAGE);
            let first = answer.slugs.first();
            let shown =
                first.map_or("there are no results".into(), |slug| format!("the first result is {slug}"));
            let miss = format!("“{query}” finds {found} of {most} in ten; {shown}");
            (found as f64 / most as f64, first.is_some_and(|slug| wanted.contains(slug)), miss)
        };
        self.queries += 1;
        self.in_ten += in_ten;
        self.first += usize::from(is_first);
        if in_ten < 1.0 && self.misses.len() < KEPT {
            self.misses.push(miss);
        }
    }

    /// Returns the mean share of what is wanted among the first ten results: of all that fit on the page.
    pub(super) fn in_ten(&self) -> f64 {
        self.in_ten / self.queries as f64
    }

    /// Returns the share of the queries whose first result is wanted.
    pub(super) fn first(&self) -> f64 {
        self.first as f64 / self.queries as f64
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Kind;
    use super::*;

    /// Returns the share in ten, the share first, and the misses of one answer.
    fn judged(wanted: &[&str], answer: &Value) -> (f64, f64, Vec<String>) {
        let wanted = wanted.iter().map(|slug| (*slug).to_owned()).collect();
        let question = Question { kind: Kind::Plural, query: "chairs".into(), wanted };
        let mut tally = Tally::default();
        tally.add(&question, &Answer::new(answer).unwrap());
        (tally.in_ten(), tally.first(), tally.misses)
    }

    fn answer(slugs: &[&str], is_approximate: bool) -> Value {
        let results: Vec<Value> = slugs.iter().map(|slug| json!({"slug": slug})).collect();
        json!({"total": slugs.len(), "approximate": is_approximate, "results": results})
    }

    #[test]
    fn an_answer_is_worth_the_share_of_what_is_wanted() {
        assert_eq!(judged(&["a", "b"], &answer(&["b", "a", "c"], false)), (1.0, 1.0, vec![]));
        let miss = "“chairs” finds 1 of 2 in ten; the first result is c";
        assert_eq!(judged(&["a", "b"], &answer(&["c", "b"], false)), (0.5, 0.0, vec![miss.to_owned()]));
        let miss = "“chairs” finds 0 of 1 in ten; there are no results";
        assert_eq!(judged(&["a"], &answer(&[], false)), (0.0, 0.0, vec![miss.to_owned()]));
    }

    #[test]
    fn more_than_fit_on_the_page_are_not_expected() {
        let slugs: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
        assert_eq!(judged(&slugs, &answer(&slugs[2..], false)), (1.0, 1.0, vec![]));
        // The eleventh result is not among the first ten.
        assert_eq!(judged(&slugs[10..11], &answer(&slugs, false)).0, 0.0);
    }

    #[test]
    fn what_is_absent_has_no_results_or_approximate_ones() {
        assert_eq!(judged(&[], &answer(&[], false)), (1.0, 1.0, vec![]));
        assert_eq!(judged(&[], &answer(&["a"], true)), (1.0, 1.0, vec![]));
        let miss = "“chairs” has 1 results, as if they had every word";
        assert_eq!(judged(&[], &answer(&["a"], false)), (0.0, 0.0, vec![miss.to_owned()]));
    }

    #[test]
    fn what_is_not_an_answer_is_none() {
        for body in [
            json!({}),
            json!({"total": 1, "approximate": false, "results": [{}]}),
            json!({"total": 1, "results": []}),
        ] {
            assert!(Answer::new(&body).is_none(), "{body}");
        }
    }
}
