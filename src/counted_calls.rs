//! How far the ledger and the counters of this folder have read the streams of calls on NATS, and where these end.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use backup::Manifest;
use data_folder::{DataFolder, Part};
use ledger::comparison::lead;
use ledger::{Ledger, usage_streams};
use read::counters::CountersReader;
use read::generation::Generations;
use schemas::control::LedgerSource;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use tokio::time::{Instant, sleep};

use crate::config::Config;
use crate::connection;
use crate::process;

/// How long the counters may take at the end of the process to read what the ledger has copied.
const COUNTERS_TIMEOUT: Duration = Duration::from_secs(2);

const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Opens the counters of a data folder; `None` if no projection ever ran on it.
pub async fn counters(data: &DataFolder) -> Result<Option<CountersReader>> {
    let Some(generation) = Generations::new(data.models().join("counters")).current()? else {
        return Ok(None);
    };
    Ok(Some(CountersReader::open(&generation.path, Month::of(process::now())).await?))
}

/// Returns the position up to which the counters have read each stream.
pub async fn read_by(counters: &CountersReader) -> Result<Vec<LedgerSource>> {
    let progress = counters.progress().await?;
    let source = |(stream, source): (String, read::counters::Source)| LedgerSource {
        stream,
        created: source.created,
        sequence: source.sequence,
    };
    Ok(progress.sources.into_iter().map(source).collect())
}

/// Returns the ends of the streams that meter the tiers that are set, or that were ever copied.
pub async fn ends(
    client: &async_nats::Client,
    config: &Config,
    copied: &[LedgerSource],
) -> Result<Vec<LedgerSource>> {
    let mut names: Vec<String> = config.access.tiers.iter().map(|tier| usage_stream(&tier.name)).collect();
    names.push(OVERRUN.to_owned());
    names.extend(copied.iter().map(|source| source.stream.clone()));
    names.sort_unstable();
    names.dedup();
    let mut ends = Vec::new();
    for name in names {
        ends.extend(usage_streams::stream_end(client, &name).await?);
    }
    Ok(ends)
}

/// Returns the number of counted calls that the ledger of a backup lacks: those that NATS holds, or without NATS those that the
/// counters have read. `None` without both, and if the backup has no ledger.
pub async fn missing_in_backup(config: &Config, backup: &Path) -> Result<Option<u64>> {
    let Some(copied) = Manifest::copied_streams(backup).await? else { return Ok(None) };
    let data = DataFolder::new(&config.server.data);
    let running = data.running(Part::Write).map(|running| running.nats_url);
    let counted = match running.or_else(|| config.nats.url.clone()) {
        Some(url) => ends(&connection::connect_to_nats(config, &url).await?, config, &copied).await?,
        None => match counters(&data).await? {
            Some(counters) => read_by(&counters).await?,
            None => return Ok(None),
        },
    };
    let missing = counted.iter().filter_map(|source| lead(&counted, &copied, &source.stream));
    Ok(Some(missing.map(|calls| u64::try_from(calls).unwrap_or_default()).sum()))
}

/// Waits until the counters of this folder have read what the ledger has copied, but at most for 2 seconds.
pub async fn wait_for_counters(data: &DataFolder, ledger: &Ledger) -> Result<()> {
    let copied = ledger.watch().borrow().clone();
    let Some(counters) = counters(data).await? else { return Ok(()) };
    let begun = Instant::now();
    while begun.elapsed() < COUNTERS_TIMEOUT {
        let read = read_by(&counters).await?;
        let lacks = |source: &LedgerSource| lead(&copied, &read, &source.stream).is_some_and(|more| more > 0);
        if !copied.iter().any(lacks) {
            return Ok(());
        }
        sleep(CHECK_INTERVAL).await;
    }
    tracing::warn!("the counters have not read all that the ledger has; the next start counts the rest");
    Ok(())
}
