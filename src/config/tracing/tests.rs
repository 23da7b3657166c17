use super::*;

fn read(pairs: &[(&str, &str)]) -> Tracing {
    Tracing::of(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

#[test]
fn spans_are_sent_if_a_collector_is_named_and_they_are_not_switched_off() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
    assert!(read(&[endpoint]).is_enabled);
    assert!(read(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/v1/traces")]).is_enabled);
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
