//! Imports that end before their file does, by a signal while pictures are sent or by kill -9 between two batches: the report says what
//! is done, and the next run does only the rest.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};

use image::{Rgb, RgbImage};
use kit::{process, samples};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT};
use crate::signals::{ended, send};

/// The number of pictures of an import, and of each of its records: more than are sent before a signal arrives.
const PICTURES: u64 = 300;
const OF_RECORD: u64 = 100;

/// Writes records with the pictures `0.jpg` and so on, and returns the path of their file.
fn write_pictures(folder: &Path) -> String {
    for number in 0..PICTURES {
        let shade = |x: u32, y: u32| {
            u8::try_from((u64::from(x) * 7 + u64::from(y) * 13) * (number + 1) % 251).unwrap()
        };
        let picture = RgbImage::from_fn(64, 64, |x, y| Rgb([shade(x, y); 3]));
        std::fs::write(folder.join(format!("{number}.jpg")), samples::jpeg(&picture)).unwrap();
    }
    let record = |number: u64| {
        let first = number * OF_RECORD;
        let pictures: Vec<String> =
            (first..first + OF_RECORD).map(|number| format!("{number}.jpg")).collect();
        let slug = format!("record-{number}");
        format!("{}\n", json!({"slug": slug, "name": slug, "category": "art", "pictures": pictures}))
    };
    let file = folder.join("in.ndjson");
    std::fs::write(&file, (0..PICTURES / OF_RECORD).map(record).collect::<String>()).unwrap();
    file.to_str().unwrap().to_owned()
}

fn import(data: &Path, file: &str) -> Child {
    let mut import = process::command(&LOGGIA, data);
    import.args(["import", file, "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the write side on a folder has stored a picture.
async fn stores_pictures(data: &Path) {
    let media = data.join("media");
    kit::wait_until(TIMEOUT, "a stored picture", async || has_original(&media)).await;
}

/// Returns whether the original of a picture is below a folder.
fn has_original(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name() == "original" || has_original(&entry.path()))
}

/// Returns counts of an import by name.
fn of<const N: usize>(counts: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| counts[name].as_u64().unwrap_or_else(|| panic!("{name} in {counts}")))
}

/// Checks the report of an import that SIGINT ended while it sent pictures. Returns how many were sent.
fn assert_interrupted((code, out, stderr): &(Option<i32>, String, String)) -> u64 {
    assert_eq!(*code, Some(130), "{stderr}");
    let counts: Value = serde_json::from_str(out).unwrap();
    let [new, sent, refused] = of(&counts, ["new", "pictures", "pictures_refused"]);
    assert_eq!((new, refused), (PICTURES / OF_RECORD, 0), "{stderr}");
    let detail = format!(
        "interrupted by SIGINT; what is counted here is done, and {} pictures of these records are still to be sent, {sent}.jpg the \
         first; run the same command again: it sends only what is missing",
        PICTURES - sent
    );
    assert_eq!(counts["failure"], json!({"kind": "interrupted", "detail": detail}));
    sent
}

#[tokio::test]
async fn a_signal_while_pictures_are_sent_leaves_only_pictures_to_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), write_pictures(folder.path()));
    let first = import(&data, &file);
    stores_pictures(&data).await;
    send(first.id(), Signal::INT);
    let sent = assert_interrupted(&ended(first).await);
    let counts = process::run(&LOGGIA, &data, &["import", &file, "--json"]).success().json();
    let names = ["new", "changed", "same", "pictures", "pictures_same"];
    assert_eq!(of(&counts, names), [0, 0, PICTURES / OF_RECORD, PICTURES - sent, sent], "{counts}");
}

#[tokio::test]
async fn lines_that_have_their_reply_are_in_no_doubt_while_pictures_have_none() {
    let Some(service) = Service::empty().await else { return };
    let (folder, data) = (tempfile::tempdir().unwrap(), service.folder.path());
    let file = write_pictures(folder.path());
    let first = import(data, &file);
    stores_pictures(data).await;
    // Its replies end, as with a link that is cut.
    service.loggia.signal(Signal::STOP);
    send(first.id(), Signal::INT);
    let ended = ended(first).await;
    service.loggia.signal(Signal::CONT);
    assert_interrupted(&ended);
    let counts = service.json(&["import", &file]).pop().unwrap();
    let [new, same, sent, there] = of(&counts, ["new", "same", "pictures", "pictures_same"]);
    assert_eq!([new, same, sent + there], [0, PICTURES / OF_RECORD, PICTURES]);
}

#[tokio::test]
async fn an_import_that_is_killed_between_two_batches_is_completed_by_the_next_run() {
    let Some(service) = Service::empty().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let [file, rejects, whole] =
        ["in.ndjson", "rejects.ndjson", "whole"].map(|name| folder.path().join(name));
    // The last line of the first batch is rejected, so that its reply can be seen.
    let line = |n| {
        let category = if n == 2_000 { "film" } else { "art" };
        format!("{{\"name\":\"House {n}\",\"category\":\"{category}\"}}\n")
    };
    let first: String = (1..=2_000).map(line).collect();
    let rest: String = (2_001..=3_000).map(line).collect();
    let mut killed = process::command(&LOGGIA, service.folder.path());
    killed.args(["import", "-", "--json", "--rejects", rejects.to_str().unwrap()]);
    killed.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = killed.spawn().unwrap();
    let mut input = killed.stdin.take().unwrap();
    input.write_all(first.as_bytes()).unwrap();
    input.write_all(&rest.as_bytes()[..100]).unwrap();
    kit::wait_until(TIMEOUT, "the reply to the first batch", async || {
        std::fs::read_to_string(&rejects).is_ok_and(|text| text.lines().count() == 1)
    })
    .await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    drop(input);

    std::fs::write(&file, first + &rest).unwrap();
    let args = ["import", file.to_str().unwrap(), "--json"];
    let names = ["new", "changed", "same", "rejected", "position"];
    let counts = service.run(&args).success().json();
    assert_eq!(of(&counts, names), [1_000, 0, 1_999, 1, 2_999]);
    let uninterrupted = process::run(&LOGGIA, &whole, &args).success().json();
    assert_eq!(of(&uninterrupted, names), [2_999, 0, 0, 1, 2_999], "one event for each project");
    let exported = service.run(&["export"]).success().json_lines();
    assert_eq!(exported, process::run(&LOGGIA, &whole, &["export"]).success().json_lines());
    service.run(&["events", "verify"]).success();
}
