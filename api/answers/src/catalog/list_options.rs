//! What a list of projects may be asked for beside its query: filters, how much of each project, an order and facets. REST, MCP and the pages read them here, each
//! from its own kind of request.

use std::borrow::Cow;
use std::fmt::Display;

use jiff::civil::Date;
use read::archive::{Facet, Filters, Order};
use schemas::api::problem::ParameterFault;
use schemas::picture::Colour;
use schemas::record::{Category, Year};
use schemas::taste::Taste;

use super::detail::Detail;
use crate::query::QueryParams;

/// The names of the filters, of the detail, of the order and of the facets.
pub const NAMES: [&str; 15] = [
    "category",
    "city",
    "studio",
    "curator",
    "place",
    "year_from",
    "year_to",
    "has_picture",
    "color",
    "added_since",
    "selected_from",
    "selected_to",
    "detail",
    "sort",
    "facets",
];

/// The number of filters, which come first in [`NAMES`].
pub const FILTERS: usize = 12;

/// The number of options of a list with an order of its own and without facets, which come first in [`NAMES`].
pub const WITHOUT_ORDER: usize = FILTERS + 1;

/// The maximum number of values of a filter.
pub const MAX_VALUES: usize = 20;
/// The maximum length of a value in characters, that of the texts of a record.
pub const MAX_CHARACTERS: usize = 300;

/// The orders by name.
pub const ORDERS: [&str; 6] = ["relevance", "newest", "oldest", "name", "year_asc", "year_desc"];

/// Filters, detail, order and facets of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// What projects must have.
    pub filters: Filters,
    /// How much of each project is shown.
    pub detail: Detail,
    /// The order; `None` for the usual one of the list.
    pub order: Option<Order>,
    /// What the projects on all pages are counted by.
    pub facets: Vec<Facet>,
}

/// Why an option cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionFault {
    /// The name of the option.
    pub name: &'static str,
    /// The value, if there is one that is not allowed.
    pub value: Option<String>,
    /// A sentence that says what is wrong.
    pub detail: String,
    /// What is allowed.
    pub allowed: String,
}

impl From<OptionFault> for ParameterFault {
    fn from(OptionFault { name, detail, allowed, .. }: OptionFault) -> ParameterFault {
        ParameterFault { parameter: name.to_owned(), detail, allowed }
    }
}

impl ListOptions {
    /// Returns the options of a list of one category or of all.
    pub fn of_category(category: Option<Category>) -> ListOptions {
        ListOptions { filters: Filters::of_category(category), ..ListOptions::default() }
    }

    /// Reads all options. `values` returns the values of an option in their order, without blank ones where these mean the same as an
    /// absent one. A list with a query of its own `has_relevance`. Errors are added to `faults`.
    pub fn read<'a>(
        mut values: impl FnMut(&'static str) -> Vec<Cow<'a, str>>,
        has_relevance: bool,
        faults: &mut Vec<OptionFault>,
    ) -> ListOptions {
        let mut reader = Reader { values: &mut values, faults };
        let filters = Filters {
            categories: reader.several("category", true, category),
            cities: reader.several("city", false, text),
            studios: reader.several("studio", false, text),
            curators: reader.several("curator", false, text),
            places: reader.several("place", false, text),
            year_from: reader.single("year_from", year),
            year_to: reader.single("year_to", year),
            has_picture: reader.single("has_picture", only_true).is_some(),
            colours: reader.several("color", true, colour),
            added_since: reader.single("added_since", date),
            selected_from: reader.single("selected_from", date),
            selected_to: reader.single("selected_to", date),
            taste: Taste::default(),
        };
        reader.ordered(["year_from", "year_to"], (filters.year_from, filters.year_to), "a year");
        let selected = (filters.selected_from, filters.selected_to);
        reader.ordered(["selected_from", "selected_to"], selected, "a date");
        let detail = reader.single("detail", detail).unwrap_or_default();
        let order = reader.single("sort", |sort| order(sort, has_relevance)).flatten();
        let facets = reader.several("facets", true, facet);
        ListOptions { filters, detail, order, facets }
    }

    /// Reads the options in the query of a call, where the names from the one at `first` on are those of options. `is_option` says whether
    /// a value of a name is one.
    pub fn of_query<const N: usize>(
        sent: &mut QueryParams<'_, N>,
        first: usize,
        has_relevance: bool,
        is_option: impl Fn(&str, &str) -> bool,
    ) -> ListOptions {
        if !sent.has_any_from(first) {
            return ListOptions::default();
        }
        let mut refused = Vec::new();
        let values = |name| {
            let mut values = sent.all(name);
            values.retain(|value| is_option(name, value));
            values
        };
        let options = ListOptions::read(values, has_relevance, &mut refused);
        sent.refuse_all(refused.into_iter().map(Into::into));
        options
    }

