//! Metrics of commands and of the lines of imports: how many, with which outcome, and how long commands take.

use std::sync::Arc;

use prometheus_client::encoding::{EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Registry;
use write::service::metrics::{BOUNDS, CommandMetrics, LINE_OUTCOMES, OUTCOMES};

use super::collect;

pub fn register(registry: &mut Registry, metrics: Arc<CommandMetrics>) {
    collect(registry, move |mut encoder| {
        let commands = metrics.commands();
        // A metric without a sample would be empty.
        if !commands.is_empty() {
            let help = "Commands that the write side answered, by outcome.";
            let mut metric = encoder.encode_descriptor("loggia_commands", help, None, MetricType::Counter)?;
            for (command, counts) in &commands {
                for (outcome, count) in OUTCOMES.iter().zip(counts.outcomes) {
                    let labels = [("command", *command), ("outcome", *outcome)];
                    ConstCounter::new(count).encode(metric.encode_family(&labels)?)?;
                }
            }
            let (name, help) = ("loggia_command_seconds", "Time from a command's arrival to its answer.");
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
            for (command, counts) in &commands {
                let buckets: Vec<(f64, u64)> = BOUNDS.into_iter().zip(counts.buckets).collect();
                let (seconds, answers) = (counts.duration.as_secs_f64(), counts.buckets.iter().sum());
                let labels = [("command", *command)];
                let mut metric = metric.encode_family(&labels)?;
                metric.encode_histogram::<NoLabelSet>(seconds, answers, &buckets, None)?;
            }
        }
        let help = "Lines of imports by outcome, without those of dry runs.";
        let mut metric = encoder.encode_descriptor("loggia_import_lines", help, None, MetricType::Counter)?;
        for (outcome, count) in LINE_OUTCOMES.into_iter().zip(metrics.lines()) {
            ConstCounter::new(count).encode(metric.encode_family(&[("outcome", outcome)])?)?;
        }
        Ok(())
    });
}
