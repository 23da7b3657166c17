//! Records are valid in the import format, and a seed gives the same records in every version.

use std::collections::HashSet;

use data_encoding::HEXLOWER;
use schemas::record::Category;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::super::catalog::Catalog;
use super::super::{DEMO_SEED, DEMO_SIZE, catalog, editors};
use super::{DEMO, text};

/// SHA-256 of the demo catalog as NDJSON. If it changes, new installations show another catalog.
const DIGEST: &str = "194b52470431c18505857847868c9d337ea299083db0658e9265795c24b301fc";

#[test]
fn the_demo_catalog_does_not_change() {
    let mut digest = Sha256::new();
    for record in DEMO.iter() {
        digest.update(serde_json::to_string(record).unwrap());
        digest.update("\n");
    }
    let digest = HEXLOWER.encode(&digest.finalize());
    assert_eq!(digest, DIGEST);
}

#[test]
fn a_longer_catalog_begins_with_the_shorter_one() {
    assert_eq!(DEMO.len(), DEMO_SIZE);
    let short: Vec<_> = catalog(DEMO_SEED, 300).collect();
    assert_eq!(short, DEMO[..300]);
    let other: Vec<_> = catalog(DEMO_SEED + 1, 300).collect();
    assert!(
        other.iter().zip(&short).all(|(other, this)| other != this),
        "another seed gives another catalog"
    );
    assert_eq!(catalog(DEMO_SEED, 0).count(), 0);
}

#[test]
fn slugs_are_unique_and_valid_at_a_hundred_thousand() {
    let mut slugs = HashSet::new();
    let size = 100_000;
    for slug in Catalog::new(DEMO_SEED).slugs().take(size) {
        let letters = slug.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        assert!(letters && (1..=120).contains(&slug.len()), "{slug}");
        assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"), "{slug}");
        assert!(slugs.insert(slug.clone()), "{slug} comes twice");
    }
    assert_eq!(slugs.len(), size);
    assert!(DEMO.iter().all(|record| slugs.contains(text(record, "slug").unwrap())));
}

const MEMBERS: [&str; 14] = [
    "slug",
    "name",
    "studio",
    "city",
    "year",
    "category",
    "intro",
    "description",
    "design_language",
    "published",
    "details",
    "provenance",
    "taste",
    "pictures",
];

fn is_date(date: &str) -> bool {
    date.len() == 10 && jiff::civil::Date::strptime("%Y-%m-%d", date).is_ok()
}

fn no_blank(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty() && text.trim() == text,
        Value::Array(items) => !items.is_empty() && items.iter().all(no_blank),
        Value::Object(members) => members.values().all(no_blank),
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn check(record: &Map<String, Value>) {
    let members: Vec<&str> = record.keys().map(String::as_str).collect();
    let expected: Vec<&str> = MEMBERS.into_iter().filter(|member| record.contains_key(*member)).collect();
    assert_eq!(members, expected, "known members in their order");
    assert!(record.values().all(no_blank), "{record:?}");
    let length = |member| text(record, member).map(|text| text.chars().count());
    assert!(length("name").unwrap() <= 300);
    assert!(length("intro").is_none_or(|length| (90..=260).contains(&length)), "{record:?}");
    assert!(length("description").is_none_or(|length| (400..=1_400).contains(&length)), "{record:?}");
    assert!(Category::ALL.iter().any(|category| Some(category.as_str()) == text(record, "category")));
    assert!(serde_json::to_string(record).unwrap().len() < 1 << 20);
    let controls = |text: &str| text.chars().any(|letter| letter.is_control() && letter != '\n');
    assert!(!controls(&super::readable(record)));

    let provenance = &record["provenance"];
    let (selected, published) =
        (provenance["selected"].as_str().unwrap(), text(record, "published").unwrap());
    assert!(is_date(selected) && is_date(published), "{selected}, {published}");
    assert!("2011-01-01" <= selected && selected <= published && published <= "2026-11-01");
    assert_eq!(provenance["in_archive_since"].as_u64().unwrap().to_string(), selected[..4]);
    assert!(editors::names().any(|name| name == provenance["curated_by"]));
    if let Some(year) = text(record, "year") {
        assert!(year.len() == 4 && year >= "1951" && year <= &published[..4], "{year}, {published}");
    }
    for detail in record["details"].as_array().unwrap() {
        let members: Vec<&String> = detail.as_object().unwrap().keys().collect();
        assert_eq!(members, ["label", "value"]);
    }
    assert!((3..=6).contains(&record["details"].as_array().unwrap().len()), "{record:?}");
    let paragraphs = text(record, "description").map(|description| description.split("\n\n").count());
    assert!(paragraphs.is_none_or(|count| (2..=4).contains(&count)), "{record:?}");
}

#[test]
fn every_record_is_valid_in_the_import_format() {
    DEMO.iter().for_each(check);
}

#[test]
fn every_editor_selects_at_least_twenty_projects() {
    for name in editors::names() {
        let selected = DEMO.iter().filter(|record| record["provenance"]["curated_by"] == name).count();
        assert!(selected >= 20, "{name} selected {selected}");
    }
}
