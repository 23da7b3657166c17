//! The parameters of a search, parsed strictly; all errors are reported at once.

use answers::catalog::list_options::{self, ListOptions};
use answers::catalog::mode::Mode;
use answers::catalog::search::{SearchCursor, invalid_cursor};
use answers::catalog::taste::LONGEST;
use answers::effort::Effort;
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use schemas::taste::{Dimension, Taste};

/// The parameters without the options of a list.
const OWN: [&str; 11] = [
    "q",
    "mode",
    "limit",
    "cursor",
    "key",
    "highlights",
    "material",
    "light",
    "mood",
    "composition",
    "subject",
];

const NAMES: [&str; OWN.len() + list_options::NAMES.len()] = query::join_names(&OWN, &list_options::NAMES);

/// The unparsed parameters of a search.
type Sent<'a> = QueryParams<'a, { NAMES.len() }>;

/// The parameters of a search.
#[derive(Debug, PartialEq)]
pub(crate) struct SearchParameters {
    /// The search text as it was sent.
    pub(crate) q: String,
    pub(crate) mode: Mode,
    pub(crate) options: ListOptions,
    pub(crate) limit: usize,
    /// The end of the previous page.
    pub(crate) cursor: Option<SearchCursor>,
    /// Whether results have the texts in which words match.
    pub(crate) highlights: bool,
    /// Parameters that are ignored.
    pub(crate) ignored: Vec<String>,
}

impl SearchParameters {
    /// Parses a query string, or returns all its invalid parameters.
    pub(crate) fn parse(text: &str) -> Result<SearchParameters, ApiError> {
        let mut sent = QueryParams::parse(text, NAMES);
        let (q, mode, limit) = (sent.text(), sent.mode(), sent.limit());
        let mut options = ListOptions::of_query(&mut sent, OWN.len(), true, |_, _| true);
        options.filters.taste = taste(&mut sent);
        let (cursor, highlights) = (sent.cursor(invalid_cursor), highlights(&mut sent));
        Ok(SearchParameters { q, mode, options, limit, cursor, highlights, ignored: sent.finish()? })
    }

    /// Returns what the call asks for beside a page of results.
    pub(crate) fn effort(&self) -> Effort {
        Effort::of_search(&self.options).in_mode(self.mode)
    }
}

/// Reads the words of taste that projects must have. `color` is the filter by colours.
fn taste(sent: &mut Sent<'_>) -> Taste {
    Taste::from_fn(|dimension| {
        let text = (dimension != Dimension::Color).then(|| sent.single(dimension.as_str()))??;
        let text = text.trim();
        if text.chars().count() > LONGEST {
            let allowed = format!("at most {LONGEST} characters");
            sent.refuse(dimension.as_str(), format!("It is longer than {LONGEST} characters."), allowed);
        }
        (!text.is_empty()).then(|| text.to_owned())
    })
}

fn highlights(sent: &mut Sent<'_>) -> bool {
    let text = sent.single("highlights");
    if text.as_deref().is_some_and(|text| text != "true" && text != "false") {
        sent.refuse("highlights", "It is neither true nor false.", "true or false");
    }
    text.as_deref() == Some("true")
}

#[cfg(test)]
mod tests {
    use schemas::record::Category;

    use super::*;

    #[test]
    fn parameters_are_parsed() {
        let plain = || SearchParameters {
            q: "a".into(),
            mode: Mode::Words,
            options: ListOptions::default(),
            limit: 10,
            cursor: None,
            highlights: false,
            ignored: Vec::new(),
        };
        let all = SearchParameters {
            q: " Zürich ".into(),
            options: ListOptions::of_category(Some(Category::Art)),
            limit: 50,
            ignored: vec!["unknown".into()],
            ..plain()
        };
        let longest = format!("q={}", "%C3%BC".repeat(200));
        for (query, expected) in [
            ("limit=50&q=+Z%C3%BCrich%20&category=ART&unknown=1&key=k", all),
            ("q=a", plain()),
            ("q=a&cursor=", plain()),
            ("q=a&highlights=false", plain()),
            ("q=a&mode=words", plain()),
            ("q=a&mode=Meaning", SearchParameters { mode: Mode::Meaning, ..plain() }),
            ("mode=both&q=a", SearchParameters { mode: Mode::Both, ..plain() }),
            ("q=a&highlights=true", SearchParameters { highlights: true, ..plain() }),
            (&longest, SearchParameters { q: "ü".repeat(200), ..plain() }),
        ] {
            assert_eq!(SearchParameters::parse(query).unwrap(), expected, "{query}");
        }
    }

    fn assert_refused(query: &str, expected: &[(&str, &str, &str)]) {
        let errors = SearchParameters::parse(query).unwrap_err().into_details().errors;
        let said: Vec<_> = errors.iter().map(|f| (&*f.parameter, &*f.detail, &*f.allowed)).collect();
        assert_eq!(said, expected, "{query}");
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let text = "1 to 200 characters of any text";
        let limit = ("limit", "It is not an integer from 1 to 50.", "an integer from 1 to 50");
        let categories = "architecture, interiors, design, photography, art";
        let twice = "It is given more than once.";
        assert_refused(
            "limit=0&category=music&cursor=a&cursor=b&key=%ff&highlights=yes",
            &[
                ("q", "It is missing.", text),
                limit,
                ("category", "It is not one of the catalog's five.", categories),
                ("cursor", twice, "one value"),
                ("highlights", "It is neither true nor false.", "true or false"),
                ("key", "It is not UTF-8.", "percent-encoded UTF-8"),
            ],
        );
        let long = format!("q={}", "%C3%BC".repeat(201));
        for (query, detail, allowed) in [
            ("q=++%09", "It is empty.", text),
            ("q", "It is empty.", text),
            (&long, "It has 201 characters.", text),
            ("q=%ff", "It is not UTF-8.", "percent-encoded UTF-8"),
            ("q=a&q=b", twice, "one value"),
        ] {
            assert_refused(query, &[("q", detail, allowed)]);
        }
        for wrong in
            ["", "0", "51", "-1", "1.5", "ten", "1e1", "99999999999999999999999", "+5", "%2B5", "%205"]
        {
            assert_refused(&format!("q=a&limit={wrong}"), &[limit]);
        }
        let cursor = invalid_cursor();
        assert!(cursor.detail.contains("Start again from the first page"), "{}", cursor.detail);
        let allowed = "next_cursor of the page before, with the same q, mode, category, filters and sort";
        for wrong in ["x", "AAAA", "%00"] {
            assert_refused(&format!("q=a&cursor={wrong}"), &[("cursor", &cursor.detail, allowed)]);
        }
    }
}
