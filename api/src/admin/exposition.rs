//! The text formats of metrics: OpenMetrics, and the older one of Prometheus for clients that do not ask for OpenMetrics.

use std::fmt::{Error, Write};

use http::HeaderMap;
use http::header::ACCEPT;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format of Prometheus, version 0.0.4.
    Prometheus,
}

impl Format {
    /// Returns OpenMetrics if the header `Accept` names it, else the format of Prometheus.
    pub(super) fn negotiate(headers: &HeaderMap) -> Format {
        let ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        match ranges.flat_map(|value| value.split(',')).any(accepts_openmetrics) {
            true => Format::OpenMetrics,
            false => Format::Prometheus,
        }
    }
}

fn accepts_openmetrics(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let is_named = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/openmetrics-text"));
    let is_refused = parts.any(|parameter| {
        let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
        weight.is_some_and(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0))
    });
    is_named && !is_refused
}

/// Returns the content type and the text of all metrics of the registry.
pub(super) fn render(registry: &Registry, format: Format) -> Result<(&'static str, String), Error> {
    let mut text = String::with_capacity(32 * 1024);
    encode(&mut text, registry)?;
    match format {
        Format::OpenMetrics => Ok(("application/openmetrics-text; version=1.0.0; charset=utf-8", text)),
        Format::Prometheus => Ok(("text/plain; version=0.0.4; charset=utf-8", to_prometheus(&text)?)),
    }
}

/// Converts OpenMetrics text to the format of Prometheus, which describes each sample under its full name: OpenMetrics omits
/// the suffixes `_total` and `_info` there.
fn to_prometheus(openmetrics: &str) -> Result<String, Error> {
    let mut text = String::with_capacity(openmetrics.len() + 1024);
    let mut help = None;
    for line in openmetrics.lines() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            help = described.split_once(' ');
        } else if let Some((name, kind)) =
            line.strip_prefix("# TYPE ").and_then(|typed| typed.split_once(' '))
        {
            let (end, kind) = match kind {
                "counter" => ("_total", kind),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                _ => ("", kind),
            };
            if let Some((_, sentence)) = help.take() {
                writeln!(text, "# HELP {name}{end} {sentence}")?;
            }
            writeln!(text, "# TYPE {name}{end} {kind}")?;
        } else if !line.starts_with('#') {
            writeln!(text, "{line}")?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::family::Family;
    use prometheus_client::metrics::gauge::Gauge;
    use prometheus_client::metrics::info::Info;

    use super::*;

    #[test]
    fn openmetrics_is_sent_only_if_accept_names_it() {
        let prometheus =
            "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        for (accept, format) in [
            (prometheus, Format::OpenMetrics),
            ("text/plain, Application/OpenMetrics-Text", Format::OpenMetrics),
            ("application/openmetrics-text;q=0, text/plain", Format::Prometheus),
            ("application/openmetrics-text; q=0.0", Format::Prometheus),
            ("text/plain;version=0.0.4", Format::Prometheus),
            ("*/*", Format::Prometheus),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(Format::negotiate(&headers), format, "{accept}");
        }
        assert_eq!(Format::negotiate(&HeaderMap::new()), Format::Prometheus);
    }

    #[test]
    fn both_formats_describe_each_sample_by_its_name() {
        let mut registry = Registry::default();
        let calls = Family::<Vec<(String, String)>, Counter>::default();
        calls.get_or_create(&vec![("outcome".into(), "a # \"b\"".into())]).inc_by(3);
        registry.register("calls", "Calls that were counted", calls);
        registry.register("build", "What runs", Info::new(vec![("version", "1.2")]));
        let open: Gauge = Gauge::default();
        registry.register("open", "What is open", open);
        let samples = ["calls_total{outcome=\"a # \\\"b\\\"\"} 3", "build_info{version=\"1.2\"} 1", "open 0"];
        let [calls, build, open] = samples;
        assert_eq!(
            render(&registry, Format::Prometheus).unwrap(),
            (
                "text/plain; version=0.0.4; charset=utf-8",
                format!(
                    "# HELP calls_total Calls that were counted.\n# TYPE calls_total counter\n{calls}\n\
                     # HELP build_info What runs.\n# TYPE build_info gauge\n{build}\n\
                     # HELP open What is open.\n# TYPE open gauge\n{open}\n"
                )
            )
        );
        assert_eq!(
            render(&registry, Format::OpenMetrics).unwrap(),
            (
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                format!(
                    "# HELP calls Calls that were counted.\n# TYPE calls counter\n{calls}\n\
                     # HELP build What runs.\n# TYPE build info\n{build}\n\
                     # HELP open What is open.\n# TYPE open gauge\n{open}\n# EOF\n"
                )
            )
        );
    }
}
