//! The settings of traces, from the variables that OpenTelemetry defines.

use std::collections::BTreeMap;

use traces::Traceparent;

/// The address of the collector.
pub(super) const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
pub(super) const DISABLED: &str = "OTEL_SDK_DISABLED";
pub(super) const EXPORTER: &str = "OTEL_TRACES_EXPORTER";
/// The trace that a command is part of.
pub(super) const PARENT: &str = "TRACEPARENT";

/// Whether spans are sent, and the trace of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tracing {
    /// Whether a collector is named, so that spans are sent to it.
    pub is_enabled: bool,
    /// The trace of the caller of the command.
    pub parent: Option<Traceparent>,
}

impl Tracing {
    /// Reads the variables. A malformed trace counts as absent; the other variables that begin with `OTEL_` are read where spans
    /// are sent.
    pub(super) fn of(environment: &BTreeMap<String, String>) -> Tracing {
        let value =
            |name: &str| environment.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let is_off = value(DISABLED).is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || value(EXPORTER).is_some_and(|value| value.eq_ignore_ascii_case("none"));
        let is_named = ENDPOINTS.iter().any(|name| value(name).is_some());
        Tracing {
            is_enabled: is_named && !is_off,
            parent: value(PARENT).and_then(|value| value.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests;
