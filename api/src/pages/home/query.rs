//! The query of the front page.

use answers::catalog::list_options::{self, ListOptions, is_colour};
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use read::archive::{Facet, Filters, Order};
use schemas::record::{Category, Year};
use schemas::taste::{Dimension, Taste};

use crate::pages::words::capitalised;

/// The maximum length of a text in characters, as over REST.
const LONGEST: usize = 200;

/// The parameters without the options of a list. `color` is a dimension and a filter.
const OWN: [&str; 2 + Dimension::COUNT] = query::join_names(&["q", "cursor"], &Dimension::NAMES);

const NAMES: [&str; OWN.len() + list_options::NAMES.len()] = query::join_names(&OWN, &list_options::NAMES);

/// The unparsed parameters.
type Sent<'a> = QueryParams<'a, { NAMES.len() }>;

/// A parameter and its value.
pub(super) type Pair = (&'static str, String);

/// A query by words or by taste, or neither, with filters and an order. The parameters are those of REST.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HomeQuery {
    pub(super) q: String,
    /// The requested words of each dimension.
    pub(super) taste: Taste,
    /// Filters and order. The page chooses the facets.
    pub(super) options: ListOptions,
    pub(super) cursor: Option<String>,
}

impl HomeQuery {
    /// Parses a query string. Words take precedence over taste: they are not combined. Blank values are absent ones: forms send every
    /// field.
    pub(super) fn read(query: &str) -> Result<HomeQuery, ApiError> {
        let mut given = QueryParams::parse(query, NAMES);
        let q = text(&mut given, "q").unwrap_or_default();
        let taste = Taste::from_fn(|dimension| text(&mut given, dimension.as_str()).filter(|_| q.is_empty()));
        let has_relevance = !q.is_empty() || !taste.is_empty();
        let is_option = |name: &str, value: &str| {
            let value = value.trim();
            let is_hex = || value.len() == 6 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
            match name {
                _ if value.is_empty() => false,
                "facets" | "detail" => false,
                // Beside words, where there is no taste, a colour needs no number sign.
                "color" => is_colour(value) || !q.is_empty() && is_hex(),
                _ => true,
            }
        };
        let options = ListOptions::of_query(&mut given, 0, has_relevance, is_option);
        let cursor = text(&mut given, "cursor");
        given.finish()?;
        Ok(HomeQuery { q, taste, options, cursor })
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

    /// Returns the category, if it is a single one.
    pub(super) fn category(&self) -> Option<Category> {
        match self.options.filters.categories.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Returns the query in another category, at the first page.
    pub(super) fn in_category(&self, category: Option<Category>) -> HomeQuery {
        self.filtered(|filters| filters.categories = category.into_iter().collect())
    }

    /// Returns the query with other filters, at the first page.
    pub(super) fn filtered(&self, change: impl FnOnce(&mut Filters)) -> HomeQuery {
        let mut query = self.at(None);
        change(&mut query.options.filters);
        query
    }

    /// Returns the query in another order, at the first page.
    pub(super) fn ordered(&self, order: Option<Order>) -> HomeQuery {
        let mut query = self.at(None);
        query.options.order = order;
        query
    }

    /// Returns the query with other words for a dimension, at the first page and without search words.
    pub(super) fn tasting(&self, dimension: Dimension, text: Option<String>) -> HomeQuery {
        let mut query = HomeQuery { q: String::new(), cursor: None, ..self.clone() };
        query.taste.set(dimension, text);
        query
    }

    /// Returns whether the years are filtered to a single one.
    pub(super) fn is_one_year(&self) -> bool {
        let Filters { year_from, year_to, .. } = &self.options.filters;
        year_from.is_some() && year_from == year_to
    }

    /// Returns the parameters of the filters.
    pub(super) fn filter_pairs(&self) -> Vec<Pair> {
        let Filters {
            categories,
            cities,
            studios,
            curators,
            places,
            year_from,
            year_to,
            has_picture,
            colours,
            added_since,
        } = &self.options.filters;
        let mut pairs: Vec<Pair> =
            categories.iter().map(|one| ("category", one.as_str().to_owned())).collect();
        for (name, texts) in [("city", cities), ("studio", studios), ("curator", curators), ("place", places)]
        {
            pairs.extend(texts.iter().map(|text| (name, text.clone())));
        }
        pairs.extend(year_from.iter().map(|year| ("year_from", year.to_string())));
        pairs.extend(year_to.iter().map(|year| ("year_to", year.to_string())));
        pairs.extend(has_picture.then(|| ("has_picture", "true".to_owned())));
        pairs.extend(colours.iter().map(|colour| ("color", colour.to_string())));
        pairs.extend(added_since.iter().map(|date| ("added_since", date.to_string())));
        pairs
    }

    /// Returns the parameters without the cursor.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        if !self.q.is_empty() {
            pairs.push(("q", self.q.clone()));
        }
        pairs.extend(self.taste.iter().map(|(dimension, text)| (dimension.as_str(), text.to_owned())));
        pairs.extend(self.filter_pairs());
        let order = self.options.order.as_ref().and_then(order_name);
        pairs.extend(order.map(|order| ("sort", order.to_owned())));
        pairs
    }

