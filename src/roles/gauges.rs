//! Gauges of the projections, read off when metrics are asked for.

use api::metrics::Registry;
use projections::node::Node;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use schemas::control::ProjectionStatus;

/// Adds the gauges of this node's projections.
pub fn register(registry: &mut Registry, node: Node) {
    registry.register_collector(Box::new(Projections { node }));
}

/// A gauge's name, its help, and how it is read off.
type Reading = (&'static str, &'static str, fn(&ProjectionStatus) -> i64);

#[derive(Debug)]
struct Projections {
    node: Node,
}

impl Collector for Projections {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let all = self.node.last_status();
        let gauges: [Reading; 5] = [
            ("loggia_projection_position", "Last position that is applied and committed.", |p| {
                p.position.0.cast_signed()
            }),
            ("loggia_projection_lag", "Events of the stream that are not applied yet.", |p| {
                p.lag.cast_signed()
            }),
            ("loggia_projection_parked", "Events that could not be applied.", |p| {
                i64::try_from(p.parked.len()).unwrap_or(i64::MAX)
            }),
            ("loggia_projection_skipped", "Events of newer versions that were passed over.", |p| {
                p.skipped.cast_signed()
            }),
            (
                "loggia_projection_heartbeat_seconds",
                "When the worker last showed that it lives, in Unix seconds.",
                |p| p.heartbeat.map_or(0, |beat| beat.as_second()),
            ),
        ];
        for (name, help, read) in gauges {
            for projection in &all {
                let gauge = ConstGauge::new(read(projection));
                let labels = [("projection", projection.name.as_str())];
                let mut metric = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
                gauge.encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}
