//! An open-loop load: requests at a steady rate over connections that are kept open, each answer and each failure counted.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::load::{Connection, Request};

/// The most time that an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// A load under way.
#[derive(Debug)]
pub struct SteadyLoad {
    stop: watch::Sender<bool>,
    workers: JoinSet<Tally>,
}

/// The outcome of a load.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of answers with each status.
    pub answers: BTreeMap<u16, u64>,
    /// Why requests were not answered.
    pub failures: Vec<String>,
}

/// The requests of a load.
#[derive(Debug, Clone, Default)]
pub struct Mix {
    /// The paths, in order, repeated.
    pub paths: Vec<String>,
    /// The API key, if there is one.
    pub key: Option<String>,
}

impl SteadyLoad {
    /// Starts requests at this rate, per second, over `connections` connections. No request is repeated.
    pub fn start(address: SocketAddr, mix: &Mix, connections: usize, rate: f64) -> SteadyLoad {
        let (stop, stopped) = watch::channel(false);
        let mut workers = JoinSet::new();
        let each = Duration::from_secs_f64(connections as f64 / rate);
        for worker in 0..connections {
            let (mix, stopped) = (mix.clone(), stopped.clone());
            let begins = each.mul_f64(worker as f64 / connections as f64);
            workers.spawn(async move {
                tokio::time::sleep(begins).await;
                work(address, &mix, worker, each, stopped).await
            });
        }
        SteadyLoad { stop, workers }
    }

    /// Ends the load after the requests in flight.
    pub async fn stop(mut self) -> Tally {
        self.stop.send_replace(true);
        let mut all = Tally::default();
        while let Some(tally) = self.workers.join_next().await {
            let tally = tally.unwrap_or_else(|error| resume_unwind(error.into_panic()));
            tally
                .answers
                .into_iter()
                .for_each(|(status, count)| *all.answers.entry(status).or_default() += count);
            all.failures.extend(tally.failures);
        }
        all
    }
}

async fn work(
    address: SocketAddr,
    mix: &Mix,
    worker: usize,
    each: Duration,
    stopped: watch::Receiver<bool>,
) -> Tally {
    let (mut tally, mut connection) = (Tally::default(), None);
    let mut ticks = interval(each);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for path in mix.paths.iter().cycle().skip(worker) {
        ticks.tick().await;
        if *stopped.borrow() {
            break;
        }
        let request = match &mix.key {
            Some(key) => Request::get_with_key(path, key),
            None => Request::get(path),
        };
        match timeout(ANSWER_WITHIN, send(&mut connection, address, &request)).await {
            Ok(Ok(status)) => *tally.answers.entry(status).or_default() += 1,
            Ok(Err(failure)) => {
                tally.failures.push(format!("{path}: {failure:#}"));
                connection = None;
            }
            Err(_) => {
                tally.failures.push(format!("{path}: no answer within {ANSWER_WITHIN:?}"));
                connection = None;
            }
        }
    }
    tally
}

/// Sends a request over the connection, or over a new one if the server has ended it.
async fn send(
    connection: &mut Option<Connection>,
    address: SocketAddr,
    request: &Request,
) -> anyhow::Result<u16> {
    let kept = connection.take().filter(Connection::is_open);
    let mut open = match kept {
        Some(open) => open,
        None => Connection::open(&address.to_string()).await?,
    };
    let answer = open.send(request).await?;
    if !answer.closes {
        *connection = Some(open);
    }
    Ok(answer.status)
}
