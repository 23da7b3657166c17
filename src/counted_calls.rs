//! How far those who count calls have read the streams on NATS that hold them: the ledger, the counters of this folder, and
//! NATS itself, which ends where the last call stands.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use backup::Manifest;
use ledger::Ledger;
use ledger::usage_streams;
use read::counters::CountersReader;
use read::generation::Generations;
use schemas::control::LedgerSource;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use tokio::time::{Instant, sleep};

use crate::clock;
use crate::config::Config;
use crate::connection;
use crate::data_folder::{DataFolder, Part};

/// How long the counters may take to read what the ledger has copied when the process ends.
const COUNTED_WITHIN: Duration = Duration::from_secs(2);

/// How often it is looked whether they have.
const LOOK: Duration = Duration::from_millis(20);

/// The counters of a data folder; `None` where no projection ever ran on it.
pub async fn counters(data: &DataFolder) -> Result<Option<CountersReader>> {
    let Some(generation) = Generations::new(data.models().join("counters")).current()? else {
        return Ok(None);
    };
    Ok(Some(CountersReader::open(&generation.path, Month::of(clock::now())).await?))
}

/// How far the counters have read each stream.
pub async fn read_by(counters: &CountersReader) -> Result<Vec<LedgerSource>> {
    let progress = counters.progress().await?;
    let source = |(stream, source): (String, read::counters::Source)| LedgerSource {
        stream,
        created: source.created,
        sequence: source.sequence,
    };
    Ok(progress.sources.into_iter().map(source).collect())
}

/// Where the streams end that meter these tiers or were copied once.
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

/// How many messages of a stream one has read and the other has not: negative where it is the other who has read more.
/// `None` where they have not read the same stream.
pub fn further(one: &[LedgerSource], other: &[LedgerSource], stream: &str) -> Option<i64> {
    let of = |sources: &[LedgerSource]| sources.iter().find(|source| source.stream == stream).cloned();
    match (of(one), of(other)) {
        (Some(one), Some(other)) if one.created == other.created => {
            Some(one.sequence.cast_signed() - other.sequence.cast_signed())
        }
        (Some(_), Some(_)) | (None, None) => None,
        (Some(one), None) => Some(one.sequence.cast_signed()),
        (None, Some(other)) => Some(-other.sequence.cast_signed()),
    }
}

/// How many calls the ledger of a backup lacks that were counted: what NATS holds, or where it is away, what the counters
/// have read. `None` where neither can be asked, or nothing is counted here.
pub async fn missing_in_backup(config: &Config, backup: &Path) -> Result<Option<u64>> {
    let Some(copied) = Manifest::copied_streams(backup).await? else { return Ok(None) };
    let data = DataFolder::new(&config.server.data);
    let running = data.running(Part::Write).map(|running| running.nats_url);
    let counted = match running.or_else(|| config.nats.url.clone()) {
        Some(url) => ends(&connection::connect(config, &url).await?, config, &copied).await?,
        None => match counters(&data).await? {
            Some(counters) => read_by(&counters).await?,
            None => return Ok(None),
        },
    };
    let missing = counted.iter().filter_map(|source| further(&counted, &copied, &source.stream));
    Ok(Some(missing.map(|calls| u64::try_from(calls).unwrap_or_default()).sum()))
}

/// Waits until the counters of this folder have read what the ledger has copied, though not for long.
pub async fn counted(data: &DataFolder, ledger: &Ledger) -> Result<()> {
    let copied = ledger.watch().borrow().clone();
    let Some(counters) = counters(data).await? else { return Ok(()) };
    let begun = Instant::now();
    while begun.elapsed() < COUNTED_WITHIN {
        let read = read_by(&counters).await?;
        let lacks =
            |source: &LedgerSource| further(&copied, &read, &source.stream).is_some_and(|more| more > 0);
        if !copied.iter().any(lacks) {
            return Ok(());
        }
        sleep(LOOK).await;
    }
    tracing::warn!("the counters have not read all that the ledger has; the next start counts the rest");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(stream: &str, created: &str, sequence: u64) -> LedgerSource {
        LedgerSource { stream: stream.into(), created: created.parse().unwrap(), sequence }
    }

    #[test]
    fn who_has_read_more_of_a_stream_is_further() {
        let (old, new) = ("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z");
        let one = [source("USAGE_FREE", old, 7), source("USAGE_PRO", new, 3)];
        let other = [source("USAGE_FREE", old, 5), source("USAGE_PRO", old, 9), source(OVERRUN, old, 2)];
        let further = |stream| further(&one, &other, stream);
        assert_eq!(further("USAGE_FREE"), Some(2));
        assert_eq!(super::further(&other, &one, "USAGE_FREE"), Some(-2));
        assert_eq!(further("USAGE_PRO"), None, "another stream of the same name");
        assert_eq!(further(OVERRUN), Some(-2), "a stream that only one knows");
        assert_eq!(further("USAGE_STUDIO"), None);
    }
}