    /// Returns the category if nothing but one is asked for, and `None` inside for nothing at all: lists are then answered without a
    /// set of projects.
    pub fn only_category(&self) -> Option<Option<Category>> {
        let is_plain = self.order.is_none() && self.facets.is_empty();
        self.filters.only_category().filter(|_| is_plain)
    }

    /// Returns the options by which it is found with the least work whether there is any project at all, and whether a cursor belongs to the
    /// list: with one the order stays, and one facet of several, since the cursors of lists with and without facets differ.
    #[must_use]
    pub fn of_total(&self, has_cursor: bool) -> ListOptions {
        let kept = usize::from(has_cursor);
        let facets = self.facets.iter().take(kept).copied().collect();
        let order = self.order.clone().filter(|_| has_cursor);
        ListOptions { filters: self.filters.clone(), detail: self.detail, order, facets }
    }

    /// Returns all filters, or all but those by the values of a facet.
    pub fn filters_but(&self, facet: Option<Facet>) -> Cow<'_, Filters> {
        facet.map_or(Cow::Borrowed(&self.filters), |facet| Cow::Owned(self.filters.without(facet)))
    }

    /// Returns the order of a list without a query: the one asked for, the nearest colour first, or the newest.
    pub fn order_of_all(&self) -> Order {
        match (&self.order, self.filters.colours.as_slice()) {
            (Some(order), _) => order.clone(),
            (None, []) => Order::Newest,
            (None, colours) => Order::Nearest(colours.to_vec()),
        }
    }
}

struct Reader<'r, V> {
    values: &'r mut V,
    faults: &'r mut Vec<OptionFault>,
}

/// Why a value is not allowed: what is wrong with it, and what is allowed.
type Refused = (String, String);

impl<'a, V: FnMut(&'static str) -> Vec<Cow<'a, str>>> Reader<'_, V> {
    /// Reads an option whose values are alternatives, each once; `is_list` if one text may hold several, separated by commas.
    fn several<T: PartialEq>(
        &mut self,
        name: &'static str,
        is_list: bool,
        read: impl Fn(&str) -> Result<T, Refused>,
    ) -> Vec<T> {
        let given = (self.values)(name);
        let texts = given.iter().flat_map(|text| {
            // An empty list is one empty value.
            let parts = if is_list { text.split(',').collect() } else { vec![&**text] };
            parts.into_iter().map(str::trim).collect::<Vec<_>>()
        });
        let texts: Vec<&str> = texts.collect();
        if texts.len() > MAX_VALUES {
            let detail = format!("It has {} values.", texts.len());
            self.fault(name, None, (detail, format!("at most {MAX_VALUES} values")));
            return Vec::new();
        }
        let mut values = Vec::with_capacity(texts.len());
        for text in texts {
            match read(text) {
                Ok(value) if !values.contains(&value) => values.push(value),
                Ok(_) => {}
                Err(refused) => self.fault(name, Some(text), refused),
            }
        }
        values
    }

    fn single<T>(&mut self, name: &'static str, read: impl Fn(&str) -> Result<T, Refused>) -> Option<T> {
        let given = (self.values)(name);
        match given.as_slice() {
            [] => None,
            [text] => match read(text.trim()) {
                Ok(value) => Some(value),
                Err(refused) => {
                    self.fault(name, Some(text), refused);
                    None
                }
            },
            _ => {
                self.fault(name, None, ("It is given more than once.".to_owned(), "one value".to_owned()));
                None
            }
        }
    }

    /// Refuses a range that ends before it begins.
    fn ordered<T: Ord + Display>(
        &mut self,
        [first, last]: [&'static str; 2],
        (from, to): (Option<T>, Option<T>),
        kind: &str,
    ) {
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            let detail = format!("It is after {last}, which is {to}.");
            self.fault(first, Some(&from.to_string()), (detail, format!("{kind} up to {to}")));
        }
    }

    fn fault(&mut self, name: &'static str, value: Option<&str>, (detail, allowed): Refused) {
        self.faults.push(OptionFault { name, value: value.map(str::to_owned), detail, allowed });
    }
}

fn refused<T>(detail: impl Into<String>, allowed: impl Into<String>) -> Result<T, Refused> {
    Err((detail.into(), allowed.into()))
}

fn category(text: &str) -> Result<Category, Refused> {
    let all = || Category::ALL.map(Category::as_str).join(", ");
    Category::parse(text).ok_or_else(|| ("It is not one of the catalog's five.".to_owned(), all()))
}