    /// Returns the path of this query.
    pub(super) fn href(&self, base: &str) -> String {
        let cursor = self.cursor.iter().map(|cursor| ("cursor", cursor.clone()));
        href(base, self.pairs().into_iter().chain(cursor))
    }

    /// Describes the query in words.
    pub(super) fn heading(&self) -> String {
        if !self.q.is_empty() {
            return format!("“{}”", self.q);
        }
        let words = self.taste.iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ");
        if !words.is_empty() {
            return capitalised(&words);
        }
        let is_one_year = self.is_one_year();
        let label = |pair: Pair| match pair.0 {
            "year_from" if is_one_year => Some(pair.1),
            "year_to" if is_one_year => None,
            _ => Some(described(&pair)),
        };
        let labels: Vec<String> = self.filter_pairs().into_iter().filter_map(label).collect();
        if labels.is_empty() { "The newest".to_owned() } else { labels.join(", ") }
    }
}

/// Returns the path of the page with these parameters.
pub(super) fn href(base: &str, pairs: impl Iterator<Item = Pair>) -> String {
    let encoded = encoded(pairs);
    if encoded.is_empty() { format!("{base}/") } else { format!("{base}/?{encoded}") }
}

/// Returns parameters as a query string.
pub(super) fn encoded(pairs: impl Iterator<Item = Pair>) -> String {
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    pairs.for_each(|(name, value)| {
        encoded.append_pair(name, &value);
    });
    encoded.finish()
}

/// Returns a filter in words.
pub(super) fn described((name, value): &Pair) -> String {
    match *name {
        "category" => Category::parse(value).map_or_else(|| value.clone(), |one| one.title().to_owned()),
        "year_from" => format!("From {value}"),
        "year_to" => format!("Until {value}"),
        "has_picture" => "With pictures".to_owned(),
        "added_since" => format!("Added since {value}"),
        _ => value.clone(),
    }
}

/// Adds a value of a facet to filters; of years it replaces the others.
pub(super) fn add(filters: &mut Filters, facet: Facet, value: &str) {
    match facet {
        Facet::Category => filters.categories.extend(Category::parse(value)),
        Facet::City => filters.cities.push(value.to_owned()),
        Facet::Studio => filters.studios.push(value.to_owned()),
        Facet::Curator => filters.curators.push(value.to_owned()),
        Facet::Year => {
            let year = value.parse::<Year>().ok();
            (filters.year_from, filters.year_to) = (year, year);
        }
        Facet::Taste(_) => {}
    }
}

/// Returns the name of an order; `None` for the one that follows from colours.
fn order_name(order: &Order) -> Option<&'static str> {
    match order {
        Order::Newest => Some("newest"),
        Order::Oldest => Some("oldest"),
        Order::Name => Some("name"),
        Order::Nearest(_) => None,
    }
}

/// Returns a text that may be given once, without the values of `color` that are colours.
fn text(given: &mut Sent<'_>, name: &'static str) -> Option<String> {
    let mut texts = given.all(name);
    texts.retain(|text| name != "color" || !is_colour(text));
    if texts.len() > 1 {
        given.refuse(name, "It is given more than once.", "one value");
    }
    let text = texts.first()?.trim();
    if text.chars().count() > LONGEST {
        let characters = format!("{LONGEST} characters");
        given.refuse(name, format!("It is longer than {characters}."), format!("at most {characters}"));
    }
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_same_query_as_was_read() {
        for query in [
            "q=S%C3%A3o+%22Paulo%22&category=art",
            "material=oak&mood=calm&cursor=abc",
            "",
            "category=art,design&city=Ulm,+Germany&city=Berlin&studio=A+%26+B&curator=C&place=D&year_from=1990&year_to=2001\
             &has_picture=true&color=%23A0522D&color=%23000000&added_since=2024-01-31&sort=name",
            "color=blue&color=%23A0522D",
        ] {
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
    fn a_colour_needs_a_number_sign_only_where_taste_may_be_meant() {
        let colours = |query| HomeQuery::read(query).unwrap().filter_pairs();
        let sienna = || vec![("color", "#a0522d".to_owned())];
        assert_eq!([colours("color=%23A0522D"), colours("q=a&color=a0522d")], [sienna(), sienna()]);
        let query = HomeQuery::read("color=facade").unwrap();
        assert_eq!((query.taste.get(Dimension::Color), query.filter_pairs()), (Some("facade"), vec![]));
        assert_eq!(HomeQuery::read("q=a&color=teal").unwrap(), HomeQuery::default().searching("a".into()));
    }

    #[test]
    fn blank_values_are_absent_and_filters_are_described() {
        assert!(
            HomeQuery::read("q=&category=&year_from=&year_to=+&color=&sort=&cursor=").unwrap().is_front()
        );
        let query = HomeQuery::read("category=art&city=Ulm&year_from=1990&has_picture=true").unwrap();
        assert_eq!(query.heading(), "Art, Ulm, From 1990, With pictures");
        assert_eq!(HomeQuery::read("year_from=1990&year_to=1990").unwrap().heading(), "1990");
        assert_eq!(query.in_category(None).href(""), "/?city=Ulm&year_from=1990&has_picture=true");
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
