//! The query of the front page.

use answers::error::ApiError;
use answers::query::{QueryParams, fault};
use schemas::api::problem::ParameterFault;
use schemas::record::Category;
use schemas::taste::{Dimension, Taste};

use crate::pages::words::capitalised;

/// The maximum length of a text in characters, as over REST.
const LONGEST: usize = 200;

/// The parameters other than the taste dimensions.
const OTHERS: [&str; 3] = ["q", "category", "cursor"];

/// A query by words or by taste, or neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HomeQuery {
    pub(super) q: String,
    pub(super) category: Option<Category>,
    /// The requested words of each dimension.
    pub(super) taste: Taste,
    pub(super) cursor: Option<String>,
}

impl HomeQuery {
    /// Parses a query string. Words take precedence over taste: they are not combined.
    pub(super) fn read(query: &str) -> Result<HomeQuery, ApiError> {
        let names: [&str; OTHERS.len() + Dimension::COUNT] = std::array::from_fn(|at| {
            at.checked_sub(OTHERS.len()).map_or_else(|| OTHERS[at], |at| Dimension::ALL[at].as_str())
        });
        let (given, mut faults) = (QueryParams::parse(query, names), Vec::new());
        let mut text = |name: &'static str| {
            let text = given.single(name, &mut faults)?;
            let text = text.trim();
            if text.chars().count() > LONGEST {
                faults.push(too_long(name));
            }
            (!text.is_empty()).then(|| text.to_owned())
        };
        let q = text("q").unwrap_or_default();
        let taste = Taste::from_fn(|dimension| text(dimension.as_str()).filter(|_| q.is_empty()));
        let (category, cursor) = (text("category"), text("cursor"));
        let category = category.and_then(|name| {
            let category = Category::parse(&name);
            if category.is_none() {
                faults.push(unknown_category());
            }
            category
        });
        if faults.is_empty() {
            Ok(HomeQuery { q, category, taste, cursor })
        } else {
            Err(ApiError::invalid_parameters(faults))
        }
    }

    /// Returns the requested words of a dimension.
    pub(super) fn taste(&self, dimension: Dimension) -> Option<&str> {
        self.taste.get(dimension)
    }

    /// Returns the dimensions with requested words.
    pub(super) fn tastes(&self) -> impl Iterator<Item = (Dimension, &str)> {
        self.taste.iter()
    }

    pub(super) fn is_taste(&self) -> bool {
        !self.taste.is_empty()
    }

    /// Returns whether nothing is requested.
    pub(super) fn is_front(&self) -> bool {
        *self == HomeQuery::default()
    }

    /// Returns the same query at another page.
    pub(super) fn at(&self, cursor: Option<String>) -> HomeQuery {
        HomeQuery { cursor, ..self.clone() }
    }

    /// Returns the query with other words, at the first page.
    pub(super) fn searching(&self, q: String) -> HomeQuery {
        HomeQuery { q, cursor: None, ..self.clone() }
    }

    /// Returns the query in another category, at the first page.
    pub(super) fn in_category(&self, category: Option<Category>) -> HomeQuery {
        HomeQuery { category, cursor: None, ..self.clone() }
    }

    /// Returns the query with other words for a dimension, at the first page and without search words.
    pub(super) fn tasting(&self, dimension: Dimension, text: Option<String>) -> HomeQuery {
        let mut query = HomeQuery { q: String::new(), cursor: None, ..self.clone() };
        query.taste.set(dimension, text);
        query
    }

    /// Returns the path of this query.
    pub(super) fn href(&self, base: &str) -> String {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        if !self.q.is_empty() {
            pairs.append_pair("q", &self.q);
        }
        for (dimension, text) in self.tastes() {
            pairs.append_pair(dimension.as_str(), text);
        }
        if let Some(category) = self.category {
            pairs.append_pair("category", category.as_str());
        }
        if let Some(cursor) = &self.cursor {
            pairs.append_pair("cursor", cursor);
        }
        let pairs = pairs.finish();
        if pairs.is_empty() { format!("{base}/") } else { format!("{base}/?{pairs}") }
    }

    /// Describes the query in words.
    pub(super) fn heading(&self) -> String {
        let words = self.tastes().map(|(_, text)| text).collect::<Vec<_>>().join(", ");
        match (self.category, self.q.is_empty(), words.is_empty()) {
            (_, false, _) => format!("“{}”", self.q),
            (_, _, false) => capitalised(&words),
            (Some(category), _, _) => category.title().to_owned(),
            (None, _, _) => "The newest".to_owned(),
        }
    }
}

fn too_long(name: &str) -> ParameterFault {
    fault(name, format!("It is longer than {LONGEST} characters."), format!("at most {LONGEST} characters"))
}

fn unknown_category() -> ParameterFault {
    let all = Category::ALL.map(Category::as_str).join(", ");
    fault("category", "There is no such category.", all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_same_query_as_was_read() {
        for query in ["q=S%C3%A3o+%22Paulo%22&category=art", "material=oak&mood=calm&cursor=abc", ""] {
            let query = HomeQuery::read(query).unwrap();
            let path = query.href("/catalog");
            let (_, read) = path.split_once('?').unwrap_or((&path, ""));
            assert_eq!(HomeQuery::read(read).unwrap(), query);
            assert!(path.starts_with("/catalog/"), "{path}");
        }
    }

    #[test]
    fn words_take_precedence_over_taste() {
        let query = HomeQuery::read("q=brick&material=oak").unwrap();
        assert_eq!((query.heading().as_str(), query.is_taste()), ("“brick”", false));
        let query = query.tasting(Dimension::Light, Some("dusk".into()));
        assert_eq!((query.href("").as_str(), query.heading().as_str()), ("/?light=dusk", "Dusk"));
        assert_eq!(query.tasting(Dimension::Light, None).href(""), "/");
    }

    #[test]
    fn all_invalid_parameters_are_reported_together() {
        let query = format!("q={}&category=music&mood=a&mood=b", "é".repeat(201));
        let fault = HomeQuery::read(&query).unwrap_err();
        assert_eq!(
            fault.into_detail(),
            "Several parameters cannot be used; the member errors says which and what is allowed."
        );
    }
}
