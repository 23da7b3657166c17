//! The whole service compared with plain models that share no code with it: a scan of all records, the history of each
//! project, lists with filters, orders and facets, and paging during edits.

mod history;
mod lists;
mod records;
mod walks;

use std::collections::BTreeSet;

use kit::process::Loggia;
use serde_json::Value;

use crate::service::{LOGGIA, Service};
use records::{Records, encoded};

/// The number of records, enough for several segments and many pages.
const SIZE: usize = 900;

async fn filled(records: &Records) -> Option<Service> {
    let service = Service::empty().await?;
    // Several imports, so that the index has several segments.
    for lines in records.lines.chunks(SIZE / 3) {
        service.import(lines).await;
    }
    Some(service)
}

/// Returns all results of a search; the total must be the same on each page.
async fn all(service: &Service, text: &str, category: Option<&str>) -> (u64, Vec<Value>) {
    let (mut found, mut cursor, mut total) = (Vec::new(), String::new(), None);
    loop {
        let mut path = format!("/v1/search?limit=50&q={}{cursor}", encoded(text));
        if let Some(category) = category {
            path += &format!("&category={category}");
        }
        let answer = service.http.get(&path).await;
        assert_eq!(answer.status, 200, "{text:?}: {answer:?}");
        let page = answer.json();
        assert_eq!(*total.get_or_insert(page["total"].clone()), page["total"], "{text:?}");
        found.extend(page["results"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (page["total"].as_u64().unwrap(), found),
        }
    }
}

fn slugs(results: &[Value]) -> BTreeSet<String> {
    results.iter().map(|result| result["slug"].as_str().unwrap().to_owned()).collect()
}

/// Checks the order: by falling score; among equal scores newest first, undated last.
fn assert_in_order(text: &str, results: &[Value]) {
    for pair in results.windows(2) {
        let score = |result: &Value| result["score"].as_f64().unwrap();
        let date = |result: &Value| result["published"].as_str().unwrap_or_default().to_owned();
        let (first, second) = (&pair[0], &pair[1]);
        let is_ordered =
            score(first) > score(second) || (score(first) == score(second) && date(first) >= date(second));
        assert!(is_ordered, "{text:?}: {first} before {second}");
    }
}

#[tokio::test]
async fn search_results_equal_a_scan_of_all_records() {
    let seed = kit::seed();
    let records = Records::generate(SIZE, seed);
    let Some(service) = filled(&records).await else { return };
    let mut random = records::Random::new(seed ^ 1);
    let (mut with_full, mut with_prefix) = (0, 0);
    for _ in 0..250 {
        let query = records.query(&mut random);
        let (total, results) = all(&service, &query.text, query.category).await;
        assert_eq!(total, results.len() as u64, "seed {seed}: {query:?}");
        assert_eq!(slugs(&results).len(), results.len(), "seed {seed}: {query:?} has a project twice");
        assert_in_order(&query.text, &results);
        let (full, mut longer) = (records.full(&query), records.with_longer_last_word(&query));
        if full.len() < 10 {
            longer.append(&mut records.joined(&query));
        }
        if full.len() >= 10 || (!full.is_empty() && longer.len() == full.len()) {
            with_full += 1;
            let expected = full.union(&records.begun(&query)).cloned().collect();
            assert_eq!(slugs(&results), expected, "seed {seed}: {query:?}");
        } else if !longer.is_empty() {
            with_prefix += 1;
            assert_eq!(slugs(&results), longer, "seed {seed}: {query:?}");
            let approximate = results.iter().filter(|result| result["score"].as_f64().unwrap() < 1.0);
            let approximate = slugs(&approximate.cloned().collect::<Vec<Value>>());
            assert!(approximate.is_disjoint(&full), "seed {seed}: {query:?}: full matches score 1 or more");
        }
    }
    assert!(with_full > 60 && with_prefix > 10, "seed {seed}: {with_full} full, {with_prefix} longer words");
}

#[tokio::test]
async fn scores_are_bit_identical_after_imports_a_restart_and_a_rebuild() {
    let seed = kit::seed();
    let records = Records::generate(SIZE, seed);
    let Some(mut service) = filled(&records).await else { return };
    // Small edits, so that the word statistics are updated commit by commit.
    for line in records.lines.iter().step_by(60) {
        let slug = line["slug"].as_str().unwrap();
        service.json(&["curate", "revise", slug, "--set", "intro=A house of stone and light"]);
    }
    let position = service.json(&["status"])[0]["store"]["position"].as_u64().unwrap();
    service.caught_up(position).await;
    let mut random = records::Random::new(seed ^ 2);
    let queries: Vec<String> = (0..120).map(|_| records.query(&mut random).text).collect();
    let before = first_pages(&service, &queries).await;

    assert!(service.loggia.terminate().await.success(), "{}", service.loggia.stderr());
    service.loggia = Loggia::up(&LOGGIA, service.folder.path(), &["--no-demo"]).await;
    service.http = service.loggia.ready().await;
    assert_eq!(first_pages(&service, &queries).await, before, "seed {seed}: after a restart");

    service.json(&["rebuild", "search"]);
    assert_eq!(first_pages(&service, &queries).await, before, "seed {seed}: after a rebuild");
}

async fn first_pages(service: &Service, queries: &[String]) -> Vec<(Value, Vec<(String, u64)>)> {
    let mut pages = Vec::new();
    for text in queries {
        let page = service.http.get(&format!("/v1/search?limit=20&q={}", encoded(text))).await.json();
        let hits = page["results"].as_array().unwrap().iter();
        let hits = hits
            .map(|hit| (hit["slug"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap().to_bits()));
        pages.push((page["total"].clone(), hits.collect()));
    }
    pages
}
