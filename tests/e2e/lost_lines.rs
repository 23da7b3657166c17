//! Standard error that cannot be written: services serve on and count lost lines, and commands keep their exit status.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use kit::http::Http;
use kit::process::{self, Loggia};
use kit::{ProgramOutput, free_port};
use rustix::fs::OFlags;
use serde_json::Value;

use crate::service::{LOGGIA, TIMEOUT};

/// Returns a pipe whose reader has ended.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Returns a file on a disk without room.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// A service that logs each request to the given standard error, and its operators' listener.
struct Logging {
    loggia: Loggia,
    http: Http,
    operators: Http,
}

impl Logging {
    fn spawn(data: &Path, stderr: impl Into<Stdio>) -> (Loggia, Http) {
        let admin = format!("127.0.0.1:{}", free_port());
        let mut command = process::command(&LOGGIA, data);
        command.args(["up", "--no-demo", "--admin-listen", &admin, "--log-format", "json"]);
        command.args(["--log", "warn,loggia=info,access=info"]);
        (Loggia::spawn_with_stderr(command, data, stderr), Http::new(format!("http://{admin}")))
    }

    async fn start(data: &Path, stderr: impl Into<Stdio>) -> Logging {
        let (mut loggia, operators) = Self::spawn(data, stderr);
        let http = loggia.ready().await;
        Logging { loggia, http, operators }
    }

    /// Returns how many lines were lost.
    async fn lost(&self) -> u64 {
        let metrics = self.operators.get("/metrics").await;
        let mut samples = metrics.text().lines();
        let lost = samples.find_map(|line| line.strip_prefix("loggia_log_lines_lost_total "));
        lost.unwrap_or_else(|| panic!("no metric of lost lines in\n{}", metrics.text())).parse().unwrap()
    }

    /// Sends requests until more lines are lost than before.
    async fn until_more_is_lost(&self, before: u64) {
        kit::wait_until(TIMEOUT, "lost lines", async || {
            assert_eq!(self.http.get("/readyz").await.status, 200);
            self.lost().await > before
        })
        .await;
    }
}

#[tokio::test]
async fn a_service_without_a_readable_log_starts_serves_and_stops() {
    for stderr in [closed, full] {
        let Some(folder) = kit::nats::data_folder().await else { return };
        let mut service = Logging::start(folder.path(), stderr()).await;
        let begun = service.lost().await;
        assert!(begun > 0, "the lines of the start are lost");
        service.until_more_is_lost(begun).await;
        assert_eq!(service.loggia.terminate().await.code(), Some(0));
    }
}

#[tokio::test]
async fn a_log_that_is_read_again_says_how_many_lines_were_lost() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let fifo = folder.path().join("log");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // A pipe that is open for both waits for nobody, and lets its ends be opened.
    let both = File::options().read(true).write(true).open(&fifo).unwrap();
    let first = BufReader::new(File::open(&fifo).unwrap());
    let writer = File::options().write(true).open(&fifo).unwrap();
    drop(both);

    let (mut loggia, operators) = Logging::spawn(folder.path(), writer);
    let line = first.lines().next().unwrap().unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["message"], "starting");
    // The reader has ended after the first line, as `head` does.
    let http = loggia.ready().await;
    let mut service = Logging { loggia, http, operators };
    service.until_more_is_lost(service.lost().await).await;

    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut again = File::options().read(true).custom_flags(flags).open(&fifo).unwrap();
    let mut log = Vec::new();
    let report = kit::wait_for(TIMEOUT, "the report in the log", async || {
        assert_eq!(service.http.get("/readyz").await.status, 200);
        // It ends with an error while there is nothing more to read.
        let _ = again.read_to_end(&mut log);
        let text = String::from_utf8_lossy(&log).into_owned();
        let (complete, _) = text.rsplit_once('\n')?;
        let mut lines = complete.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.find(|line| line["message"].as_str().unwrap_or_default().starts_with("the log can be written"))
    })
    .await;
    let lost = service.lost().await;
    assert_eq!((&report["level"], &report["target"]), (&"WARN".into(), &"loggia::telemetry".into()));
    assert_eq!((report["lines"].as_u64(), report["since_start"].as_u64()), (Some(lost), Some(lost)));
    assert_eq!(service.loggia.terminate().await.code(), Some(0));
}

#[tokio::test]
async fn a_reader_that_stands_still_does_not_stop_the_service() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let (unread, writer) = std::io::pipe().unwrap();
    let mut service = Logging::start(folder.path(), writer).await;
    // Requests are answered beyond what the pipe holds of their lines.
    service.until_more_is_lost(0).await;
    assert_eq!(service.http.get("/readyz").await.status, 200);
    assert_eq!(service.loggia.terminate().await.code(), Some(0));
    drop(unread);
}

/// Runs a command with a standard error that cannot be written, and returns its status and its output.
fn run(folder: &Path, args: &[&str], stderr: Stdio) -> (Option<i32>, String) {
    let output = ProgramOutput::of(process::command(&LOGGIA, folder).args(args).stderr(stderr));
    (output.status.code(), output.stdout)
}

#[test]
fn a_command_keeps_its_status_and_its_answer_without_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let [file, absent] = ["in.ndjson", "absent.ndjson"].map(|name| folder.path().join(name));
    let [file, absent] = [&file, &absent].map(|path| path.to_str().unwrap());
    std::fs::write(file, "{\"name\":\"A\",\"category\":\"art\"}\n{\"name\":7}\nnot a record\n").unwrap();
    for stderr in [closed, full] {
        // Its faults are on standard error.
        let (status, answer) = run(folder.path(), &["import", file, "--dry-run", "--json"], stderr());
        let counts: Value = serde_json::from_str(answer.lines().last().unwrap()).unwrap();
        assert_eq!((status, &counts["new"], &counts["rejected"]), (Some(0), &1.into(), &2.into()));

        let (status, answer) = run(folder.path(), &["import", absent, "--json"], stderr());
        let failure: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((status, &failure["kind"]), (Some(1), &"failed".into()));
        assert!(failure["detail"].as_str().unwrap().starts_with(absent), "{answer}");

        // There is no store; and what is wrong usage.
        assert_eq!(run(folder.path(), &["keys", "list"], stderr()), (Some(1), String::new()));
        for wrong in [&["import"][..], &["status", "--listen", "nowhere"], &["no-such-command"]] {
            assert_eq!(run(folder.path(), wrong, stderr()), (Some(2), String::new()), "{wrong:?}");
        }
    }
}
