//! Eighteen research tasks of an agent with a key, carried out over MCP alone; what each must answer is computed from the imported
//! records.

use std::collections::BTreeMap;

use demo::{DEMO_SEED, DEMO_SIZE, catalog};
use kit::http::Http;
use serde_json::{Map, Value, json};

use super::text;
use crate::service::{Service, TIMEOUT};

/// The number of records of the demo catalog that are imported: all would take minutes in a debug build.
const SIZE: usize = 900;
/// The number of projects with a picture.
const PICTURED: usize = 10;
/// A free key can call once.
const TIERS: &str = "free=1, pro=25000";
/// The maximum number of calls of all tasks: half of what they took before there were answers for them.
const MAX_CALLS: usize = 69 / 2;
/// The maximum number of characters of all answers, pictures in base64 included: a third of what an agent read before.
const MAX_CHARACTERS: usize = 900_000 / 3;

type Record = Map<String, Value>;

/// An agent with a key.
struct Researcher<'s> {
    http: &'s Http,
    authorization: String,
    calls: usize,
    characters: usize,
}

impl Researcher<'_> {
    /// Calls a tool and returns its result.
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.request("tools/call", params).await;
        self.calls += 1;
        for item in result["content"].as_array().unwrap() {
            let item = item["text"].as_str().or(item["data"].as_str()).unwrap();
            self.characters += item.chars().count();
        }
        result
    }

    /// Calls a tool that succeeds, and returns its answer.
    async fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let answer = result["structuredContent"].take();
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(answer, text, "{tool}: each is complete alone");
        answer
    }

    async fn request(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [("content-type", "application/json"), ("authorization", self.authorization.as_str())];
        // Many calls in a row may meet the limit of calls within a second.
        let answer = kit::wait_for(TIMEOUT, "an answer", async || {
            let answer = self.http.send("POST", "/mcp", &headers, body.clone()).await;
            (answer.status != 429).then_some(answer)
        })
        .await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].take()
    }
}

fn year(record: &Record) -> Option<u32> {
    text(record, "year").get(..4).and_then(|year| year.parse().ok())
}

fn in_country<'r>(records: &'r [Record], country: &str) -> Vec<&'r Record> {
    let end = format!(", {country}");
    records.iter().filter(|record| text(record, "city").ends_with(&end)).collect()
}

fn taste<'r>(record: &'r Record, dimension: &str) -> &'r str {
    record.get("taste").and_then(|taste| taste[dimension].as_str()).unwrap_or_default()
}

fn has_taste(record: &Record, dimension: &str, words: &str) -> bool {
    let recorded = taste(record, dimension);
    let recorded: Vec<&str> = recorded.split(|at: char| !at.is_alphanumeric()).collect();
    words.split(' ').all(|word| recorded.contains(&word))
}

fn slugs(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|one| one["slug"].as_str().unwrap()).collect()
}

fn note(answer: &Value) -> &str {
    answer["note"].as_str().unwrap_or_else(|| panic!("no note: {answer}"))
}

/// Imports a part of the demo catalog.
async fn started() -> Option<(Service, Vec<Record>)> {
    let service =
        Service::with(&["--no-demo", "--auth", "keys", "--vectors", "off", "--tiers", TIERS]).await?;
    let mut records: Vec<Record> = catalog(DEMO_SEED, DEMO_SIZE).take(SIZE).collect();
    let folder = service.folder.path();
    std::fs::create_dir_all(folder.join("demo")).unwrap();
    for (number, record) in records.iter_mut().enumerate() {
        if number < PICTURED {
            let path = folder.join(format!("{}{}.jpg", demo::pictures::SOURCE, text(record, "slug")));
            let mut stored = record.clone();
            stored.remove("slug");
            let typed = serde_json::from_value(Value::Object(stored)).unwrap();
            std::fs::write(path, demo::pictures::picture(&typed, DEMO_SEED)).unwrap();
        } else {
            record.remove("pictures");
        }
    }
    let lines: Vec<Value> = records.iter().cloned().map(Value::Object).collect();
    let counts = service.import(&lines).await;
    assert_eq!(counts["new"], SIZE, "{counts}");
    Some((service, records))
}

