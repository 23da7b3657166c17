//! Filters, orders and facets of lists, compared with a scan of the records.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::records::Random;
use crate::service::Service;

const SIZE: usize = 240;
const ROUNDS: usize = 60;
/// The number of values of a facet that are shown.
const SHOWN: usize = 20;

const CATEGORIES: [&str; 3] = ["architecture", "art", "design"];
const STUDIOS: [&str; 4] = ["Alto", "Birch", "Cedar", "Dune"];
const CURATORS: [&str; 3] = ["Ada", "Bo", "Cy"];
const SORTS: [&str; 5] = ["newest", "oldest", "name", "year_asc", "year_desc"];
const FACETS: [&str; 4] = ["category", "studio", "curator", "year"];

/// Returns records with a year, a studio, a curator and a day of selection in most of them, each published on a day of its own.
fn generate(random: &mut Random) -> Vec<Value> {
    let mut records = Vec::new();
    for number in 0..SIZE {
        // Seven and the number of records have no common divisor.
        let day = number * 7 % SIZE;
        let mut record = json!({
            "slug": format!("house-{number:03}"), "name": format!("House {number:03}"),
            "category": CATEGORIES[random.roll(CATEGORIES.len())],
            "published": format!("2020-{:02}-{:02}", 1 + day / 20, 1 + day % 20), "provenance": {},
        });
        if random.roll(4) > 0 {
            record["year"] = json!((1960 + random.roll(45)).to_string());
        }
        if random.roll(5) > 0 {
            record["studio"] = json!(STUDIOS[random.roll(STUDIOS.len())]);
        }
        if random.roll(5) > 0 {
            record["provenance"]["curated_by"] = json!(CURATORS[random.roll(CURATORS.len())]);
        }
        if random.roll(3) > 0 {
            record["provenance"]["selected"] = json!(day_of_selection(random));
        }
        records.push(record);
    }
    records
}

fn day_of_selection(random: &mut Random) -> String {
    format!("20{}-0{}-1{}", 19 + random.roll(4), 1 + random.roll(9), random.roll(10))
}

/// What a list is asked for.
#[derive(Debug)]
struct Wanted {
    /// The filters by name.
    filters: BTreeMap<&'static str, String>,
    sort: &'static str,
}

impl Wanted {
    /// Returns filters of which most are absent, so that something is found.
    fn random(random: &mut Random) -> Wanted {
        let year = |random: &mut Random| (1960 + random.roll(45)).to_string();
        let (mut years, mut days) =
            ([year(random), year(random)], [day_of_selection(random), day_of_selection(random)]);
        years.sort_unstable();
        days.sort_unstable();
        let ([year_from, year_to], [selected_from, selected_to]) = (years, days);
        let mut filters = BTreeMap::from([
            ("category", CATEGORIES[random.roll(CATEGORIES.len())].to_owned()),
            ("studio", STUDIOS[random.roll(STUDIOS.len())].to_owned()),
            ("curator", CURATORS[random.roll(CURATORS.len())].to_owned()),
            ("year_from", year_from),
            ("year_to", year_to),
            ("selected_from", selected_from),
            ("selected_to", selected_to),
        ]);
        filters.retain(|_, _| random.roll(4) == 0);
        Wanted { filters, sort: SORTS[random.roll(SORTS.len())] }
    }

    /// Returns the parameters of a list.
    fn query(&self) -> String {
        let filters = self.filters.iter().map(|(name, value)| format!("&{name}={value}"));
        format!("limit=50&sort={}&facets={}{}", self.sort, FACETS.join(","), filters.collect::<String>())
    }

    /// Returns whether a record matches all filters but the one with a name.
    fn matches(&self, record: &Value, but: &str) -> bool {
        let mut filters = self.filters.iter().filter(|(name, _)| **name != but);
        filters.all(|(name, wanted)| {
            let of = |value: Option<&str>, is_in: fn(&str, &str) -> bool| {
                value.is_some_and(|value| is_in(value, wanted))
            };
            let at_least = |value: &str, wanted: &str| value >= wanted;
            let at_most = |value: &str, wanted: &str| value <= wanted;
            match *name {
                "year_from" => of(record["year"].as_str(), at_least),
                "year_to" => of(record["year"].as_str(), at_most),
                "selected_from" => of(record["provenance"]["selected"].as_str(), at_least),
                "selected_to" => of(record["provenance"]["selected"].as_str(), at_most),
                facet => of(value(record, facet), |value, wanted| value == wanted),
            }
        })
    }

