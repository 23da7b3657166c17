//! The fixture of a release: its data folder with the NATS streams, a backup of it, and its answers. Each release has a
//! folder `tests/e2e/upgrade/<version>` with `data.tar.gz` and `answers.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use data_encoding::HEXLOWER;
use image::{ImageFormat, Rgb, RgbImage};
use jiff::Timestamp;
use kit::ProgramOutput;
use kit::http::Http;
use kit::process::{self, Loggia};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::service::TIMEOUT;

const SITE: &str = "https://catalog.example.org";

/// A request to the service, and the tier of the key it is sent with.
pub(super) struct FixtureRequest {
    pub(super) path: String,
    key: Option<&'static str>,
    /// The body of a POST.
    body: Option<Value>,
}

/// The fixture of one release.
pub(super) struct Fixture {
    folder: PathBuf,
    recorded: Value,
}

impl Fixture {
    /// Returns the fixtures of all releases, oldest first.
    pub(super) fn all() -> Vec<Fixture> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/upgrade");
        let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("answers.json").exists())
            .collect();
        folders.sort();
        assert!(!folders.is_empty(), "there is no fixture in {}", root.display());
        let fixture = |folder: PathBuf| {
            let recorded = std::fs::read_to_string(folder.join("answers.json")).unwrap();
            Fixture { recorded: serde_json::from_str(&recorded).unwrap(), folder }
        };
        folders.into_iter().map(fixture).collect()
    }

    /// Returns the version of the release.
    pub(super) fn version(&self) -> &str {
        self.folder.file_name().unwrap().to_str().unwrap()
    }

    pub(super) fn unpacked(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let archive = self.folder.join("data.tar.gz");
        let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path()).status();
        assert!(unpacked.unwrap().success(), "the fixture cannot be unpacked with tar");
        folder
    }

    pub(super) fn requests(&self) -> Vec<FixtureRequest> {
        requests()
    }

    pub(super) fn answer(&self, request: &FixtureRequest) -> Value {
        let name = request.name();
        self.recorded["answers"]
            .get(&name)
            .cloned()
            .unwrap_or_else(|| panic!("no answer to {name} was recorded"))
    }

    /// Sends a request to a service with the keys of this fixture.
    pub(super) async fn send(&self, request: &FixtureRequest, http: &Http) -> Value {
        request.send(http, &self.keys()).await.0
    }

    pub(super) fn lines(&self, name: &str) -> Vec<Value> {
        self.recorded[name].as_array().unwrap().clone()
    }

    pub(super) fn keys(&self) -> BTreeMap<String, String> {
        serde_json::from_value(self.recorded["secrets"].clone()).unwrap()
    }

    pub(super) fn pictures(&self) -> BTreeMap<String, String> {
        serde_json::from_value(self.recorded["pictures"].clone()).unwrap()
    }

    /// Returns the ids of the counted calls of a tier's key, in order.
    pub(super) fn calls(&self, tier: &str) -> Vec<Value> {
        self.recorded["calls"][tier].as_array().unwrap().clone()
    }
}

impl FixtureRequest {
    pub(super) fn name(&self) -> String {
        match &self.body {
            None => self.path.clone(),
            Some(body) => format!("{} {}", self.path, body["params"]["name"].as_str().unwrap()),
        }
    }

