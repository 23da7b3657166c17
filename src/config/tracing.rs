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
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Tracing {
        Tracing::of(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn spans_are_sent_if_a_collector_is_named_and_they_are_not_switched_off() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
        assert!(read(&[endpoint]).is_enabled);
        assert!(
            read(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/v1/traces")]).is_enabled
        );
        for pairs in [
            &[][..],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[endpoint, ("OTEL_SDK_DISABLED", "True")],
            &[endpoint, ("OTEL_TRACES_EXPORTER", "none")],
            &[("OTEL_SERVICE_NAME", "shelf")],
        ] {
            assert!(!read(pairs).is_enabled, "{pairs:?}");
        }
        assert!(read(&[endpoint, ("OTEL_SDK_DISABLED", "false")]).is_enabled);
    }

    #[test]
    fn the_trace_of_a_command_is_read_if_it_is_valid() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(read(&[("TRACEPARENT", good)]).parent, good.parse().ok());
        assert_eq!(read(&[("TRACEPARENT", "00-4bf9")]).parent, None);
    }
}
