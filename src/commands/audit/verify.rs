//! `loggia audit verify`: the hash chain of the ledger, and a recount of every key, month and tier, compared with NATS and the
//! counters.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use cli_output::{Output, count};
use data_folder::{DataFolder, Part};
use ledger::comparison::{AllowanceCounts, InTransit, OtherCount, differences, overruns, remove_in_transit};
use ledger::usage_streams::{Allowance, calls_in_stream};
use ledger::{Ledger, Totals, Used, count_entry};
use metering::abandoned_calls;
use schemas::control::{LedgerSource, NodeSummary};
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use schemas::tier::TierName;
use serde::Serialize;

use crate::compose::summaries;
use crate::config::Config;
use crate::connection;
use crate::counted_calls;
use crate::process;

/// The number of entries that are read at once after those that were verified.
const PAGE: usize = 1_000;

/// The interval between two comparisons while a service runs.
const INTERVAL: Duration = Duration::from_millis(500);

/// How long calls in transit are waited for while a service runs: on a service at rest all parties then have all of them.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(2);

/// How long differences must stay the same to count as such while a service runs.
const QUIET: Duration = Duration::from_secs(5);

/// When differences that still change are reported as they are.
const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, Serialize)]
struct Report {
    entries: u64,
    hash: Hash,
    keys: u64,
    calls: u64,
    overrun: u64,
    compared: Vec<&'static str>,
    overruns: Vec<AllowanceCounts>,
    /// Calls that the ledger or another party has not read from the streams yet.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    waiting: BTreeMap<&'static str, InTransit>,
    differences: Vec<AllowanceCounts>,
    /// The spool of each process that counts calls and answers: the calls in it are not counted yet.
    spools: Vec<Spool>,
}

/// The calls in the spool of a process.
#[derive(Debug, Serialize)]
struct Spool {
    node: String,
    role: String,
    calls: u64,
}

/// Verifies the ledger and compares all counts. Returns exit status 3 if the ledger is damaged or something is counted
/// differently.
pub(super) async fn run(config: &Config, ledger: &Ledger, output: Output) -> Result<ExitCode> {
    let bar = output.progress(ledger.head().await?.position.0, "verifying");
    let outcome = ledger.verify(|done| bar.set_position(done)).await;
    bar.finish_and_clear();
    let recount = match outcome? {
        Ok(recount) => recount,
        Err(damage) => {
            output.answer(&damage, || damage.to_string())?;
            return Ok(ExitCode::from(3));
        }
    };
    let running = DataFolder::new(&config.server.data).running(Part::Write).map(|running| running.nats_url);
    let is_running = running.is_some();
    let client = match running.or_else(|| config.nats.url.clone()) {
        Some(url) => Some(connection::connect_to_nats(config, &url).await?),
        None => None,
    };
    let sources = OtherSources { config, client };
    let copied = ledger.watch().borrow().clone();
    let mut own = OwnCount { ledger, position: Position(recount.entries), totals: recount.totals, copied };
    let Comparison { others, waiting, differences } = compare(&mut own, &sources, is_running).await?;
    let report = Report {
        entries: recount.entries,
        hash: recount.hash,
        keys: own.totals.keys().map(|allowance| allowance.key).collect::<BTreeSet<_>>().len() as u64,
        calls: own.totals.values().map(|used| used.used).sum(),
        overrun: own.totals.values().map(|used| used.overrun).sum(),
        compared: others.iter().map(|other| other.name).collect(),
        overruns: overruns(&own.totals, &others),
        waiting,
        differences: differences.into_values().collect(),
        spools: sources.spools().await?,
    };
    output.answer(&report, || text(&report, &others, is_running))?;
    Ok(if report.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// The count of the ledger, which rises while the service runs.
struct OwnCount<'a> {
    ledger: &'a Ledger,
    position: Position,
    totals: Totals,
    /// The position up to which it has copied each stream.
    copied: Vec<LedgerSource>,
}

impl OwnCount<'_> {
    /// Counts the entries since the last call.
    async fn update(&mut self) -> Result<()> {
        loop {
            let page = self.ledger.page(self.position, PAGE).await?;
            let Some(last) = page.entries.last() else {
                self.copied = page.sources;
                return Ok(());
            };
            self.position = last.position;
            page.entries.iter().for_each(|entry| count_entry(&mut self.totals, entry));
        }
    }
}

