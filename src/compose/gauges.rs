//! The metrics of a process, read when they are requested: here those of the projections, the log and the components.

pub mod calls;
pub mod commands;
pub mod process;
pub mod upkeep;

use std::fmt;
use std::sync::Arc;

use health::Health;
use projections::node::Node;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;
use read::models::ModelKind;
use schemas::control::{LogHead, ProjectionStatus};
use tokio::sync::watch;
use workers::embedding_worker::EmbeddingCounts;
use workers::picture_fetcher::FetchCounts;

/// Adds the gauges of this node's projections.
pub fn register(registry: &mut Registry, node: Node) {
    collect(registry, move |mut encoder| {
        let all = node.last_status();
        let gauges: [ProjectionGauge; 5] = [
            ("loggia_projection_position", "Last position that is applied and committed.", |p| {
                p.position.0.cast_signed()
            }),
            (
                "loggia_projection_lag",
                "Events of the log that are not applied yet; of the counters, calls.",
                |p| p.lag.cast_signed(),
            ),
            ("loggia_projection_parked", "Events that could not be applied.", |p| {
                (p.parked.len() as u64 + p.parked_beyond).cast_signed()
            }),
            ("loggia_projection_skipped", "Events of newer versions that were passed over.", |p| {
                p.skipped.cast_signed()
            }),
            (
                "loggia_projection_heartbeat_timestamp_seconds",
                "When the worker last showed that it lives, in Unix seconds.",
                |p| p.heartbeat.map_or(0, |beat| beat.as_second()),
            ),
        ];
        for (name, help, read) in gauges {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for projection in &all {
                let labels = [("projection", projection.name.as_str())];
                ConstGauge::new(read(projection)).encode(metric.encode_family(&labels)?)?;
            }
        }
        let help = "How long ago the stream of events was last heard by a node that listens.";
        let unheard = node.source().longest_silence().as_secs();
        gauge(&mut encoder, "loggia_events_unheard_seconds", help, unheard)
    });
}

/// Adds the gauges of the log and of the relay.
pub fn register_log(registry: &mut Registry, announced: watch::Receiver<Option<LogHead>>) {
    collect(registry, move |mut encoder| {
        let Some(LogHead { position, relayed, .. }) = *announced.borrow() else { return Ok(()) };
        let lag = position.0.saturating_sub(relayed.0);
        gauge(&mut encoder, "loggia_log_position", "Last position of the event store.", position.0)?;
        gauge(&mut encoder, "loggia_relay_position", "Last position that NATS has acknowledged.", relayed.0)?;
        gauge(&mut encoder, "loggia_relay_lag", "Events of the log that are not on NATS yet.", lag)
    });
}

/// Adds a gauge of how long each component of the process has been failing.
pub fn register_health(registry: &mut Registry, health: Health) {
    collect(registry, move |mut encoder| {
        let all = health.durations();
        if all.is_empty() {
            return Ok(());
        }
        let help = "How long a component has failed without a success, in seconds; 0 while it works.";
        let name = "loggia_component_failing_seconds";
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (component, lasting) in all {
            let gauge = ConstGauge::new(lasting.as_secs().cast_signed());
            gauge.encode(metric.encode_family(&[("component", component.as_str())])?)?;
        }
        Ok(())
    });
}

/// Adds a gauge of whether this write side is the keeper of its log; of all write sides exactly one must be.
pub fn register_keeper(registry: &mut Registry, here: bool) {
    let gauge: Gauge = Gauge::default();
    gauge.set(here.into());
    let help =
        "Whether this write side keeps addresses, pictures and the ledger (1), or another one does (0)";
    registry.register("loggia_keeper", help, gauge);
}

/// Adds a gauge of whether the readers of this node's models fail.
pub fn register_models(registry: &mut Registry, health: Health) {
    collect(registry, move |mut encoder| {
        let failing = health.failing();
        let help = "1 while a read model cannot be opened or refreshed, so that answers are old; else 0.";
        let name = "loggia_model_refresh_failing";
        let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for model in ModelKind::ALL {
            let component = model.component();
            let fails = failing.iter().any(|failing| failing.component == component);
            let gauge = ConstGauge::new(i64::from(fails));
            gauge.encode(metric.encode_family(&[("model", model.name())])?)?;
        }
        Ok(())
    });
}

/// Adds gauges of the pictures that records name by URL.
pub fn register_pictures(registry: &mut Registry, counts: Arc<FetchCounts>) {
    collect(registry, move |mut encoder| {
        let help = "Pictures that wait to be fetched or are under way.";
        gauge(&mut encoder, "loggia_pictures_waiting", help, counts.waiting() as u64)?;
        let help = "Pictures that records name by URL and that could not be fetched or kept.";
        gauge(&mut encoder, "loggia_pictures_refused", help, counts.refused() as u64)
    });
}

/// Adds gauges of the projects whose vectors are to be computed.
pub fn register_vectors(registry: &mut Registry, counts: Arc<EmbeddingCounts>) {
    collect(registry, move |mut encoder| {
        let help = "Projects whose vectors wait to be computed or are being computed.";
        gauge(&mut encoder, "loggia_vectors_waiting", help, counts.waiting() as u64)?;
        let help =
            "Projects whose recorded vectors another encoder has computed, until they are computed again.";
        gauge(&mut encoder, "loggia_vectors_outdated", help, counts.outdated() as u64)
    });
}

/// Metrics that a function encodes whenever they are requested.
struct Metrics<F>(F);

impl<F> fmt::Debug for Metrics<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl<F: Fn(DescriptorEncoder<'_>) -> fmt::Result + Send + Sync + 'static> Collector for Metrics<F> {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.0(encoder)
    }
}

/// Registers metrics that `encode` encodes whenever they are requested.
fn collect(
    registry: &mut Registry,
    encode: impl Fn(DescriptorEncoder<'_>) -> fmt::Result + Send + Sync + 'static,
) {
    registry.register_collector(Box::new(Metrics(encode)));
}

/// The name of a gauge, its help, and its value.
type ProjectionGauge = (&'static str, &'static str, fn(&ProjectionStatus) -> i64);

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    let gauge = ConstGauge::new(value.cast_signed());
    gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}

#[cfg(test)]
mod tests;
