//! Metrics of counted calls: those in the ledger, on NATS only, and in the spool.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ledger::Ledger;
use metering::Meter;
use prometheus_client::encoding::EncodeMetric;
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;

use super::{collect, gauge};

pub fn register_ledger(registry: &mut Registry, ledger: Arc<Ledger>) {
    collect(registry, move |mut encoder| {
        let position = ledger.position().0;
        gauge(&mut encoder, "loggia_ledger_position", "Last position of the ledger of calls.", position)?;
        let help = "Messages of the streams of calls that are not in the ledger yet.";
        gauge(&mut encoder, "loggia_ledger_lag", help, ledger.lag())?;
        let (name, help) = (
            "loggia_ledger_malformed",
            "Messages on the streams of calls that are no calls, since the start.",
        );
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        ConstCounter::new(ledger.malformed()).encode(metric)
    });
}

pub fn register_spool(registry: &mut Registry, meter: Meter, folder: PathBuf) {
    collect(registry, move |mut encoder| {
        let help = "Answered calls that wait in the spool of this node until NATS counts them.";
        gauge(&mut encoder, "loggia_spool_calls", help, meter.spooled())?;
        let help = "Size of the files of the spool of this node.";
        gauge(&mut encoder, "loggia_spool_bytes", help, meter.spooled_bytes())?;
        let help = "Size of the files with calls that no stream can take, in the folder of the spool.";
        gauge(&mut encoder, "loggia_spool_stuck_bytes", help, stuck_bytes(&folder))
    });
}

/// Returns the size of the files with calls that no stream accepts; 0 if the folder cannot be read.
fn stuck_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let stuck =
        entries.flatten().filter(|entry| Path::new(&entry.file_name()).extension() == Some("stuck".as_ref()));
    stuck.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

#[cfg(test)]
mod tests;
