//! The measured process: `loggia up` of the running executable, in a temporary folder.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::process::{Child, Command};

use crate::load::Connection;

/// The timeout of the start, for any size of catalog.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// The timeout of the shutdown.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// A running `loggia up`; its folder is deleted with it.
pub struct Server {
    folder: tempfile::TempDir,
    /// The folder with the weights of the encoders.
    weights: PathBuf,
    child: Option<Child>,
    /// The address that it listens on.
    pub address: String,
}

/// What a process has used.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// CPU time in user and kernel mode, in seconds.
    pub cpu: f64,
    /// Current resident memory, in bytes.
    pub resident: u64,
    /// What was written to disks, in bytes.
    pub written: u64,
}

impl Server {
    /// Creates a server with an empty folder and these weights; it is not started.
    ///
    /// # Errors
    ///
    /// If no temporary folder can be created.
    pub fn new(weights: &Path) -> Result<Server> {
        let folder = tempfile::Builder::new()
            .prefix("loggia-bench-")
            .tempdir()
            .context("no temporary folder can be made")?;
        Ok(Server { folder, weights: weights.to_owned(), child: None, address: String::new() })
    }

    /// Returns the data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the temporary folder, which holds the data folder and files of the benchmark.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts it and waits until it is ready; returns the seconds that this took.
    ///
    /// # Errors
    ///
    /// If it ends, or is not ready at the timeout.
    pub async fn start(&mut self) -> Result<f64> {
        let began = Instant::now();
        let log = std::fs::File::create(self.folder.path().join("log"))?;
        let spawned = self.command(&["up", "--no-demo", "--listen", "127.0.0.1:0"])?.stderr(log).spawn()?;
        let child = self.child.insert(spawned);
        let address = self.folder.path().join("data/run/api.addr");
        while began.elapsed() < START_TIMEOUT && child.try_wait()?.is_none() {
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
        bail!("the measured server ended, or did not come up within {START_TIMEOUT:?}; it said:\n{log}")
    }

    /// Runs a command of this executable on the server's folder; returns its output, which is JSON lines.
    ///
    /// # Errors
    ///
    /// If the command fails or its output is not JSON.
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
            .arg("--weights")
            .arg(&self.weights)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        Ok(command)
    }

    /// Returns the process id of the server.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn pid(&self) -> Result<u32> {
        self.child.as_ref().and_then(Child::id).context("the measured server has ended")
    }

    /// Returns its memory and that of its private nats-server, in bytes.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn memory(&self) -> Result<u64> {
        Ok(self.usages()?.iter().map(|usage| usage.resident).sum())
    }

    /// Returns its CPU time and that of its private nats-server, in seconds.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn cpu(&self) -> Result<f64> {
        Ok(self.usages()?.iter().map(|usage| usage.cpu).sum())
    }

    fn usages(&self) -> Result<Vec<Usage>> {
        let pid = self.pid()?;
        let mut usages = vec![usage(pid)?];
        usages.extend(children(pid).into_iter().filter_map(|child| usage(child).ok()));
        Ok(usages)
    }

    /// Stops it with SIGTERM.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub async fn stop(&mut self) -> Result<()> {
        if let Some(child) = &mut self.child {
            let pid = child.id().context("the measured server has ended")?;
            Command::new("kill").arg(pid.to_string()).env_clear().status().await?;
            child.wait().await?;
            self.child = None;
        }
        Ok(())
    }
}

impl Drop for Server {
    /// Stops the server with SIGTERM also when the benchmark fails: killed, it would leave its private nats-server running.
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let Some(pid) = child.id() else { return };
        let _ = std::process::Command::new("kill").arg(pid.to_string()).env_clear().status();
        let began = Instant::now();
        while began.elapsed() < STOP_TIMEOUT && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Returns what a process has used.
///
/// # Errors
///
/// On systems without `/proc`, and if the process has ended.
pub fn usage(pid: u32) -> Result<Usage> {
    // Units of /proc on Linux x86-64: clock ticks of 10 ms and pages of 4 KiB.
    const TICKS: f64 = 100.0;
    const PAGE: u64 = 4096;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .context("CPU time is read from /proc, which Linux has")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let number = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let io = std::fs::read_to_string(format!("/proc/{pid}/io"))?;
    let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok());
    Ok(Usage {
        cpu: (number(11) + number(12)) as f64 / TICKS,
        resident: number(21) * PAGE,
        written: written.context("/proc does not say what the process wrote")?,
    })
}

fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let direct = std::fs::read_to_string(path).unwrap_or_default();
    let mut all: Vec<u32> = direct.split_whitespace().filter_map(|text| text.parse().ok()).collect();
    // Children belong to the thread that started them, so all threads are read.
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
