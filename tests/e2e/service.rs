//! Starts the binary for the tests of this folder and talks to it.

use std::path::Path;
use std::time::Duration;

use kit::ProgramOutput;
use kit::http::Http;
use kit::nats::Nats;
use kit::process::{self, Loggia};
use nats::url::connect_options;
use serde_json::Value;

/// The binary under test.
pub(crate) use kit::process::LOGGIA;

pub(crate) use kit::TIMEOUT;

/// `loggia up` on an empty temporary folder.
pub(crate) struct Service {
    // Declared first: dropping it looks in the folder for the nats-server that a killed process leaves.
    pub(crate) loggia: Loggia,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) http: Http,
}

impl Service {
    /// Starts with further arguments; `None` without a nats-server, with a message.
    pub(crate) async fn with(args: &[&str]) -> Option<Service> {
        let folder = kit::nats::data_folder().await?;
        let mut loggia = Loggia::up(&LOGGIA, folder.path(), args).await;
        let http = loggia.ready().await;
        Some(Service { loggia, folder, http })
    }

    pub(crate) async fn empty() -> Option<Service> {
        Service::with(&["--no-demo"]).await
    }

    /// Returns the base URL of the API, without a slash at its end.
    pub(crate) fn base(&self) -> String {
        let address = std::fs::read_to_string(self.folder.path().join("run/api.addr")).unwrap();
        format!("http://{}", address.trim())
    }

    /// Returns a client of its NATS server.
    pub(crate) async fn nats_client(&self) -> async_nats::Client {
        let running = std::fs::read(self.folder.path().join("run/write.json")).unwrap();
        let running: Value = serde_json::from_slice(&running).unwrap();
        let url = running["nats_url"].as_str().unwrap();
        connect_options(url).unwrap().connect(url).await.unwrap()
    }

    /// Runs a command on the same folder, and returns its JSON output.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        json(self.folder.path(), args)
    }

    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        process::run(&LOGGIA, self.folder.path(), args)
    }

    /// Waits until the response of a path is as expected, and returns its body.
    pub(crate) async fn wait_for_response(
        &self,
        path: &str,
        what: &str,
        is_expected: impl Fn(u16, &Value) -> bool,
    ) -> Value {
        kit::wait_for(TIMEOUT, what, async || {
            let answer = self.http.get(path).await;
            let body = answer.json();
            is_expected(answer.status, &body).then_some(body)
        })
        .await
    }

    /// Imports lines, and waits until all projections have applied them.
    pub(crate) async fn import(&self, lines: &[Value]) -> Value {
        let file = self.folder.path().join("import.ndjson");
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&file, text).unwrap();
        let counts = self.json(&["import", file.to_str().unwrap()]).pop().unwrap();
        self.caught_up(counts["position"].as_u64().unwrap()).await;
        counts
    }

    /// Waits until every projection of the log has applied it up to this position; the counters follow calls instead.
    pub(crate) async fn caught_up(&self, position: u64) {
        kit::wait_until(TIMEOUT, &format!("all projections at {position}"), async || {
            let status = self.json(&["status"]).pop().unwrap();
            let projections = status["projections"].as_array().unwrap();
            let mut of_the_log = projections.iter().filter(|p| p["name"] != "counters");
            !projections.is_empty() && of_the_log.all(|p| p["position"].as_u64().unwrap() >= position)
        })
        .await;
        // The readers check for a new commit every 25 ms; which one they have cannot be asked.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Starts a role on a NATS server.
pub(crate) fn spawn_on(nats: &Nats, data: &Path, role: &str) -> Loggia {
    let mut command = process::command(&LOGGIA, data);
    command.arg(role).env("LOGGIA_NATS_URL", nats.url());
    Loggia::spawn_command(command, data)
}

/// Waits until the write side on a folder accepts commands.
pub(crate) async fn writes(data: &Path) {
    let announced = data.join("run/write.json");
    kit::wait_until(TIMEOUT, "the write side", async || announced.exists()).await;
}

/// Runs a command that must succeed, and returns its JSON output.
pub(crate) fn json(folder: &Path, args: &[&str]) -> Vec<Value> {
    process::run(&LOGGIA, folder, &[args, &["--json"]].concat()).success().json_lines()
}
