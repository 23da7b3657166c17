//! Records spans with the OpenTelemetry SDK and exports them by OTLP over HTTP, configured by the variables `OTEL_…`.

mod queue;

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use opentelemetry::trace::{
    SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState,
    Tracer, TracerProvider,
};
use opentelemetry::{Context, Key, KeyValue, Value, trace};
use opentelemetry_http::{HttpClient, HttpError, ResponseBodyTooLarge};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, SpanExporter as _};

use crate::{Kind, Traceparent};
use queue::Queue;

pub use queue::dropped;

/// The tracer of the process, once [`start`] was called.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// The attribute that names the service.
const SERVICE_NAME: Key = Key::from_static_str("service.name");

/// The name that the SDK gives to a service without one.
const UNNAMED: &str = "unknown_service";

/// Why the export cannot start.
#[derive(Debug)]
pub enum StartError {
    /// The environment variables are invalid.
    Settings(ExporterBuildError),
    /// The exporting thread cannot be started.
    Thread(std::io::Error),
    /// [`start`] was called before.
    AlreadyStarted,
}

/// The running export to a collector.
#[derive(Debug)]
pub struct Export {
    queue: Queue,
    // Dropping the provider would stop its tracer.
    _provider: SdkTracerProvider,
}

impl Export {
    /// Sends the spans that have ended; those not sent within `timeout` are lost.
    pub fn stop(self, timeout: Duration) {
        self.queue.stop(timeout);
    }
}

/// Records spans from now on and sends them with this client to the collector that the environment variables name. `service` is
/// the name of the service unless a variable sets one.
///
/// # Errors
///
/// If the variables are invalid, the thread cannot be started, or this was called before.
pub fn start(
    service: &'static str,
    version: &'static str,
    client: reqwest::Client,
) -> Result<Export, StartError> {
    let exporter = SpanExporter::builder().with_http().with_http_client(Client(client)).build();
    let mut exporter = exporter.map_err(StartError::Settings)?;
    let resource = resource(service, version);
    exporter.set_resource(&resource);
    let (queue, processor) = Queue::start(exporter).map_err(StartError::Thread)?;
    let provider =
        SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource).build();
    TRACER.set(provider.tracer(service)).map_err(|_| StartError::AlreadyStarted)?;
    Ok(Export { queue, _provider: provider })
}

/// Returns the attributes of the process.
fn resource(service: &'static str, version: &'static str) -> Resource {
    let detected = Resource::builder().build();
    let is_named = detected.get(&SERVICE_NAME).is_some_and(|name| !name.as_str().starts_with(UNNAMED));
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", version));
    if is_named { builder.build() } else { builder.with_service_name(service).build() }
}

/// Returns whether spans are recorded and sent.
pub(crate) fn is_exporting() -> bool {
    TRACER.get().is_some()
}

/// Starts a span; `None` without an exporter.
pub(crate) fn start_span(
    ago: Duration,
    kind: Kind,
    what: &'static str,
    which: &'static str,
    parent: Option<Traceparent>,
) -> Option<SdkSpan> {
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
    let empty = Context::new();
    let context = match parent {
        Some(parent) => empty.with_remote_span_context(span_context(parent)),
        None => empty,
    };
    Some(SdkSpan(tracer.build_with_context(builder, &context)))
}

fn span_context(traceparent: Traceparent) -> SpanContext {
    let flags = if traceparent.is_sampled() { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let (trace, parent) =
        (TraceId::from_bytes(traceparent.trace()), SpanId::from_bytes(traceparent.parent()));
    SpanContext::new(trace, parent, flags, true, TraceState::NONE)
}

/// A span of the SDK; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct SdkSpan(opentelemetry_sdk::trace::Span);

impl SdkSpan {
    pub(crate) fn traceparent(&self) -> Option<Traceparent> {
        let context = trace::Span::span_context(&self.0);
        Traceparent::new(context.trace_id().to_bytes(), context.span_id().to_bytes(), context.is_sampled())
    }

    pub(crate) fn count(&mut self, name: &'static str, value: u64) {
        self.set_attribute(name, i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub(crate) fn label(&mut self, name: &'static str, value: &'static str) {
        self.set_attribute(name, value);
    }

    pub(crate) fn failed(&mut self, how: &'static str) {
        trace::Span::set_status(&mut self.0, Status::error(how));
    }

    fn set_attribute(&mut self, name: &'static str, value: impl Into<Value>) {
        trace::Span::set_attribute(&mut self.0, KeyValue::new(name, value));
    }
}

/// The longest response of a collector that is read, in bytes: it lists rejected spans.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// The HTTP client of the exporter.
#[derive(Debug)]
struct Client(reqwest::Client);

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut received = self.0.execute(request.try_into()?).await?;
        let mut body = BytesMut::new();
        while let Some(part) = received.chunk().await? {
            if body.len() + part.len() > MAX_RESPONSE_BYTES {
                return Err(Box::new(ResponseBodyTooLarge::new()));
            }
            body.extend_from_slice(&part);
        }
        let mut response = Response::new(body.freeze());
        *response.status_mut() = received.status();
        *response.headers_mut() = std::mem::take(received.headers_mut());
        Ok(response)
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Settings(error) => write!(f, "a variable OTEL_… is wrong: {error}"),
            StartError::Thread(error) => write!(f, "the thread that sends them cannot be started: {error}"),
            StartError::AlreadyStarted => f.write_str("they are sent already"),
        }
    }
}

impl std::error::Error for StartError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_context_keeps_the_traceparent() {
        for sampled in [true, false] {
            let traceparent = Traceparent::new([3; 16], [5; 8], sampled).unwrap();
            let made = span_context(traceparent);
            let again =
                Traceparent::new(made.trace_id().to_bytes(), made.span_id().to_bytes(), made.is_sampled());
            assert_eq!((again, made.is_remote()), (Some(traceparent), true));
        }
    }

    #[test]
    fn the_service_has_a_name() {
        let resource = resource("shelf", "1.2.3");
        let attribute =
            |name: &'static str| resource.get(&Key::from_static_str(name)).map(|value| value.to_string());
        assert_eq!(attribute("service.name").as_deref(), Some("shelf"));
        assert_eq!(attribute("service.version").as_deref(), Some("1.2.3"));
    }
}
