//! A load of requests at a steady rate over connections that are kept, each answer and each failure counted.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// A load under way.
#[derive(Debug)]
pub struct Load {
    stop: watch::Sender<bool>,
    workers: JoinSet<Met>,
}

/// What a load met.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// How many answers had each status.
    pub answers: BTreeMap<u16, u64>,
    /// What went wrong with those requests that were not answered.
    pub failures: Vec<String>,
}

/// What is asked, again and again.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The paths, in turn.
    pub paths: Vec<String>,
    /// The bearer token, if there is one.
    pub key: Option<String>,
}

impl Load {
    /// Asks at this rate, in requests a second, over so many connections. Nothing is asked twice.
    pub fn start(address: SocketAddr, asked: &Asked, connections: usize, rate: f64) -> Load {
        let (stop, stopped) = watch::channel(false);
        let mut workers = JoinSet::new();
        let each = Duration::from_secs_f64(connections as f64 / rate);
        for worker in 0..connections {
            let (asked, stopped) = (asked.clone(), stopped.clone());
            let begins = each.mul_f64(worker as f64 / connections as f64);
            workers.spawn(async move {
                tokio::time::sleep(begins).await;
                work(address, &asked, worker, each, stopped).await
            });
        }
        Load { stop, workers }
    }

    /// Ends it behind the requests that are under way.
    pub async fn stop(mut self) -> Met {
        self.stop.send_replace(true);
        let mut all = Met::default();
        while let Some(met) = self.workers.join_next().await {
            let met = met.expect("a worker of the load does not panic");
            met.answers
                .into_iter()
                .for_each(|(status, count)| *all.answers.entry(status).or_default() += count);
            all.failures.extend(met.failures);
        }
        all
    }
}

async fn work(
    address: SocketAddr,
    asked: &Asked,
    worker: usize,
    each: Duration,
    stopped: watch::Receiver<bool>,
) -> Met {
    let (mut met, mut connection) = (Met::default(), None);
    let mut ticks = interval(each);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for path in asked.paths.iter().cycle().skip(worker) {
        ticks.tick().await;
        if *stopped.borrow() {
            break;
        }
        match timeout(ANSWER_WITHIN, ask(&mut connection, address, path, asked.key.as_deref())).await {
            Ok(Ok(status)) => *met.answers.entry(status).or_default() += 1,
            Ok(Err(failure)) => {
                met.failures.push(format!("{path}: {failure}"));
                connection = None;
            }
            Err(_) => {
                met.failures.push(format!("{path}: no answer within {ANSWER_WITHIN:?}"));
                connection = None;
            }
        }
    }
    met
}

/// Asks over the connection, or a new one where the server has ended it.
async fn ask(
    connection: &mut Option<SendRequest<Empty<Bytes>>>,
    address: SocketAddr,
    path: &str,
    key: Option<&str>,
) -> Result<u16, String> {
    let mut kept = connection.take();
    if let Some(sender) = &mut kept
        && sender.ready().await.is_err()
    {
        kept = None;
    }
    let mut sender = match kept {
        Some(sender) => sender,
        None => connect(address).await?,
    };
    let mut request = Request::get(path).header("host", address.to_string());
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let ends = answer.headers().get("connection").is_some_and(|value| value == "close");
    answer.into_body().collect().await.map_err(|error| error.to_string())?;
    if !ends {
        *connection = Some(sender);
    }
    Ok(status)
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Empty<Bytes>>, String> {
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}
