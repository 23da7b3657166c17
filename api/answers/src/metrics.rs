//! The metrics of the API, for operators. No label contains a key, a slug or a query.

mod latency;

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use metering::Outcome;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::route::Route;
use latency::{Buckets, LatencyHistogram};

/// The status classes, from 200 on.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// Counters, gauges and histograms of the API; clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    routes: Arc<[RouteMetrics; Route::ALL.len()]>,
    connections: Gauge,
    metered: Arc<[Counter; 3]>,
}

/// The metrics of one route. They are looked up once: a request touches atomics, no map.
#[derive(Debug)]
struct RouteMetrics {
    requests: [Counter; CLASSES.len()],
    seconds: LatencyHistogram,
}

/// The latency of a route's answers.
#[derive(Debug)]
pub struct RouteLatency {
    /// The number of answers.
    pub answers: u64,
    /// The number of answers with a status of 500 or more.
    pub errors: u64,
    buckets: Buckets,
}

impl RouteLatency {
    /// Returns the upper bound in seconds of this share of all answers, from 0 to 1; infinite above the last bound, `None` without
    /// answers.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.buckets.quantile(share)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

impl Metrics {
    /// Registers the API's metrics.
    pub fn new(registry: &mut Registry) -> Metrics {
        let requests = Family::<RequestLabels, Counter>::default();
        let seconds = Family::<RouteLabel, LatencyHistogram>::default();
        let connections = Gauge::default();
        registry.register("loggia_requests", "Requests answered", requests.clone());
        registry.register(
            "loggia_request_seconds",
            "Time from a request's head to its reply",
            seconds.clone(),
        );
        registry.register("loggia_open_connections", "Connections that are open", connections.clone());
        let metered = Family::<OutcomeLabel, Counter>::default();
        registry.register("loggia_metered_calls", "Calls that were to be counted", metered.clone());
        let metered = ["counted", "exceeded", "unavailable"]
            .map(|outcome| metered.get_or_create_owned(&OutcomeLabel { outcome }));
        let routes = Route::ALL.map(|route| {
            let route = route.name();
            RouteMetrics {
                requests: CLASSES
                    .map(|status| requests.get_or_create_owned(&RequestLabels { route, status })),
                seconds: seconds.get_or_create_owned(&RouteLabel { route }),
            }
        });
        Metrics { routes: Arc::new(routes), connections, metered: Arc::new(metered) }
    }

    /// Counts an answered request.
    #[inline]
    pub fn record_answer(&self, route: Route, status: StatusCode, took: Duration) {
        let counted = &self.routes[route as usize];
        let class = usize::from(status.as_u16() / 100).clamp(2, 5) - 2;
        counted.requests[class].inc();
        counted.seconds.observe(took);
    }

    /// Returns the latency of a route.
    pub fn latency(&self, route: Route) -> RouteLatency {
        let counted = &self.routes[route as usize];
        let buckets = counted.seconds.buckets();
        let [.., errors] = &counted.requests;
        RouteLatency { answers: buckets.answers(), errors: errors.get(), buckets }
    }

    /// Counts the outcome of charging a call.
    pub fn record_charge(&self, outcome: &Outcome) {
        let [counted, exceeded, unavailable] = &*self.metered;
        match outcome {
            Outcome::Counted { .. } => counted.inc(),
            Outcome::Exceeded => exceeded.inc(),
            Outcome::Unavailable(_) => unavailable.inc(),
        };
    }

    /// Counts a connection for as long as the guard lives.
    pub fn connection(&self) -> OpenConnection {
        self.connections.inc();
        OpenConnection(self.connections.clone())
    }
}

/// An open connection.
#[derive(Debug)]
pub struct OpenConnection(Gauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_routes_is_that_of_their_numbers() {
        for (index, route) in Route::ALL.into_iter().enumerate() {
            assert_eq!(route as usize, index);
        }
    }
}
