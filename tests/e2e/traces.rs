//! The traces that are sent to a collector.

use std::process::Command;
use std::time::Instant;

use kit::ProgramOutput;
use kit::collector::{Collector, Span};
use kit::process::{self, Loggia};
use serde_json::json;

use crate::service::LOGGIA;

/// The trace context of a caller, and its parts.
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// The projections that read the event log.
const PROJECTED: [&str; 5] =
    ["project archive", "project catalog", "project keys", "project neighbours", "project search"];

struct Service {
    loggia: Loggia,
    folder: tempfile::TempDir,
    collector: Collector,
}

impl Service {
    async fn start() -> Option<Service> {
        kit::nats::available().await?;
        let (folder, collector) = (tempfile::tempdir().unwrap(), Collector::start().await);
        let mut command = process::command(&LOGGIA, folder.path());
        command.args(["up", "--no-demo"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
        let mut loggia = Loggia::spawn_command(command, folder.path());
        loggia.ready().await;
        Some(Service { loggia, folder, collector })
    }

    /// Returns a command that sends its spans too, under its own service name.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = process::command(&LOGGIA, self.folder.path());
        command.args(args).env("OTEL_EXPORTER_OTLP_ENDPOINT", self.collector.endpoint());
        command.env("OTEL_SERVICE_NAME", "editor");
        command
    }

    fn import(&self, projects: usize) -> Command {
        let file = self.folder.path().join("import.ndjson");
        let line = |number| json!({"name": format!("Secret House {number}"), "category": "art"}).to_string();
        std::fs::write(&file, (0..projects).map(line).collect::<Vec<_>>().join("\n")).unwrap();
        self.command(&["import", file.to_str().unwrap(), "--no-wait", "--actor", "ada"])
    }
}

fn only<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name == name).collect();
    assert_eq!(found.len(), 1, "{name} in {spans:#?}");
    found[0]
}

fn of_trace(spans: Vec<Span>, trace: &str) -> Vec<Span> {
    spans.into_iter().filter(|span| span.trace == trace).collect()
}

#[tokio::test]
async fn one_edit_is_one_trace_up_to_the_search_index() {
    let Some(service) = Service::start().await else { return };
    let output = ProgramOutput::of(service.import(1).env("TRACEPARENT", TRACE)).success();
    assert_eq!(
        output.stderr,
        "Of 1 record: all without a picture, all without a city, all without a year, all without a text.\n"
    );
    // The command, its execution, its append, its publication, and a commit of each projection.
    let spans = service
        .collector
        .until("all spans of the import", |spans| {
            let spans = of_trace(spans, TRACE_ID);
            (spans.len() >= 4 + PROJECTED.len()).then_some(spans)
        })
        .await;
    let (import, command) = (only(&spans, "loggia import"), only(&spans, "command import"));
    assert_eq!((import.service.as_str(), import.parent.as_str()), ("editor", CALLER));
    assert_eq!((command.service.as_str(), &command.parent), ("loggia", &import.id));
    for name in ["append", "relay"].into_iter().chain(PROJECTED) {
        let span = only(&spans, name);
        assert_eq!((span.service.as_str(), &span.parent), ("loggia", &command.id), "{span:#?}");
        assert_eq!(span.attribute("loggia.position"), Some("1"), "{span:#?}");
    }
    assert_eq!(spans.len(), 4 + PROJECTED.len(), "{spans:#?}");
    for secret in ["Secret House", "secret-house", "ada"] {
        assert!(!service.collector.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn an_import_has_one_span_per_batch() {
    let Some(service) = Service::start().await else { return };
    ProgramOutput::of(&mut service.import(3_000)).success();
    let applied = |spans: &[Span], name: &str| {
        let of_name = spans.iter().filter(|span| span.name == name);
        of_name.map(|span| span.attribute("loggia.events").unwrap().parse::<u64>().unwrap()).sum::<u64>()
    };
    let spans = service
        .collector
        .until("the spans of 3,000 events in every projection", |spans| {
            let import = spans.iter().find(|span| span.name == "loggia import")?.trace.clone();
            let spans = of_trace(spans, &import);
            PROJECTED.iter().all(|name| applied(&spans, name) == 3_000).then_some(spans)
        })
        .await;
    assert_eq!(applied(&spans, "relay"), 3_000);
    assert!(spans.len() < 300, "{}", spans.len());
}

#[tokio::test]
async fn the_span_of_a_request_omits_its_query() {
    let Some(mut service) = Service::start().await else { return };
    let http = service.loggia.http().await;
    let path = "/v1/search?q=quietly";
    assert_eq!(http.send("GET", path, &[("traceparent", TRACE)], "").await.status, 200);
    assert_eq!(http.send("GET", path, &[("traceparent", "00-nothing")], "").await.status, 200);
    assert_eq!(http.get("/v1/project/hidden-house").await.status, 404);
    let expected = ["GET /v1/search", "GET /v1/search", "GET /v1/project/{slug}"];
    let spans = service
        .collector
        .until("three requests", |spans| {
            let requests: Vec<Span> =
                spans.into_iter().filter(|span| expected.contains(&span.name.as_str())).collect();
            (requests.len() >= expected.len()).then_some(requests)
        })
        .await;
    assert_eq!(spans.iter().map(|span| span.name.as_str()).collect::<Vec<_>>(), expected);
    assert_eq!((spans[0].trace.as_str(), spans[0].parent.as_str()), (TRACE_ID, CALLER));
    assert!(spans[1].parent.is_empty() && spans[1].trace != TRACE_ID, "{spans:#?}");
    let attributes = |span: &Span| span.attributes.clone();
    let span = |method: &str, route: &str, status: &str| {
        let names = ["http.request.method", "http.route", "http.response.status_code"];
        names
            .into_iter()
            .zip([method, route, status])
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    };
    let expected: [Vec<(String, String)>; 2] =
        [span("GET", "/v1/search", "200"), span("GET", "/v1/project/{slug}", "404")];
    assert_eq!([attributes(&spans[0]), attributes(&spans[2])], expected);
    for secret in ["quietly", "hidden-house"] {
        assert!(!service.collector.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn an_unreachable_collector_only_loses_spans() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let away = format!("http://127.0.0.1:{}", kit::free_port());
    let mut command = process::command(&LOGGIA, folder.path());
    command.args(["up", "--no-demo"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", &away);
    let begun = Instant::now();
    let mut loggia = Loggia::spawn_command(command, folder.path());
    let http = loggia.ready().await;
    kit::wait_until(crate::service::TIMEOUT, "the warning", async || {
        assert_eq!(http.get("/v1/search?q=a").await.status, 200);
        loggia.stderr().contains("spans were dropped and not sent to the collector")
    })
    .await;
    assert!(loggia.terminate().await.success());
    let warnings = loggia.stderr().matches("spans were dropped").count() as u64;
    let minutes = begun.elapsed().as_secs() / 60;
    assert!((1..=1 + minutes).contains(&warnings), "one a minute: {}", loggia.stderr());
}