fn text(text: &str) -> Result<String, Refused> {
    let allowed = format!("1 to {MAX_CHARACTERS} characters");
    match text.chars().count() {
        0 => refused("It is empty.", allowed),
        1..=MAX_CHARACTERS => Ok(text.to_owned()),
        more => refused(format!("It has {more} characters."), allowed),
    }
}

fn year(text: &str) -> Result<Year, Refused> {
    text.parse().or_else(|_| refused("It is not a year.", "four digits, such as 1998"))
}

fn only_true(text: &str) -> Result<(), Refused> {
    if text == "true" { Ok(()) } else { refused("It is not true.", "true, or leave it out") }
}

fn colour(text: &str) -> Result<Colour, Refused> {
    let text = text.to_ascii_lowercase();
    let digits = text.strip_prefix('#').unwrap_or(&text);
    Colour::try_from(format!("#{digits}")).or_else(|_| {
        refused("It is not a color of six hexadecimal digits.", "#rrggbb or rrggbb, such as #a0522d")
    })
}

fn date(text: &str) -> Result<Date, Refused> {
    let is_plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match text.parse() {
        Ok(date) if is_plain => Ok(date),
        _ => refused("It is not a date.", "a date such as 2024-05-31"),
    }
}

/// Returns whether a value is written as a colour with its number sign. In lists by taste, where `color` is also a dimension, only such
/// values are the filter.
pub fn is_colour(text: &str) -> bool {
    text.trim_start().starts_with('#')
}

fn detail(text: &str) -> Result<Detail, Refused> {
    Detail::parse(text).ok_or_else(|| (Detail::REFUSED.to_owned(), Detail::NAMES.join(", ")))
}

/// Returns an order; `None` inside for the usual one.
fn order(text: &str, has_relevance: bool) -> Result<Option<Order>, Refused> {
    let allowed = || ORDERS.iter().skip(usize::from(!has_relevance)).copied().collect::<Vec<_>>().join(", ");
    match text {
        "newest" => Ok(Some(Order::Newest)),
        "oldest" => Ok(Some(Order::Oldest)),
        "name" => Ok(Some(Order::Name)),
        "year_asc" => Ok(Some(Order::YearAscending)),
        "year_desc" => Ok(Some(Order::YearDescending)),
        "relevance" if has_relevance => Ok(None),
        "relevance" => refused("There is no query to be relevant to.", allowed()),
        _ => refused("It is not an order of this list.", allowed()),
    }
}

fn facet(text: &str) -> Result<Facet, Refused> {
    let all = || Facet::ALL.map(Facet::as_str).join(", ");
    Facet::parse(text).ok_or_else(|| (format!("“{}” is not a facet.", shortened(text)), all()))
}

