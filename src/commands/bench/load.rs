//! A load generator: connections that are kept open, one request at a time on each, latencies kept.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// A connection that is kept open.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// A request as it is sent.
#[derive(Debug, Clone)]
pub struct Request(String);

impl Request {
    /// Asks for a path.
    pub fn get(path: &str) -> Request {
        Request(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"))
    }

    /// Sends JSON to a path.
    pub fn post(path: &str, body: &str) -> Request {
        let length = body.len();
        Request(format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
    }
}

/// What a load met.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How long each request took.
    pub latencies: Vec<Duration>,
    /// How many were answered otherwise than 200, or not at all.
    pub failed: u64,
    /// How long all of them took together.
    pub took: Duration,
}

impl Connection {
    /// Connects.
    pub async fn open(address: &str) -> Result<Connection> {
        let stream =
            TcpStream::connect(address).await.with_context(|| format!("{address} does not answer"))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Asks for a path, and reads the whole answer.
    pub async fn get(&mut self, path: &str) -> Result<Answer> {
        self.send(&Request::get(path)).await
    }

    /// Sends a request, and reads the whole answer.
    pub async fn send(&mut self, request: &Request) -> Result<Answer> {
        self.stream.write_all(request.0.as_bytes()).await?;
        self.buffer.clear();
        loop {
            if let Some((status, start, length)) = head(&self.buffer)? {
                while self.buffer.len() < start + length {
                    self.read().await?;
                }
                return Ok(Answer { status, body: self.buffer[start..start + length].to_vec() });
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// The status, where the body begins and how long it is, once the whole head is there.
fn head(bytes: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?;
    let status = head.get(9..12).and_then(|text| text.parse().ok()).context("the answer has no status")?;
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .context("the answer has no content-length")?;
    Ok(Some((status, end + 4, length)))
}

/// Sends so many requests over so many connections, going round those given.
pub async fn run(address: &str, asked: &[Request], connections: usize, requests: usize) -> Result<Outcome> {
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for worker in 0..connections {
        let mut connection = Connection::open(address).await?;
        let own: Vec<Request> = asked.iter().skip(worker).step_by(connections).cloned().collect();
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
    /// The latency below which this share of the requests stayed, in milliseconds.
    pub fn percentile(&self, share: f64) -> f64 {
        let index =
            ((self.latencies.len() as f64 * share) as usize).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(index).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    }
}