    /// Returns the slugs of the records that match, in order.
    fn expected(&self, records: &[Value]) -> Vec<String> {
        let mut found: Vec<&Value> = records.iter().filter(|record| self.matches(record, "")).collect();
        let published = |record: &&Value| record["published"].as_str().unwrap().to_owned();
        let year = |record: &&Value| record["year"].as_str().map(str::to_owned);
        found.sort_by_key(|record| Reverse(published(record)));
        match self.sort {
            "oldest" => found.reverse(),
            "name" => found.sort_by_key(|record| record["name"].as_str().unwrap().to_owned()),
            "year_asc" => found.sort_by_key(|record| (year(record).is_none(), year(record))),
            // An absent year is less than any other.
            "year_desc" => found.sort_by_key(|record| Reverse(year(record))),
            _ => {}
        }
        found.iter().map(|record| record["slug"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the counts of a facet, and what is said of it as a whole. A filter by its values does not count for it, a range does.
    fn counts(&self, records: &[Value], facet: &str) -> (Value, Value) {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut unrecorded = 0;
        for record in records.iter().filter(|record| self.matches(record, facet)) {
            match value(record, facet) {
                Some(value) => *counts.entry(value).or_default() += 1,
                None => unrecorded += 1,
            }
        }
        let distinct = counts.len();
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        counts.truncate(SHOWN);
        let counts: Vec<Value> =
            counts.into_iter().map(|(value, count)| json!({"value": value, "count": count})).collect();
        (json!(counts), json!({"distinct": distinct, "unrecorded": unrecorded}))
    }
}

/// Returns the value of a record that a facet counts.
fn value<'r>(record: &'r Value, facet: &str) -> Option<&'r str> {
    if facet == "curator" { record["provenance"]["curated_by"].as_str() } else { record[facet].as_str() }
}

/// Returns the slugs on all pages of a list, and its first page.
async fn walk(service: &Service, path: &str) -> (Vec<String>, Value) {
    let (mut found, mut first, mut cursor) = (Vec::new(), Value::Null, String::new());
    loop {
        let answer = service.http.get(&format!("{path}&cursor={cursor}")).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let page = answer.json();
        let shown = page["results"].as_array().unwrap();
        found.extend(shown.iter().map(|result| result["slug"].as_str().unwrap().to_owned()));
        let next = page["next_cursor"].as_str().map(str::to_owned);
        if first.is_null() {
            first = page;
        }
        match next {
            Some(next) => cursor = next,
            None => return (found, first),
        }
    }
}

#[tokio::test]
async fn filters_orders_and_facets_are_those_of_a_scan() {
    let seed = kit::seed();
    let mut random = Random::new(seed);
    let records = generate(&mut random);
    let Some(service) = Service::empty().await else { return };
    service.import(&records).await;
    let mut by_year = 0;
    for _ in 0..ROUNDS {
        let wanted = Wanted::random(&mut random);
        let expected = wanted.expected(&records);
        by_year += usize::from(wanted.sort.starts_with("year") && expected.len() > 1);
        for list in ["/v1/projects?", "/v1/search?q=house&"] {
            let (found, first) = walk(&service, &format!("{list}{}", wanted.query())).await;
            assert_eq!(found, expected, "seed {seed}: {list} {wanted:?}");
            assert_eq!(first["total"], expected.len(), "seed {seed}: {list} {wanted:?}");
            for facet in FACETS {
                let (counts, totals) = wanted.counts(&records, facet);
                let shown = (&first["facets"][facet], &first["facet_totals"][facet]);
                assert_eq!(shown, (&counts, &totals), "seed {seed}: {facet} of {list} {wanted:?}");
            }
        }
    }
    assert!(by_year > 5, "seed {seed}: {by_year} lists by year");
}
