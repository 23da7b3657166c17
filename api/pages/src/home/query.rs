//! The query of the front page.

use std::borrow::Cow;

use answers::catalog::list_options::{self, ListOptions, is_colour};
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use answers::route;
use read::archive::{Facet, Filters, Order};
use schemas::record::{Category, Year};
use schemas::taste::{Dimension, Taste};

use super::landing::Landing;

/// The number of projects on a page.
pub(super) const SHOWN: usize = 12;

/// The maximum length of a text in characters, as over REST.
const LONGEST: usize = 200;

/// The maximum number of filters of a page, words of taste included, and of bytes that they have together in an address: most links of a
/// page repeat all of them. The API, which has no links, takes more.
const MOST_FILTERS: usize = 20;
const MOST_BYTES: usize = 1_000;
/// The maximum number of bytes of a query that is repeated in the links which there are many of: those that add to it.
const MOST_REPEATED: usize = 500;

/// The parameters without the options of a list. `color` is a dimension and a filter.
const OWN: [&str; 3 + Dimension::COUNT] = query::join_names(&["q", "cursor", "page"], &Dimension::NAMES);

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
    /// The number of pages before the requested one.
    pub(super) pages_before: usize,
}

impl HomeQuery {
    /// Parses a query string. Blank values are absent ones: forms send every field.
    pub(super) fn read(query: &str) -> Result<HomeQuery, ApiError> {
        let mut given = QueryParams::parse(query, NAMES);
        let q = text(&mut given, "q").unwrap_or_default();
        let has_words = !q.is_empty();
        let taste = Taste::from_fn(|dimension| tasted(&mut given, dimension, has_words));
        let has_relevance = !q.is_empty() || !taste.is_empty();
        let is_option = |name: &str, value: &str| match name {
            _ if value.trim().is_empty() => false,
            "facets" | "detail" => false,
            "color" => is_filter(value, has_words),
            _ => true,
        };
        let options = ListOptions::of_query(&mut given, 0, has_relevance, is_option);
        let cursor = text(&mut given, "cursor");
        let pages_before = pages_before(&mut given);
        let query = HomeQuery { q, taste, options, cursor, pages_before };
        query.check_filters(&mut given);
        given.finish()?;
        Ok(query)
    }

    fn check_filters(&self, given: &mut Sent<'_>) {
        let filters = self.narrowing();
        if let Some((name, _)) = filters.get(MOST_FILTERS) {
            let detail = format!("With it the page has more than {MOST_FILTERS} filters.");
            given.refuse(name, detail, format!("at most {MOST_FILTERS} filters together"));
        }
        let Some((name, _)) = filters.iter().max_by_key(|(_, value)| value.len()).cloned() else { return };
        if encoded(filters.into_iter()).len() > MOST_BYTES {
            let detail = format!("With it the filters of the page are longer than {MOST_BYTES} bytes.");
            given.refuse(name, detail, format!("at most {MOST_BYTES} bytes of filters together"));
        }
    }

    /// Returns whether it is so long that the page does not offer what could be added to it.
    pub(super) fn is_long(&self) -> bool {
        encoded(self.pairs().into_iter()).len() > MOST_REPEATED
    }

    /// Returns whether projects are requested by taste alone.
    pub(super) fn is_by_taste(&self) -> bool {
        self.q.is_empty() && !self.taste.is_empty()
    }

    /// Returns whether nothing is requested.
    pub(super) fn is_front(&self) -> bool {
        *self == HomeQuery::default()
    }

    /// Returns whether it is at its first page.
    pub(super) fn is_first_page(&self) -> bool {
        self.cursor.is_none() && self.pages_before == 0
    }

    /// Returns the number of projects on the pages before this one; `None` where a cursor alone says where it begins.
    pub(super) fn before(&self) -> Option<u64> {
        let is_known = self.cursor.is_none() || self.pages_before > 0;
        is_known.then(|| (self.pages_before * SHOWN) as u64)
    }

    /// Returns the query at its first page.
    pub(super) fn first_page(&self) -> HomeQuery {
        HomeQuery { cursor: None, pages_before: 0, ..self.clone() }
    }

    /// Returns the query at the page after this one, which begins at a cursor or has a number alone. After a page without a number it has
    /// none.
    pub(super) fn next_page(&self, cursor: Option<String>) -> HomeQuery {
        let pages_before = if self.before().is_some() { self.pages_before + 1 } else { 0 };
        HomeQuery { cursor, pages_before, ..self.clone() }
    }

    /// Returns the query at the page before this one; `None` at the first.
    pub(super) fn previous_page(&self) -> Option<HomeQuery> {
        let pages_before = self.pages_before.checked_sub(1)?;
        Some(HomeQuery { cursor: None, pages_before, ..self.clone() })
    }

    /// Returns the query with other words, at the first page.
    pub(super) fn searching(&self, q: String) -> HomeQuery {
        HomeQuery { q, ..self.first_page() }
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
        let mut query = self.first_page();
        change(&mut query.options.filters);
        query
    }

