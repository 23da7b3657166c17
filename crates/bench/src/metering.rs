//! Metering: what counting adds to a call, and how many calls per second are counted, over many keys and over one. Measured in this
//! process with a private nats-server, as in `loggia up`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use health::Health;
use ledger::usage_streams;
use metering::{Budget, Meter, MeterSettings, Outcome, Policy};
use nats::server::{NatsServer, Options};
use nats::url::connect_options;
use read::counters::Counted;
use schemas::clock::Clock;
use schemas::key::{Key, KeyId};
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId, Surface};
use tokio::task::JoinSet;

use crate::Figure;

/// The number of calls one after the other, whose median is what counting adds.
const ALONE: usize = 2_000;
/// The number of calls of a run with concurrent callers.
const CALLS: usize = 100_000;
/// The number of concurrent callers.
const CALLERS: usize = 64;
/// The number of keys.
const KEYS: usize = 1_000;
/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A quota larger than the calls of a run.
const QUOTA: u64 = 1_000_000_000;

/// Starts a private server, with the program `nats_server`, else with the one that is found, and a meter in this process, and measures
/// them.
///
/// # Errors
///
/// If the server cannot be started, or a call is not counted.
pub async fn measure(nats_server: Option<PathBuf>) -> Result<Vec<Figure>> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let mut options = Options::new(folder.path().join("nats"));
    options.binary = nats_server;
    let server = NatsServer::start(options).await?;
    let url = server.url();
    let client = connect_options(&url)?.connect(&url).await?;
    let tiers = format!("bench={QUOTA}").parse()?;
    usage_streams::prepare(&client, &tiers, 1).await?;
    let meter = Meter::open(
        client,
        MeterSettings {
            folder: folder.path().join("spool"),
            policy: Policy::Refuse,
            spool_limit: u64::MAX,
            tiers,
            may_read_calls: true,
            health: Health::default(),
            clock: Clock::system(),
        },
    )?;
    let metered = Arc::new(Metered { meter, clock: Clock::system(), tier: Arc::new("bench".parse()?) });
    let figures = measure_calls(move |key| {
        let metered = metered.clone();
        async move { metered.count(key).await }
    })
    .await?;
    server.stop().await;
    Ok(figures)
}

struct Metered {
    meter: Meter,
    clock: Clock,
    tier: Arc<TierName>,
}

impl Metered {
    async fn count(&self, key_id: KeyId) -> Result<()> {
        let time = self.clock.now();
        let budget = Budget { key_id, tier: self.tier.clone(), month: Month::of(time) };
        let call = Call {
            id: CallId(self.clock.event_id().0),
            key_id,
            tier: self.tier.as_ref().clone(),
            month: budget.month,
            time,
            surface: Surface::Rest,
            operation: "search".into(),
        };
        let counted = || Counted { used: 0, through: u64::MAX };
        match self.meter.count(&budget, &call, QUOTA, counted, tokio::time::Instant::now() + TIMEOUT).await {
            Outcome::Counted { .. } => Ok(()),
            other => bail!("a call was not counted: {other:?}"),
        }
    }
}

/// Measures a function that counts one call of a key. Fails if a call is not counted.
async fn measure_calls<F, C>(count: F) -> Result<Vec<Figure>>
where
    F: Fn(KeyId) -> C + Clone + Send + 'static,
    C: Future<Output = Result<()>> + Send,
{
    let keys = keys();
    // The first calls pay for connecting and for waking the server up.
    run(&count, &keys[..1], ALONE, 1).await?;
    let mut alone = run(&count, &keys[..1], ALONE, 1).await?.each;
    alone.sort();
    let many = run(&count, &keys, CALLS, CALLERS).await?;
    let single = run(&count, &keys[..1], CALLS, CALLERS).await?;
    let per_second = |run: &Run| CALLS as f64 / run.took.as_secs_f64();
    Ok(vec![
        Figure::new("added to a call by counting it, median", alone[ALONE / 2].as_secs_f64() * 1e6, "µs")
            .at_most(150.0),
        Figure::new(format!("counted calls over {KEYS} keys"), per_second(&many), "calls/s")
            .at_least(15_000.0),
        Figure::new("counted calls over one key", per_second(&single), "calls/s").at_least(15_000.0),
    ])
}

/// How long a run took, and each of its calls.
struct Run {
    took: Duration,
    each: Vec<Duration>,
}

/// Counts `calls` calls over the keys in turn, with `callers` concurrent callers.
async fn run<F, C>(count: &F, keys: &[KeyId], calls: usize, callers: usize) -> Result<Run>
where
    F: Fn(KeyId) -> C + Clone + Send + 'static,
    C: Future<Output = Result<()>> + Send,
{
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..callers {
        let (count, next, keys) = (count.clone(), next.clone(), keys.to_vec());
        running.spawn(async move {
            let mut each = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= calls {
                    return anyhow::Ok(each);
                }
                let began = Instant::now();
                count(keys[index % keys.len()]).await?;
                each.push(began.elapsed());
            }
        });
    }
    let mut each = Vec::with_capacity(calls);
    while let Some(caller) = running.join_next().await {
        each.extend(caller??);
    }
    Ok(Run { took: began.elapsed(), each })
}

/// Returns the keys of a run. They exist only in this process, so they may be guessable.
fn keys() -> Vec<KeyId> {
    let mut next: u64 = 0;
    let mut random = |bytes: &mut [u8]| {
        for byte in bytes {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (next >> 56) as u8;
        }
    };
    (0..KEYS).map(|_| Key::generate(&mut random).id()).collect()
}