    /// Returns the comparable part of the answer, and the id of the call if it was counted.
    async fn send(&self, http: &Http, keys: &BTreeMap<String, String>) -> (Value, Option<String>) {
        let bearer = self.key.map(|tier| format!("Bearer {}", keys[tier]));
        let mut headers: Vec<(&str, &str)> =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
        let answer = match &self.body {
            None => http.send("GET", &self.path, &headers, "").await,
            Some(body) => {
                headers.push(("content-type", "application/json"));
                http.send("POST", &self.path, &headers, body.to_string()).await
            }
        };
        let body = match std::str::from_utf8(&answer.body) {
            Ok(text) if self.body.is_some() => {
                let answer: Value = serde_json::from_str(text).unwrap();
                answer["result"]["structuredContent"].clone()
            }
            Ok(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            Err(_) => json!(hex(&answer.body)),
        };
        let mut recorded = json!({"status": answer.status, "body": body});
        if let Some(location) = answer.header("location") {
            recorded["location"] = json!(location);
        }
        // A problem has the id of the request, which always differs.
        if let Some(problem) = recorded["body"].as_object_mut() {
            problem.remove("instance");
        }
        (recorded, answer.header("x-call-id").map(str::to_owned))
    }
}

/// Returns the length and the hash of a picture as served.
pub(super) async fn picture(http: &Http, path: &str) -> String {
    let answer = http.get(path).await;
    assert_eq!(answer.status, 200, "{path}");
    hex(&answer.body)
}

fn hex(bytes: &[u8]) -> String {
    let digest = HEXLOWER.encode(&Sha256::digest(bytes));
    format!("{} bytes, sha256 {digest}", bytes.len())
}

fn pictures_in(answer: &Value, paths: &mut Vec<String>) {
    match answer {
        Value::String(text) => {
            paths.extend(
                text.strip_prefix(SITE).filter(|path| path.starts_with("/media/")).map(str::to_owned),
            );
        }
        Value::Array(values) => values.iter().for_each(|value| pictures_in(value, paths)),
        Value::Object(members) => members.values().for_each(|value| pictures_in(value, paths)),
        _ => {}
    }
}

/// Returns the requests for every release; a new one needs a fixture with its answer.
fn requests() -> Vec<FixtureRequest> {
    let get = |path: &str, key| FixtureRequest { path: path.to_owned(), key, body: None };
    let tool = |name: &str, arguments: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}});
        FixtureRequest { path: "/mcp".to_owned(), key: None, body: Some(body) }
    };
    vec![
        get("/v1/search?q=house", Some("free")),
        get("/v1/search?q=brick%20hall&limit=3", Some("studio")),
        get("/v1/search?q=zurich&category=architecture", Some("pro")),
        get("/v1/project/canal-house", Some("free")),
        get("/v1/project/canal-house?revision=1", Some("studio")),
        get("/v1/project/red-kiln", Some("pro")),
        get("/v1/project/kiln", Some("free")),
        get("/v1/project/tide-mill", Some("free")),
        get("/v1/project/nowhere", Some("free")),
        get("/v1/similar/red-kiln", Some("studio")),
        get("/cite/canal-house/1?format=jsonld", None),
        get("/cite/canal-house/1?format=bibtex", None),
        get("/cite/canal-house/2?format=csl", None),
        get("/cite/tide-mill/1?format=ris", None),
        tool("get_project", json!({"slug": "red-kiln"})),
        tool("search_by_taste", json!({"material": "brick"})),
        tool("browse", json!({})),
        tool("list_taste_terms", json!({"dimension": "material"})),
    ]
}

/// Starts `up` of a binary with the settings of the fixtures.
pub(super) async fn start(binary: &str, data: &Path) -> (Loggia, Http) {
    let mut command = process::command(binary, data);
    command.args(["up", "--no-demo"]);
    settings(&mut command);
    let mut loggia = Loggia::spawn_command(command, data);
    let http = loggia.http().await;
    (loggia, http)
}

pub(super) fn settings(command: &mut Command) {
    command
        .env("LOGGIA_AUTH", "keys")
        .env("LOGGIA_VECTORS", "builtin")
        .env("LOGGIA_PUBLIC_URL", SITE)
        // The default name of a catalog in 0.1.
        .env("LOGGIA_SITE_NAME", "Loggia")
        .env("LOGGIA_BURST_PER_KEY", "0")
        .env("LOGGIA_BURST_PER_ADDRESS", "0")
        .env("LOGGIA_STRIPE_SECRET", "whsec_loggia_upgrade")
        .env("LOGGIA_STRIPE_PRICES", "price_studio=studio, price_pro=pro");
}

/// Runs a command of a binary that must succeed, and returns its JSON output.
pub(super) fn json_with(binary: &str, data: &Path, args: &[&str]) -> Vec<Value> {
    let mut command = process::command(binary, data);
    settings(&mut command);
    ProgramOutput::of(command.args(args).arg("--json")).success().json_lines()
}

