//! Every page of the site.

use schemas::api::problem::ProblemKind;
use serde_json::{Value, json};

use crate::installed::{Browser, SCRIPTS};
use crate::served::{ARABIC, HOSTILE, Served};

/// The maximum size of a first visit in bytes over the wire, without pictures.
const FIRST_VISIT: u64 = 60_000;

/// A visit of Lighthouse takes about five seconds, twice for each page, and slow ones are repeated.
const PAGES_SCORED_AT_ONCE: usize = 5;

/// The forms that issue a key and that show its usage.
pub(crate) const KEY_FORM: &str = "form[action$='/keys']";
pub(crate) const USAGE_FORM: &str = "main form";
/// The form that deletes an address.
const ERASE_FORM: &str = "form:has(input[name=erase])";

fn page(name: &str, path: &str) -> Value {
    json!({"name": name, "path": path})
}

/// A page that a link on another one leads to, because its address is not known before.
fn linked(name: &str, path: &str, link: &str) -> Value {
    json!({"name": name, "path": path, "click": link})
}

fn failing(name: &str, path: &str, status: u16) -> Value {
    json!({"name": name, "path": path, "status": status})
}

/// What a reader of the catalog sees. Pages by name: the path (or one per visit), the status unless it is 200, and the form to submit
/// or the link to follow there to reach another page.
fn of_the_catalog(served: &Served) -> Vec<Value> {
    let Served { pictured, plain, withdrawn, .. } = served;
    let hostile = form_urlencoded(HOSTILE[0]);
    vec![
        page("front", "/"),
        page("search", "/?q=house"),
        page("search, nothing found", "/?q=zyxwvut"),
        page("search, hostile", &format!("/?q={hostile}")),
        page("category", "/architecture"),
        page("category, with hostile names", "/art"),
        linked("category, second page", "/architecture", ".pages a[rel~=next]"),
        linked("studio", &format!("/projects/{pictured}"), "a[href*='/studios/']"),
        linked("curator", &format!("/projects/{pictured}"), "a[href*='/curators/']"),
        page("taste", "/?material=oak"),
        page("taste, nothing has all", "/?material=oak,concrete&mood=calm"),
        page("filters", "/?category=art,design&year_from=1900&color=%23a0522d&has_picture=true&sort=name"),
        page("filters, hostile", &format!("/?q=hostile&city={hostile}&studio={hostile}")),
        page("taste, hostile", &format!("/?material={hostile}&mood=calm")),
        failing("search, refused", &format!("/?category={hostile}"), 400),
        page("project with pictures", &format!("/projects/{pictured}")),
        page("project without", &format!("/projects/{plain}")),
        page("project from right to left", &format!("/projects/{ARABIC}")),
        page("studio from right to left", "/studios/%D9%85%D9%83%D8%AA%D8%A8-%D8%A7%D9%84%D8%B8%D9%84"),
        failing("project, withdrawn", &format!("/projects/{withdrawn}"), 410),
        failing("project, unknown", "/projects/no-such-house", 404),
        failing("project, hostile", &format!("/projects/{hostile}"), 404),
        page("project, from results", &format!("/projects/{pictured}?from=q%3Dhouse")),
        page("board", &format!("/board?slugs={pictured},{plain},nowhere")),
        page("board, empty", "/board"),
        page("words", "/taste/material"),
        page("words, of a category by their beginning", "/taste/light?category=art&starts_with=e"),
        page("words, none", "/taste/mood?starts_with=zyxwvut"),
        page("citation", &format!("/cite/{pictured}/1")),
        page("citation, an older revision", &format!("/cite/{plain}/1")),
        page("citation, the newest revision", &format!("/cite/{plain}/2")),
        page("citation, withdrawn", &format!("/cite/{withdrawn}/1")),
        failing("citation, no such revision", &format!("/cite/{plain}/9"), 404),
        failing("nothing there", "/no/such/page", 404),
    ]
}

/// What somebody sees who wants a key, in the same form.
fn of_keys(served: &Served) -> Vec<Value> {
    // A separate address for each visit: an address can have at most three keys.
    let after = |name: &str, path: &str, form: &str, field: &str, text: &str| json!({"name": name, "path": path, "form": form, "fill": {field: text}});
    vec![
        page("keys", "/keys"),
        after("keys, issued", "/keys", KEY_FORM, "#email", "VISIT@example.org"),
        json!({
            "name": "keys, refused", "path": "/keys", "form": KEY_FORM, "fill": {"#email": "no@address"},
            "status": 422,
        }),
        after(
            "keys, link asked for",
            "/keys",
            "form[action*='/keys/link']",
            "#link-email",
            "VISIT@example.org",
        ),
        page("claim", &served.claim("claims@example.org")),
        // A link works once, and each visit needs its own.
        json!({
            "name": "claim, used", "form": "form:has(input[name=keep])", "fill": {}, "tick": ["input[name=keep]"],
            "path": [served.claim("one@example.org"), served.claim("other@example.org")],
        }),
        json!({
            "name": "claim, erased", "form": ERASE_FORM, "fill": {}, "tick": ["input[name=erase]"],
            "path": [served.claim("gone@example.org"), served.claim("gone.too@example.org")],
        }),
        failing("claim, of no use", "/claim/nothing", 410),
        page("usage", "/usage"),
        after("usage, shown", "/usage", USAGE_FORM, "#key", &served.key),
        after("usage, refused", "/usage", USAGE_FORM, "#key", &format!("log_live_{}", HOSTILE[0])),
    ]
}