#[tokio::test]
async fn research_tasks_have_true_answers() {
    let Some((service, records)) = started().await else { return };
    let authorization = bearer(&service, "a@example.org", "pro");
    let mut agent = Researcher { http: &service.http, authorization, calls: 0, characters: 0 };

    the_oldest_in_a_city(&mut agent, &records).await;
    who_selected_most_in_a_year(&mut agent, &records).await;
    the_years_of_a_range(&mut agent, &records).await;
    what_the_catalog_records(&mut agent, &records).await;
    what_it_never_records(&mut agent).await;
    a_part_of_a_city_as_city(&mut agent, &records).await;
    a_studio_that_is_not_in_a_country(&mut agent, &records).await;
    a_continent_as_place(&mut agent).await;
    three_dimensions_of_taste(&mut agent, &records).await;
    a_material_that_a_country_lacks(&mut agent, &records).await;
    citations_as_people_cite(&mut agent, &records).await;
    a_mood_board(&mut agent, &records).await;
    brick_in_several_countries(&mut agent, &records).await;
    everything_by_a_studio(&mut agent, &records).await;
    a_mistyped_slug(&mut agent, &records).await;
    what_changed(&mut agent, &service, &records).await;
    what_a_revision_changed(&mut agent, &records).await;
    near_the_end_of_the_quota(&mut agent, &service).await;

    println!("{} calls, {} characters", agent.calls, agent.characters);
    assert!(agent.calls <= MAX_CALLS, "{} calls", agent.calls);
    assert!(agent.characters <= MAX_CHARACTERS, "{} characters", agent.characters);
}

/// Which projects in Tokyo are the oldest?
async fn the_oldest_in_a_city(agent: &mut Researcher<'_>, records: &[Record]) {
    let arguments = json!({"place": "Tokyo", "sort": "year_asc", "limit": 20, "detail": "concise"});
    let answer = agent.ask("browse", arguments).await;
    let there = records.iter().filter(|record| text(record, "city") == "Tokyo, Japan");
    let (dated, undated): (Vec<&Record>, Vec<&Record>) = there.partition(|record| year(record).is_some());
    let mut years: Vec<Option<u32>> = dated.iter().map(|record| year(record)).collect();
    years.sort_unstable();
    years.extend(undated.iter().map(|_| None));
    let results = answer["results"].as_array().unwrap();
    let shown = results.iter().map(|one| one["year"].as_str().map(|year| year[..4].parse().unwrap()));
    assert_eq!(shown.collect::<Vec<Option<u32>>>(), years);
    assert!(dated.len() >= 2 && !undated.is_empty(), "the task has an answer to get wrong");
    let last = match undated.len() {
        1 => "One project has no year and comes last.".to_owned(),
        more => format!("{more} projects have no year and come last."),
    };
    assert_eq!(note(&answer), last);
}

/// Which curator selected most in 2021?
async fn who_selected_most_in_a_year(agent: &mut Researcher<'_>, records: &[Record]) {
    let arguments = json!({"selected_from": "2021-01-01", "selected_to": "2021-12-31", "facets": "curator",
        "limit": 1, "detail": "concise"});
    let answer = agent.ask("browse", arguments).await;
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for record in records {
        let provenance = &record["provenance"];
        if provenance["selected"].as_str().is_some_and(|day| day.starts_with("2021-")) {
            *counts.entry(provenance["curated_by"].as_str().unwrap()).or_default() += 1;
        }
    }
    let most = *counts.values().max().unwrap();
    let first = &answer["facets"]["curator"][0];
    assert_eq!((&first["count"], counts[first["value"].as_str().unwrap()]), (&json!(most), most));
    assert_eq!(answer["total"], counts.values().sum::<u64>());
    assert_eq!(
        answer["facet_totals"]["curator"],
        json!({"distinct": counts.len(), "unrecorded": 0}),
        "{answer}"
    );
}

/// How are the projects since 2010 distributed over the years, and what is not counted?
async fn the_years_of_a_range(agent: &mut Researcher<'_>, records: &[Record]) {
    let arguments = json!({"year_from": 2010, "facets": "year", "limit": 1, "detail": "concise"});
    let answer = agent.ask("browse", arguments).await;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for year in records.iter().filter_map(year).filter(|year| *year >= 2010) {
        *counts.entry(year.to_string()).or_default() += 1;
    }
    let facet = answer["facets"]["year"].as_array().unwrap();
    let facet =
        facet.iter().map(|one| (one["value"].as_str().unwrap().to_owned(), one["count"].as_u64().unwrap()));
    assert_eq!(facet.collect::<BTreeMap<_, _>>(), counts);
    assert_eq!(answer["facet_totals"]["year"]["distinct"], counts.len());
    let undated = records.iter().filter(|record| year(record).is_none()).count();
    assert!(note(&answer).contains(&format!("{undated} projects without a year")), "{answer}");
}

