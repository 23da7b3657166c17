//! Metering: what counting adds to a call, and how many calls a second are counted, over many keys and over one. The
//! client is in this process and the nats-server a private one of its own, as in `loggia up`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use bench::Figure;
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

use crate::config::Config;

/// Calls one after the other, whose median is what counting adds.
const ALONE: usize = 2_000;
/// Calls of a run in which as many are on their way as callers there are.
const CALLS: usize = 100_000;
const CALLERS: usize = 64;
/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(10);
const KEYS: usize = 1_000;
/// Larger than what a run counts.
const QUOTA: u64 = 1_000_000_000;

/// Measures the three figures.
pub async fn measure(config: &Config) -> Result<Vec<Figure>> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let mut options = Options::new(folder.path().join("nats"));
    options.binary.clone_from(&config.nats.server);
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
            health: Health::default(),
            clock: Clock::system(),
        },
    )?;
    let bench = Arc::new(Bench { meter, clock: Clock::system(), tier: Arc::new("bench".parse()?) });
    let keys = keys();
    // The first calls pay for connecting and for waking the server up.
    bench.run(&keys[..1], ALONE, 1).await?;
    let mut alone = bench.run(&keys[..1], ALONE, 1).await?.each;
    alone.sort();
    let many = bench.run(&keys, CALLS, CALLERS).await?;
    let single = bench.run(&keys[..1], CALLS, CALLERS).await?;
    server.stop().await;
    let per_second = |run: &Run| CALLS as f64 / run.took.as_secs_f64();
    Ok(vec![
        Figure::new("added to a call by counting it, median", alone[ALONE / 2].as_secs_f64() * 1e6, "µs")
            .at_most(150.0),
        Figure::new(format!("counted calls over {KEYS} keys"), per_second(&many), "calls/s")
            .at_least(15_000.0),
        Figure::new("counted calls over one key", per_second(&single), "calls/s").at_least(15_000.0),
    ])
}

struct Bench {
    meter: Meter,
    clock: Clock,
    tier: Arc<TierName>,
}

/// How long a run took, and each of its calls.
struct Run {
    took: Duration,
    each: Vec<Duration>,
}

impl Bench {
    /// Counts so many calls over the keys in turn, with so many callers at once.
    async fn run(self: &Arc<Self>, keys: &[KeyId], calls: usize, callers: usize) -> Result<Run> {
        let next = Arc::new(AtomicUsize::new(0));
        let began = Instant::now();
        let mut running = tokio::task::JoinSet::new();
        for _ in 0..callers {
            let (bench, next, keys) = (self.clone(), next.clone(), keys.to_vec());
            running.spawn(async move {
                let mut each = Vec::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= calls {
                        return Ok(each);
                    }
                    let began = Instant::now();
                    bench.count(keys[index % keys.len()]).await?;
                    each.push(began.elapsed());
                }
            });
        }
        let mut each = Vec::with_capacity(calls);
        while let Some(done) = running.join_next().await {
            let done: Result<Vec<Duration>> = done?;
            each.extend(done?);
        }
        Ok(Run { took: began.elapsed(), each })
    }

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
        let (counted, until) =
            (Counted { used: 0, through: u64::MAX }, tokio::time::Instant::now() + PATIENCE);
        match self.meter.count(&budget, &call, QUOTA, counted, until).await {
            Outcome::Counted { .. } => Ok(()),
            other => bail!("a call was not counted: {other:?}"),
        }
    }
}

/// Keys of this run; nobody else knows them, so their texts may be guessable.
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
