//! The parameters of a search, parsed strictly; all errors are reported at once.

use schemas::api::problem::ParameterFault;

use answers::catalog::list_options::{self, ListOptions};
use answers::catalog::search::{SearchCursor, invalid_cursor};
use answers::query::{self, QueryParams, fault};

/// The parameters without the options of a list.
const OWN: [&str; 5] = ["q", "limit", "cursor", "key", "highlights"];

const NAMES: [&str; OWN.len() + list_options::NAMES.len()] = query::join_names(&OWN, &list_options::NAMES);

/// The unparsed parameters of a search.
type Sent<'a> = QueryParams<'a, { NAMES.len() }>;

/// The parameters of a search.
#[derive(Debug, PartialEq)]
pub(crate) struct SearchParameters {
    /// The search text as it was sent.
    pub(crate) q: String,
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
    /// Parses a query string.
    ///
    /// # Errors
    ///
    /// All invalid parameters.
    pub(crate) fn parse(text: &str) -> Result<SearchParameters, Vec<ParameterFault>> {
        let mut faults = Vec::new();
        let sent = QueryParams::parse(text, NAMES);
        let q = query::text(&sent, &mut faults);
        let limit = query::limit(&sent, &mut faults);
        let options = ListOptions::of_query(&sent, OWN.len(), true, |_, _| true, &mut faults);
        let cursor: Option<SearchCursor> = query::cursor(&sent, &mut faults, invalid_cursor);
        let highlights = highlights(&sent, &mut faults);
        let ignored = sent.finish(faults)?;
        Ok(SearchParameters { q, options, limit, cursor, highlights, ignored })
    }
}

fn highlights(sent: &Sent<'_>, faults: &mut Vec<ParameterFault>) -> bool {
    let text = sent.single("highlights", faults);
    if text.as_deref().is_some_and(|text| text != "true" && text != "false") {
        faults.push(fault("highlights", "It is neither true nor false.", "true or false"));
    }
    text.as_deref() == Some("true")
}

#[cfg(test)]
mod tests {
    use schemas::record::Category;

    use super::*;

    fn faults(query: &str) -> Vec<(String, String, String)> {
        let faults = SearchParameters::parse(query).unwrap_err();
        faults.into_iter().map(|f| (f.parameter, f.detail, f.allowed)).collect()
    }

    fn said(parameter: &str, detail: &str, allowed: &str) -> (String, String, String) {
        (parameter.into(), detail.into(), allowed.into())
    }

    #[test]
    fn parameters_are_parsed() {
        let parsed = SearchParameters::parse("limit=50&q=+Z%C3%BCrich%20&category=ART&unknown=1&key=k");
        let plain = || SearchParameters {
            q: "a".into(),
            options: ListOptions::default(),
            limit: 10,
            cursor: None,
            highlights: false,
            ignored: Vec::new(),
        };
        let expected = SearchParameters {
            q: " Zürich ".into(),
            options: ListOptions::of_category(Some(Category::Art)),
            limit: 50,
            ignored: vec!["unknown".into()],
            ..plain()
        };
        assert_eq!(parsed, Ok(expected));
        assert_eq!(SearchParameters::parse("q=a"), Ok(plain()));
        assert_eq!(SearchParameters::parse("q=a&cursor="), Ok(plain()));
        assert_eq!(SearchParameters::parse("q=a&highlights=false"), Ok(plain()));
        let marked = SearchParameters { highlights: true, ..plain() };
        assert_eq!(SearchParameters::parse("q=a&highlights=true"), Ok(marked));
        let expected = [said("highlights", "It is neither true nor false.", "true or false")];
        assert_eq!(faults("q=a&highlights=yes"), expected);
        let longest = format!("q={}", "%C3%BC".repeat(200));
        assert_eq!(SearchParameters::parse(&longest).map(|p| p.q), Ok("ü".repeat(200)));
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let categories = "architecture, interiors, design, photography, art";
        assert_eq!(
            faults("limit=0&category=music&cursor=a&cursor=b&key=%ff"),
            [
                said("q", "It is missing.", "1 to 200 characters of any text"),
                said("limit", "It is not an integer from 1 to 50.", "an integer from 1 to 50"),
                said("category", "It is not one of the catalog's five.", categories),
                said("cursor", "It is given more than once.", "one value"),
                said("key", "It is not UTF-8.", "percent-encoded UTF-8"),
            ]
        );
    }

    #[test]
    fn a_search_text_has_1_to_200_characters_after_trimming() {
        let allowed = "1 to 200 characters of any text";
        assert_eq!(faults("q=++%09"), [said("q", "It is empty.", allowed)]);
        assert_eq!(faults("q"), [said("q", "It is empty.", allowed)]);
        assert_eq!(
            faults(&format!("q={}", "%C3%BC".repeat(201))),
            [said("q", "It has 201 characters.", allowed)]
        );
        assert_eq!(faults("q=%ff"), [said("q", "It is not UTF-8.", "percent-encoded UTF-8")]);
        assert_eq!(faults("q=a&q=b"), [said("q", "It is given more than once.", "one value")]);
    }

    #[test]
    fn a_cursor_is_one_of_an_answer() {
        for cursor in ["x", "AAAA", "%00"] {
            let allowed = "next_cursor of the page before, with the same q, category, filters and sort";
            let detail = invalid_cursor().detail;
            assert!(detail.contains("Start again from the first page"), "{detail}");
            let expected = [said("cursor", &detail, allowed)];
            assert_eq!(faults(&format!("q=a&cursor={cursor}")), expected, "{cursor}");
        }
    }

    #[test]
    fn a_limit_is_an_integer_from_1_to_50() {
        for limit in
            ["", "0", "51", "-1", "1.5", "ten", "1e1", "99999999999999999999999", "+5", "%2B5", "%205"]
        {
            let query = format!("q=a&limit={limit}");
            assert_eq!(
                faults(&query),
                [said("limit", "It is not an integer from 1 to 50.", "an integer from 1 to 50")],
                "{limit}"
            );
        }
    }
}
