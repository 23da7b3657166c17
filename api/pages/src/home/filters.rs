//! The filters beside the results: what is filtered by, with links that remove it; facets, with links that add a value; and the orders.
//! All of them are links and forms of the page itself, so that they work without a script.

use read::archive::{Facet, FacetCounts, Filters, Order};
use schemas::record::Year;
use schemas::taste::Dimension;

use super::super::colours::named_in;
use super::super::words::grouped;
use super::naming::described;
use super::query::{self, HomeQuery, Pair};

/// The facets that are shown, in their order.
pub(super) const FACETS: [Facet; 4] = [Facet::Category, Facet::City, Facet::Studio, Facet::Year];

/// The number of values of a facet that are shown at once; the others are folded away.
const AT_ONCE: usize = 6;

/// An option and its path.
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) is_chosen: bool,
}

/// A filter that is on.
pub(super) struct Applied {
    /// What it filters by, such as `City`.
    pub(super) name: &'static str,
    pub(super) value: String,
    /// The colour of a word for one.
    pub(super) swatch: Option<String>,
    /// The path of the page without it.
    pub(super) href: String,
}

/// A facet with the values to choose from.
pub(super) struct FacetGroup {
    pub(super) title: &'static str,
    pub(super) first: Vec<FacetLink>,
    pub(super) others: Vec<FacetLink>,
}

/// A value of a facet.
pub(super) struct FacetLink {
    pub(super) name: String,
    pub(super) count: String,
    /// The path of the page with the value, or without it if it is chosen.
    pub(super) href: String,
    pub(super) is_chosen: bool,
}

/// The form for a range of years.
pub(super) struct YearForm {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) kept: Vec<Pair>,
}

/// The form for a place.
pub(super) struct PlaceForm {
    pub(super) place: String,
    pub(super) kept: Vec<Pair>,
}

/// The form for a colour.
pub(super) struct ColourForm {
    pub(super) colour: String,
    pub(super) kept: Vec<Pair>,
}

/// The colour that the form shows first.
const FIRST_COLOUR: &str = "#a0522d";

/// Returns what the results are narrowed by: the words of a search, taste and filters.
pub(super) fn applied(query: &HomeQuery, base: &str) -> Vec<Applied> {
    let all = query.pairs();
    let is_one_year = query.is_one_year();
    let is_shown = |(name, _): &&Pair| !(*name == "sort" || is_one_year && *name == "year_to");
    let one = |pair: &Pair| {
        let is_year = |name: &str| is_one_year && matches!(name, "year_from" | "year_to");
        let is_same = |other: &Pair| other == pair || is_year(pair.0) && is_year(other.0);
        let (name, value) = match pair.0 {
            "year_from" if is_one_year => ("Year", pair.1.clone()),
            name => (title(name), described(pair)),
        };
        let others = all.iter().filter(|other| !is_same(other)).cloned();
        let swatch = if name == Dimension::Color.title() { named_in(&value) } else { None };
        Applied { name, value, swatch, href: query::href(base, others) }
    };
    all.iter().filter(is_shown).map(one).collect()
}

/// Returns the path of the page without words, taste and filters.
pub(super) fn without_all(query: &HomeQuery, base: &str) -> String {
    query::href(base, query.pairs().into_iter().filter(|(name, _)| *name == "sort"))
}

/// Returns the parameters that a form sends along: all filters and the order, but for some names.
fn kept(query: &HomeQuery, own: &[&str]) -> Vec<Pair> {
    // The colour of a form is a filter, and a word of the same name is taste.
    let is_own = |(name, value): &Pair| own.contains(name) && (*name != "color" || value.starts_with('#'));
    query.pairs().into_iter().filter(|pair| !is_own(pair)).collect()
}

/// Returns the form for a range of years.
pub(super) fn year_form(query: &HomeQuery) -> YearForm {
    let Filters { year_from, year_to, .. } = &query.options.filters;
    let shown = |year: &Option<Year>| year.map_or_else(String::new, |year| year.to_string());
    YearForm { from: shown(year_from), to: shown(year_to), kept: kept(query, &["year_from", "year_to"]) }
}

