//! A data folder that is restored up to a position or a time, with all calls that were counted later and without what
//! was erased later.

use std::path::Path;

use image::{ImageFormat, Rgb, RgbImage};
use kit::http::Http;
use kit::process::{self, Loggia};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT, json as run_json};

struct IssuedKey {
    key: String,
    id: String,
}

fn issue(service: &Service, name: &str) -> IssuedKey {
    let issued = service.json(&["keys", "issue", "--email", &format!("{name}@example.org")]).pop().unwrap();
    let text = |field: &str| issued[field].as_str().unwrap().to_owned();
    IssuedKey { key: text("key"), id: text("key_id") }
}

async fn call(http: &Http, key: &IssuedKey) -> u16 {
    let bearer = format!("Bearer {}", key.key);
    http.send("GET", "/v1/search?q=house", &[("authorization", &bearer)], "").await.status
}

async fn calls(service: &Service, key: &IssuedKey, count: usize) {
    kit::wait_until(TIMEOUT, "a new key", async || call(&service.http, key).await == 200).await;
    for _ in 1..count {
        assert_eq!(call(&service.http, key).await, 200);
    }
}

fn head(service: &Service) -> Value {
    service.json(&["events", "head"]).pop().unwrap()
}

async fn import(service: &Service, slug: &str, shade: u8) -> String {
    let picture = format!("{slug}.png");
    let path = service.folder.path().join(&picture);
    RgbImage::from_pixel(400, 300, Rgb([shade, 90, 60])).save_with_format(path, ImageFormat::Png).unwrap();
    let pictures = json!([{"source": picture, "alt": "The front"}]);
    let name = slug.replace('-', " ");
    let record = json!({"slug": slug, "name": name, "category": "architecture", "pictures": pictures});
    service.import(&[record]).await;
    let rows = service.json(&["pictures", "list"]);
    let row = rows.iter().find(|row| row["slug"] == slug).unwrap();
    row["picture"].as_str().unwrap().to_owned()
}

fn is_kept(data: &Path, picture: &str) -> bool {
    data.join("media").join(&picture[..2]).join(picture).exists()
}

/// A folder with a backup, and its content before and after the point.
struct BackupHistory {
    elsewhere: tempfile::TempDir,
    backup: String,
    point: Value,
    head: Value,
    export: Vec<Value>,
    kept: String,
    later: String,
    erased: String,
    keys: [IssuedKey; 4],
}

