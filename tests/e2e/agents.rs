//! Eight research tasks of an agent, carried out over MCP alone and without a key against the demo catalog. `docs/agents.md` has the
//! calls and characters of each, next to those of 0.1.

mod research;

use std::time::Duration;

use demo::{DEMO_SEED, DEMO_SIZE, catalog};
use schemas::picture::Colour;
use serde_json::{Map, Value, json};

use crate::service::{Service, TIMEOUT};

/// The number of projects with a picture, half of them in the colours of the mood board: drawing and describing all would take minutes
/// in a debug build.
const PICTURED: usize = 40;
/// The most characters that all tasks together may take: half of what an agent read of 0.1 for these tasks alone. With the calls around
/// them it read 96,848.
const MOST_CHARACTERS: usize = 40_055 / 2;
/// The time in which all projects get their neighbours in a debug build on a busy machine: it takes minutes.
const SETTLED: Duration = TIMEOUT.saturating_mul(5);

/// The colours of the mood board, terracotta and green.
const COLOURS: [&str; 2] = ["#b5651d", "#5a7247"];

/// An agent, and what it has read.
struct Agent<'s> {
    service: &'s Service,
    calls: usize,
    characters: usize,
    tasks: Vec<(&'static str, usize, usize)>,
}

impl Agent<'_> {
    /// Calls a tool; returns whether it failed, and its text.
    async fn ask(&mut self, tool: &str, arguments: Value) -> (bool, String) {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let headers = [("content-type", "application/json")];
        let answer = self.service.http.send("POST", "/mcp", &headers, body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let result = answer.json()["result"].take();
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        self.calls += 1;
        self.characters += text.chars().count();
        (result["isError"] == true, text)
    }

    async fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, text) = self.ask(tool, arguments).await;
        assert!(!is_error, "{tool}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Ends a task.
    fn done(&mut self, task: &'static str) {
        self.tasks.push((task, std::mem::take(&mut self.calls), std::mem::take(&mut self.characters)));
    }
}

fn texts<'a>(answer: &'a Value, member: &str) -> Vec<&'a str> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|one| one[member].as_str().unwrap_or_else(|| panic!("{member}: {one}"))).collect()
}

fn text<'r>(record: &'r Map<String, Value>, member: &str) -> &'r str {
    record.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// Returns which projects have a picture: the first ones whose colours are said to be those of the mood board, and the first others.
fn pictured(records: &[Map<String, Value>]) -> Vec<usize> {
    let is_coloured = |number: &usize| {
        let colour = records[*number].get("taste").and_then(|taste| taste["color"].as_str());
        let colour = colour.unwrap_or_default().to_lowercase();
        colour.contains("terracotta") || colour.contains("green")
    };
    let (coloured, others): (Vec<usize>, Vec<usize>) = (0..records.len()).partition(is_coloured);
    let half = PICTURED / 2;
    coloured.into_iter().take(half).chain(others.into_iter().take(half)).collect()
}

