//! Paging through every list while other projects are edited: each unedited project is returned exactly once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use kit::ProgramOutput;
use serde_json::{Value, json};

use super::records::Records;
use super::{SIZE, encoded, filled};
use crate::service::Service;

/// The number of projects, the last ones, that are edited.
const TOUCHED: usize = 60;

/// One way to page through projects.
enum List {
    Search(&'static str),
    Tool(&'static str, Value),
}

impl List {
    async fn page(&self, service: &Service, cursor: Option<&str>) -> Value {
        match self {
            List::Search(text) => {
                let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
                let answer =
                    service.http.get(&format!("/v1/search?limit=20&q={}{cursor}", encoded(text))).await;
                assert_eq!(answer.status, 200, "{answer:?}");
                answer.json()
            }
            List::Tool(name, arguments) => {
                let mut arguments = arguments.clone();
                arguments["limit"] = json!(20);
                if let Some(cursor) = cursor {
                    arguments["cursor"] = json!(cursor);
                }
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                    "params": {"name": name, "arguments": arguments}});
                let headers = [("content-type", "application/json")];
                let answer = service.http.send("POST", "/mcp", &headers, call.to_string()).await;
                let result = &answer.json()["result"];
                assert_eq!(result["isError"], false, "{result}");
                result["structuredContent"].clone()
            }
        }
    }

    /// Returns how often each project appears on all pages.
    async fn walk(&self, service: &Service) -> BTreeMap<String, usize> {
        let (mut seen, mut cursor) = (BTreeMap::new(), None::<String>);
        loop {
            let page = self.page(service, cursor.as_deref()).await;
            for result in page["results"].as_array().unwrap() {
                *seen.entry(result["slug"].as_str().unwrap().to_owned()).or_default() += 1;
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return seen,
            }
        }
    }
}

/// Edits projects one by one until paging has ended.
async fn edit(service: &Service, records: &Records, done: &AtomicBool) -> usize {
    let file = service.folder.path().join("edits.ndjson");
    let mut edits = 0;
    while !done.load(Ordering::Relaxed) {
        let lines: String = records.lines[SIZE - TOUCHED..]
            .iter()
            .skip(edits % 7)
            .step_by(7)
            .map(|line| {
                let mut line = line.clone();
                line["intro"] = json!(format!("house of stone {edits}"));
                line["published"] = json!(format!("2021-01-{:02}", 1 + edits % 28));
                format!("{line}\n")
            })
            .collect();
        std::fs::write(&file, lines).unwrap();
        let mut command = kit::process::command(&crate::service::LOGGIA, service.folder.path());
        command.args(["import", file.to_str().unwrap(), "--json"]);
        tokio::task::spawn_blocking(move || ProgramOutput::of(&mut command).success()).await.unwrap();
        edits += 1;
    }
    edits
}

#[tokio::test(flavor = "multi_thread")]
async fn paging_returns_each_unedited_project_once_during_edits() {
    let seed = kit::seed();
    let mut records = Records::generate(SIZE, seed);
    records.give_taste();
    let Some(service) = filled(&records).await else { return };
    let lists = [
        List::Search("house"),
        List::Search("stone light"),
        List::Tool("browse", json!({})),
        List::Tool("browse", json!({"category": "design"})),
        List::Tool("search_by_taste", json!({"material": "oak", "mood": "calm"})),
    ];
    let untouched = |seen: &BTreeMap<String, usize>| -> BTreeMap<String, usize> {
        let touched = |slug: &str| slug["record-".len()..].parse::<usize>().unwrap() >= SIZE - TOUCHED;
        seen.iter().filter(|(slug, _)| !touched(slug)).map(|(slug, count)| (slug.clone(), *count)).collect()
    };
    let mut expected = Vec::new();
    for list in &lists {
        let seen = untouched(&list.walk(&service).await);
        assert!(seen.len() > 30 && seen.values().all(|count| *count == 1), "seed {seed}: {seen:?}");
        expected.push(seen);
    }
    let done = AtomicBool::new(false);
    let walks = async {
        for _ in 0..3 {
            for (list, expected) in lists.iter().zip(&expected) {
                assert_eq!(untouched(&list.walk(&service).await), *expected, "seed {seed}");
            }
        }
        done.store(true, Ordering::Relaxed);
    };
    let (edits, ()) = tokio::join!(edit(&service, &records, &done), walks);
    assert!(edits > 0);
}
