//! Queries that the catalog matches only in part or not at all: the results and the explanations must be honest.
//!
//! `honest.ndjson` has one query per line, for the demo catalog or the museum records, with what a careful person would
//! expect: the number of results, the missing words, the replacements, and the words of every result.

use std::collections::BTreeMap;
use std::io::BufRead;

use read::search::{MAX_PAGE_SIZE, SearchDocument, SearchPage, SearchReader, SearchRequest, SearchWriter};
use serde::Deserialize;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A query and the expected answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgedQuery {
    /// `demo` or `museums`.
    catalog: String,
    q: String,
    category: Option<String>,
    /// The number of results; at least one if absent.
    total: Option<u64>,
    /// Whether the match is approximate; absent without results.
    #[serde(default)]
    approximate: bool,
    #[serde(default)]
    missing: Vec<String>,
    /// Replaced words with their replacements.
    #[serde(default)]
    replaced: BTreeMap<String, String>,
    did_you_mean: Option<String>,
    /// Folded words that every result of the first page contains.
    #[serde(default)]
    each_has: Vec<String>,
}

/// A catalog with only its search index.
struct Catalog {
    reader: SearchReader,
    /// The folded texts of each project, in order.
    texts: Vec<String>,
    _folder: TempDir,
}

impl Catalog {
    fn of(records: impl Iterator<Item = Map<String, Value>>) -> Catalog {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = SearchWriter::open_or_create(folder.path()).unwrap();
        let mut texts = Vec::new();
        for (ordinal, record) in (0..).zip(records) {
            let text = |member: &str| record.get(member).and_then(Value::as_str);
            let category = text("category").unwrap().to_lowercase();
            let (id, summary) = (format!("{ordinal:026}"), format!("{{\"ordinal\":{ordinal}"));
            let document = SearchDocument {
                project: &id,
                ordinal,
                slug: text("slug").unwrap_or_default(),
                name: text("name").unwrap(),
                studio: text("studio"),
                city: text("city"),
                category: &category,
                intro: text("intro"),
                published: None,
                summary: summary.as_bytes(),
                state: b"",
                listed: true,
            };
            let all = ["name", "studio", "city", "category", "intro"]
                .map(|member| text(member).unwrap_or_default());
            texts.push(format!(" {} ", text::fold(&all.join(" / "))));
            writer.insert(&document).unwrap();
        }
        writer.commit("all").unwrap();
        Catalog { reader: SearchReader::open(folder.path()).unwrap(), texts, _folder: folder }
    }

    fn demo() -> Catalog {
        Catalog::of(demo::catalog(demo::DEMO_SEED, demo::DEMO_SIZE))
    }

    /// The records of three museums, if available.
    fn museums() -> Option<Catalog> {
        let file = std::fs::File::open(kit::shared_data()?.join("museums-2500.ndjson")).unwrap();
        let lines = std::io::BufReader::new(file).lines();
        Some(Catalog::of(lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap())))
    }

    fn ask(&self, judged: &JudgedQuery) -> SearchPage {
        let JudgedQuery { q, category, .. } = judged;
        let request =
            SearchRequest { text: q, category: category.as_deref(), limit: MAX_PAGE_SIZE, after: None };
        self.reader.search(&request).unwrap()
    }

    fn texts(&self, page: &SearchPage) -> Vec<&str> {
        let ordinal = |summary: &[u8]| {
            let object: Value = serde_json::from_slice(&[summary, b"}"].concat()).unwrap();
            usize::try_from(object["ordinal"].as_u64().unwrap()).unwrap()
        };
        page.hits().map(|hit| self.texts[ordinal(hit.summary)].as_str()).collect()
    }

    /// Returns the faults of an answer; empty if it is right.
    fn faults(&self, judged: &JudgedQuery) -> Vec<String> {
        let page = self.ask(judged);
        let (total, relaxation) = (page.total(), page.relaxation());
        let mut faults = Vec::new();
        let mut expect = |what: &str, is_right: bool, found: &dyn std::fmt::Debug| {
            if !is_right {
                faults.push(format!("{what}: {found:?}"));
            }
        };
        expect("total", judged.total.map_or(total > 0, |right| total == right), &total);
        let approximate = relaxation.is_some_and(read::search::Relaxation::is_approximate);
        expect("approximate", approximate == judged.approximate, &approximate);
        let missing = relaxation.map(|relaxation| relaxation.unknown_words.clone()).unwrap_or_default();
        expect("missing", missing == judged.missing, &missing);
        let replaced = relaxation.map(|relaxation| &relaxation.replacements[..]).unwrap_or_default();
        let replaced: BTreeMap<String, String> =
            replaced.iter().map(|one| (one.from.clone(), one.to.clone())).collect();
        expect("replaced", replaced == judged.replaced, &replaced);
        let suggestion = relaxation.and_then(|relaxation| relaxation.did_you_mean.as_ref());
        let suggested = suggestion.map(|suggestion| suggestion.query.as_str());
        expect("did_you_mean", suggested == judged.did_you_mean.as_deref(), &suggested);
        for text in self.texts(&page) {
            let lacks: Vec<&String> =
                judged.each_has.iter().filter(|word| !text.contains(&format!(" {word} "))).collect();
            expect("a result lacks words", lacks.is_empty(), &lacks);
        }
        if let Some(suggestion) = suggestion {
            let request = SearchRequest {
                text: &suggestion.query,
                category: judged.category.as_deref(),
                limit: 1,
                after: None,
            };
            let found = self.reader.search(&request).unwrap();
            let exactly = found.relaxation().map_or(found.total(), |relaxation| relaxation.exact);
            expect("what the suggestion finds", exactly == suggestion.total, &exactly);
        }
        faults
    }
}

#[test]
fn missing_words_find_nothing_and_approximations_are_disclosed() {
    let questions: Vec<JudgedQuery> =
        include_str!("honest.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(questions.len() >= 60, "{}", questions.len());
    let (demo, museums) = (Catalog::demo(), Catalog::museums());
    let mut wrong = Vec::new();
    for judged in &questions {
        let catalog = match judged.catalog.as_str() {
            "demo" => Some(&demo),
            _ => museums.as_ref(),
        };
        let faults = catalog.map(|catalog| catalog.faults(judged)).unwrap_or_default();
        if !faults.is_empty() {
            wrong.push(format!("{} {:?}: {}", judged.catalog, judged.q, faults.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), questions.len(), wrong.join("\n"));
}
