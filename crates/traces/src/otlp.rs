//! Spans by the SDK of OpenTelemetry, and how they leave: OTLP over HTTP, as the variables `OTEL_…` say.

mod client;
mod queue;

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::Duration;

use opentelemetry::trace::{
    SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState,
    Tracer, TracerProvider,
};
use opentelemetry::{Context, Key, KeyValue, Value, trace};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanExporter as _};

use crate::{Kind, Traceparent};
use client::Client;
use queue::Queue;

pub use queue::dropped;

/// What makes spans, once an exporter was started. The process has one.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// The attribute that names the service.
const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// What the SDK calls a service that has no name.
const UNNAMED: &str = "unknown_service";

/// Why no spans can be sent.
#[derive(Debug)]
pub enum StartError {
    /// The variables are wrong.
    Settings(ExporterBuildError),
    /// The machine has no thread to give.
    Thread(std::io::Error),
    /// The process exports already.
    Twice,
}

/// Spans on their way to a collector.
#[derive(Debug)]
pub struct Exporting {
    queue: Queue,
    // Lives as long as its spans may be asked for.
    _provider: SdkTracerProvider,
}

impl Exporting {
    /// Sends what has ended by now; what takes longer than `patience` is left.
    pub fn stop(self, patience: Duration) {
        self.queue.stop(patience);
    }
}

/// Records spans from now on and sends them over this client to the collector that the variables name. What they leave
/// open is called by `service` and `version`.
///
/// # Errors
///
/// Fails where the variables are wrong, and where this was called before.
pub fn start(
    service: &'static str,
    version: &'static str,
    client: reqwest::Client,
) -> Result<Exporting, StartError> {
    let exporter = SpanExporter::builder().with_http().with_http_client(Client(client)).build();
    let mut exporter = exporter.map_err(StartError::Settings)?;
    let resource = resource(service, version);
    exporter.set_resource(&resource);
    let (queue, processor) = Queue::start(exporter).map_err(StartError::Thread)?;
    let provider =
        SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource).build();
    TRACER.set(provider.tracer(service)).map_err(|_| StartError::Twice)?;
    Ok(Exporting { queue, _provider: provider })
}

/// What is said of the process with all of its spans.
fn resource(service: &'static str, version: &'static str) -> Resource {
    let told = Resource::builder().build();
    let is_named = told.get(&SERVICE_NAME).is_some_and(|name| !name.as_str().starts_with(UNNAMED));
    let named = Resource::builder().with_attribute(KeyValue::new("service.version", version));
    if is_named { named.build() } else { named.with_service_name(service).build() }
}

/// Returns whether spans are recorded and sent.
pub(crate) fn is_exporting() -> bool {
    TRACER.get().is_some()
}

/// Begins a span, if there is an exporter.
pub(crate) fn begin(
    ago: Duration,
    kind: Kind,
    what: &'static str,
    which: &'static str,
    parent: Option<Traceparent>,
) -> Option<Recorded> {
    let tracer = TRACER.get()?;
    let name = if which.is_empty() { Cow::Borrowed(what) } else { Cow::Owned(format!("{what} {which}")) };
    let kind = match kind {
        Kind::Server => SpanKind::Server,
        Kind::Producer => SpanKind::Producer,
        Kind::Consumer => SpanKind::Consumer,
        Kind::Internal => SpanKind::Internal,
    };
    let builder =
        SpanBuilder::from_name(name).with_kind(kind).with_start_time(opentelemetry::time::now() - ago);
    let around = Context::new();
    let around = match parent {
        Some(parent) => around.with_remote_span_context(context(parent)),
        None => around,
    };
    Some(Recorded(tracer.build_with_context(builder, &around)))
}

fn context(traceparent: Traceparent) -> SpanContext {
    let flags = if traceparent.is_sampled() { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let (trace, parent) =
        (TraceId::from_bytes(traceparent.trace()), SpanId::from_bytes(traceparent.parent()));
    SpanContext::new(trace, parent, flags, true, TraceState::NONE)
}

/// A span of the SDK; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Recorded(opentelemetry_sdk::trace::Span);

impl Recorded {
    pub(crate) fn traceparent(&self) -> Option<Traceparent> {
        let context = trace::Span::span_context(&self.0);
        Traceparent::new(context.trace_id().to_bytes(), context.span_id().to_bytes(), context.is_sampled())
    }

    pub(crate) fn count(&mut self, name: &'static str, value: u64) {
        self.note(name, i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub(crate) fn label(&mut self, name: &'static str, value: &'static str) {
        self.note(name, value);
    }

    pub(crate) fn failed(&mut self, how: &'static str) {
        trace::Span::set_status(&mut self.0, Status::error(how));
    }

    fn note(&mut self, name: &'static str, value: impl Into<Value>) {
        trace::Span::set_attribute(&mut self.0, KeyValue::new(name, value));
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Settings(error) => write!(f, "a variable OTEL_… is wrong: {error}"),
            StartError::Thread(error) => write!(f, "the thread that sends them cannot be started: {error}"),
            StartError::Twice => f.write_str("they are sent already"),
        }
    }
}

impl std::error::Error for StartError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_the_traceparent_it_was_made_of() {
        for sampled in [true, false] {
            let traceparent = Traceparent::new([3; 16], [5; 8], sampled).unwrap();
            let made = context(traceparent);
            let again =
                Traceparent::new(made.trace_id().to_bytes(), made.span_id().to_bytes(), made.is_sampled());
            assert_eq!((again, made.is_remote()), (Some(traceparent), true));
        }
    }

    #[test]
    fn the_service_has_a_name() {
        let resource = resource("shelf", "1.2.3");
        let told =
            |name: &'static str| resource.get(&Key::from_static_str(name)).map(|value| value.to_string());
        assert_eq!(told("service.name").as_deref(), Some("shelf"));
        assert_eq!(told("service.version").as_deref(), Some("1.2.3"));
    }
}
