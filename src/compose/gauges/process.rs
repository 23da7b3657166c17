//! What the process is and what it takes of the machine: version, readiness, connection, processor, memory, files, disk.

use std::path::{Path, PathBuf};

use api::Readiness;
use async_nats::connection::State;
use jiff::Timestamp;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use rustix::process::{Resource, getrlimit};
use tokio::sync::watch;

use super::gauge;
use crate::build_info;

/// Ticks a second in which Linux tells processor time to programs.
const TICKS: f64 = 100.0;

/// Adds what the process is: its version, its role, whether it is ready, and its connection to NATS where it has one.
pub fn register(
    registry: &mut Registry,
    role: &'static str,
    readiness: watch::Receiver<Readiness>,
    nats: Option<async_nats::Client>,
) {
    let build = [
        ("version", build_info::VERSION),
        ("commit", build_info::COMMIT.unwrap_or("unknown")),
        ("features", build_info::FEATURES),
        ("role", role),
    ];
    registry.register("loggia_build", "Build and role of the process", Info::new(build));
    registry.register_collector(Box::new(Connected { readiness, nats }));
}

/// Adds what the process takes of the machine, and the room on the disk of the data folder.
pub fn register_machine(registry: &mut Registry, data: &Path, began: Timestamp) {
    registry.register_collector(Box::new(Machine { data: data.to_owned(), began }));
}

struct Connected {
    readiness: watch::Receiver<Readiness>,
    nats: Option<async_nats::Client>,
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connected").finish_non_exhaustive()
    }
}

impl Collector for Connected {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let ready = self.readiness.borrow().ready;
        gauge(&mut encoder, "loggia_ready", "1 while the process is ready, else 0.", ready.into())?;
        if traces::is_exporting() {
            let (name, help) = ("loggia_spans_dropped", "Spans that could not be sent to the collector.");
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(traces::dropped()).encode(metric)?;
        }
        let Some(nats) = &self.nats else { return Ok(()) };
        let connected = nats.connection_state() == State::Connected;
        let help = "1 while the process is connected to NATS, else 0.";
        gauge(&mut encoder, "loggia_nats_connected", help, connected.into())
    }
}

#[derive(Debug)]
struct Machine {
    data: PathBuf,
    /// When the process began.
    began: Timestamp,
}

impl Collector for Machine {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        if let Ok(disk) = rustix::fs::statvfs(&self.data) {
            let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
            let help = "Bytes that the process may still write to the disk of the data folder.";
            gauge(&mut encoder, "loggia_disk_free_bytes", help, bytes(disk.f_bavail))?;
            let help = "Size of the disk of the data folder.";
            gauge(&mut encoder, "loggia_disk_size_bytes", help, bytes(disk.f_blocks))?;
        }
        if let Some(limit) = getrlimit(Resource::Nofile).current {
            gauge(&mut encoder, "process_max_fds", "Files that the process may have open.", limit)?;
        }
        let (name, help) = ("process_start_time_seconds", "When the process began, in Unix seconds.");
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(self.began.as_millisecond() as f64 / 1_000.0).encode(metric)?;
        // Linux only: other systems have no such files, and then the metrics are left out.
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            // Without the folder itself, which is open for this.
            let open = (open.count() as u64).saturating_sub(1);
            gauge(&mut encoder, "process_open_fds", "Files that the process has open.", open)?;
        }
        let read = |path| std::fs::read_to_string(path).ok();
        if let Some(seconds) = read("/proc/self/stat").as_deref().and_then(processor) {
            let (name, help) = ("process_cpu_seconds", "Processor time that the process has taken.");
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(seconds).encode(metric)?;
        }
        let Some(status) = read("/proc/self/status") else { return Ok(()) };
        for (line, name, help) in [
            ("VmRSS:", "process_resident_memory_bytes", "Memory that the process holds."),
            ("VmSize:", "process_virtual_memory_bytes", "Addresses that the process has mapped."),
        ] {
            if let Some(bytes) = memory(&status, line) {
                gauge(&mut encoder, name, help, bytes)?;
            }
        }
        Ok(())
    }
}

/// Returns the seconds of the processor that the process has taken, and the system in its name, by `/proc/self/stat`.
fn processor(stat: &str) -> Option<f64> {
    // The second field is the program's name in brackets, which may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some((ticks(14)? + ticks(15)?) as f64 / TICKS)
}

/// Returns the bytes on a line of `/proc/self/status`, which are told in KiB.
fn memory(status: &str, line: &str) -> Option<u64> {
    let told = status.lines().find_map(|found| found.strip_prefix(line))?;
    told.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_of_a_process_is_read() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 9 0 12345 99 1 18446744073709551615 1";
        assert_eq!((processor(stat), processor("7 (a) S 1 2")), (Some(3.0), None));
        let status = "VmSize:\t  2048 kB\nVmRSS:\t      12 kB\n";
        assert_eq!((memory(status, "VmRSS:"), memory(status, "VmSwap:")), (Some(12_288), None));
    }

    #[test]
    fn a_process_sees_itself_and_its_disk() {
        let (folder, mut registry) = (tempfile::tempdir().unwrap(), Registry::default());
        let (_told, readiness) = watch::channel(Readiness::READY);
        register(&mut registry, "write", readiness, None);
        register_machine(&mut registry, folder.path(), Timestamp::UNIX_EPOCH);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let begin = format!("loggia_build_info{{version=\"{}\",commit=\"", build_info::VERSION);
        let build = text.lines().find(|line| line.starts_with(&begin)).unwrap();
        assert!(build.ends_with(",role=\"write\"} 1"), "{build}");
        assert!(text.lines().any(|found| found == "loggia_ready 1"), "{text}");
        let value = |name: &str| {
            let sample = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            sample.map(|value| value.parse::<f64>().unwrap())
        };
        let (free, size) =
            (value("loggia_disk_free_bytes").unwrap(), value("loggia_disk_size_bytes").unwrap());
        assert!(0.0 <= free && free <= size && size > 0.0, "{text}");
        assert_eq!(value("process_start_time_seconds"), Some(0.0), "{text}");
        if cfg!(target_os = "linux") {
            for name in ["process_open_fds", "process_resident_memory_bytes", "process_virtual_memory_bytes"]
            {
                assert!(value(name).is_some_and(|value| value > 0.0), "{name} is not in\n{text}");
            }
            assert!(value("process_cpu_seconds_total").is_some(), "{text}");
        }
    }
}