/// Returns the form for a place. It replaces the one that is chosen; of several it adds to them.
pub(super) fn place_form(query: &HomeQuery) -> PlaceForm {
    match query.options.filters.places.as_slice() {
        [place] => PlaceForm { place: place.clone(), kept: kept(query, &["place"]) },
        _ => PlaceForm { place: String::new(), kept: kept(query, &[]) },
    }
}

/// Returns the form for a colour.
pub(super) fn colour_form(query: &HomeQuery) -> ColourForm {
    let colour = query.options.filters.colours.first();
    let colour = colour.map_or_else(|| FIRST_COLOUR.to_owned(), ToString::to_string);
    ColourForm { colour, kept: kept(query, &["color"]) }
}

/// Returns the facets by which the results can be narrowed, or are.
pub(super) fn groups(query: &HomeQuery, counts: &[FacetCounts], base: &str) -> Vec<FacetGroup> {
    let group = |counts: &FacetCounts| {
        let mut first: Vec<FacetLink> = counts
            .values
            .iter()
            .map(|one| link(query, counts.facet, (&one.value, one.count), base))
            .collect();
        let is_of_use = first.len() > 1 || first.iter().any(|one| one.is_chosen);
        // A single value more is not worth folding away.
        let others = if first.len() > AT_ONCE + 1 { first.split_off(AT_ONCE) } else { Vec::new() };
        is_of_use.then(|| FacetGroup { title: title(counts.facet.as_str()), first, others })
    };
    counts.iter().filter_map(group).collect()
}

fn link(query: &HomeQuery, facet: Facet, (value, count): (&str, u64), base: &str) -> FacetLink {
    let with = query.filtered(|filters| query::add(filters, facet, value));
    // Filters that differ in spelling alone are equal: adding a chosen value changes nothing.
    let is_chosen = with.options.filters.fingerprint() == query.options.filters.fingerprint();
    let target = if is_chosen { query.filtered(|filters| remove(filters, facet, value)) } else { with };
    let pair = (facet.as_str(), value.to_owned());
    FacetLink { name: described(&pair), count: grouped(count), href: target.href(base), is_chosen }
}

/// Removes a value of a facet, in whatever spelling.
fn remove(filters: &mut Filters, facet: Facet, value: &str) {
    let single = |value: &str| {
        let mut filters = Filters::default();
        query::add(&mut filters, facet, value);
        filters.fingerprint()
    };
    let is_other = |other: &str| single(other) != single(value);
    match facet {
        Facet::Category => filters.categories.retain(|other| is_other(other.as_str())),
        Facet::City => filters.cities.retain(|other| is_other(other)),
        Facet::Studio => filters.studios.retain(|other| is_other(other)),
        Facet::Curator => filters.curators.retain(|other| is_other(other)),
        Facet::Year => (filters.year_from, filters.year_to) = (None, None),
        Facet::Taste(_) => {}
    }
}

/// Returns the link that shows only projects with a picture, or all again.
pub(super) fn pictures(query: &HomeQuery, base: &str) -> Choice {
    let is_chosen = query.options.filters.has_picture;
    let other = query.filtered(|filters| filters.has_picture = !is_chosen);
    Choice { name: "With pictures".to_owned(), href: other.href(base), is_chosen }
}

/// Returns the orders of the results.
pub(super) fn orders(query: &HomeQuery, base: &str) -> Vec<Choice> {
    let is_list = query.q.is_empty() && !query.is_by_taste();
    let has_colours = !query.options.filters.colours.is_empty();
    let usual = match (is_list, has_colours) {
        (false, _) => Some("Best match"),
        (true, true) => Some("Nearest color"),
        (true, false) => None,
    };
    let order = &query.options.order;
    let choice = |name: &str, wanted: Option<Order>, is_chosen: bool| Choice {
        name: name.to_owned(),
        href: query.ordered(wanted).href(base),
        is_chosen,
    };
    let newest = match usual {
        Some(_) => choice("Newest", Some(Order::Newest), *order == Some(Order::Newest)),
        // It is the usual one, which needs no parameter.
        None => choice("Newest", None, matches!(order, None | Some(Order::Newest))),
    };
    let others = [
        ("Oldest", Order::Oldest),
        ("Name", Order::Name),
        ("Earliest year", Order::YearAscending),
        ("Latest year", Order::YearDescending),
    ];
    let others = others.map(|(name, wanted)| {
        let is_chosen = order.as_ref() == Some(&wanted);
        choice(name, Some(wanted), is_chosen)
    });
    let usual = usual.map(|name| choice(name, None, order.is_none()));
    usual.into_iter().chain([newest]).chain(others).collect()
}