/// Returns the first characters of a value.
fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query;

    fn read(query: &str, has_relevance: bool) -> (ListOptions, Vec<OptionFault>) {
        let mut faults = Vec::new();
        let values = |name| query::values(query, name).map(|value| query::decode(value).unwrap()).collect();
        let options = ListOptions::read(values, has_relevance, &mut faults);
        (options, faults)
    }

    #[test]
    fn options_are_read() {
        let (options, faults) = read(
            "category=art,DESIGN&category=art&city=Ulm,+Germany&city=Berlin&studio=A&curator=B&place=Germany&year_from=1990\
             &year_to=1990&has_picture=true&color=%23A0522d,00ff00&added_since=2024-02-29\
             &selected_from=2023-01-31&selected_to=2023-01-31&sort=oldest&facets=city,Year&facets=color&detail=Concise",
            true,
        );
        assert_eq!(faults, []);
        let year = "1990".parse::<Year>().ok();
        let expected = ListOptions {
            filters: Filters {
                categories: vec![Category::Art, Category::Design],
                cities: vec!["Ulm, Germany".into(), "Berlin".into()],
                studios: vec!["A".into()],
                curators: vec!["B".into()],
                places: vec!["Germany".into()],
                year_from: year,
                year_to: year,
                has_picture: true,
                colours: vec![Colour([0xa0, 0x52, 0x2d]), Colour([0, 0xff, 0])],
                added_since: "2024-02-29".parse().ok(),
                selected_from: "2023-01-31".parse().ok(),
                selected_to: "2023-01-31".parse().ok(),
                taste: Taste::default(),
            },
            detail: Detail::Concise,
            order: Some(Order::Oldest),
            facets: vec![Facet::City, Facet::Year, Facet::Taste(schemas::taste::Dimension::Color)],
        };
        assert_eq!(options, expected);
        assert_eq!(options.only_category(), None);
        assert_eq!(read("", false), (ListOptions::default(), vec![]));
        assert_eq!(read("sort=relevance", true), (ListOptions::default(), vec![]));
        assert_eq!(read("category=art&sort=relevance", true).0.only_category(), Some(Some(Category::Art)));
        assert_eq!(read("category=art&sort=newest", true).0.only_category(), None);
        let by_year = |sort: &str| read(sort, false).0.order_of_all();
        assert_eq!(
            ["sort=year_asc", "sort=year_desc"].map(by_year),
            [Order::YearAscending, Order::YearDescending]
        );
        let coloured = read("color=000000", false).0;
        assert_eq!(coloured.order_of_all(), Order::Nearest(vec![Colour([0; 3])]));
        assert_eq!(read("color=000000&sort=name", false).0.order_of_all(), Order::Name);
    }

    #[test]
    fn a_total_needs_neither_order_nor_facets_but_for_a_cursor() {
        let (options, _) = read("city=Ulm&sort=name&facets=city,year", true);
        let plain = ListOptions { order: None, facets: Vec::new(), ..options.clone() };
        assert_eq!(options.of_total(false), plain);
        assert_eq!(options.of_total(true), ListOptions { facets: vec![Facet::City], ..options });
    }

    #[test]
    fn all_faults_are_found_at_once_and_say_what_is_allowed() {
        let many: String = (0..21).map(|number| format!("&city=c{number}")).collect();
        let long = "é".repeat(301).replace('é', "%C3%A9");
        let query = format!(
            "category=art,music&studio=&curator={long}&year_from=20x5&year_to=99&has_picture=yes&color=teal-ish&color=%23fff\
             &added_since=2024-02-30&selected_from=2021&selected_to=2021-13-01&sort=best&facets=city,shape&detail=short{many}"
        );
        let said: Vec<(&str, String, String)> =
            read(&query, true).1.into_iter().map(|fault| (fault.name, fault.detail, fault.allowed)).collect();
        let colours = ("It is not a color of six hexadecimal digits.", "#rrggbb or rrggbb, such as #a0522d");
        let year = ("It is not a year.", "four digits, such as 1998");
        let date = ("It is not a date.", "a date such as 2024-05-31");
        let expected = [
            (
                "category",
                "It is not one of the catalog's five.",
                "architecture, interiors, design, photography, art",
            ),
            ("city", "It has 21 values.", "at most 20 values"),
            ("studio", "It is empty.", "1 to 300 characters"),
            ("curator", "It has 301 characters.", "1 to 300 characters"),
            ("year_from", year.0, year.1),
            ("year_to", year.0, year.1),
            ("has_picture", "It is not true.", "true, or leave it out"),
            ("color", colours.0, colours.1),
            ("color", colours.0, colours.1),
            ("added_since", date.0, date.1),
            ("selected_from", date.0, date.1),
            ("selected_to", date.0, date.1),
            ("detail", "It is neither full, concise nor taste.", "full, concise, taste"),
            (
                "sort",
                "It is not an order of this list.",
                "relevance, newest, oldest, name, year_asc, year_desc",
            ),
            (
                "facets",
                "“shape” is not a facet.",
                "category, city, studio, curator, year, material, light, color, mood, composition, subject",
            ),
        ];
        assert_eq!(
            said,
            expected.map(|(name, detail, allowed)| (name, detail.to_owned(), allowed.to_owned()))
        );
    }

    #[test]
    fn values_that_contradict_each_other_are_refused() {
        let faults = |query| {
            read(query, false).1.into_iter().map(|fault| (fault.detail, fault.allowed)).collect::<Vec<_>>()
        };
        assert_eq!(
            faults("year_from=2001&year_to=2000"),
            [("It is after year_to, which is 2000.".into(), "a year up to 2000".into())]
        );
        assert_eq!(
            faults("selected_from=2021-01-02&selected_to=2021-01-01"),
            [("It is after selected_to, which is 2021-01-01.".into(), "a date up to 2021-01-01".into())]
        );
        assert_eq!(faults("selected_from=2021-01-01&selected_to=2021-01-01"), []);
        assert_eq!(
            faults("sort=relevance"),
            [(
                "There is no query to be relevant to.".into(),
                "newest, oldest, name, year_asc, year_desc".into()
            )]
        );
        assert_eq!(
            faults("year_to=2000&year_to=2000"),
            [("It is given more than once.".into(), "one value".into())]
        );
        assert_eq!(
            faults("added_since=+2024-2-3T00:00"),
            [("It is not a date.".into(), "a date such as 2024-05-31".into())]
        );
    }
}
