//! Open-loop load: requests at a steady rate over persistent connections, with counts of answers and failures.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::load::{Connection, Request};

/// The timeout of an answer, which is not late on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// A running load.
#[derive(Debug)]
pub struct SteadyLoad {
    stop: watch::Sender<bool>,
    answered: Arc<AtomicU64>,
    workers: JoinSet<Tally>,
}

/// The outcome of a load.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of answers with each status.
    pub answers: BTreeMap<u16, u64>,
    /// The reasons of unanswered requests.
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
    /// Starts sending `rate` requests per second over `connections` connections. Failed requests are not retried.
    pub fn start(address: SocketAddr, mix: &Mix, connections: usize, rate: f64) -> SteadyLoad {
        let (stop, stopped) = watch::channel(false);
        let (answered, mut workers) = (Arc::<AtomicU64>::default(), JoinSet::new());
        let each = Duration::from_secs_f64(connections as f64 / rate);
        for worker in 0..connections {
            let (mix, stopped, answered) = (mix.clone(), stopped.clone(), answered.clone());
            let offset = each.mul_f64(worker as f64 / connections as f64);
            workers.spawn(async move {
                tokio::time::sleep(offset).await;
                work(address, &mix, worker, each, stopped, &answered).await
            });
        }
        SteadyLoad { stop, answered, workers }
    }

    /// Returns the number of requests answered so far, with any status.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Stops the load after the requests in flight.
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
    answered: &AtomicU64,
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
        match timeout(ANSWER_TIMEOUT, send(&mut connection, address, &request)).await {
            Ok(Ok(status)) => {
                *tally.answers.entry(status).or_default() += 1;
                answered.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Err(failure)) => {
                tally.failures.push(format!("{path}: {failure:#}"));
                connection = None;
            }
            Err(_) => {
                tally.failures.push(format!("{path}: no answer within {ANSWER_TIMEOUT:?}"));
                connection = None;
            }
        }
    }
    tally
}

/// Sends a request over the connection, or over a new one if the server has closed it.
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