/// Returns what a parameter filters by, for people.
fn title(name: &str) -> &'static str {
    let dimension = || Dimension::parse(name).map(Dimension::title);
    match name {
        "q" => "Words",
        "category" => "Category",
        "city" => "City",
        "studio" => "Studio",
        "curator" => "Curator",
        "place" => "Place",
        "year" | "year_from" | "year_to" => "Year",
        "has_picture" => "Pictures",
        "added_since" => "Added",
        "selected_from" | "selected_to" => "Selected",
        _ => dimension().unwrap_or("Filter"),
    }
}

#[cfg(test)]
mod tests {
    use read::archive::FacetValue;

    use super::*;

    fn query(text: &str) -> HomeQuery {
        HomeQuery::read(text).unwrap()
    }

    fn applied_to(text: &str) -> Vec<(&'static str, String, String)> {
        applied(&query(text), "/b").into_iter().map(|one| (one.name, one.value, one.href)).collect()
    }

    fn counted(facet: Facet, values: Vec<FacetValue>) -> FacetCounts {
        FacetCounts { facet, distinct: values.len() as u64, values, unrecorded: 0 }
    }

    #[test]
    fn every_filter_has_a_link_without_it() {
        let one = |name, value: &str, href: &str| (name, value.to_owned(), href.to_owned());
        assert_eq!(
            applied_to("q=a+b&city=Ulm,+Germany&city=Rom&year_from=1990&year_to=1990&sort=name&cursor=x"),
            [
                one(
                    "Words",
                    "“a b”",
                    "/b/?city=Ulm%2C+Germany&city=Rom&year_from=1990&year_to=1990&sort=name"
                ),
                one("City", "Ulm, Germany", "/b/?q=a+b&city=Rom&year_from=1990&year_to=1990&sort=name"),
                one("City", "Rom", "/b/?q=a+b&city=Ulm%2C+Germany&year_from=1990&year_to=1990&sort=name"),
                one("Year", "1990", "/b/?q=a+b&city=Ulm%2C+Germany&city=Rom&sort=name"),
            ]
        );
        assert_eq!(
            applied_to("color=warm&color=%23a0522d&year_to=2000&has_picture=true"),
            [
                one("Color", "warm", "/b/?year_to=2000&has_picture=true&color=%23a0522d"),
                one("Year", "Until 2000", "/b/?color=warm&has_picture=true&color=%23a0522d"),
                one("Pictures", "With pictures", "/b/?color=warm&year_to=2000&color=%23a0522d"),
                one("Color", "#a0522d", "/b/?color=warm&year_to=2000&has_picture=true"),
            ]
        );
        assert_eq!(
            applied_to("selected_to=2021-12-31&selected_from=2021-01-01&sort=year_asc"),
            [
                one("Selected", "Selected since 2021-01-01", "/b/?selected_to=2021-12-31&sort=year_asc"),
                one("Selected", "Selected until 2021-12-31", "/b/?selected_from=2021-01-01&sort=year_asc"),
            ]
        );
        assert_eq!(without_all(&query("q=a&category=art&sort=oldest&cursor=x"), ""), "/?sort=oldest");
        let kept = kept(&query("color=warm&color=%23a0522d&city=Ulm"), &["color"]);
        assert_eq!(kept, [("color", "warm".to_owned()), ("city", "Ulm".to_owned())]);
    }

    #[test]
    fn a_word_for_a_colour_has_a_swatch() {
        let swatches: Vec<_> = applied(&query("q=red&material=rust&color=Red&color=%23a0522d"), "")
            .into_iter()
            .map(|one| (one.name, one.swatch))
            .collect();
        let expected =
            [("Words", None), ("Material", None), ("Color", Some("#b4332e".to_owned())), ("Color", None)];
        assert_eq!(swatches, expected);
    }

