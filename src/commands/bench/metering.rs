//! Metering, measured in this process with a private nats-server, as in `loggia up`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use bench::Figure;
use health::Health;
use ledger::usage_streams;
use metering::{Budget, Meter, MeterSettings, Outcome, Policy};
use nats::server::{NatsServer, Options};
use nats::url::connect_options;
use read::counters::Counted;
use schemas::clock::Clock;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId, Surface};
use tokio::time::Instant;

use crate::config::Config;

/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A quota larger than the calls of a run.
const QUOTA: u64 = 1_000_000_000;

/// Starts the server and the meter, and measures them.
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
            may_read_calls: true,
            health: Health::default(),
            clock: Clock::system(),
        },
    )?;
    let metered = Arc::new(Metered { meter, clock: Clock::system(), tier: Arc::new("bench".parse()?) });
    let figures = bench::metering::measure(move |key| {
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
        match self.meter.count(&budget, &call, QUOTA, counted, Instant::now() + TIMEOUT).await {
            Outcome::Counted { .. } => Ok(()),
            other => bail!("a call was not counted: {other:?}"),
        }
    }
}