/// Imports the demo catalog, some of whose projects have their pictures.
async fn started(records: &mut [Map<String, Value>]) -> Option<Service> {
    let service = Service::with(&["--no-demo", "--auth", "keys", "--vectors", "builtin"]).await?;
    let folder = service.folder.path();
    std::fs::create_dir_all(folder.join("demo")).unwrap();
    let pictured = pictured(records);
    for (number, record) in records.iter_mut().enumerate() {
        if pictured.contains(&number) {
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
    assert_eq!((&counts["new"], &counts["pictures"]), (&json!(DEMO_SIZE), &json!(PICTURED)), "{counts}");
    Some(service)
}

#[tokio::test]
#[ignore = "takes a minute: the whole demo catalog and its neighbours; see CONTRIBUTING"]
async fn eight_research_tasks_take_half_of_the_characters() {
    let mut records: Vec<Map<String, Value>> = catalog(DEMO_SEED, DEMO_SIZE).collect();
    let Some(service) = started(&mut records).await else { return };
    let mut agent = Agent { service: &service, calls: 0, characters: 0, tasks: Vec::new() };
    let of = |slug: &str| records.iter().find(|record| text(record, "slug") == slug).unwrap();

    three_brick_libraries(&mut agent, &of).await;
    newer_ones_like_it(&mut agent).await;
    mood_board(&mut agent, &of).await;
    everything_by_a_studio(&mut agent, &records).await;
    added_lately(&mut agent, &records).await;
    a_citation(&mut agent).await;
    a_mistyped_slug(&mut agent).await;
    after_the_first_page(&mut agent).await;

    let lines =
        agent.tasks.iter().map(|(task, calls, characters)| format!("{task}: {calls} calls, {characters}\n"));
    let table: String = lines.collect();
    let sum: usize = agent.tasks.iter().map(|(_, _, characters)| characters).sum();
    println!("{table}sum: {sum}");
    assert_eq!(agent.tasks.len(), 8);
    assert!(sum <= MOST_CHARACTERS, "{table}sum: {sum}");
}

/// Three brick libraries in different countries, with what to cite.
async fn three_brick_libraries<'r>(agent: &mut Agent<'_>, of: &impl Fn(&str) -> &'r Map<String, Value>) {
    let arguments = json!({"query": "brick library", "limit": 5, "detail": "concise"});
    let found = agent.answer("search_projects", arguments).await;
    agent.done("1 three brick libraries");
    let mut countries: Vec<&str> = Vec::new();
    for result in found["results"].as_array().unwrap() {
        let (slug, url) = (result["slug"].as_str().unwrap(), result["citation_url"].as_str().unwrap());
        let record = of(slug);
        let read = format!("{} {}", text(record, "name"), text(record, "intro")).to_lowercase();
        assert!(read.contains("brick") && read.contains("library"), "{read}");
        assert!(url.ends_with(&format!("/cite/{slug}/1")), "{url}");
        let country = result["city"].as_str().and_then(|city| city.rsplit(", ").next());
        countries.extend(country.filter(|country| !countries.contains(country)));
    }
    assert!(countries.len() >= 3, "{countries:?}");
}

/// Projects like one, but newer.
async fn newer_ones_like_it(agent: &mut Agent<'_>) {
    let (seed, all) = ("library-at-the-ropewalk", "/v1/similar/library-at-the-ropewalk?limit=50");
    let key =
        agent.service.json(&["keys", "issue", "--email", "a@example.org", "--tier", "pro"]).pop().unwrap();
    let path = format!("{all}&key={}", key["key"].as_str().unwrap());
    // Asking again and again meets the limit of calls within a second, also right after an answer.
    let service = agent.service;
    let neighbours = async || {
        let answer = service.http.get(&path).await;
        let body = if answer.status == 200 { answer.json() } else { Value::Null };
        (body["count"] == 50).then_some(body)
    };
    kit::wait_for(SETTLED, "50 neighbours", &neighbours).await;
    let known = agent.answer("get_project", json!({"slug": seed, "detail": "concise"})).await;
    let year: u32 = known["year"].as_str().unwrap().parse().unwrap();
    let arguments = json!({"slug": seed, "year_from": year + 1, "limit": 5, "detail": "concise"});
    let found = agent.answer("similar_projects", arguments).await;
    agent.done("2 like one, but newer");
    let neighbours = kit::wait_for(SETTLED, "the same 50 neighbours", &neighbours).await;
    let is_newer = |one: &&Value| {
        one["year"].as_str().is_some_and(|made| made.parse::<u32>().is_ok_and(|made| made > year))
    };
    let newer = neighbours["results"].as_array().unwrap().iter().filter(is_newer);
    let expected: Vec<&str> = newer.map(|one| one["slug"].as_str().unwrap()).collect();
    assert!(!expected.is_empty() && !expected.contains(&seed));
    assert_eq!(found["total"], expected.len());
    assert_eq!(texts(&found, "slug"), &expected[..expected.len().min(5)]);
}

/// A mood board of two colours: by what curators wrote, by the colours of pictures, and the palette of one.
async fn mood_board<'r>(agent: &mut Agent<'_>, of: &impl Fn(&str) -> &'r Map<String, Value>) {
    let arguments =
        json!({"color": ["terracotta", "green"], "mood": "calm", "limit": 5, "detail": "concise"});
    let written = agent.answer("search_by_taste", arguments).await;
    let arguments = json!({"color": COLOURS, "limit": 5, "detail": "concise"});
    let painted = agent.answer("browse", arguments).await;
    let nearest = texts(&painted, "slug")[0].to_owned();
    let record = agent.answer("get_project", json!({"slug": nearest})).await;
    agent.done("3 a mood board of two colours");

    let matches = |slug: &str| {
        let taste = |name: &str| of(slug)["taste"][name].as_str().unwrap_or_default().to_lowercase();
        let coloured = taste("color").contains("terracotta") || taste("color").contains("green");
        (coloured, taste("mood").contains("calm"))
    };
    for slug in texts(&written, "slug") {
        assert_eq!(matches(slug), (true, true), "{slug}: both dimensions match first");
    }
    assert_eq!(written["count"], 5);
    assert!(written["matches"]["color"].as_u64().unwrap() >= 5, "{written}");
    assert!(painted["count"].as_u64().unwrap() >= 3, "{painted}");
    let palette = record["images"][0]["color_palette"].as_array().unwrap();
    let distance = |hex: &Value| COLOURS.map(|colour| oklab_distance(hex.as_str().unwrap(), colour));
    let least = palette.iter().flat_map(distance).fold(f64::MAX, f64::min);
    assert!(least <= 0.1, "{nearest}: {palette:?} is {least} away");
}