    /// Returns the query in another order, at the first page.
    pub(super) fn ordered(&self, order: Option<Order>) -> HomeQuery {
        let mut query = self.first_page();
        query.options.order = order;
        query
    }

    /// Returns the query with other words for a dimension, at the first page.
    pub(super) fn tasting(&self, dimension: Dimension, text: Option<String>) -> HomeQuery {
        let mut query = self.first_page();
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
            selected_from,
            selected_to,
            // The words beside which it is a filter have it, too.
            taste: _,
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
        for (name, date) in
            [("added_since", added_since), ("selected_from", selected_from), ("selected_to", selected_to)]
        {
            pairs.extend(date.iter().map(|date| (name, date.to_string())));
        }
        pairs
    }

    /// Returns the parameters of taste and filters, which a search keeps.
    pub(super) fn narrowing(&self) -> Vec<Pair> {
        let taste = self.taste.iter().map(|(dimension, text)| (dimension.as_str(), text.to_owned()));
        taste.chain(self.filter_pairs()).collect()
    }

    /// Returns the parameters without the cursor.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = Vec::new();
        if !self.q.is_empty() {
            pairs.push(("q", self.q.clone()));
        }
        pairs.extend(self.narrowing());
        let order = self.options.order.as_ref().and_then(order_name);
        pairs.extend(order.map(|order| ("sort", order.to_owned())));
        pairs
    }

    /// Returns the list with an address of its own that this is, at whatever page; `None` for any other.
    pub(super) fn landing(&self) -> Option<Landing> {
        Landing::of_all(&self.pairs())
    }

    /// Returns the parameters at this page as a query string. Without a cursor it is shorter, and its page is found by its number.
    pub(super) fn without_cursor(&self) -> String {
        encoded(self.pairs().into_iter().chain(self.page_pair()))
    }

    fn page_pair(&self) -> Option<Pair> {
        (self.pages_before > 0).then(|| ("page", (self.pages_before + 1).to_string()))
    }

    /// Returns the path of this query.
    pub(super) fn href(&self, base: &str) -> String {
        let cursor = self.cursor.iter().map(|cursor| ("cursor", cursor.clone()));
        href(base, self.pairs().into_iter().chain(cursor).chain(self.page_pair()))
    }
}

/// Returns the path of the page with these parameters.
pub(super) fn href(base: &str, pairs: impl Iterator<Item = Pair>) -> String {
    let (paging, wanted): (Vec<Pair>, Vec<Pair>) =
        pairs.partition(|(name, _)| matches!(*name, "cursor" | "page"));
    let (path, pairs) = match Landing::of_all(&wanted) {
        Some(landing) => (landing.path(), paging),
        None => (route::HOME.to_owned(), [wanted, paging].concat()),
    };
    let encoded = encoded(pairs.into_iter());
    if encoded.is_empty() { format!("{base}{path}") } else { format!("{base}{path}?{encoded}") }
}

/// Returns parameters as a query string.
pub(super) fn encoded(pairs: impl Iterator<Item = Pair>) -> String {
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    pairs.for_each(|(name, value)| {
        encoded.append_pair(name, &value);
    });
    encoded.finish()
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
        Order::YearAscending => Some("year_asc"),
        Order::YearDescending => Some("year_desc"),
        Order::Nearest(_) => None,
    }
}

/// Returns whether a value of `color` is the filter by colours, and not a word of that dimension. Beside words, as in a search over REST,
/// a colour needs no number sign.
fn is_filter(value: &str, has_words: bool) -> bool {
    let value = value.trim();
    let is_hex = || value.len() == 6 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_colour(value) || has_words && is_hex()
}

/// Returns the words of a dimension.
fn tasted(given: &mut Sent<'_>, dimension: Dimension, has_words: bool) -> Option<String> {
    let name = dimension.as_str();
    let mut texts = given.all(name);
    texts.retain(|text| dimension != Dimension::Color || !is_filter(text, has_words));
    single(given, name, &texts)
}

/// Reads the number of the page, from 1, and returns the number of pages before it.
fn pages_before(given: &mut Sent<'_>) -> usize {
    let Some(page) = text(given, "page") else { return 0 };
    match page.parse::<u32>().ok().and_then(|page| page.checked_sub(1)) {
        Some(before) => before as usize,
        None => {
            given.refuse("page", "It is not the number of a page.", "an integer from 1");
            0
        }
    }
}

/// Returns a text that may be given once.
fn text(given: &mut Sent<'_>, name: &'static str) -> Option<String> {
    let texts = given.all(name);
    single(given, name, &texts)
}

