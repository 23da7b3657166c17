//! Metrics of the process and of the machine: version, readiness, connection, processor, memory, files, disk.

use std::path::PathBuf;

use api::Readiness;
use async_nats::connection::State;
use daemon::resources::{DiskSpace, ProcessUsage, disk_space, open_files_limit};
use daemon::standard_error::lost_lines;
use jiff::Timestamp;
use prometheus_client::encoding::EncodeMetric;
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use tokio::sync::watch;

use super::{collect, gauge};
use crate::process::{COMMIT, FEATURES, VERSION};

/// Adds the version and the role of the process, whether it is ready, and the state of its connection to NATS.
pub fn register(
    registry: &mut Registry,
    role: &'static str,
    readiness: watch::Receiver<Readiness>,
    nats: Option<async_nats::Client>,
) {
    let build = [
        ("version", VERSION),
        ("commit", COMMIT.unwrap_or("unknown")),
        ("features", FEATURES.as_str()),
        ("role", role),
    ];
    registry.register("loggia_build", "Build and role of the process", Info::new(build));
    collect(registry, move |mut encoder| {
        let ready = readiness.borrow().ready;
        gauge(&mut encoder, "loggia_ready", "1 while the process is ready, else 0.", ready.into())?;
        let (name, help) = ("loggia_log_lines_lost", "Lines that could not be written to standard error.");
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        ConstCounter::new(lost_lines()).encode(metric)?;
        if traces::is_exporting() {
            let (name, help) = ("loggia_spans_dropped", "Spans that could not be sent to the collector.");
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(traces::dropped()).encode(metric)?;
        }
        let Some(nats) = &nats else { return Ok(()) };
        let connected = nats.connection_state() == State::Connected;
        let help = "1 while the process is connected to NATS, else 0.";
        gauge(&mut encoder, "loggia_nats_connected", help, connected.into())
    });
}

/// Adds what the process uses of the machine, and the space on the disk of the data folder.
pub fn register_machine(registry: &mut Registry, data: PathBuf, began: Timestamp) {
    collect(registry, move |mut encoder| {
        if let Ok(DiskSpace { free, total }) = disk_space(&data) {
            let help = "Bytes that the process may still write to the disk of the data folder.";
            gauge(&mut encoder, "loggia_disk_free_bytes", help, free)?;
            let help = "Size of the disk of the data folder.";
            gauge(&mut encoder, "loggia_disk_size_bytes", help, total)?;
        }
        if let Some(limit) = open_files_limit() {
            gauge(&mut encoder, "process_max_fds", "Files that the process may have open.", limit)?;
        }
        let (name, help) = ("process_start_time_seconds", "When the process began, in Unix seconds.");
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(began.as_millisecond() as f64 / 1_000.0).encode(metric)?;
        // What the system does not measure is left out.
        let usage = ProcessUsage::measure();
        if let Some(open) = usage.open_files {
            gauge(&mut encoder, "process_open_fds", "Files that the process has open.", open)?;
        }
        if let Some(seconds) = usage.cpu_seconds {
            let (name, help) = ("process_cpu_seconds", "Processor time that the process has taken.");
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            ConstCounter::new(seconds).encode(metric)?;
        }
        if let Some(bytes) = usage.resident_bytes {
            gauge(&mut encoder, "process_resident_memory_bytes", "Memory that the process holds.", bytes)?;
        }
        if let Some(bytes) = usage.virtual_bytes {
            let help = "Addresses that the process has mapped.";
            gauge(&mut encoder, "process_virtual_memory_bytes", help, bytes)?;
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests;
