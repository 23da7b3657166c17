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

/// Adds the options to the JSON Schema of a tool's own arguments, which may have one of the same name. `search_projects` has the
/// descriptions; the other tools go without, so that the listing stays short.
pub(super) fn add_to(schema: Json, has_relevance: bool, is_described: bool) -> Json {
    let orders = if has_relevance { &ORDERS[..] } else { &ORDERS[1..] };
    add(schema, &NAMES, orders, is_described)
}

/// Adds the options of a list with an order of its own to the JSON Schema of a tool's own arguments.
pub(super) fn add_without_order_to(schema: Json) -> Json {
    add(schema, &NAMES[..WITHOUT_ORDER], &[], false)
}

fn add(mut schema: Json, names: &[&str], orders: &[&str], is_described: bool) -> Json {
    let text = |description: &str| match is_described {
        true => json!({"type": "string", "description": description}),
        false => json!({"type": "string"}),
    };
    if let Some(properties) = schema["properties"].as_object_mut() {
        for name in names {
            let option = match *name {
                "category" => json!({"type": "string", "enum": Category::ALL.map(Category::as_str)}),
                "city" => text("Whole value; alternatives with |"),
                "place" => text("Part of city, e.g. Germany"),
                "year_from" | "year_to" => json!({"type": "integer"}),
                "has_picture" => json!({"type": "boolean"}),
                "color" => text("#rrggbb near a palette colour"),
                "added_since" => text("Date"),
                "selected_from" => text("Selected by a curator on this date or later, e.g. 2021-01-01"),
                "selected_to" => text("Or earlier"),
                "detail" if is_described => {
                    let mut schema = <Detail as Value>::schema();
                    schema["description"] =
                        "concise: name, studio, city, year, citation_url; taste: also the six texts".into();
                    schema
                }
                "detail" => <Detail as Value>::schema(),
                "sort" if is_described => json!({"type": "string", "enum": orders,
                    "description": "newest, oldest: by day of publication; year_asc, year_desc: by year, unknown last"}),
                "sort" => json!({"type": "string", "enum": orders}),
                "facets" => text("Counts to add, e.g. city,year,material"),
                _ => json!({"type": "string"}),
            };
            properties.entry(*name).or_insert(option);
        }
    }
    schema
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