    #[test]
    fn the_form_for_a_place_replaces_one_and_adds_to_several() {
        let form = |text: &str| {
            let PlaceForm { place, kept } = place_form(&query(text));
            (place, super::query::href("", kept.into_iter()))
        };
        assert_eq!(form("q=a&place=Ulm"), ("Ulm".to_owned(), "/?q=a".to_owned()));
        assert_eq!(form("place=Ulm&place=Rom"), (String::new(), "/?place=Ulm&place=Rom".to_owned()));
        assert_eq!(form("year_to=1990&cursor=x"), (String::new(), "/?year_to=1990".to_owned()));
    }

    #[test]
    fn a_value_of_a_facet_is_added_or_removed_in_whatever_spelling() {
        let value = |value: &str, count| FacetValue { value: value.to_owned(), count };
        let counts = [
            counted(Facet::City, vec![value("Zürich", 1_200), value("Ulm", 3)]),
            counted(Facet::Studio, vec![value("Alone", 9)]),
            counted(Facet::Year, vec![value("1990", 2)]),
        ];
        let query = query("city=ZURICH&year_from=1990&year_to=1990&cursor=x");
        let shown: Vec<_> = groups(&query, &counts, "")
            .into_iter()
            .flat_map(|group| group.first.into_iter().map(move |one| (group.title, one)))
            .map(|(title, one)| (title, one.name, one.count, one.href, one.is_chosen))
            .collect();
        let one = |title, name: &str, count: &str, href: &str, is_chosen| {
            (title, name.to_owned(), count.to_owned(), href.to_owned(), is_chosen)
        };
        let both = "/?city=ZURICH&city=Ulm&year_from=1990&year_to=1990";
        assert_eq!(
            shown,
            [
                one("City", "Zürich", "1,200", "/?year_from=1990&year_to=1990", true),
                one("City", "Ulm", "3", both, false),
                one("Year", "1990", "2", "/?city=ZURICH", true),
            ]
        );
    }

    #[test]
    fn many_values_are_folded_away() {
        let values =
            |count: u64| (1..=count).map(|at| FacetValue { value: format!("c{at}"), count: at }).collect();
        let shown = |count| {
            let counts = [counted(Facet::City, values(count))];
            groups(&query(""), &counts, "")
                .iter()
                .map(|one| (one.first.len(), one.others.len()))
                .collect::<Vec<_>>()
        };
        assert_eq!([shown(1), shown(7), shown(8)], [vec![], vec![(7, 0)], vec![(6, 2)]]);
    }

    #[test]
    fn the_usual_order_needs_no_parameter() {
        let orders = |text: &str| -> Vec<(String, String, bool)> {
            orders(&query(text), "").into_iter().map(|one| (one.name, one.href, one.is_chosen)).collect()
        };
        let one = |name: &str, href: &str, is_chosen| (name.to_owned(), href.to_owned(), is_chosen);
        let list = [
            one("Newest", "/", true),
            one("Oldest", "/?sort=oldest", false),
            one("Name", "/?sort=name", false),
            one("Earliest year", "/?sort=year_asc", false),
            one("Latest year", "/?sort=year_desc", false),
        ];
        assert_eq!([orders(""), orders("sort=newest")], [list.to_vec(), list.to_vec()]);
        assert_eq!(
            orders("q=a&sort=oldest&cursor=x"),
            [
                one("Best match", "/?q=a", false),
                one("Newest", "/?q=a&sort=newest", false),
                one("Oldest", "/?q=a&sort=oldest", true),
                one("Name", "/?q=a&sort=name", false),
                one("Earliest year", "/?q=a&sort=year_asc", false),
                one("Latest year", "/?q=a&sort=year_desc", false),
            ]
        );
        assert_eq!(
            orders("color=%23000000")[..2],
            [
                one("Nearest color", "/?color=%23000000", true),
                one("Newest", "/?color=%23000000&sort=newest", false),
            ]
        );
    }
}