/// Returns the ids of a key's calls in the ledger, in order; none if it has no calls yet.
pub(super) fn calls_of(binary: &str, data: &Path, key: &str) -> Vec<Value> {
    let rows = process::run(binary, data, &["audit", key, "--json"]).json_lines();
    rows.iter().filter_map(|row| row.get("call_id").cloned()).collect()
}

/// Makes the fixture of a release with its binary.
pub(super) async fn make(binary: &str) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (mut loggia, http) = start(binary, &data).await;
    curate(binary, &data, folder.path());
    let keys = keys(binary, &data, folder.path());
    let (answers, calls) = answers_once_caught_up(&http, &keys).await;
    let run = |args: &[&str]| json_with(binary, &data, args);
    for (tier, key) in &keys {
        kit::wait_until(TIMEOUT, "the ledger", async || {
            calls_of(binary, &data, &key[9..17]).len() == calls[tier].len()
        })
        .await;
    }
    let mut paths = Vec::new();
    pictures_in(&answers, &mut paths);
    let mut pictures = BTreeMap::new();
    for path in paths {
        pictures.insert(path.clone(), picture(&http, &path).await);
    }
    let recorded = json!({
        "pictures": pictures,
        "secrets": keys,
        "answers": answers,
        "calls": calls,
        "export": run(&["export", "--with-vectors"]),
        "events": run(&["events", "tail", "--from", "1", "--no-follow"]),
        "keys": run(&["keys", "list"]),
        "payments": run(&["payments", "list"]),
    });
    run(&["backup", folder.path().join("backup").to_str().unwrap()]);
    assert!(loggia.terminate().await.success());
    let version = process::run(binary, &data, &["--version"]);
    // "loggia 0.2.0", and from that release on the commit and features behind it.
    let version = version.stdout;
    let version = version.split_whitespace().nth(1).unwrap();
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e/upgrade").join(version);
    std::fs::create_dir_all(&target).unwrap();
    let packed = Command::new("tar")
        .args(["-czf", target.join("data.tar.gz").to_str().unwrap(), "-C"])
        .arg(folder.path())
        .args(["data", "backup"])
        .status();
    assert!(packed.unwrap().success());
    std::fs::write(target.join("answers.json"), format!("{recorded:#}\n")).unwrap();
}

/// Creates projects with pictures, a revision, a rename and a withdrawal.
fn curate(binary: &str, data: &Path, folder: &Path) {
    let records = [
        json!({"slug": "canal-house", "name": "Canal House", "studio": "Studio Merel", "city": "Utrecht, Netherlands",
            "year": "2016", "category": "architecture", "intro": "A narrow house of brick beside a canal.",
            "published": "2019-03-04", "description": "Three floors, one room each.",
            "taste": {"material": "brick, oak", "light": "morning", "mood": "calm"},
            "provenance": {"curated_by": "Ada Pelt", "selected": "2019-02-20", "note": "Seen in winter."},
            "pictures": [{"source": "pictures/canal.png", "alt": "The front"}]}),
        json!({"slug": "kiln", "name": "Red Kiln", "studio": "Ofen", "city": "Zürich, Switzerland", "year": "2020",
            "category": "architecture", "intro": "A hall of red brick for a pottery.", "published": "2021-05-06",
            "taste": {"material": "brick", "color": "red"},
            "pictures": [{"source": "pictures/kiln.png", "alt": "The hall"}]}),
        json!({"slug": "linen-chair", "name": "Linen Chair", "studio": "Merel", "year": "2018", "category": "design",
            "intro": "A chair of ash and linen.", "taste": {"material": "ash, linen"}}),
        json!({"slug": "tide-mill", "name": "Tide Mill House", "category": "architecture", "city": "Vannes, France",
            "intro": "A mill that became a house."}),
        json!({"slug": "salt-prints", "name": "Salt Prints", "category": "photography", "published": "2022-08-09",
            "intro": "Forty prints of salt gardens.", "pictures": [{"source": "pictures/salt.png"}]}),
    ];
    let pictures = [("canal", [150, 90, 60]), ("kiln", [190, 50, 40]), ("salt", [230, 230, 225])];
    std::fs::create_dir_all(folder.join("pictures")).unwrap();
    for (name, colour) in pictures {
        let pixels = RgbImage::from_fn(360, 240, |x, y| {
            let shade = if x < 90 && y < 80 { 2 } else { 1 };
            Rgb(colour.map(|part: u8| part / shade))
        });
        pixels.save_with_format(folder.join(format!("pictures/{name}.png")), ImageFormat::Png).unwrap();
    }
    let file = folder.join("records.ndjson");
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    let run = |args: &[&str]| json_with(binary, data, args);
    run(&["import", file.to_str().unwrap()]);
    run(&["curate", "revise", "canal-house", "--set", "city=Leiden, Netherlands", "--actor", "Ada Pelt"]);
    run(&["curate", "rename", "kiln", "red-kiln"]);
    run(&["curate", "withdraw", "tide-mill", "--reason", "The owners asked for it."]);
}

