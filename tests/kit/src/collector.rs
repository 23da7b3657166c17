//! A trace collector that receives OTLP over HTTP as protobuf and returns the spans.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use data_encoding::HEXLOWER;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use prost::{Message, Oneof};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::wait::{TIMEOUT, wait_for};

/// A trace collector; dropping it stops it.
#[derive(Debug)]
pub struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Received>>,
    _task: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Received {
    spans: Vec<Span>,
    bodies: Vec<Bytes>,
}

/// A received span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The name of the service.
    pub service: String,
    /// The name of the operation.
    pub name: String,
    /// The trace id in hexadecimal.
    pub trace: String,
    /// The span id in hexadecimal.
    pub id: String,
    /// The parent's span id; empty for a root span.
    pub parent: String,
    /// The attributes with text or integer values, as text, in their order.
    pub attributes: Vec<(String, String)>,
}

impl Span {
    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl Collector {
    /// Starts a collector on a free port.
    pub async fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let received = Arc::<Mutex<Received>>::default();
        let mut task = JoinSet::new();
        task.spawn(serve(listener, received.clone()));
        Collector { address, received, _task: task }
    }

    /// Returns the value of `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the spans received so far.
    pub fn spans(&self) -> Vec<Span> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).spans.clone()
    }

    /// Returns whether anything received contains this text.
    pub fn contains(&self, text: &str) -> bool {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.bodies.iter().any(|body| body.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    /// Waits until `find` returns a value for the received spans, and returns it.
    pub async fn until<T>(&self, what: &str, find: impl Fn(Vec<Span>) -> Option<T>) -> T {
        wait_for(TIMEOUT, what, async || find(self.spans())).await
    }
}

async fn serve(listener: TcpListener, received: Arc<Mutex<Received>>) {
    while let Ok((socket, _)) = listener.accept().await {
        let received = received.clone();
        let service = service_fn(move |request| receive(request, received.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
    }
}

async fn receive(
    request: Request<Incoming>,
    received: Arc<Mutex<Received>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    assert_eq!(request.uri().path(), "/v1/traces");
    assert_eq!(request.headers()["content-type"], "application/x-protobuf");
    let body = request.into_body().collect().await.expect("a whole body").to_bytes();
    let sent = ExportRequest::decode(body.clone()).expect("a request of OTLP");
    let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
    for resource in sent.resources {
        let attributes = resource.resource.map(|resource| texts(resource.attributes)).unwrap_or_default();
        let service = attributes.into_iter().find(|(name, _)| name == "service.name");
        let service = service.map(|(_, value)| value).unwrap_or_default();
        let spans = resource.scopes.into_iter().flat_map(|scope| scope.spans);
        received.spans.extend(spans.map(|span| span.into_span(&service)));
    }
    received.bodies.push(body);
    Ok(Response::default())
}

fn texts(attributes: Vec<Attribute>) -> Vec<(String, String)> {
    let text = |attribute: Attribute| match attribute.value?.value? {
        Value::Text(text) => Some((attribute.key, text)),
        Value::Number(number) => Some((attribute.key, number.to_string())),
    };
    attributes.into_iter().filter_map(text).collect()
}

/// `ExportTraceServiceRequest`, with the fields that tests use.
#[derive(Clone, PartialEq, Message)]
struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    resources: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scopes: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<WireSpan>,
}

#[derive(Clone, PartialEq, Message)]
struct WireSpan {
    #[prost(bytes = "vec", tag = "1")]
    trace: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "Value", tags = "1, 3")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Value {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

impl WireSpan {
    fn into_span(self, service: &str) -> Span {
        Span {
            service: service.to_owned(),
            name: self.name,
            trace: HEXLOWER.encode(&self.trace),
            id: HEXLOWER.encode(&self.id),
            parent: HEXLOWER.encode(&self.parent),
            attributes: texts(self.attributes),
        }
    }
}
