//! SIGINT, SIGTERM and SIGHUP: progress is reported, and no partial output and no nats-server are left.

use std::io::Write;
use std::process::Stdio;

use kit::process::{self, Loggia};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::service::{LOGGIA, TIMEOUT, json as run_json};

/// Waits until a process has installed its signal handlers.
async fn accepts_signals(pid: u32) {
    kit::wait_until(TIMEOUT, "a process that takes signals", async || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        // SIGHUP, SIGINT and SIGTERM are bits 0, 1 and 14.
        u64::from_str_radix(mask.trim(), 16).unwrap() & 0x4003 == 0x4003
    })
    .await;
}

pub(crate) fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

/// Waits for a child to end, and returns its exit status and its output.
pub(crate) async fn ended(mut child: std::process::Child) -> (Option<i32>, String, String) {
    let status = kit::wait_for(TIMEOUT, "the end", async || child.try_wait().unwrap()).await;
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn an_import_waiting_for_input_is_interrupted_at_once_and_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let data = folder.path().join("data");
        let mut import = process::command(&LOGGIA, &data);
        import.args(["import", "-", "--json"]).stdin(Stdio::piped());
        let mut import = import.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = import.stdin.take();
        accepts_signals(import.id()).await;
        send(import.id(), signal);
        let (code, out, stderr) = ended(import).await;
        assert_eq!(code, Some(status), "{stderr}");
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["kind"], "interrupted");
        assert!(!data.exists());
        drop(input);
    }
}

#[tokio::test]
async fn an_import_ended_by_sigterm_reports_its_counts_and_completes_its_rejects_file() {
    let folder = tempfile::tempdir().unwrap();
    let rejects = folder.path().join("rejects.ndjson");
    let mut import = process::command(&LOGGIA, &folder.path().join("data"));
    import.args(["import", "-", "--json", "--rejects", rejects.to_str().unwrap()]).stdin(Stdio::piped());
    let mut import = import.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = import.stdin.take().unwrap();
    // A whole batch; the lines after it wait for more.
    let lines: String = (0..2_000).map(|n| format!("{{\"name\":\"{n}\",\"category\":\"film\"}}\n")).collect();
    input.write_all(lines.as_bytes()).unwrap();
    input.write_all(b"{\"name\":\"one more\"").unwrap();
    kit::wait_until(TIMEOUT, "the rejects of the first batch", async || {
        std::fs::read_to_string(&rejects).is_ok_and(|text| text.lines().count() == 2_000)
    })
    .await;
    send(import.id(), Signal::TERM);
    let (code, out, stderr) = ended(import).await;
    assert_eq!(code, Some(143), "{stderr}");
    let counts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&counts["rejected"], &counts["failure"]["kind"]), (&json!(2_000), &json!("interrupted")));
    assert!(stderr.contains("interrupted by SIGTERM; what is counted here is done"), "{stderr}");
    let rejected = std::fs::read_to_string(&rejects).unwrap();
    assert!(rejected.ends_with('\n') && rejected.lines().count() == 2_000);
    drop(input);
}

#[tokio::test]
async fn an_interrupted_rebuild_leaves_no_nats_server() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let (data, file) = (folder.path().join("data"), folder.path().join("in.ndjson"));
    let lines: String =
        (0..200).map(|n| format!("{{\"name\":\"House {n}\",\"category\":\"art\"}}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    run_json(&data, &["import", file.to_str().unwrap()]);
    for (command, signal, status) in [
        (["rebuild", "all"], Signal::INT, 130),
        (["rebuild", "search"], Signal::HUP, 129),
        (["verify", "search"], Signal::TERM, 143),
    ] {
        let mut running = Loggia::spawn(&LOGGIA, &data, &command);
        kit::wait_until(TIMEOUT, "its nats-server", async || nats_runs_on(&data)).await;
        running.signal(signal);
        let ended = running.ended(TIMEOUT).await;
        assert_eq!(ended.code(), Some(status), "{command:?}: {}", running.stderr());
        kit::wait_until(TIMEOUT, "the end of its nats-server", async || !nats_runs_on(&data)).await;
    }
    let verified = run_json(&data, &["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
}

#[tokio::test]
async fn sighup_acts_like_sigterm_except_under_nohup() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let data = folder.path().join("data");
    let mut up = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    up.signal(Signal::HUP);
    let ended = up.ended(TIMEOUT).await;
    assert!(ended.success(), "{ended}: {}", up.stderr());
    assert!(!nats_runs_on(&data) && !data.join("run/api.addr").exists());

    let mut command = process::command("nohup", &data);
    command.args([LOGGIA.as_str(), "up", "--no-demo"]);
    let mut up = Loggia::spawn_command(command, &data);
    let http = up.http().await;
    up.signal(Signal::HUP);
    up.signal(Signal::HUP);
    assert_eq!(http.get("/healthz").await.status, 200);
    assert!(up.terminate().await.success(), "{}", up.stderr());
}

/// Returns whether a nats-server runs with this data folder's configuration.
fn nats_runs_on(data: &std::path::Path) -> bool {
    let Ok(folder) = data.join("nats").canonicalize() else { return false };
    let folder = folder.display().to_string();
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("nats-server") && line.contains(&folder)
    })
}
