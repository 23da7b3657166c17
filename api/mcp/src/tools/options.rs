//! The arguments of lists beside their query: filters, detail, order and facets.

use answers::catalog::detail::Detail;
use answers::catalog::list_options::{self, ListOptions, ORDERS, OptionFault, WITHOUT_ORDER, is_colour};
use schemas::record::Category;
use serde_json::{Value as Json, json};

use crate::protocol::rpc_error::quoted;
use crate::tools::arguments::Arguments;
use crate::tools::input::Value;

/// The names of the arguments.
pub(super) const NAMES: [&str; 15] = list_options::NAMES;

/// The index of `color` in [`NAMES`].
const COLOR: usize = 8;

/// Returns the names of the arguments of a tool whose own arguments include `color`.
pub(super) const fn with_own_color<const N: usize>(own: &[&'static str]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = match at.checked_sub(own.len()) {
            None => own[at],
            Some(at) if at < COLOR => NAMES[at],
            Some(at) => NAMES[at + 1],
        };
        at += 1;
    }
    names
}

/// Adds the options to the JSON Schema of a tool's own arguments, which may have one of the same name. `search_projects` is the first
/// tool and says the most; the others are brief, so that the listing stays short.
pub(super) fn add_to(schema: Json, has_relevance: bool, is_first: bool) -> Json {
    let orders = if has_relevance { &ORDERS[..] } else { &ORDERS[1..] };
    add(schema, &NAMES, orders, is_first)
}

/// Adds the options of a list with an order of its own to the JSON Schema of a tool's own arguments.
pub(super) fn add_without_order_to(schema: Json) -> Json {
    add(schema, &NAMES[..WITHOUT_ORDER], &[], false)
}

fn add(mut schema: Json, names: &[&str], orders: &[&str], is_first: bool) -> Json {
    if let Some(properties) = schema["properties"].as_object_mut() {
        for name in names {
            let mut option = match *name {
                "category" => <Category as Value>::schema(),
                "year_from" | "year_to" => json!({"type": "integer"}),
                "has_picture" => json!({"type": "boolean"}),
                "detail" => <Detail as Value>::schema(),
                "sort" => json!({"type": "string", "enum": orders}),
                _ => json!({"type": "string"}),
            };
            if let Some(text) = description(name, is_first) {
                option["description"] = text.into();
            }
            properties.entry(*name).or_insert(option);
        }
    }
    schema
}

/// Returns what an option is for, where its type does not say it. A name in braces stands for an example of the catalog.
fn description(name: &str, is_first: bool) -> Option<&'static str> {
    let described = |at_length, briefly| Some(if is_first { at_length } else { briefly });
    match name {
        "city" => described("Whole value, e.g. {city}; alternatives with |", "e.g. {city}"),
        "studio" => described("Whole name, e.g. {studio}", "Whole name"),
        "curator" => described("Who selected it, e.g. {curator}", "Who selected it"),
        "place" => Some("Town or country, e.g. {place}"),
        "year_from" | "year_to" => Some("e.g. {year}"),
        "has_picture" => Some("true: with one"),
        "color" => described("#rrggbb near a palette color", "Near #rrggbb"),
        "added_since" => Some("Day, e.g. {day}"),
        "selected_from" => Some("By a curator, e.g. {day}"),
        "selected_to" => Some("Day, included"),
        "detail" => described(
            "concise: name, studio, city, year, URLs; taste: also the six texts",
            "See search_projects",
        ),
        "sort" => described(
            "newest, oldest: by day of publication; year_asc, year_desc: by the project's year, unknown last",
            "newest, oldest: day of publication; year_*: project's year",
        ),
        "facets" => Some("To count, e.g. city,year,material"),
        _ => None,
    }
}

/// Reads the options of a list with an order of its own. Errors remain in `arguments` until the other arguments are read.
pub(super) fn read_without_order(arguments: &mut Arguments<'_>) -> ListOptions {
    read_with(arguments, false, |name, _| NAMES[..WITHOUT_ORDER].contains(&name))
}

/// Reads the options. Errors remain in `arguments` until the other arguments are read.
pub(super) fn read(arguments: &mut Arguments<'_>, has_relevance: bool) -> ListOptions {
    read_with(arguments, has_relevance, |_, _| true)
}

/// Reads the options of a search by taste, in which a text of color without a number sign is a dimension.
pub(super) fn read_of_taste(arguments: &mut Arguments<'_>) -> ListOptions {
    read_with(arguments, true, |name, text| name != "color" || is_colour(text))
}

fn read_with(
    arguments: &mut Arguments<'_>,
    has_relevance: bool,
    is_option: impl Fn(&str, &str) -> bool,
) -> ListOptions {
    let mut faults = Vec::new();
    let values = |name| {
        let mut texts = arguments.texts(name);
        texts.retain(|text| is_option(name, text));
        texts
    };
    let options = ListOptions::read(values, has_relevance, &mut faults);
    faults.into_iter().for_each(|fault| arguments.fault(phrase(&fault)));
    options
}

/// Returns what is wrong as a phrase, as those of other arguments.
fn phrase(fault: &OptionFault) -> String {
    let OptionFault { name, value, detail, allowed } = fault;
    match value {
        Some(value) => {
            let one_of =
                if matches!(*name, "category" | "detail" | "sort" | "facets") { "one of " } else { "" };
            format!("{name} is {}, it must be {one_of}{allowed}", quoted(value))
        }
        None => {
            let what = detail.strip_prefix("It ").unwrap_or(detail);
            format!("{name} {}; allowed: {allowed}", what.trim_end_matches('.'))
        }
    }
}
