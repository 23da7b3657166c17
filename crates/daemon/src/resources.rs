//! The resources of the machine: how many the process may use, and how many it uses.

use std::io;
use std::path::Path;

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::runtime::{Builder, Handle, Runtime};

/// The limit of open files is raised no further: no process needs more, and some systems have no limit.
const MOST_OPEN_FILES: u64 = 1 << 20;

/// Clock ticks per second in which Linux counts processor time for programs.
const TICKS: f64 = 100.0;

/// Raises the soft limit of open files to the hard one, since systems commonly begin with 1,024. Returns the limit.
///
/// # Errors
///
/// Fails if the system refuses it.
pub fn raise_open_files_limit() -> io::Result<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(MOST_OPEN_FILES).min(MOST_OPEN_FILES);
    if current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })?;
    }
    Ok(open_files_limit().unwrap_or(MOST_OPEN_FILES))
}

/// Returns how many files the process may have open; `None` without a limit.
pub fn open_files_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Makes files that the process creates readable by their owner only, whatever the shell that started it had set.
pub fn make_files_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// What the process uses. Absent on systems without `/proc`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProcessUsage {
    /// The number of open files.
    pub open_files: Option<u64>,
    /// Processor time, in seconds, with that of the system on its behalf.
    pub cpu_seconds: Option<f64>,
    /// Memory, in bytes.
    pub resident_bytes: Option<u64>,
    /// The most memory so far, in bytes.
    pub peak_resident_bytes: Option<u64>,
    /// Mapped addresses, in bytes.
    pub virtual_bytes: Option<u64>,
}

impl ProcessUsage {
    /// Measures this process.
    pub fn measure() -> ProcessUsage {
        let read = |path| std::fs::read_to_string(path).ok();
        let status = read("/proc/self/status").unwrap_or_default();
        let files = std::fs::read_dir("/proc/self/fd").ok();
        ProcessUsage {
            // Without the folder itself, which is open to list it.
            open_files: files.map(|files| (files.count() as u64).saturating_sub(1)),
            cpu_seconds: read("/proc/self/stat").as_deref().and_then(cpu_seconds),
            resident_bytes: memory(&status, "VmRSS:"),
            peak_resident_bytes: memory(&status, "VmHWM:"),
            virtual_bytes: memory(&status, "VmSize:"),
        }
    }
}

/// Returns the processor time of `/proc/self/stat`, in seconds.
fn cpu_seconds(stat: &str) -> Option<f64> {
    // The second field is the program's name in brackets, which may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some((ticks(14)? + ticks(15)?) as f64 / TICKS)
}

/// Returns the bytes of a line of `/proc/self/status`, which has them in KiB.
fn memory(status: &str, line: &str) -> Option<u64> {
    let value = status.lines().find_map(|found| found.strip_prefix(line))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The space on a disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// What the process may still write.
    pub free: u64,
    /// The size of the disk.
    pub total: u64,
}

/// Returns the space on the disk of a folder.
///
/// # Errors
///
/// Fails if there is no such folder.
pub fn disk_space(folder: &Path) -> io::Result<DiskSpace> {
    let disk = rustix::fs::statvfs(folder)?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    Ok(DiskSpace { free: bytes(disk.f_bavail), total: bytes(disk.f_blocks) })
}

/// A runtime whose threads, and those that they start, have a lower priority than the others of the process. Its threads end by
/// themselves when it is dropped; async code may not wait for them.
#[derive(Debug)]
pub struct LowPriorityRuntime {
    runtime: Option<Runtime>,
    handle: Handle,
}

impl LowPriorityRuntime {
    /// Starts this number of threads with a niceness, from 0 to 19; at 10 they get about a tenth of the processor time of the others.
    ///
    /// # Errors
    ///
    /// Fails if the threads cannot be started.
    pub fn start(threads: usize, niceness: i32) -> io::Result<LowPriorityRuntime> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("background")
            .on_thread_start(move || {
                // On Linux a thread has a niceness of its own, and passes it on to the threads it starts. On other systems,
                // and where it is not allowed, all threads stay equal.
                let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness);
            })
            .enable_all()
            .build()?;
        Ok(LowPriorityRuntime { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// Returns the handle on which tasks are spawned.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for LowPriorityRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_linux_about_a_process_are_read() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 9 0 12345 99 1 18446744073709551615 1";
        assert_eq!((cpu_seconds(stat), cpu_seconds("7 (a) S 1 2")), (Some(3.0), None));
        let status = "VmSize:\t  2048 kB\nVmRSS:\t      12 kB\n";
        assert_eq!((memory(status, "VmRSS:"), memory(status, "VmSwap:")), (Some(12_288), None));
    }

    #[test]
    fn a_process_measures_itself() {
        let usage = ProcessUsage::measure();
        if cfg!(target_os = "linux") {
            assert!(usage.open_files > Some(0) && usage.cpu_seconds >= Some(0.0), "{usage:?}");
            let (resident, peak) = (usage.resident_bytes, usage.peak_resident_bytes);
            assert!(Some(0) < resident && resident <= peak && usage.virtual_bytes >= resident, "{usage:?}");
        }
        let disk = disk_space(Path::new(".")).unwrap();
        assert!(disk.free <= disk.total && disk.total > 0, "{disk:?}");
    }

    #[test]
    fn a_task_runs_on_threads_of_low_priority() {
        let runtime = LowPriorityRuntime::start(1, 10).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        runtime.handle().spawn(async move { sender.send(7) });
        assert_eq!(receiver.recv(), Ok(7));
    }
}
