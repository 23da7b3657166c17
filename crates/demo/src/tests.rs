//! Checks of the whole demo catalog.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod agreement;
mod format;
mod pictures;
mod variety;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use schemas::record::Category;
use serde_json::{Map, Value};

use super::{DEMO_SEED, DEMO_SIZE, catalog, prose};

/// The demo catalog, generated once for all tests.
static DEMO: LazyLock<Vec<Map<String, Value>>> = LazyLock::new(|| catalog(DEMO_SEED, DEMO_SIZE).collect());

fn text<'a>(record: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
    record.get(member).and_then(Value::as_str)
}

/// Returns the percentage of records for which `holds`.
fn percent(holds: impl Fn(&Map<String, Value>) -> bool) -> f64 {
    100.0 * DEMO.iter().filter(|record| holds(record)).count() as f64 / DEMO.len() as f64
}

/// Returns all generated text of a record.
fn readable(record: &Map<String, Value>) -> String {
    let mut all = String::new();
    let mut collect = |value: &Value| all.extend(value.as_str().into_iter().chain(["\n"]));
    ["name", "intro", "description", "design_language"]
        .iter()
        .filter_map(|name| record.get(*name))
        .for_each(&mut collect);
    for detail in record["details"].as_array().unwrap() {
        collect(&detail["label"]);
        collect(&detail["value"]);
    }
    record["taste"].as_object().unwrap().values().for_each(&mut collect);
    record["provenance"].get("note").into_iter().for_each(&mut collect);
    all
}

#[test]
fn texts_have_no_faults() {
    for category in Category::ALL {
        assert_eq!(
            prose::grammar(category).faults,
            [] as [String; 0],
            "in the texts of {}",
            category.as_str()
        );
    }
}

#[test]
fn every_tag_is_set_in_some_category() {
    let mut set: BTreeSet<&str> = BTreeSet::new();
    let mut required: BTreeSet<&str> = BTreeSet::new();
    for category in Category::ALL {
        let (known, unknown) = prose::grammar(category).tags();
        set.extend(known);
        required.extend(unknown);
    }
    let nowhere: Vec<_> = required.difference(&set).collect();
    assert!(nowhere.is_empty(), "{nowhere:?}: rules require tags that no rule sets");
}
