//! A small HTTP client over real sockets that returns responses as received: no redirects, no decompression.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::wait::{TIMEOUT, wait_until};

/// A client of one server. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Http {
    base: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// A complete response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers, in any order.
    pub headers: HeaderMap,
    /// The body, not decompressed.
    pub body: Bytes,
}

impl Http {
    /// Returns a client of the server at `base`, such as `http://127.0.0.1:8080`; paths are appended to it.
    pub fn new(base: impl Into<String>) -> Self {
        let base = base.into().trim_end_matches('/').to_owned();
        Self { base, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    /// Waits until the service is ready.
    pub async fn ready(&self) {
        wait_until(TIMEOUT, "readiness", async || self.get("/readyz").await.status == 200).await;
    }

    /// Sends a GET request without headers of its own.
    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    /// Sends a request.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        self.attempt(method, path, headers, body).await.unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Like [`Http::send`], for tests in which the server may be down: returns the error.
    pub async fn attempt(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<Answer, String> {
        let uri = format!("{}{path}", self.base);
        let mut request = Request::builder().method(method).uri(&uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request =
            request.body(Full::new(body.into())).map_err(|error| format!("{method} {uri}: {error}"))?;
        let exchange = async {
            let (parts, body) = self.client.request(request).await.map_err(with_causes)?.into_parts();
            let body = body.collect().await.map_err(with_causes)?.to_bytes();
            Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
        };
        let answered = timeout(TIMEOUT, exchange).await;
        answered
            .unwrap_or_else(|_| Err(format!("no answer within {TIMEOUT:?}")))
            .map_err(|failure| format!("{method} {uri}: {failure}"))
    }
}

impl Answer {
    /// Returns the value of a header; `None` if it is absent or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body)
            .unwrap_or_else(|error| panic!("the body is not text ({error}): {self:?}"))
    }

    /// Returns the body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("the body is not JSON ({error}): {self:?}"))
    }
}

/// Waits until the server at the other end of a connection on this machine has read all that was sent. Where the system does not tell,
/// it waits for a moment.
pub async fn wait_until_read(connection: &TcpStream) {
    let port = |address: std::io::Result<SocketAddr>| address.expect("a connection").port();
    let ends = [port(connection.peer_addr()), port(connection.local_addr())];
    if cfg!(target_os = "linux") {
        wait_until(TIMEOUT, "the server to read", async || unread(ends) == Some(0)).await;
    } else {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Returns how many bytes wait for the socket with these ports, its own and the other's, by the table of the system.
fn unread(ports: [u16; 2]) -> Option<u32> {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the table of connections");
    let [own, other] = ports.map(|port| format!(":{port:04X}"));
    table.lines().find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let is_it = columns.next()?.ends_with(&own) && columns.next()?.ends_with(&other);
        let queues = columns.nth(1)?;
        if is_it { u32::from_str_radix(queues.split_once(':')?.1, 16).ok() } else { None }
    })
}

/// Formats an error with all its causes; hyper's own text is only the outermost.
fn with_causes(error: impl std::error::Error + 'static) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