/// Issues one key per tier: the first as issued, the second by payment, the third by the operator.
fn keys(binary: &str, data: &Path, folder: &Path) -> BTreeMap<String, String> {
    let run = |args: &[&str]| json_with(binary, data, args);
    let issue = |email: &str, more: &[&str]| {
        let issued = run(&[&["keys", "issue", "--email", email], more].concat()).pop().unwrap();
        issued["key"].as_str().unwrap().to_owned()
    };
    let free = issue("ada@example.org", &["--name", "laptop"]);
    // A key assigned by an operator counts as proven, so a payment upgrades it.
    let studio = issue("ben@example.org", &["--tier", "studio"]);
    run(&["keys", "tier", "--email", "ben@example.org", "free"]);
    let pro = issue("cleo@example.org", &["--tier", "pro"]);
    let payments = folder.join("payments.ndjson");
    let created = Timestamp::now().as_second() - 60;
    // Paid until 2100.
    let line = json!({"amount": 2900, "period": {"end": 4_102_444_800_i64},
        "pricing": {"price_details": {"price": "price_studio"}}});
    let session = json!({"id": "cs_1", "mode": "subscription", "payment_status": "paid", "customer": "cus_1",
        "customer_details": {"email": "ben@example.org"}, "subscription": "sub_1", "invoice": "in_1"});
    let invoice = json!({"id": "in_1", "customer": "cus_1", "customer_email": "ben@example.org",
        "lines": {"data": [line]}, "parent": {"subscription_details": {"subscription": "sub_1"}}});
    let event = |id: &str, kind: &str, object: Value| {
        json!({"id": id, "object": "event", "type": kind, "created": created, "livemode": true,
            "data": {"object": object}})
    };
    let events =
        [event("evt_1", "checkout.session.completed", session), event("evt_2", "invoice.paid", invoice)];
    let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
    std::fs::write(&payments, lines).unwrap();
    run(&["payments", "replay", payments.to_str().unwrap()]);
    [("free", free), ("studio", studio), ("pro", pro)].map(|(tier, key)| (tier.to_owned(), key)).into()
}

/// Sends every request once all models are up to date; returns the answers and the ids of the counted calls.
async fn answers_once_caught_up(
    http: &Http,
    keys: &BTreeMap<String, String>,
) -> (Value, BTreeMap<String, Vec<String>>) {
    kit::wait_until(TIMEOUT, "visual neighbours", async || {
        let bearer = format!("Bearer {}", keys["pro"]);
        let usage = http.send("GET", "/v1/usage", &[("authorization", &bearer)], "").await;
        let page = http.get("/projects/red-kiln").await;
        usage.status == 200 && page.text().contains("canal-house") && page.text().contains("linen-chair")
    })
    .await;
    // Vectors of the last pictures may still be computed; no metered request is sent meanwhile.
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    let (mut answers, mut calls) = (serde_json::Map::new(), BTreeMap::<String, Vec<String>>::new());
    for request in requests() {
        let (answer, call) = request.send(http, keys).await;
        answers.insert(request.name(), answer);
        if let (Some(tier), Some(call)) = (request.key, call) {
            calls.entry(tier.to_owned()).or_default().push(call);
        }
    }
    (Value::Object(answers), calls)
}
