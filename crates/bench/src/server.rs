//! The measured process: `loggia up` of the running executable, on a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::process::{Child, Command};

use crate::load::Connection;

/// How long it may take to come up, whatever the catalog's size.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long it may take to end.
const STOPPED: Duration = Duration::from_secs(30);

/// A running `loggia up`; its folder is deleted with it.
pub struct Server {
    folder: tempfile::TempDir,
    child: Option<Child>,
    /// Where it listens.
    pub address: String,
}

/// What a process has used so far.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// CPU time in user and kernel mode, in seconds.
    pub cpu: f64,
    /// Resident memory now, in bytes.
    pub resident: u64,
}

impl Server {
    /// A server on an empty folder, not yet started.
    pub fn new() -> Result<Server> {
        let folder = tempfile::Builder::new()
            .prefix("loggia-bench-")
            .tempdir()
            .context("no temporary folder can be made")?;
        Ok(Server { folder, child: None, address: String::new() })
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A folder beside the data folder for files of the benchmark.
    pub fn beside(&self) -> &Path {
        self.folder.path()
    }

    /// Starts it, and says how many seconds it took until it was ready.
    pub async fn start(&mut self) -> Result<f64> {
        let began = Instant::now();
        let log = std::fs::File::create(self.folder.path().join("log"))?;
        let spawned = self.command(&["up", "--no-demo", "--listen", "127.0.0.1:0"])?.stderr(log).spawn()?;
        let child = self.child.insert(spawned);
        let address = self.folder.path().join("data/run/api.addr");
        while began.elapsed() < PATIENCE && child.try_wait()?.is_none() {
            if let Ok(text) = std::fs::read_to_string(&address) {
                text.trim().clone_into(&mut self.address);
                if let Ok(mut connection) = Connection::open(&self.address).await
                    && connection.get("/readyz").await.is_ok_and(|answer| answer.status == 200)
                {
                    return Ok(began.elapsed().as_secs_f64());
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        bail!("the measured server ended, or did not come up within {PATIENCE:?}; it said:\n{log}")
    }

    /// Runs a command of this build on the server's folder, and gives what it answered as JSON lines.
    pub async fn loggia(&self, args: &[&str]) -> Result<Vec<serde_json::Value>> {
        let mut command = self.command(args)?;
        let answered = command.arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped()).output().await?;
        if !answered.status.success() {
            bail!("`loggia {}` failed: {}", args.join(" "), String::from_utf8_lossy(&answered.stderr).trim());
        }
        let text = String::from_utf8(answered.stdout)?;
        text.lines().map(|line| serde_json::from_str(line).map_err(Into::into)).collect()
    }

    fn command(&self, args: &[&str]) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(args)
            .args(["--auth", "off", "--data"])
            .arg(self.data())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// The process id of the server.
    pub fn pid(&self) -> Result<u32> {
        self.child.as_ref().and_then(Child::id).context("the measured server has ended")
    }

    /// Its memory with that of its private nats-server, in bytes.
    pub fn memory(&self) -> Result<u64> {
        let own = self.pid()?;
        let mut bytes = usage(own)?.resident;
        for child in children(own) {
            bytes += usage(child).map_or(0, |usage| usage.resident);
        }
        Ok(bytes)
    }

    /// Ends it as an operator would.
    pub async fn stop(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child {
            let pid = child.id().context("the measured server has ended")?;
            Command::new("kill").arg(pid.to_string()).status().await?;
            child.wait().await?;
            self.child = None;
        }
        Ok(())
    }
}

impl Drop for Server {
    /// Ends the server as an operator would when the benchmark fails: if it were killed, its private nats-server would go on.
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let Some(pid) = child.id() else { return };
        let _ = std::process::Command::new("kill").arg(pid.to_string()).status();
        let began = Instant::now();
        while began.elapsed() < STOPPED && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What a process has used so far, as the kernel counts it.
pub fn usage(pid: u32) -> Result<Usage> {
    // Linux counts CPU time in hundredths of a second and memory in pages of 4 KiB here.
    const TICKS: f64 = 100.0;
    const PAGE: u64 = 4096;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .context("CPU time is read from /proc, which Linux has")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Ok(Usage { cpu: (number(11) + number(12)) as f64 / TICKS, resident: number(21) * PAGE })
}

fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let direct = std::fs::read_to_string(path).unwrap_or_default();
    let mut all: Vec<u32> = direct.split_whitespace().filter_map(|text| text.parse().ok()).collect();
    // Children belong to the thread that made them; look through all threads of the process.
    if let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) {
        for task in tasks.flatten() {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(text.split_whitespace().filter_map(|text| text.parse::<u32>().ok()));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}
