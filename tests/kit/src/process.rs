//! The real binary as a process that tests start, kill and ask to end.
//!
//! The binary's path comes from the test, as `env!("CARGO_BIN_EXE_loggia")`: only a test of the root package has it.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::http::Http;
use crate::wait::wait_for;

const READY_WITHIN: Duration = Duration::from_secs(60);

/// More than the ten seconds that are promised for SIGTERM, so that being late shows as a time and not as a hang.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// A `loggia` process on a data folder. Dropping it kills it, and the nats-server it left behind if there is one.
#[derive(Debug)]
pub struct Loggia {
    child: Child,
    data: PathBuf,
    output: TempDir,
}

/// A command on `binary` that sees none of the caller's Loggia settings but the nats-server to run and the log level.
/// It lets everybody in; a test of keys says `--auth keys`.
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
        // Nothing happens in the log but what a test does; those of vectors ask for them.
        .env("LOGGIA_VECTORS", "off")
        .stdin(Stdio::null());
    command
}

/// Runs a command of the binary to its end and gives its status and outputs.
pub fn run(binary: &str, data: &Path, args: &[&str]) -> Output {
    command(binary, data)
        .args(args)
        .output()
        .unwrap_or_else(|error| panic!("{binary} cannot be run: {error}"))
}

impl Loggia {
    /// Starts `loggia up` with more arguments and returns once its API has told its address.
    pub async fn up(binary: &str, data: &Path, args: &[&str]) -> Self {
        let all: Vec<&str> = ["up"].iter().chain(args).copied().collect();
        let mut loggia = Self::spawn(binary, data, &all);
        loggia.address().await;
        loggia
    }

    /// Starts any role without waiting for anything: `&["write"]`, `&["project"]`, `&["serve"]`, `&["up", …]`.
    pub fn spawn(binary: &str, data: &Path, args: &[&str]) -> Self {
        let mut command = command(binary, data);
        command.args(args);
        Self::spawn_command(command, data)
    }

    /// As [`Loggia::spawn`], for a [`command`] that the test gave more settings.
    pub fn spawn_command(mut command: Command, data: &Path) -> Self {
        let told = address_file(data);
        // The address of an earlier, killed run would be taken for this one's.
        if told.exists() {
            std::fs::remove_file(&told).expect("the old address can be deleted");
        }
        let output = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str| File::create(output.path().join(name)).expect("a file for the output");
        let child = command.stdout(file("stdout")).stderr(file("stderr")).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        Self { child, data: data.into(), output }
    }

    /// The address of its API, waiting until it is told. Panics with its standard error when the process ends first.
    pub async fn address(&mut self) -> SocketAddr {
        let told = address_file(&self.data);
        wait_for(READY_WITHIN, "the address of the API in run/api.addr", async || {
            if let Some(status) = self.child.try_wait().expect("the child can be asked") {
                panic!("loggia ended ({status}) before it served:\n{}", self.stderr());
            }
            std::fs::read_to_string(&told).ok()?.trim().parse().ok()
        })
        .await
    }

    /// The base address of its API, such as `http://127.0.0.1:41234`, without `/v1`.
    pub async fn base(&mut self) -> String {
        format!("http://{}", self.address().await)
    }

    /// A client of its API.
    pub async fn http(&mut self) -> Http {
        Http::new(self.base().await)
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written to standard error so far.
    pub fn stderr(&self) -> String {
        self.written("stderr")
    }

    /// What it has written to standard output so far.
    pub fn stdout(&self) -> String {
        self.written("stdout")
    }

    /// Kills it as a crash would and returns once it is gone. Its nats-server lives on, as it would after a crash.
    pub fn kill9(&mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process can be waited for");
    }

    /// Sends SIGTERM and gives how it ended. Panics with its standard error when it does not end.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended(ENDS_WITHIN).await
    }

    /// Sends any signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("the process takes signals");
    }

    /// Waits for it to end by itself.
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
        if let Err(left) = write::nats_server::end_orphan(&self.data.join("nats")) {
            eprintln!("a nats-server may be left over: {left}");
        }
    }
}

fn address_file(data: &Path) -> PathBuf {
    data.join("run").join("api.addr")
}