/// For how many projects is there a year at all, from when to when, by how many studios?
async fn what_the_catalog_records(agent: &mut Researcher<'_>, records: &[Record]) {
    let answer = agent.ask("list_taste_terms", json!({})).await;
    let years: Vec<u32> = records.iter().filter_map(year).collect();
    let distinct = |member: &str| {
        let mut values: Vec<String> =
            records.iter().map(|record| text(record, member).to_lowercase()).collect();
        values.retain(|value| !value.is_empty());
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    let catalog = &answer["catalog"];
    assert_eq!(catalog["projects"], SIZE);
    assert_eq!(catalog["recorded"]["year"], years.len());
    assert_eq!(
        catalog["recorded"]["studio"],
        records.iter().filter(|one| one.contains_key("studio")).count()
    );
    assert_eq!(catalog["years"], json!([years.iter().min().unwrap(), years.iter().max().unwrap()]));
    assert_eq!(
        (&catalog["studios"], &catalog["cities"]),
        (&json!(distinct("studio")), &json!(distinct("city")))
    );
}

/// Which photographers are women? Nothing here says so, and the agent knows it before it searches.
async fn what_it_never_records(agent: &mut Researcher<'_>) {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
    let answer = agent.request("initialize", params).await;
    let instructions = answer["instructions"].as_str().unwrap();
    for property in ["gender", "nationality", "size", "price"] {
        assert!(instructions.contains(property), "{instructions}");
    }
}

/// What is there in Tokyo? An empty answer leads to it.
async fn a_part_of_a_city_as_city(agent: &mut Researcher<'_>, records: &[Record]) {
    let there = records.iter().filter(|record| text(record, "city") == "Tokyo, Japan").count();
    let answer = agent.ask("browse", json!({"city": "Tokyo"})).await;
    assert_eq!(answer["total"], 0);
    let expected = format!("No city is “Tokyo”; near: Tokyo, Japan ({there}).");
    assert!(note(&answer).starts_with(&expected), "{answer}");
    let answer = agent.ask("browse", json!({"city": "Tokyo, Japan", "limit": 1, "detail": "concise"})).await;
    assert_eq!(answer["total"], there);
}

/// What did a studio build in a country in which it built nothing?
async fn a_studio_that_is_not_in_a_country(agent: &mut Researcher<'_>, records: &[Record]) {
    let japan = in_country(records, "Japan");
    let elsewhere = |record: &&Record| {
        let studio = text(record, "studio");
        !studio.is_empty() && !japan.iter().any(|one| text(one, "studio") == studio)
    };
    let studio = text(records.iter().find(elsewhere).unwrap(), "studio");
    let own = records.iter().filter(|record| text(record, "studio") == studio).count();
    let answer = agent.ask("browse", json!({"studio": studio, "place": "Japan"})).await;
    assert_eq!(answer["total"], 0);
    let note = note(&answer);
    for (filter, alone) in [("studio", own), ("place", japan.len())] {
        assert!(note.contains(filter) && note.contains(&alone.to_string()), "{alone}: {note}");
    }
}

async fn a_continent_as_place(agent: &mut Researcher<'_>) {
    let answer = agent.ask("search_projects", json!({"query": "library", "place": "Europe"})).await;
    assert_eq!(answer["total"], 0);
    assert!(note(&answer).contains("a town or country"), "{answer}");
}

/// What is of oak, in north light and calm?
async fn three_dimensions_of_taste(agent: &mut Researcher<'_>, records: &[Record]) {
    let asked = [("material", "oak"), ("light", "north light"), ("mood", "calm")];
    let matched = |record: &Record| -> Vec<&str> {
        let matching = asked.iter().filter(|(dimension, words)| has_taste(record, dimension, words));
        matching.map(|(dimension, _)| *dimension).collect()
    };
    let mut by_matched = [0; 4];
    records.iter().for_each(|record| by_matched[matched(record).len()] += 1);
    let arguments =
        json!({"material": "oak", "light": "north light", "mood": "calm", "limit": 20, "detail": "concise"});
    let answer = agent.ask("search_by_taste", arguments).await;
    let [_, one, two, three] = by_matched;
    assert_eq!(answer["by_matched"], json!({"3": three, "2": two, "1": one}));
    assert!(two > 0 && one > 0);
    for result in answer["results"].as_array().unwrap() {
        let record = records.iter().find(|record| text(record, "slug") == result["slug"]).unwrap();
        assert_eq!(result["matched"], json!(matched(record)), "{result}");
    }
    if three == 0 {
        assert!(note(&answer).contains("No project has all three"), "{answer}");
    }
}

/// Which projects in Japan are of timber? None, but of what else?
async fn a_material_that_a_country_lacks(agent: &mut Researcher<'_>, records: &[Record]) {
    let there = in_country(records, "Japan");
    assert!(!there.iter().any(|record| has_taste(record, "material", "timber")));
    let answer = agent.ask("search_by_taste", json!({"material": "timber", "place": "Japan"})).await;
    assert_eq!(answer["total"], 0);
    let note = note(&answer);
    assert!(note.starts_with("No project in Japan has “timber”; materials there: "), "{note}");
    let named = note.split_once("there: ").unwrap().1.split(&[',', '.'][..]).next().unwrap();
    assert!(there.iter().any(|record| has_taste(record, "material", named)), "{named}: {note}");
}

/// How are three projects cited?
async fn citations_as_people_cite(agent: &mut Researcher<'_>, records: &[Record]) {
    let dated =
        records.iter().find(|record| year(record).is_some() && record.contains_key("studio")).unwrap();
    let undated =
        records.iter().find(|record| year(record).is_none() && record.contains_key("studio")).unwrap();
    for (record, date) in [(dated, text(dated, "year")), (undated, "n.d.")] {
        let slug = text(record, "slug");
        let arguments = json!({"slug": slug, "cite": "apa", "detail": "concise"});
        let answer = agent.ask("get_project", arguments).await;
        let citation = answer["citation"].as_str().unwrap();
        let start = format!("{} ({date}). ", text(record, "studio").trim_end_matches('.').to_owned() + ".");
        assert!(citation.starts_with(&start), "{citation}");
        assert!(citation.ends_with(answer["revision_url"].as_str().unwrap()), "{answer}");
    }
    let three: Vec<&str> = records.iter().take(3).map(|record| text(record, "slug")).collect();
    let arguments = json!({"slugs": three, "cite": "bibtex", "detail": "concise"});
    let answer = agent.ask("get_project", arguments).await;
    for result in answer["results"].as_array().unwrap() {
        let citation = result["citation"].as_str().unwrap();
        assert!(
            citation.starts_with('@') && citation.contains(result["revision_url"].as_str().unwrap()),
            "{result}"
        );
    }
}

/// The pictures of ten projects for a mood board, in one call.
async fn a_mood_board(agent: &mut Researcher<'_>, records: &[Record]) {
    let ten: Vec<&str> = records.iter().take(PICTURED).map(|record| text(record, "slug")).collect();
    let arguments = json!({"slugs": ten, "pictures": true, "detail": "concise"});
    let result = agent.call("get_project", arguments).await;
    let outcomes: Vec<Value> = ten.iter().map(|slug| json!({"slug": slug, "outcome": "attached"})).collect();
    assert_eq!(result["structuredContent"]["pictures"], json!(outcomes));
    let items = result["content"].as_array().unwrap();
    assert_eq!(items.len(), 1 + 2 * PICTURED);
    for (pair, slug) in items[1..].chunks(2).zip(ten) {
        assert!(pair[0]["text"].as_str().unwrap().contains(slug), "{}", pair[0]);
        assert_eq!((&pair[1]["type"], &pair[1]["mimeType"]), (&json!("image"), &json!("image/jpeg")));
    }
}

/// Brick in several countries, with what to cite.
async fn brick_in_several_countries(agent: &mut Researcher<'_>, records: &[Record]) {
    let arguments = json!({"query": "brick", "limit": 20, "detail": "concise"});
    let answer = agent.ask("search_projects", arguments).await;
    let mut countries: Vec<&str> = Vec::new();
    for slug in slugs(&answer) {
        let record = records.iter().find(|record| text(record, "slug") == slug).unwrap();
        let read = Value::Object(record.clone()).to_string().to_lowercase();
        assert!(read.contains("brick"), "{read}");
        countries.extend(text(record, "city").rsplit(", ").next().filter(|country| !country.is_empty()));
    }
    countries.sort_unstable();
    countries.dedup();
    assert!(countries.len() >= 3, "{countries:?}");
    let first = &answer["results"][0];
    assert!(
        first["revision_url"]
            .as_str()
            .unwrap()
            .ends_with(&format!("/cite/{}/1", first["slug"].as_str().unwrap()))
    );
}

async fn everything_by_a_studio(agent: &mut Researcher<'_>, records: &[Record]) {
    let studio = text(records.iter().find(|record| text(record, "studio").contains('&')).unwrap(), "studio");
    let mut own: Vec<&str> = records
        .iter()
        .filter(|record| text(record, "studio") == studio)
        .map(|record| text(record, "slug"))
        .collect();
    own.sort_unstable();
    let typed = studio.replace('&', "and");
    let answer = agent.ask("browse", json!({"studio": typed, "limit": 20, "detail": "concise"})).await;
    let mut found = slugs(&answer);
    found.sort_unstable();
    assert_eq!(found, own);
}

async fn a_mistyped_slug(agent: &mut Researcher<'_>, records: &[Record]) {
    let slug = text(&records[3], "slug");
    let mistyped = format!("{}x", &slug[..slug.len() - 1]);
    let result = agent.call("get_project", json!({"slug": mistyped})).await;
    assert_eq!(result["isError"], true);
    let said = result["content"][0]["text"].as_str().unwrap();
    assert!(said.contains(slug), "{said}");
}

/// What changed since the import?
async fn what_changed(agent: &mut Researcher<'_>, service: &Service, records: &[Record]) {
    let [revised, withdrawn] = [&records[20], &records[21]].map(|record| text(record, "slug"));
    service.json(&["curate", "revise", revised, "--set", "city=Geelong, Australia", "--actor", "Ada"]);
    let last = service.json(&["curate", "withdraw", withdrawn, "--reason", "twice", "--actor", "Ada"]);
    service.caught_up(last[0]["position"].as_u64().unwrap_or_default()).await;
    let since = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let arguments = json!({"changed_since": since, "kinds": "revised,withdrawn", "limit": 20,
        "detail": "concise"});
    let answer = agent.ask("browse", arguments).await;
    let changes = answer["results"].as_array().unwrap();
    let change = |at: usize| (changes[at]["slug"].as_str().unwrap(), &changes[at]["change"]);
    assert_eq!((change(0).0, &change(0).1["kind"]), (withdrawn, &json!("withdrawn")));
    let (slug, last) = change(1);
    assert_eq!(
        (slug, &last["kind"], &last["revision"], &last["fields"]),
        (revised, &json!("revised"), &json!(2), &json!(["city"]))
    );
    // The others got their pictures after the import.
    assert_eq!((&answer["total"], changes.len()), (&json!(2 + PICTURED), 2 + PICTURED), "{answer}");
    for (slug, change) in (2..changes.len()).map(change) {
        assert_eq!(change["fields"], json!(["thumbnail", "images"]), "{slug}");
    }
}

/// What did the revision of a project change?
async fn what_a_revision_changed(agent: &mut Researcher<'_>, records: &[Record]) {
    let revised = text(&records[20], "slug");
    let answer = agent.ask("get_project", json!({"slug": revised, "compare_to": 1})).await;
    let before = records[20].get("city").cloned().unwrap_or_default();
    assert_eq!(answer["changes"], json!([{"member": "city", "before": before, "now": "Geelong, Australia"}]));
}

/// The last calls of a month say how many are left.
async fn near_the_end_of_the_quota(agent: &mut Researcher<'_>, service: &Service) {
    let authorization = agent.authorization.clone();
    agent.authorization = bearer(service, "b@example.org", "free");
    let answer = agent.ask("browse", json!({"limit": 1, "detail": "concise"})).await;
    agent.authorization = authorization;
    assert!(note(&answer).contains("0 of 1 calls"), "{answer}");
}

/// Issues a key and returns the value of the header that presents it.
fn bearer(service: &Service, email: &str, tier: &str) -> String {
    let key = service.json(&["keys", "issue", "--email", email, "--tier", tier]).pop().unwrap();
    format!("Bearer {}", key["key"].as_str().unwrap())
}
