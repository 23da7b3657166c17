//! The arguments of lists beside their query: filters, order and facets.

use answers::catalog::list_options::{self, ListOptions, ORDERS, OptionFault};
use schemas::record::Category;
use serde_json::{Value, json};

use crate::protocol::rpc_error::quoted;
use crate::tools::arguments::Arguments;

/// The names of the arguments.
pub(super) const NAMES: [&str; 12] = list_options::NAMES;

/// Returns the names of a tool's arguments: its own and those of the options.
pub(super) const fn with_own<const N: usize>(own: &[&'static str]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = if at < own.len() { own[at] } else { NAMES[at - own.len()] };
        at += 1;
    }
    names
}

/// Adds the options to the JSON Schema of a tool's own arguments, which may have one of the same name.
pub(super) fn add_to(mut schema: Value, has_relevance: bool) -> Value {
    let orders = if has_relevance { &ORDERS[..] } else { &ORDERS[1..] };
    let text = || json!({"type": "string"});
    let about = |description: &str| json!({"type": "string", "description": description});
    if let Some(properties) = schema["properties"].as_object_mut() {
        for name in NAMES {
            let option = match name {
                "category" => json!({"type": "string", "enum": Category::ALL.map(Category::as_str)}),
                "city" => about("Whole value; alternatives with |"),
                "place" => about("Part of city, e.g. Germany"),
                "year_from" | "year_to" => json!({"type": "integer"}),
                "has_picture" => json!({"type": "boolean"}),
                "color" => about("#rrggbb near a palette colour"),
                "added_since" => about("Date"),
                "sort" => json!({"type": "string", "enum": orders}),
                "facets" => about("Counts to add, e.g. city,year,material"),
                _ => text(),
            };
            properties.entry(name).or_insert(option);
        }
    }
    schema
}

/// Reads the options. Errors remain in `arguments` until the other arguments are read.
pub(super) fn read(arguments: &mut Arguments<'_>, has_relevance: bool) -> ListOptions {
    let mut faults = Vec::new();
    let options = ListOptions::read(|name| arguments.texts(name), has_relevance, &mut faults);
    faults.into_iter().for_each(|fault| arguments.fault(phrase(&fault)));
    options
}

/// Returns what is wrong as a phrase, as those of other arguments.
fn phrase(fault: &OptionFault) -> String {
    let OptionFault { name, value, detail, allowed } = fault;
    match value {
        Some(value) => {
            let one_of = if matches!(*name, "category" | "sort" | "facets") { "one of " } else { "" };
            format!("{name} is {}, it must be {one_of}{allowed}", quoted(value))
        }
        None => {
            let what = detail.strip_prefix("It ").unwrap_or(detail);
            format!("{name} {}; allowed: {allowed}", what.trim_end_matches('.'))
        }
    }
}