/// Before the point: two projects with pictures, and keys of ada, cleo and dora. After it: a third project, a key of
/// bob, dora's key revoked, cleo and the second picture erased. Calls on both sides.
async fn backup_history() -> Option<BackupHistory> {
    let mut service = Service::with(&["--no-demo", "--auth", "keys"]).await?;
    let (kept, erased) =
        (import(&service, "stair-house", 200).await, import(&service, "brick-house", 60).await);
    let [ada, cleo, dora] = ["ada", "cleo", "dora"].map(|name| issue(&service, name));
    calls(&service, &ada, 2).await;
    calls(&service, &cleo, 1).await;
    let (point, export) = (head(&service), service.json(&["export"]));
    let later = import(&service, "glass-house", 120).await;
    let bob = issue(&service, "bob");
    calls(&service, &bob, 3).await;
    calls(&service, &ada, 1).await;
    service.json(&["keys", "revoke", &dora.id]);
    service.json(&["keys", "erase", "--email", "cleo@example.org"]);
    service.json(&["pictures", "erase", &erased]);
    let head = head(&service);
    assert!(service.loggia.terminate().await.success());
    let elsewhere = tempfile::tempdir().unwrap();
    let backup = elsewhere.path().join("backup").to_str().unwrap().to_owned();
    service.json(&["backup", &backup]);
    Some(BackupHistory {
        elsewhere,
        backup,
        point,
        head,
        export,
        kept,
        later,
        erased,
        keys: [ada, bob, cleo, dora],
    })
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[tokio::test]
async fn later_events_are_omitted_except_for_counted_calls_and_erasures() {
    let Some(backup_history) = backup_history().await else { return };
    let [ada, bob, cleo, dora] = &backup_history.keys;
    let restored = backup_history.elsewhere.path().join("restored");
    let position = number(&backup_history.point["position"]);
    let answer = run_json(&restored, &["restore", &backup_history.backup, "--until", &position.to_string()])
        .pop()
        .unwrap();
    let until = &answer["until"];
    assert_eq!(
        (&until["position"], &until["hash"], &until["time"]),
        (&backup_history.point["position"], &backup_history.point["hash"], &backup_history.point["time"])
    );
    let left_out = &until["left_out"];
    assert_eq!(number(&left_out["events"]), number(&backup_history.head["position"]) - position);
    assert_eq!((number(&left_out["from"]), &left_out["revoked_keys"]), (position + 1, &json!([dora.id])));
    assert_eq!((&answer["erased_again"], &answer["pictures_erased_again"]), (&json!(1), &json!(1)));
    assert_eq!((&answer["pictures"], number(&answer["ledger"]["position"])), (&json!(1), 7));

    // Two events repeat the erasures.
    let verified = run_json(&restored, &["events", "verify"]).pop().unwrap();
    assert_eq!(number(&verified["events"]), position + 2);
    let media = run_json(&restored, &["verify", "media"]).pop().unwrap();
    assert_eq!(media, json!({"pictures": 1, "repaired": 0, "faults": [], "missing": []}));
    let kept = [&backup_history.kept, &backup_history.later, &backup_history.erased]
        .map(|picture| is_kept(&restored, picture));
    assert_eq!(kept, [true, false, false]);
    let keys = run_json(&restored, &["keys", "list"]);
    let row = |key: &IssuedKey| keys.iter().find(|row| row["key_id"] == key.id.as_str());
    assert!(row(ada).unwrap()["email"] == "ada@example.org" && row(bob).is_none());
    assert!(row(cleo).unwrap()["email"].is_null() && row(cleo).unwrap()["revoked_at"].is_string());
    assert!(row(dora).unwrap()["revoked_at"].is_null());
    let slugs = |records: &[Value]| records.iter().map(|record| record["slug"].clone()).collect::<Vec<_>>();
    let exported = run_json(&restored, &["export"]);
    assert_eq!(slugs(&exported), slugs(&backup_history.export));

    assert_eq!(run_json(&restored, &["audit", &bob.id]).len(), 4, "three calls and a total");
    serves(&restored, &backup_history).await;
}

/// Checks that the service starts on a restored folder, and that all counts agree.
async fn serves(restored: &Path, backup_history: &BackupHistory) {
    let [ada, bob, cleo, dora] = &backup_history.keys;
    let mut loggia = Loggia::up(&LOGGIA, restored, &["--no-demo", "--auth", "keys"]).await;
    let http = loggia.ready().await;
    for (key, status) in [(ada, 200), (bob, 401), (cleo, 401), (dora, 200)] {
        assert_eq!(call(&http, key).await, status);
    }
    let bearer = format!("Bearer {}", ada.key);
    let usage = http.send("GET", "/v1/usage", &[("authorization", &bearer)], "").await.json();
    assert_eq!(usage["used"], 4, "two before, one after the point, one now: {usage}");
    let verified = run_json(restored, &["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    let audit = run_json(restored, &["audit", "verify"]).pop().unwrap();
    assert_eq!((&audit["differences"], &audit["calls"]), (&json!([]), &json!(9)), "{audit}");
    assert!(loggia.terminate().await.success());
    let audit = run_json(restored, &["audit", "verify"]).pop().unwrap();
    assert_eq!((&audit["differences"], &audit["calls"]), (&json!([]), &json!(9)), "{audit}");
}

#[test]
fn a_time_works_like_a_position_and_invalid_points_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let (data, backup) = (folder.path().join("data"), folder.path().join("backup"));
    let file = folder.path().join("one.ndjson");
    for (day, name) in [("0d", "One"), ("1d", "Two"), ("2d", "Three")] {
        std::fs::write(&file, format!("{{\"name\": \"{name}\", \"category\": \"art\"}}\n")).unwrap();
        run_json(&data, &["--clock-offset", day, "import", file.to_str().unwrap()]);
    }
    let backup = backup.to_str().unwrap();
    run_json(&data, &["--clock-offset", "3d", "backup", backup]);
    let events = run_json(&data, &["events", "tail", "--from", "1", "--no-follow"]);
    let time = events[1]["time"].as_str().unwrap();
    let restored = folder.path().join("restored");
    let output_text =
        process::run(&LOGGIA, &restored, &["restore", backup, "--until", time]).success().stdout;
    let from = events[2]["time"].as_str().unwrap();
    assert_eq!(
        output_text,
        format!(
            "2 events are restored; `loggia up` rebuilds the rest from them\nthe last event is that at position 2, recorded \
             on {time}; left out: 1 event from position 3 on, the first recorded on {from}\n"
        )
    );
    assert_eq!(run_json(&restored, &["export"]).len(), 2);
    let refused = |until: &str| {
        let none = folder.path().join("none");
        let output = process::run(&LOGGIA, &none, &["restore", backup, "--until", until]);
        assert!(!none.join("store/events.db").exists());
        (output.status.code(), output.stderr)
    };
    let (status, output_text) = refused("4");
    assert_eq!(status, Some(1), "{output_text}");
    assert!(output_text.contains("the backup has the positions 1 to 3, and not 4"), "{output_text}");
    let (status, output_text) = refused("2001-01-01T00:00:00Z");
    assert!(
        status == Some(1) && output_text.contains("the first event of the backup was recorded on"),
        "{output_text}"
    );
    let (status, output_text) = refused("last tuesday");
    assert!(
        status == Some(2) && output_text.contains("a time with its zone such as 2026-11-23T03:20:00Z"),
        "{output_text}"
    );
}
