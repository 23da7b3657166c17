//! A histogram of latencies with fixed bounds. A request touches two atomics and takes no lock, and the status page reads the same
//! numbers as operators.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Upper bounds in seconds; a search takes well under a millisecond.
const BOUNDS: [f64; 13] =
    [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 10.0, f64::INFINITY];

/// A histogram; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct LatencyHistogram(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    nanoseconds: AtomicU64,
    /// The number of answers above the previous bound and up to this one.
    buckets: [AtomicU64; BOUNDS.len()],
}

/// The counts at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buckets([u64; BOUNDS.len()]);

impl LatencyHistogram {
    pub(super) fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len() - 1);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.0.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.0.buckets[bucket].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn buckets(&self) -> Buckets {
        Buckets(self.0.buckets.each_ref().map(|bucket| bucket.load(Ordering::Relaxed)))
    }
}

impl Buckets {
    /// Returns the number of answers.
    pub(super) fn answers(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the upper bound in seconds of this share of all answers; infinite above the last bound, `None` without answers.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = (self.answers() as f64 * share).ceil().max(1.0) as u64;
        let mut counted = 0;
        BOUNDS.into_iter().zip(self.0).find_map(|(bound, answers)| {
            counted += answers;
            (counted >= wanted).then_some(bound)
        })
    }
}

impl TypedMetric for LatencyHistogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for LatencyHistogram {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), std::fmt::Error> {
        let seconds = Duration::from_nanos(self.0.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        let counted = self.buckets();
        let buckets: Vec<(f64, u64)> = BOUNDS.into_iter().zip(counted.0).collect();
        encoder.encode_histogram::<NoLabelSet>(seconds, counted.answers(), &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    fn counted() -> LatencyHistogram {
        let latencies = LatencyHistogram::default();
        for micros in [10, 60, 60, 20_000_000] {
            latencies.observe(Duration::from_micros(micros));
        }
        latencies
    }

    #[test]
    fn a_quantile_is_the_bound_above_it() {
        assert_eq!(LatencyHistogram::default().buckets().quantile(0.5), None);
        let quantiles = [0.25, 0.5, 0.75, 0.99].map(|share| counted().buckets().quantile(share));
        assert_eq!(quantiles, [Some(0.00005), Some(0.0001), Some(0.0001), Some(f64::INFINITY)]);
    }

    #[test]
    fn operators_read_a_histogram() {
        let (mut registry, mut text) = (Registry::default(), String::new());
        registry.register("seconds", "How long", counted());
        encode(&mut text, &registry).unwrap();
        let bounds =
            "0.00005 0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.05 0.25 1.0 10.0 +Inf".split(' ');
        let counts = [1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4];
        let buckets =
            bounds.zip(counts).map(|(bound, count)| format!("seconds_bucket{{le=\"{bound}\"}} {count}\n"));
        let expected = format!(
            "# HELP seconds How long.\n# TYPE seconds histogram\nseconds_sum 20.00013\nseconds_count 4\n{}# EOF\n",
            buckets.collect::<String>()
        );
        assert_eq!(text, expected);
    }
}
