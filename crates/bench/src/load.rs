//! The HTTP client of measurements, and closed-loop load: persistent connections with one request at a time, and the latency of every
//! answer.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// A persistent connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An HTTP response.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the server closes the connection after it.
    pub closes: bool,
}

/// An HTTP request, as the text that is sent.
#[derive(Debug, Clone)]
pub struct Request(String);

impl Request {
    /// Returns a request for a path.
    pub fn get(path: &str) -> Request {
        Request(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"))
    }

    /// Returns a request for a path with an API key.
    pub fn get_with_key(path: &str, key: &str) -> Request {
        Request(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n"))
    }

    /// Returns a request that sends JSON to a path.
    pub fn post(path: &str, body: &str) -> Request {
        let length = body.len();
        Request(format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
    }
}

/// The outcome of a load.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The latencies, ascending.
    pub latencies: Vec<Duration>,
    /// The number of requests without an answer of 200.
    pub failed: u64,
    /// The duration of the whole load.
    pub took: Duration,
}

impl Connection {
    /// Connects to an address such as `127.0.0.1:8080`.
    ///
    /// # Errors
    ///
    /// If the connection is refused.
    pub async fn open(address: &str) -> Result<Connection> {
        let stream =
            TcpStream::connect(address).await.with_context(|| format!("{address} does not answer"))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Sends a GET request and reads the complete response.
    ///
    /// # Errors
    ///
    /// If the connection fails or the response is malformed.
    pub async fn get(&mut self, path: &str) -> Result<Answer> {
        self.send(&Request::get(path)).await
    }

    /// Sends a request and reads the complete response.
    ///
    /// # Errors
    ///
    /// If the connection fails or the response is malformed.
    pub async fn send(&mut self, request: &Request) -> Result<Answer> {
        self.stream.write_all(request.0.as_bytes()).await?;
        self.buffer.clear();
        loop {
            if let Some(head) = parse_head(&self.buffer)? {
                return self.read_body(head).await;
            }
            self.read().await?;
        }
    }

    /// Reads the body that follows a head.
    async fn read_body(&mut self, head: Head) -> Result<Answer> {
        let Head { status, start, length, closes } = head;
        let end = match length {
            Some(length) => start + length,
            None if closes => {
                while self.stream.read_buf(&mut self.buffer).await? > 0 {}
                self.buffer.len()
            }
            None => bail!("the answer has no content-length"),
        };
        while self.buffer.len() < end {
            self.read().await?;
        }
        Ok(Answer { status, body: self.buffer[start..end].to_vec(), closes })
    }

    /// Returns whether the server has not closed the connection yet.
    pub fn is_open(&self) -> bool {
        self.stream.try_read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    async fn read(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// The head of a response.
struct Head {
    status: u16,
    /// The offset of the body.
    start: usize,
    /// The length of the body; `None` if it ends with the connection.
    length: Option<usize>,
    closes: bool,
}

/// Parses the head of a response; `None` while it is incomplete.
fn parse_head(bytes: &[u8]) -> Result<Option<Head>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?;
    let status = head.get(9..12).and_then(|text| text.parse().ok()).context("the answer has no status")?;
    let field = |field: &str| {
        let mut fields = head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(field)).map(|(_, value)| value.trim())
    };
    let length = field("content-length").map(str::parse).transpose()?;
    let closes = field("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    Ok(Some(Head { status, start: end + 4, length, closes }))
}

/// Sends `requests` requests over `connections` connections, cycling through those given.
///
/// # Errors
///
/// If a connection cannot be opened.
pub async fn run(address: &str, given: &[Request], connections: usize, requests: usize) -> Result<Outcome> {
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for worker in 0..connections {
        let mut connection = Connection::open(address).await?;
        let own: Vec<Request> = given.iter().skip(worker).step_by(connections).cloned().collect();
        workers.spawn(async move {
            let mut outcome = Outcome::default();
            for request in own.iter().cycle().take(requests / connections) {
                let sent = Instant::now();
                match connection.send(request).await {
                    Ok(answer) if answer.status == 200 => outcome.latencies.push(sent.elapsed()),
                    _ => outcome.failed += 1,
                }
            }
            outcome
        });
    }
    let mut all = Outcome::default();
    while let Some(outcome) = workers.join_next().await {
        let outcome = outcome?;
        all.latencies.extend(outcome.latencies);
        all.failed += outcome.failed;
    }
    all.latencies.sort_unstable();
    all.took = began.elapsed();
    Ok(all)
}

impl Outcome {
    /// Returns a percentile of the latency in milliseconds; `share` is 0 to 1.
    pub fn percentile(&self, share: f64) -> f64 {
        let index =
            ((self.latencies.len() as f64 * share) as usize).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(index).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn an_answer_ends_with_its_length_or_with_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut connection = Connection::open(&listener.local_addr().unwrap().to_string()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody").await.unwrap();
        let answer = connection.get("/").await.unwrap();
        assert_eq!((answer.status, &answer.body[..], answer.closes), (200, &b"body"[..], false));
        assert!(connection.is_open());
        server.write_all(b"HTTP/1.0 503 Unavailable\r\nconnection: close\r\n\r\nlast").await.unwrap();
        server.shutdown().await.unwrap();
        let answer = connection.get("/").await.unwrap();
        assert_eq!((answer.status, &answer.body[..], answer.closes), (503, &b"last"[..], true));
        assert!(!connection.is_open());
    }
}
