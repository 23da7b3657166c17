//! A client that shows the bytes as they come.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A limit that a test which is right never reaches.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);

/// One connection.
#[derive(Debug)]
pub(super) struct Connection(BufReader<TcpStream>);

/// Returns how many bytes wait for the socket with these ports, its own and the other's, by the table of the system.
fn unread(ports: [u16; 2]) -> Option<u32> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let [own, other] = ports.map(|port| format!(":{port:04X}"));
    table.lines().find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let is_it = columns.next()?.ends_with(&own) && columns.next()?.ends_with(&other);
        let queues = columns.nth(1)?;
        if is_it { u32::from_str_radix(queues.split_once(':')?.1, 16).ok() } else { None }
    })
}

/// A reply, with its headers in their order.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Connection {
    pub(super) async fn to(address: SocketAddr) -> Connection {
        Connection(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    pub(super) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Waits until the server has read all that was sent. Where the system does not tell, it waits for a moment.
    pub(super) async fn is_read(&self) {
        let socket = self.0.get_ref();
        let ports = [socket.peer_addr().unwrap().port(), socket.local_addr().unwrap().port()];
        if !cfg!(target_os = "linux") {
            return tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let is_read = async {
            while unread(ports) != Some(0) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(TIMEOUT, is_read).await.expect("the server reads what was sent");
    }

    /// Whether these bytes could be sent at all.
    pub(super) async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).await.is_ok()
    }

    /// Sends a request without a body; headers end with a line break each.
    pub(super) async fn ask(&mut self, method: &str, path: &str, headers: &str) -> Reply {
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: test\r\n{headers}\r\n")).await;
        self.reply(method).await
    }

    /// Sends a message to the MCP endpoint.
    pub(super) async fn post(&mut self, headers: &str, body: impl AsRef<[u8]>) -> Reply {
        let body = body.as_ref();
        let length = body.len();
        let head = format!("POST /mcp HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n{headers}\r\n");
        self.send([head.as_bytes(), body].concat()).await;
        self.reply("POST").await
    }

    /// Reads the reply to a request with this method.
    pub(super) async fn reply(&mut self, method: &str) -> Reply {
        timeout(TIMEOUT, self.read(method)).await.expect("a reply in time").expect("a reply")
    }

    /// Reads the reply, if there is one before the server closes.
    pub(super) async fn try_reply(&mut self, method: &str) -> Option<Reply> {
        timeout(TIMEOUT, self.read(method)).await.expect("a reply or an end in time")
    }

    /// Whether the server closes now, having sent nothing more.
    pub(super) async fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        let read = timeout(TIMEOUT, self.0.read_to_end(&mut rest)).await.expect("an end in time");
        read.is_err() || rest.is_empty()
    }

    async fn read(&mut self, method: &str) -> Option<Reply> {
        let first = self.line().await?;
        let status = first.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        if method != "HEAD" && status != 304 && status != 204 {
            let length = reply.header("content-length").expect("a length").parse().unwrap();
            reply.body.resize(length, 0);
            self.0.read_exact(&mut reply.body).await.unwrap();
        }
        Some(reply)
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await.ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }
}

/// As a failing test shows it: the body as text, and not all of a long one.
impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        let body: String = body.chars().take(2_000).collect();
        write!(f, "{} {:?} {body}", self.status, self.headers)
    }
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Each invalid parameter and what is wrong with it.
    pub(super) fn faults(&self) -> Vec<String> {
        assert_eq!(self.status, 400, "{self:?}");
        let fault = |one: &Value| {
            format!("{}: {}", one["parameter"].as_str().unwrap(), one["detail"].as_str().unwrap())
        };
        self.json()["errors"].as_array().unwrap().iter().map(fault).collect()
    }

    /// The text of a problem, once it names the request as the headers do; its id is written as `ID`.
    pub(super) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let id = self.header("x-request-id").unwrap();
        let instance = format!("/requests/{id}");
        assert_eq!(self.json()["instance"], instance, "{self:?}");
        assert_eq!(self.json()["status"], self.status, "{self:?}");
        self.text().replace(id, "ID")
    }
}