fn single(given: &mut Sent<'_>, name: &'static str, texts: &[Cow<'_, str>]) -> Option<String> {
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
            "material=oak&mood=calm&cursor=abc&page=2",
            "q=oak&page=7",
            "",
            "category=art,design&city=Ulm,+Germany&city=Berlin&studio=A+%26+B&curator=C&place=D&year_from=1990&year_to=2001\
             &has_picture=true&color=%23A0522D&color=%23000000&added_since=2024-01-31&sort=name",
            "selected_from=2021-01-01&selected_to=2021-12-31&sort=year_asc",
            "selected_to=2021-12-31&sort=year_desc",
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
    fn the_filters_of_a_page_are_bounded() {
        let faults = |query: &str| match HomeQuery::read(query) {
            Ok(_) => Vec::new(),
            Err(error) => {
                error.into_details().errors.into_iter().map(|one| (one.parameter, one.detail)).collect()
            }
        };
        let cities = |count: usize, length: usize| -> String {
            (0..count).map(|at| format!("&city={}{at:02}", "x".repeat(length - 2))).collect()
        };
        assert_eq!(faults(&format!("q=a&material=oak&sort=name{}", cities(19, 10))), []);
        let many = ("studio".to_owned(), "With it the page has more than 20 filters.".to_owned());
        assert_eq!(faults(&format!("studio=A{}", cities(20, 10))), [many]);
        // 20 times the name, the equals sign, 44 bytes and the ampersand between them are 999 bytes.
        assert_eq!(faults(&format!("sort=name{}", cities(20, 44))), []);
        let long =
            ("city".to_owned(), "With it the filters of the page are longer than 1000 bytes.".to_owned());
        assert_eq!(faults(&format!("sort=name{}", cities(20, 45))), std::slice::from_ref(&long));
        assert_eq!(faults(&format!("material=oak&city={}", "%F0%9F%8F%A0".repeat(100))), [long]);
        assert_eq!(faults(&format!("q={}", "%F0%9F%8F%A0".repeat(200))), [], "words are no filters");
        let is_long = |query: &str| HomeQuery::read(query).unwrap().is_long();
        assert_eq!([is_long(&cities(10, 40)), is_long(&cities(11, 40))], [false, true]);
    }

    #[test]
    fn words_and_taste_are_combined() {
        let query = HomeQuery::read("q=brick&material=oak").unwrap();
        assert_eq!((query.heading().as_str(), query.is_by_taste()), ("“brick”, oak", false));
        let query = query.tasting(Dimension::Light, Some("dusk".into()));
        assert_eq!(query.href(""), "/?q=brick&material=oak&light=dusk");
        let query = query.searching(String::new());
        assert_eq!((query.heading().as_str(), query.is_by_taste()), ("Oak, dusk", true));
        assert_eq!(query.tasting(Dimension::Light, None).href(""), "/?material=oak");
    }

    #[test]
    fn a_colour_needs_a_number_sign_only_where_taste_may_be_meant() {
        let colours = |query| HomeQuery::read(query).unwrap().filter_pairs();
        let sienna = || vec![("color", "#a0522d".to_owned())];
        assert_eq!([colours("color=%23A0522D"), colours("q=a&color=a0522d")], [sienna(), sienna()]);
        let query = HomeQuery::read("color=facade").unwrap();
        assert_eq!((query.taste.get(Dimension::Color), query.filter_pairs()), (Some("facade"), vec![]));
        let query = HomeQuery::read("q=a&color=teal").unwrap();
        assert_eq!((query.taste.get(Dimension::Color), query.filter_pairs()), (Some("teal"), vec![]));
    }

    #[test]
    fn blank_values_are_absent_and_filters_are_described() {
        assert!(
            HomeQuery::read("q=&category=&year_from=&year_to=+&color=&sort=&cursor=").unwrap().is_front()
        );
        let query = HomeQuery::read("category=art&city=Ulm&year_from=1990&has_picture=true").unwrap();
        assert_eq!(query.heading(), "Art, Ulm, From 1990, With pictures");
        assert_eq!(HomeQuery::read("year_from=1990&year_to=1990").unwrap().heading(), "1990");
        let selected = HomeQuery::read("selected_from=2021-01-01&selected_to=2021-12-31").unwrap();
        assert_eq!(selected.heading(), "Selected since 2021-01-01, Selected until 2021-12-31");
        assert_eq!(query.in_category(None).href(""), "/?city=Ulm&year_from=1990&has_picture=true");
    }

    #[test]
    fn pages_are_numbered_from_one() {
        let query = HomeQuery::read("q=a&page=1").unwrap();
        assert_eq!((query.href("").as_str(), query.previous_page()), ("/?q=a", None));
        let second = query.next_page(Some("abc".into()));
        assert_eq!(second.href(""), "/?q=a&cursor=abc&page=2");
        assert_eq!((second.previous_page(), second.first_page()), (Some(query.clone()), query));
        // A page that only a cursor finds has no number, and neither has the one after it.
        let somewhere = HomeQuery::read("q=a&cursor=abc").unwrap();
        assert_eq!([somewhere.before(), second.before()], [None, Some(12)]);
        assert_eq!(somewhere.next_page(Some("def".into())).href(""), "/?q=a&cursor=def");
        for page in ["0", "-1", "two", "99999999999"] {
            let fault = HomeQuery::read(&format!("page={page}")).unwrap_err();
            assert_eq!(fault.into_details().errors[0].parameter, "page");
        }
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
