//! Very large imports, and imports that are interrupted.

use std::io::Write;
use std::process::Stdio;

use kit::process::{self, Loggia};
use rustix::process::Signal;

use crate::{LOGGIA, TIMEOUT, exported_slugs, write_houses};

/// Returns the peak memory of a process in kilobytes.
fn peak_kilobytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn importing_a_gigabyte_needs_constant_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut import = process::command(&LOGGIA, folder.path())
        .args(["import", "-", "--dry-run"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = import.stdin.take().unwrap();
    // One line without an end, then lines that are each rejected.
    let block = vec![b'x'; 1 << 20];
    for _ in 0..900 {
        input.write_all(&block).unwrap();
    }
    for _ in 0..124 {
        input.write_all(&block).unwrap();
        input.write_all(b"\n").unwrap();
    }
    let peak = peak_kilobytes(import.id());
    drop(input);
    // No line can be imported.
    assert_eq!(import.wait().unwrap().code(), Some(1));
    assert!(peak < 150_000, "the import held {peak} kB");
}

#[test]
fn an_array_is_mapped_in_constant_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("works.toml");
    let toml = "[record]\nname = \"T\"\ncategory = { value = \"art\" }\n[ignore]\ncolumns = [\"x\"]\n";
    std::fs::write(&mapping, toml).unwrap();
    let mut import = process::command(&LOGGIA, &folder.path().join("data"))
        .args(["import", "-", "--dry-run", "--mapping", mapping.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = import.stdin.take().unwrap();
    let block = "x".repeat(1_000_000);
    // Longer takes long in a debug build, and holds no more.
    for number in 0..200 {
        let bracket = if number == 0 { '[' } else { ',' };
        write!(input, "{bracket}{{\"T\":\"House {number}\",\"x\":\"{block}\"}}").unwrap();
    }
    let peak = peak_kilobytes(import.id());
    input.write_all(b"]").unwrap();
    drop(input);
    assert_eq!(import.wait().unwrap().code(), Some(0));
    assert!(peak < 150_000, "the import held {peak} kB");
}

#[tokio::test]
async fn an_interrupted_import_reports_its_progress() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("in.ndjson"));
    write_houses(&file, 60_000);
    let mut import = Loggia::spawn(&LOGGIA, &data, &["import", file.to_str().unwrap(), "--json"]);
    kit::wait_until(TIMEOUT, "the first records", async || {
        data.join("store/events.db").exists()
            && process::run(&LOGGIA, &data, &["events", "show", "500"]).status.success()
    })
    .await;
    import.signal(Signal::INT);
    let status = import.ended(TIMEOUT).await;
    assert_eq!(status.code(), Some(130), "{}", import.stderr());
    assert!(import.stderr().contains("interrupted"), "{}", import.stderr());
    let counts: serde_json::Value = serde_json::from_str(&import.stdout()).unwrap();
    let written = counts["new"].as_u64().unwrap();
    assert!(written < 60_000, "the signal came too late to interrupt anything");
    assert_eq!(exported_slugs(&data).len() as u64, written, "what it says is what is there");
    let counts = process::run(&LOGGIA, &data, &["import", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(counts["same"].as_u64().unwrap(), written);
    process::run(&LOGGIA, &data, &["events", "verify"]).success();
}