/// What somebody reads who wants to call the API, in the same form.
fn of_the_interfaces() -> Vec<Value> {
    let mut pages = vec![
        page("connect", "/connect"),
        page("pricing", "/pricing"),
        page("docs", "/docs"),
        page("status", "/status"),
    ];
    let topics =
        ["search", "projects", "taste", "changes", "citations", "pictures", "usage", "mcp", "errors"];
    pages.extend(topics.map(|topic| page(&format!("docs, {topic}"), &format!("/docs/{topic}"))));
    pages
}

fn of_hostile_records() -> Vec<Value> {
    let of = |number| {
        let name = format!("hostile-{number}");
        let cited = page(&format!("{name}, cited"), &format!("/cite/{name}/1"));
        [page(&name, &format!("/projects/{name}")), cited]
    };
    (1..=HOSTILE.len()).flat_map(of).collect()
}

fn of_errors() -> Vec<Value> {
    let of = |kind: ProblemKind| {
        let name = kind.name();
        page(&format!("problem {name}"), &format!("/problems/{name}"))
    };
    ProblemKind::ALL.map(of).into()
}

fn form_urlencoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Checks that these pages are complete, accessible and without console errors.
async fn assert_without_faults(pages: impl FnOnce(&Served) -> Vec<Value>) {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let pages = pages(&served);
    let arguments = json!({"base": served.base, "pages": pages});
    let seen = browser.assert_without_faults("pages.mjs", &arguments).await;
    assert_eq!(seen.len(), pages.len(), "each page has a name of its own");
}

// Several tests, so that they run at the same time as others.

#[tokio::test]
async fn every_page_of_the_catalog_is_without_faults() {
    assert_without_faults(of_the_catalog).await;
}

#[tokio::test]
async fn every_page_of_keys_is_without_faults() {
    assert_without_faults(of_keys).await;
}

#[tokio::test]
async fn every_page_of_the_interfaces_is_without_faults() {
    assert_without_faults(|_| of_the_interfaces()).await;
}

#[tokio::test]
async fn every_page_of_hostile_records_is_without_faults() {
    assert_without_faults(|_| of_hostile_records()).await;
}

#[tokio::test]
async fn every_page_of_errors_is_without_faults() {
    assert_without_faults(|_| of_errors()).await;
}

/// A page of each kind for Lighthouse, in the same form; search engines index those that have an address of their own. Errors are
/// missing: Lighthouse takes off for each, as an error in the console.
fn kinds(served: &Served) -> Vec<Value> {
    let Served { pictured, plain, portrait, withdrawn, key, .. } = served;
    let project = format!("/projects/{pictured}");
    // A link works once. What is measured slow, on a telephone and at a desk, is measured twice more.
    let claims = |name: &str| -> Vec<String> {
        (1..=6).map(|number| served.claim(&format!("{name}{number}@example.org"))).collect()
    };
    let indexed = [
        page("front", "/"),
        page("words", "/taste/material"),
        page("category", "/architecture"),
        page("studio", "/studios/invented-carpenters"),
        linked("curator", &project, "a[href*='/curators/']"),
        page("project with pictures", &project),
        page("project with a portrait", &format!("/projects/{portrait}")),
        page("project without", &format!("/projects/{plain}")),
        page("project from right to left", &format!("/projects/{ARABIC}")),
        page("docs", "/docs"),
        page("docs, a topic", "/docs/search"),
        page("docs, MCP", "/docs/mcp"),
        page("connect", "/connect"),
        page("keys", "/keys"),
        page("usage", "/usage"),
        page("pricing", "/pricing"),
        page("status", "/status"),
        page("problem", "/problems/quota-exceeded"),
    ];
    let others = [
        page("search", "/?q=house"),
        page("search, nothing found", "/?q=zyxwvut"),
        page("taste", "/?material=oak"),
        page("filters", "/?category=art,design&year_from=1900&has_picture=true&sort=name"),
        page("project, from results", &format!("{project}?from=q%3Dhouse")),
        page("citation", &format!("/cite/{plain}/2")),
        page("citation with pictures", &format!("/cite/{pictured}/1")),
        page("board", &format!("/board?slugs={pictured},{plain}")),
        page("board, empty", "/board"),
        json!({"name": "keys, issued", "path": "/keys", "form": KEY_FORM, "fill": {"#email": "scoresVISIT@example.org"}}),
        json!({"name": "usage, shown", "path": "/usage", "form": USAGE_FORM, "fill": {"#key": key}}),
        page("claim", &served.claim("scores@example.org")),
        json!({
            "name": "claim, used", "form": "form:has(input[name=keep])", "fill": {}, "tick": ["input[name=keep]"],
            "path": claims("scored"),
        }),
        json!({
            "name": "claim, erased", "form": ERASE_FORM, "fill": {}, "tick": ["input[name=erase]"],
            "path": claims("erased"),
        }),
        page("citation, withdrawn", &format!("/cite/{withdrawn}/1")),
    ];
    let marked = |mut page: Value, indexed: bool| {
        page["indexed"] = indexed.into();
        page
    };
    let indexed = indexed.map(|page| marked(page, true));
    indexed.into_iter().chain(others.map(|page| marked(page, false))).collect()
}

