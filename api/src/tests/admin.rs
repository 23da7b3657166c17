//! The operators' listener.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::*;

#[derive(Debug)]
struct Lag;

impl Collector for Lag {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let gauge = ConstGauge::new(7);
        gauge.encode(encoder.encode_descriptor("loggia_lag", "Events behind", None, gauge.metric_type())?)
    }
}

#[tokio::test]
async fn operators_see_numbers_and_health() {
    let mut node = Node::start().await;
    let mut public = node.connect().await;
    for path in ["/v1/search?q=a", "/v1/search?q=b", "/v1/search", "/v1/project/haus-am-see", "/nothing"] {
        public.ask("GET", path, "").await;
    }
    let mut registry = std::mem::take(&mut node.registry);
    registry.register_collector(Box::new(Lag));
    let status = || json!({"roles": ["serve"]});
    let router = crate::admin::router(registry, node.readiness.subscribe(), status, vec!["Test".into()]);
    let router = crate::admin::same_site_only(router);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let served = tokio::spawn(crate::serve_admin(listener, router, crate::Limits::default(), stop.clone()));

    let mut connection = Connection::to(address).await;
    let reply = connection.ask("GET", "/metrics", "").await;
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let helped = |name: &str| {
        let line = format!("# HELP {name} ");
        reply.text().lines().filter(|own| own.starts_with(&line)).count()
    };
    assert_eq!((helped("loggia_requests_total"), helped("loggia_requests"), helped("loggia_lag")), (1, 0, 1));
    for line in [
        r#"loggia_requests_total{route="/v1/search",status="2xx"} 2"#,
        r#"loggia_requests_total{route="/v1/search",status="4xx"} 1"#,
        r#"loggia_requests_total{route="/v1/project/{slug}",status="2xx"} 1"#,
        r#"loggia_requests_total{route="other",status="4xx"} 1"#,
        r#"loggia_request_seconds_count{route="/v1/search"} 3"#,
        "loggia_open_connections 1",
        "loggia_lag 7",
    ] {
        assert!(reply.text().lines().any(|own| own == line), "{line} in\n{}", reply.text());
    }
    assert!(!reply.text().contains("haus-am-see"));
    assert_eq!(reply.header("access-control-allow-origin"), None, "not for pages of other sites");

    connection.send("GET /metrics HTTP/1.1\r\nHost: [::1]\r\nAccept: application/openmetrics-text;version=1.0.0\r\n\r\n".to_owned()).await;
    let reply = connection.reply("GET").await;
    assert_eq!(
        reply.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    assert!(reply.text().ends_with("# EOF\n"), "{}", reply.text());

    assert_eq!(connection.ask("GET", "/healthz", "").await.text(), r#"{"status":"ok"}"#);
    assert_eq!(connection.ask("GET", "/readyz", "").await.text(), r#"{"status":"ready"}"#);
    assert_eq!(connection.ask("GET", "/status", "").await.text(), r#"{"roles":["serve"]}"#);
    // A browser sends the host name that resolved to this address, or the origin of its page.
    for (path, headers, status) in [
        ("/metrics", "Host: 10.0.0.7:9090\r\n", 200),
        ("/metrics", "Host: localhost\r\n", 200),
        ("/metrics", "Host: test:9090\r\n", 200),
        ("/metrics", "Host: evil.example\r\n", 403),
        ("/status", "Host: evil.example:9090\r\n", 403),
        ("/healthz", "Host: inside\r\n", 200),
        ("/readyz", "Host: inside\r\n", 200),
        ("/metrics", "Host: 10.0.0.7\r\nOrigin: http://10.0.0.7\r\n", 403),
        ("/healthz", "Host: 10.0.0.7\r\nSec-Fetch-Site: cross-site\r\n", 403),
        ("/metrics", "Host: 10.0.0.7\r\nSec-Fetch-Site: same-site\r\n", 403),
        ("/metrics", "Host: 10.0.0.7\r\nSec-Fetch-Site: none\r\n", 200),
    ] {
        connection.send(format!("GET {path} HTTP/1.1\r\n{headers}\r\n")).await;
        assert_eq!(connection.reply("GET").await.status, status, "{path} {headers}");
    }
    node.readiness.send_replace(crate::Readiness { ready: false, answers: true, reason: "Starting.".into() });
    let reply = connection.ask("GET", "/readyz", "").await;
    assert_eq!((reply.status, reply.text()), (503, r#"{"status":"not ready","reason":"Starting."}"#));
    stop.cancel();
    assert_eq!(served.await.unwrap(), crate::Drained { cut: 0 });
}