/// Returns the distance of two colours in `OKLab`.
fn oklab_distance(one: &str, other: &str) -> f64 {
    let lab = |hex: &str| {
        let Colour(rgb) = hex.to_owned().try_into().unwrap();
        let [r, g, b] = rgb.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        [
            0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        ]
    };
    let squares = lab(one).into_iter().zip(lab(other)).map(|(one, other)| (one - other).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Everything by one studio, and nothing else.
async fn everything_by_a_studio(agent: &mut Agent<'_>, records: &[Map<String, Value>]) {
    let studio = "Álvaro Olmeda Arquitectura";
    let found = agent.answer("browse", json!({"studio": studio, "limit": 5, "detail": "concise"})).await;
    agent.done("4 everything by a studio");
    let own = records.iter().filter(|record| text(record, "studio") == studio);
    let mut own: Vec<&str> = own.map(|record| text(record, "slug")).collect();
    own.sort_unstable();
    let mut slugs = texts(&found, "slug");
    slugs.sort_unstable();
    assert_eq!((slugs, &found["total"]), (own.clone(), &json!(own.len())));
    assert!(own.len() >= 2);
}

/// What was added lately.
async fn added_lately(agent: &mut Agent<'_>, records: &[Map<String, Value>]) {
    let found = agent.answer("browse", json!({"limit": 5, "detail": "concise"})).await;
    agent.done("5 what was added lately");
    let day = |record: &Map<String, Value>| text(record, "published").to_owned();
    let mut days: Vec<String> = records.iter().map(day).collect();
    days.sort_unstable_by(|one, other| other.cmp(one));
    let published = |slug: &str| day(records.iter().find(|record| text(record, "slug") == slug).unwrap());
    let shown: Vec<String> = texts(&found, "slug").into_iter().map(published).collect();
    assert_eq!(shown, days[..5]);
}

/// Whether a source still says what was cited.
async fn a_citation(agent: &mut Agent<'_>) {
    let (slug, service) = ("library-at-the-ropewalk", agent.service);
    let found = agent.answer("get_project", json!({"slug": slug, "detail": "concise"})).await;
    let cited = found["citation_url"].as_str().unwrap();
    let revised =
        service.json(&["curate", "revise", slug, "--set", "city=Geelong, Australia", "--actor", "Ada"]);
    service.caught_up(revised[0]["position"].as_u64().unwrap_or_default()).await;
    kit::wait_until(SETTLED, "the revision", async || {
        service.http.get(&format!("/projects/{slug}")).await.text().contains("Geelong, Australia")
    })
    .await;
    let checked = agent.answer("get_project", json!({"slug": cited, "detail": "concise"})).await;
    let present = agent.answer("get_project", json!({"slug": slug, "detail": "concise"})).await;
    agent.done("6 check a citation");
    assert_eq!((&checked["city"], &checked["citation_url"]), (&found["city"], &found["citation_url"]));
    let note = checked["note"].as_str().unwrap();
    assert!(note.starts_with("This is revision 1, ") && note.contains("; revision 2 is newer: "), "{note}");
    assert_eq!(present["city"], "Geelong, Australia");
    assert!(note.contains(present["citation_url"].as_str().unwrap()), "{note}");
}

async fn a_mistyped_slug(agent: &mut Agent<'_>) {
    let (is_error, text) = agent.ask("get_project", json!({"slug": "mosegg-libary"})).await;
    agent.done("7 a mistyped slug");
    assert!(is_error && text.contains("Slugs that are near: moosegg-library"), "{text}");
}

/// What comes after the first page, and after that.
async fn after_the_first_page(agent: &mut Agent<'_>) {
    let (mut slugs, mut cursor) = (Vec::<String>::new(), Value::Null);
    for _ in 0..3 {
        let arguments = json!({"query": "house", "limit": 5, "detail": "concise", "cursor": cursor});
        let page = agent.answer("search_projects", arguments).await;
        slugs.extend(texts(&page, "slug").into_iter().map(str::to_owned));
        cursor = page["next_cursor"].clone();
        assert!(cursor.is_string(), "{page}");
    }
    agent.done("8 continue after the first page");
    let key =
        agent.service.json(&["keys", "issue", "--email", "b@example.org", "--tier", "pro"]).pop().unwrap();
    let path = format!("/v1/search?q=house&limit=15&key={}", key["key"].as_str().unwrap());
    let rest = agent.service.http.get(&path).await.json();
    assert_eq!(slugs, texts(&rest, "slug"));
}
