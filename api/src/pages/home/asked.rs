//! What the front page is asked for.

use read::archive::Dimension;
use schemas::api::problem::ParameterFault;
use schemas::record::Category;

use crate::error::ApiError;
use crate::pages::words::capitalised;
use crate::query::{Given, fault};

/// The longest text, in characters, as over REST.
const LONGEST: usize = 200;

/// Words, or a taste, or neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) q: String,
    pub(super) category: Option<Category>,
    /// In the order of [`Dimension::ALL`].
    taste: [Option<String>; 6],
    pub(super) cursor: Option<String>,
}

impl Asked {
    /// Reads a query string. Words go before a taste: the two are not asked for together.
    pub(super) fn read(query: &str) -> Result<Asked, ApiError> {
        let names =
            ["q", "category", "cursor", "material", "light", "color", "mood", "composition", "subject"];
        let (given, mut faults) = (Given::read(query, names), Vec::new());
        let mut text = |name: &'static str| {
            let text = given.single(name, &mut faults)?;
            let text = text.trim();
            if text.chars().count() > LONGEST {
                faults.push(too_long(name));
            }
            (!text.is_empty()).then(|| text.to_owned())
        };
        let q = text("q").unwrap_or_default();
        let taste = Dimension::ALL.map(|dimension| text(dimension.as_str()).filter(|_| q.is_empty()));
        let (category, cursor) = (text("category"), text("cursor"));
        let category = category.and_then(|name| {
            let category = Category::parse(&name);
            if category.is_none() {
                faults.push(unknown_category());
            }
            category
        });
        if faults.is_empty() {
            Ok(Asked { q, category, taste, cursor })
        } else {
            Err(ApiError::invalid_parameters(faults))
        }
    }

    /// What is asked of a dimension.
    pub(super) fn taste(&self, dimension: Dimension) -> Option<&str> {
        self.tastes().find(|(one, _)| *one == dimension).map(|(_, text)| text)
    }

    /// The dimensions of which something is asked.
    pub(super) fn tastes(&self) -> impl Iterator<Item = (Dimension, &str)> {
        let all = Dimension::ALL.into_iter().zip(&self.taste);
        all.filter_map(|(dimension, text)| Some((dimension, text.as_deref()?)))
    }

    /// Each dimension's text, as the archive takes it.
    pub(super) fn demands(&self) -> [Option<&str>; 6] {
        self.taste.each_ref().map(Option::as_deref)
    }

    pub(super) fn is_taste(&self) -> bool {
        self.tastes().next().is_some()
    }

    /// Whether nothing is asked for.
    pub(super) fn is_front(&self) -> bool {
        *self == Asked::default()
    }

    /// The same at another place of its list.
    pub(super) fn at(&self, cursor: Option<String>) -> Asked {
        Asked { cursor, ..self.clone() }
    }

    /// The same with other words, from the beginning.
    pub(super) fn searching(&self, q: String) -> Asked {
        Asked { q, cursor: None, ..self.clone() }
    }

    /// The same in another category, from the beginning.
    pub(super) fn in_category(&self, category: Option<Category>) -> Asked {
        Asked { category, cursor: None, ..self.clone() }
    }

    /// With another wish for a dimension, from the beginning; words are let go.
    pub(super) fn tasting(&self, dimension: Dimension, text: Option<String>) -> Asked {
        let mut asked = Asked { q: String::new(), cursor: None, ..self.clone() };
        let of = Dimension::ALL.into_iter().zip(&mut asked.taste).find(|(one, _)| *one == dimension);
        if let Some((_, wish)) = of {
            *wish = text;
        }
        asked
    }

    /// The path that asks for this.
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

    /// What is asked for, in words.
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
    fn a_path_asks_for_what_was_read() {
        for query in ["q=S%C3%A3o+%22Paulo%22&category=art", "material=oak&mood=calm&cursor=abc", ""] {
            let asked = Asked::read(query).unwrap();
            let path = asked.href("/catalog");
            let (_, read) = path.split_once('?').unwrap_or((&path, ""));
            assert_eq!(Asked::read(read).unwrap(), asked);
            assert!(path.starts_with("/catalog/"), "{path}");
        }
    }

    #[test]
    fn words_go_before_a_taste() {
        let asked = Asked::read("q=brick&material=oak").unwrap();
        assert_eq!((asked.heading().as_str(), asked.is_taste()), ("“brick”", false));
        let asked = asked.tasting(Dimension::Light, Some("dusk".into()));
        assert_eq!((asked.href("").as_str(), asked.heading().as_str()), ("/?light=dusk", "Dusk"));
        assert_eq!(asked.tasting(Dimension::Light, None).href(""), "/");
    }

    #[test]
    fn what_cannot_be_asked_is_told_all_at_once() {
        let query = format!("q={}&category=music&mood=a&mood=b", "é".repeat(201));
        let fault = Asked::read(&query).unwrap_err();
        assert_eq!(
            fault.into_detail(),
            "Several parameters cannot be used; the member errors says which and what is allowed."
        );
    }
}