#[tokio::test]
#[ignore = "long: Lighthouse takes minutes, and its score of performance depends on what else the machine does"]
async fn every_kind_of_page_has_the_best_scores_of_lighthouse() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let pages = kinds(&served);
    let mut checked = 0;
    let mut faults = Vec::new();
    // A few at a time: a script for all of them takes longer than a script may.
    for (number, some) in pages.chunks(PAGES_SCORED_AT_ONCE).enumerate() {
        // Each visit that fills in a form has its own number.
        let visits = number * 6 * PAGES_SCORED_AT_ONCE;
        let asked = json!({"base": served.base, "pages": some, "visits": visits});
        let report = browser.report("lighthouse.mjs", &asked).await;
        for (seen, lacking) in report.as_object().unwrap() {
            checked += 1;
            let lacking = lacking.as_array().unwrap().iter();
            faults.extend(lacking.map(|lacking| format!("{seen}: {}", lacking.as_str().unwrap())));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(checked, 2 * pages.len(), "each page on a telephone and at a desk");
}

#[tokio::test]
async fn a_first_visit_stays_within_the_size_budget() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let bytes = browser.report("weight.mjs", &json!({"base": served.base})).await;
    let total: u64 = bytes.as_object().unwrap().values().map(|one| one.as_u64().unwrap()).sum();
    let kinds: Vec<&str> = bytes.as_object().unwrap().keys().map(String::as_str).collect();
    for kind in ["Document", "Stylesheet", "Script", "Font"] {
        assert!(kinds.contains(&kind), "{bytes}");
    }
    assert!(total < FIRST_VISIT, "{total} bytes: {bytes}");
}

#[test]
fn every_kind_of_page_is_looked_at() {
    let routes = include_str!("../../api/answers/src/route.rs");
    let of_pages =
        |line: &&str| ["Page;", "Form;", "Cite;", "Problems;"].iter().any(|kind| line.ends_with(kind));
    let paths = routes.lines().filter(of_pages).filter_map(|line| line.split('"').nth(1));
    // One redirects to a project, one completes words, and the link behind which a key is confirmed answers a form of /keys.
    let pages = paths.filter(|path| !["/surprise", "/suggest", "/keys/link"].contains(path));
    let begins: Vec<&str> = pages.map(|path| path.split('{').next().unwrap_or(path)).collect();
    assert!(begins.len() > 15, "{begins:?}");
    let pictured = include_str!("screenshots.mjs");
    // A citation has the address of its project, which the script writes in its own way.
    let forgotten: Vec<&str> = begins
        .into_iter()
        .filter(|begin| *begin != "/cite/" && !pictured.contains(begin.trim_end_matches('/')))
        .collect();
    assert_eq!(forgotten, [""; 0], "bin/screenshots --all leaves these out");
}

#[test]
fn every_script_is_run() {
    let files =
        std::fs::read_dir(SCRIPTS).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let run = concat!(
        include_str!("pages.rs"),
        include_str!("readers.rs"),
        include_str!("visits.rs"),
        include_str!("walk.rs")
    );
    // Those that the other tests, setup and bin/screenshots run.
    let elsewhere = ["browser.mjs", "chromium.mjs", "unpack.mjs", "screenshots.mjs"];
    let forgotten: Vec<String> = files
        .filter(|file| file.ends_with(".mjs") && !elsewhere.contains(&file.as_str()) && !run.contains(file))
        .collect();
    assert_eq!(forgotten, [""; 0], "no test runs these");
}