/// Reads the counts of others: NATS and the counters of this folder.
struct OtherSources<'a> {
    config: &'a Config,
    client: Option<async_nats::Client>,
}

impl OtherSources<'_> {
    /// Reads the counts of all that are available.
    async fn counts(&self, ledger: &Totals, copied: &[LedgerSource]) -> Result<Vec<OtherCount>> {
        let mut counts = Vec::new();
        if let Some(client) = &self.client {
            let mut nats = self.nats(client, ledger).await?;
            nats.read = counted_calls::ends(client, self.config, copied).await?;
            counts.push(nats);
        }
        counts.extend(self.counters().await?);
        Ok(counts)
    }

    /// Returns the spools of all processes that answer, and calls that a process of this folder has left in its spool.
    async fn spools(&self) -> Result<Vec<Spool>> {
        let mut spools = match &self.client {
            Some(client) => summaries(client, &[]).await?,
            None => Vec::new(),
        }
        .into_iter()
        .filter_map(|NodeSummary { node, role, spool, .. }| spool.map(|calls| Spool { node, role, calls }))
        .collect::<Vec<_>>();
        let calls = abandoned_calls(&DataFolder::new(&self.config.server.data).spool())?;
        if calls > 0 {
            spools.push(Spool { node: "this data folder".to_owned(), role: "stopped".to_owned(), calls });
        }
        Ok(spools)
    }

    /// Reads the counters of this folder, which have every month; `None` if no projection ever ran on it.
    async fn counters(&self) -> Result<Option<OtherCount>> {
        let data = DataFolder::new(&self.config.server.data);
        let Some(counters) = counted_calls::counters(&data).await? else { return Ok(None) };
        let read = counted_calls::read_by(&counters).await?;
        let mut count = OtherCount { name: "counters", read, ..OtherCount::default() };
        let mut add = |key, month, tier: &TierName, used, overrun| {
            count.totals.insert(Allowance { key, month, tier: tier.clone() }, Used { used, overrun });
        };
        counters.each_total(&mut add).await?;
        counters.close().await;
        Ok(Some(count))
    }

    /// Reads the counts of NATS, which has every call of the running month and the one before, and some of older months.
    async fn nats(&self, client: &async_nats::Client, ledger: &Totals) -> Result<OtherCount> {
        let running = Month::of(process::now());
        let months = vec![running.previous(), running];
        let mut count = OtherCount { name: "nats", months: Some(months.clone()), ..OtherCount::default() };
        let former = ledger.keys().filter(|allowance| months.contains(&allowance.month));
        let configured = self.config.access.tiers.iter().map(|tier| tier.name.clone());
        let tiers: BTreeSet<TierName> =
            former.map(|allowance| allowance.tier.clone()).chain(configured).collect();
        for month in months {
            for tier in &tiers {
                let Some(held) = calls_in_stream(client, &usage_stream(tier), month).await? else { continue };
                count.limits.extend(held.limit.map(|limit| (tier.clone(), limit)));
                for (allowance, calls) in held.calls {
                    count.totals.entry(allowance).or_default().used += calls;
                }
            }
            let over = calls_in_stream(client, OVERRUN, month).await?.unwrap_or_default();
            for (allowance, calls) in over.calls {
                count.totals.entry(allowance).or_default().overrun += calls;
            }
        }
        Ok(count)
    }
}

/// The counts of the others compared with those of the ledger.
struct Comparison {
    others: Vec<OtherCount>,
    waiting: BTreeMap<&'static str, InTransit>,
    differences: BTreeMap<Allowance, AllowanceCounts>,
}

