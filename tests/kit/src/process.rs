//! The real binary as a process that tests start, signal and kill.
//!
//! [`LOGGIA`] is this build of it; tests of upgrades name other ones.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::ProgramOutput;
use crate::http::Http;
use crate::wait::{TIMEOUT, wait_for};

/// The path of the binary under test: what `LOGGIA_BINARY` names, or else this checkout's, which is built first if it is not up to
/// date.
pub static LOGGIA: LazyLock<String> =
    LazyLock::new(|| std::env::var("LOGGIA_BINARY").unwrap_or_else(|_| build().display().to_string()));

/// Builds the binary in the folder of the running test, `target/debug/deps/e2e-…`, and returns its path.
fn build() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let profile = test.ancestors().nth(2).expect("a test is in the folder deps of its profile");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--locked", "--bin", "loggia", "--features", "eventstore,otlp"]);
    command.args([
        "--manifest-path",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"),
        "--target-dir",
    ]);
    command.arg(profile.parent().expect("the target folder"));
    if profile.ends_with("release") {
        command.arg("--release");
    }
    let status = command.status().expect("cargo is on PATH");
    assert!(status.success(), "the binary under test does not build; the compiler's words are above");
    profile.join("loggia")
}

/// A `loggia` process on a data folder. Dropping it kills it and any nats-server it left behind.
#[derive(Debug)]
pub struct Loggia {
    child: Child,
    data: PathBuf,
    output: TempDir,
}

/// Returns a command without the caller's Loggia settings, except for the nats-server and the log level. It uses
/// `--auth off`; tests of keys pass `--auth keys`.
pub fn command(binary: &str, data: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let is_kept = ["LOGGIA_NATS_SERVER", "LOGGIA_LOG"].contains(&name.as_str());
        let is_of_traces = name.starts_with("OTEL_") || name == "TRACEPARENT";
        if is_of_traces || (name.starts_with("LOGGIA_") && !is_kept) {
            command.env_remove(name);
        }
    }
    command
        .env("LOGGIA_DATA", data)
        .env("LOGGIA_LISTEN", "127.0.0.1:0")
        .env("LOGGIA_AUTH", "off")
        // The log must contain only what the test does; tests of vectors turn the embedding worker on.
        .env("LOGGIA_VECTORS", "off")
        .stdin(Stdio::null());
    command
}

/// Runs a command of the binary to its end and returns its status and output.
pub fn run(binary: &str, data: &Path, args: &[&str]) -> ProgramOutput {
    ProgramOutput::of(command(binary, data).args(args))
}

impl Loggia {
    /// Starts `loggia up` with further arguments and waits until it has written its API address.
    pub async fn up(binary: &str, data: &Path, args: &[&str]) -> Self {
        let all: Vec<&str> = ["up"].iter().chain(args).copied().collect();
        let mut loggia = Self::spawn(binary, data, &all);
        loggia.address().await;
        loggia
    }

    /// Starts any role without waiting: `&["write"]`, `&["project"]`, `&["serve"]`, `&["up", …]`.
    pub fn spawn(binary: &str, data: &Path, args: &[&str]) -> Self {
        let mut command = command(binary, data);
        command.args(args);
        Self::spawn_command(command, data)
    }

    /// Like [`Loggia::spawn`], for a [`command`] with further settings.
    pub fn spawn_command(command: Command, data: &Path) -> Self {
        Self::spawn_writing(command, data, None)
    }

    /// Like [`Loggia::spawn_command`], with another standard error than the file that [`Loggia::stderr`] returns.
    pub fn spawn_with_stderr(command: Command, data: &Path, stderr: impl Into<Stdio>) -> Self {
        Self::spawn_writing(command, data, Some(stderr.into()))
    }

    fn spawn_writing(mut command: Command, data: &Path, stderr: Option<Stdio>) -> Self {
        let announced = address_file(data);
        // Otherwise the address file of an earlier, killed process would be read.
        if announced.exists() {
            std::fs::remove_file(&announced).expect("the old address can be deleted");
        }
        let output = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str| File::create(output.path().join(name)).expect("a file for the output");
        let kept = file("stderr");
        let child = command.stdout(file("stdout")).stderr(stderr.unwrap_or_else(|| kept.into())).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        Self { child, data: data.into(), output }
    }

    /// Waits for the address of its API. Panics with its standard error if the process ends first.
    pub async fn address(&mut self) -> SocketAddr {
        let announced = address_file(&self.data);
        wait_for(TIMEOUT, "the address of the API in run/api.addr", async || {
            if let Some(status) = self.child.try_wait().expect("the child can be asked") {
                panic!("loggia ended ({status}) before it served:\n{}", self.stderr());
            }
            std::fs::read_to_string(&announced).ok()?.trim().parse().ok()
        })
        .await
    }

    /// Returns the base URL of its API, such as `http://127.0.0.1:41234`, without `/v1`.
    pub async fn base(&mut self) -> String {
        format!("http://{}", self.address().await)
    }

    /// Returns a client of its API.
    pub async fn http(&mut self) -> Http {
        Http::new(self.base().await)
    }

    /// Waits until it is ready, and returns a client of its API.
    pub async fn ready(&mut self) -> Http {
        let http = self.http().await;
        http.ready().await;
        http
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its standard error so far.
    pub fn stderr(&self) -> String {
        self.written("stderr")
    }

    /// Returns its standard output so far.
    pub fn stdout(&self) -> String {
        self.written("stdout")
    }

    /// Kills it with SIGKILL and waits until it has ended. Its nats-server keeps running, as after a crash.
    pub fn kill9(&mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process can be waited for");
    }

    /// Sends SIGTERM and returns the exit status. Panics with its standard error if it does not end.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended(TIMEOUT).await
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("the process takes signals");
    }

    /// Waits until it ends by itself.
    pub async fn ended(&mut self, within: Duration) -> ExitStatus {
        let what = format!("the end of loggia; it wrote:\n{}", self.stderr());
        wait_for(within, &what, async || self.child.try_wait().expect("the child can be asked")).await
    }

    fn written(&self, name: &str) -> String {
        let bytes = std::fs::read(self.output.path().join(name)).expect("its output was kept");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Loggia {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("loggia on {} had written:\n{}", self.data.display(), self.written("stderr"));
        }
        if let Err(left) = nats::server::stop_orphan(&self.data.join("nats")) {
            eprintln!("a nats-server may be left over: {left}");
        }
    }
}

fn address_file(data: &Path) -> PathBuf {
    data.join("run").join("api.addr")
}

/// Returns whether any file below a folder contains this text, ignoring case.
pub fn any_file_contains(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return any_file_contains(&path, text);
        }
        // A file that was deleted meanwhile contains nothing.
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
    })
}
