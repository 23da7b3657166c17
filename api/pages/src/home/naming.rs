//! What queries and filters are called for people.

use answers::catalog::quotation::unquoted;
use read::archive::Order;
use schemas::record::Category;
use schemas::taste::Dimension;

use super::query::{HomeQuery, Pair};
use crate::words::capitalised;

impl HomeQuery {
    /// Describes the query in words: what it searches for, taste included, or else its filters.
    pub(super) fn heading(&self) -> String {
        let words = (!self.q.is_empty()).then(|| quoted(&self.q));
        let taste = self.taste.iter().map(|(_, text)| unquoted(text).to_owned());
        let wanted = words.into_iter().chain(taste).collect::<Vec<_>>().join(", ");
        if !wanted.is_empty() {
            return capitalised(&wanted);
        }
        let is_one_year = self.is_one_year();
        let label = |pair: Pair| match pair.0 {
            "year_from" if is_one_year => Some(pair.1),
            "year_to" if is_one_year => None,
            "curator" => Some(format!("Selected by {}", pair.1)),
            _ => Some(described(&pair)),
        };
        let labels: Vec<String> = self.filter_pairs().into_iter().filter_map(label).collect();
        match (labels.is_empty(), self.options.order_of_all()) {
            (false, _) => labels.join(", "),
            (true, Order::Newest) => "Latest additions".to_owned(),
            (true, _) => "All projects".to_owned(),
        }
    }
}

/// Returns a parameter in words.
pub(super) fn described((name, value): &Pair) -> String {
    match *name {
        "q" => quoted(value),
        "category" => Category::parse(value).map_or_else(|| value.clone(), |one| one.title().to_owned()),
        "year_from" => format!("From {value}"),
        "year_to" => format!("Until {value}"),
        "has_picture" => "With pictures".to_owned(),
        "added_since" => format!("Added since {value}"),
        "selected_from" => format!("Selected since {value}"),
        "selected_to" => format!("Selected until {value}"),
        name if Dimension::parse(name).is_some() => unquoted(value).to_owned(),
        _ => value.clone(),
    }
}

/// Returns a text in quotation marks: its own ones, if it is a phrase, are replaced.
pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", unquoted(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_names_words_and_taste_and_shows_phrases_without_their_quotes() {
        let heading = |query: &str| HomeQuery::read(query).unwrap().heading();
        assert_eq!(heading("q=brick+house&material=oak&light=dusk"), "“brick house”, oak, dusk");
        assert_eq!(heading("material=%22oak+floor%22&mood=calm"), "Oak floor, calm");
        assert_eq!(heading("q=%22stone+house%22"), "“stone house”");
        assert_eq!([heading("page=2"), heading("sort=name")], ["Latest additions", "All projects"]);
        assert_eq!(heading("q=%22stone%22+%22house%22"), "“\"stone\" \"house\"”");
        assert_eq!(described(&("material", "\"oak floor\"".to_owned())), "oak floor");
        assert_eq!(described(&("city", "\"Ulm\"".to_owned())), "\"Ulm\"");
    }
}