/// Compares the counts. Calls that one party has read from a stream and the other has not are no difference. While a service runs
/// the parties are not read at one moment, so a difference is one that every comparison finds until nothing changes any more.
async fn compare(own: &mut OwnCount<'_>, sources: &OtherSources<'_>, is_running: bool) -> Result<Comparison> {
    let begun = Instant::now();
    let mut open: Option<BTreeMap<Allowance, AllowanceCounts>> = None;
    let mut unchanged_since = begun;
    loop {
        let others = sources.counts(&own.totals, &own.copied).await?;
        own.update().await?;
        let mut differences = differences(&own.totals, &others);
        let waiting = remove_in_transit(&mut differences, &others, &own.copied);
        if let Some(open) = &open {
            differences.retain(|allowance, _| open.contains_key(allowance));
        }
        if open.as_ref() != Some(&differences) {
            unchanged_since = Instant::now();
        }
        let is_final = if differences.is_empty() {
            waiting.is_empty() || begun.elapsed() >= ARRIVAL_TIMEOUT
        } else {
            unchanged_since.elapsed() >= QUIET || begun.elapsed() >= TIMEOUT
        };
        if is_final || !is_running {
            return Ok(Comparison { others, waiting, differences });
        }
        open = Some(differences);
        tokio::time::sleep(INTERVAL).await;
    }
}

fn text(report: &Report, others: &[OtherCount], is_running: bool) -> String {
    let Report { entries, hash, keys, calls, overrun, overruns, waiting, differences, spools, .. } = report;
    let mut text = format!(
        "{} entries, the hash chain is whole; the last hash is {hash}\n{} calls of {} keys, and {} over the quota\n",
        count(*entries),
        count(*calls),
        count(*keys),
        count(*overrun)
    );
    for other in others {
        let months = other.months.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        let of = if months.is_empty() { String::new() } else { format!(" ({months})") };
        text += &format!("compared with {}{of}\n", other.name);
    }
    if !others.iter().any(|other| other.name == "nats") {
        text += "not compared with nats: no write side runs on this data folder, and nats_url is not set\n";
    }
    if !overruns.is_empty() {
        text += &format!("\nover the quota\n{}\n", table(overruns));
    }
    let who = if is_running { "the running service" } else { "the next start" };
    for (other, InTransit { not_copied, not_counted }) in waiting {
        if *not_copied > 0 {
            text += &format!(
                "not copied yet: {} calls that {other} has; {who} copies them\n",
                count(*not_copied)
            );
        }
        if *not_counted > 0 {
            text += &format!(
                "not counted yet: {} calls that {other} lacks; {who} counts them\n",
                count(*not_counted)
            );
        }
    }
    for Spool { node, role, calls } in spools.iter().filter(|spool| spool.calls > 0) {
        text += &format!("not counted yet: {} calls wait in the spool of {node} ({role})\n", count(*calls));
    }
    text += &match spools.iter().filter(|spool| spool.calls == 0).count() {
        0 => "calls that wait in the spools of nodes that do not answer are not part of this check\n"
            .to_owned(),
        1 => "the spool of 1 node is empty; those of nodes that do not answer are not part of this check\n"
            .to_owned(),
        empty => format!(
            "the spools of {empty} nodes are empty; those of nodes that do not answer are not part of this check\n"
        ),
    };
    if differences.is_empty() {
        text += "no difference";
    } else {
        text += &format!("\ncounted differently\n{}", table(differences));
    }
    text
}

fn table(rows: &[AllowanceCounts]) -> String {
    let names: BTreeSet<&str> = rows.iter().flat_map(|row| row.others.keys().copied()).collect();
    let mut text = format!("{:<10}{:<9}{:<22}{:>16}", "key", "month", "tier", "ledger");
    for name in &names {
        text += &format!("{name:>16}");
    }
    for row in rows {
        let AllowanceCounts { key_id, month, tier, ledger, others } = row;
        let (key, month, tier) = (key_id.to_string(), month.to_string(), tier.to_string());
        text += &format!("\n{key:<10}{month:<9}{tier:<22}{:>16}", shown(Some(ledger)));
        for name in &names {
            text += &format!("{:>16}", shown(others.get(name)));
        }
    }
    text
}

/// Returns the number of calls within the quota, and after a plus sign those over it.
fn shown(used: Option<&Used>) -> String {
    match used {
        None => "–".to_owned(),
        Some(Used { used, overrun: 0 }) => count(*used),
        Some(Used { used, overrun }) => format!("{} + {}", count(*used), count(*overrun)),
    }
}

#[cfg(test)]
mod tests;
