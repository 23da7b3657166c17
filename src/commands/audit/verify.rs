//! `loggia audit verify`: the hash chain, and a recount of every key, month and tier against whoever else counts.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
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

use super::compare::{Look, Row, Side, Waiting, differences, overruns, table, take_waiting};
use crate::clock;
use crate::config::Config;
use crate::connection;
use crate::counted_calls;
use crate::data_folder::{DataFolder, Part};
use crate::nodes;
use crate::output::{Output, count};

/// Entries read at once behind those that were verified.
const PAGE: usize = 1_000;

/// How often what differs is looked at again while a service runs, …
const AGAIN: Duration = Duration::from_millis(500);

/// … for how long it must stay the same to be believed, …
const QUIET: Duration = Duration::from_secs(5);

/// … and when what still moves is told as it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    entries: u64,
    hash: Hash,
    keys: u64,
    calls: u64,
    overrun: u64,
    compared: Vec<&'static str>,
    overruns: Vec<Row>,
    /// Calls that are on their way from the streams to the ledger or to a side, while no service runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    waiting: BTreeMap<&'static str, Waiting>,
    differences: Vec<Row>,
    /// The spool of each process that counts calls and answers: calls in it are counted by nobody yet.
    spools: Vec<Spool>,
}

/// How many calls wait in the spool of a process.
#[derive(Debug, Serialize)]
struct Spool {
    node: String,
    role: String,
    calls: u64,
}

/// Checks everything; exit status 3 where something is damaged or counted otherwise.
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
    let moving = running.is_some();
    let client = match running.or_else(|| config.nats.url.clone()) {
        Some(url) => Some(connection::connect(config, &url).await?),
        None => None,
    };
    let others = Others { config, client };
    let mut own = Own { ledger, position: Position(recount.entries), totals: recount.totals };
    let (sides, mut differences) = settled(&mut own, &others, moving).await?;
    // A service that runs copies what it has not copied yet; what stays different for long is a difference then.
    let copied = ledger.watch().borrow().clone();
    let waiting = if moving { BTreeMap::new() } else { take_waiting(&mut differences, &sides, &copied) };
    let report = Report {
        entries: recount.entries,
        hash: recount.hash,
        keys: own.totals.keys().map(|allowance| allowance.key).collect::<BTreeSet<_>>().len() as u64,
        calls: own.totals.values().map(|used| used.used).sum(),
        overrun: own.totals.values().map(|used| used.overrun).sum(),
        compared: sides.iter().map(|side| side.name).collect(),
        overruns: overruns(&own.totals, &sides),
        waiting,
        differences: differences.into_values().collect(),
        spools: others.spools().await?,
    };
    output.answer(&report, || screen(&report, &sides))?;
    Ok(if report.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// The ledger's own count, which goes on while the service runs.
struct Own<'a> {
    ledger: &'a Ledger,
    position: Position,
    totals: Totals,
}

impl Own<'_> {
    /// Counts what came in since.
    async fn go_on(&mut self) -> Result<()> {
        loop {
            let page = self.ledger.page(self.position, PAGE).await?;
            let Some(last) = page.entries.last() else { return Ok(()) };
            self.position = last.position;
            page.entries.iter().for_each(|entry| count_entry(&mut self.totals, entry));
        }
    }
}

/// Whoever else counts.
struct Others<'a> {
    config: &'a Config,
    client: Option<async_nats::Client>,
}

impl Others<'_> {
    /// What they count now. Whoever is not there is left out.
    async fn sides(&self, ledger: &Totals, copied: &[LedgerSource]) -> Result<Vec<Side>> {
        let mut sides = Vec::new();
        if let Some(client) = &self.client {
            let mut nats = self.nats(client, ledger).await?;
            nats.read = counted_calls::ends(client, self.config, copied).await?;
            sides.push(nats);
        }
        sides.extend(self.counters().await?);
        Ok(sides)
    }

    /// The spools of all processes that answer, and what is left in the one of this folder.
    async fn spools(&self) -> Result<Vec<Spool>> {
        let mut spools = match &self.client {
            Some(client) => nodes::ask(client, &[]).await?,
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

    /// The counters of this folder, which know every month; none where no projection ever ran on it.
    async fn counters(&self) -> Result<Option<Side>> {
        let data = DataFolder::new(&self.config.server.data);
        let Some(counters) = counted_calls::counters(&data).await? else { return Ok(None) };
        let read = counted_calls::read_by(&counters).await?;
        let mut side = Side { name: "counters", read, ..Side::default() };
        let mut take = |key, month, tier: &TierName, used, overrun| {
            side.totals.insert(Allowance { key, month, tier: tier.clone() }, Used { used, overrun });
        };
        counters.each_total(&mut take).await?;
        counters.close().await;
        Ok(Some(side))
    }

    /// NATS keeps the running month and the one before it whole, and of older ones a part.
    async fn nats(&self, client: &async_nats::Client, ledger: &Totals) -> Result<Side> {
        let running = Month::of(clock::now());
        let months = vec![running.previous(), running];
        let mut side = Side { name: "nats", months: Some(months.clone()), ..Side::default() };
        let former = ledger.keys().filter(|allowance| months.contains(&allowance.month));
        let configured = self.config.access.tiers.iter().map(|tier| tier.name.clone());
        let tiers: BTreeSet<TierName> =
            former.map(|allowance| allowance.tier.clone()).chain(configured).collect();
        for month in months {
            for tier in &tiers {
                let Some(held) = calls_in_stream(client, &usage_stream(tier), month).await? else { continue };
                side.limits.extend(held.limit.map(|limit| (tier.clone(), limit)));
                for (allowance, calls) in held.calls {
                    side.totals.entry(allowance).or_default().used += calls;
                }
            }
            let over = calls_in_stream(client, OVERRUN, month).await?.unwrap_or_default();
            for (allowance, calls) in over.calls {
                side.totals.entry(allowance).or_default().overrun += calls;
            }
        }
        Ok(side)
    }
}

/// The differences that stay. While a service runs, calls are on their way from one to the other: where all have met
/// once, there is no difference.
async fn settled(
    own: &mut Own<'_>,
    others: &Others<'_>,
    moving: bool,
) -> Result<(Vec<Side>, BTreeMap<Allowance, Row>)> {
    let begun = Instant::now();
    let mut open: Option<(Look, BTreeMap<Allowance, Row>)> = None;
    let mut quiet = begun;
    loop {
        let copied = own.ledger.watch().borrow().clone();
        let sides = others.sides(&own.totals, &copied).await?;
        own.go_on().await?;
        let mut found = differences(&own.totals, &sides);
        let look = Look { sides, ledger: own.totals.clone() };
        if let Some((before, open)) = &open {
            found.retain(|allowance, _| {
                open.contains_key(allowance) && !(moving && look.has_met_since(before, allowance))
            });
        }
        if open.as_ref().map(|(_, open)| open) != Some(&found) {
            quiet = Instant::now();
        }
        let stays = !moving || quiet.elapsed() >= QUIET || begun.elapsed() >= PATIENCE;
        if found.is_empty() || stays {
            return Ok((look.sides, found));
        }
        open = Some((look, found));
        tokio::time::sleep(AGAIN).await;
    }
}

fn screen(report: &Report, sides: &[Side]) -> String {
    let Report { entries, hash, keys, calls, overrun, overruns, waiting, differences, spools, .. } = report;
    let mut text = format!(
        "{} entries, the hash chain is whole; the last hash is {hash}\n{} calls of {} keys, and {} over the quota\n",
        count(*entries),
        count(*calls),
        count(*keys),
        count(*overrun)
    );
    for side in sides {
        let months = side.months.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        let of = if months.is_empty() { String::new() } else { format!(" ({months})") };
        text += &format!("compared with {}{of}\n", side.name);
    }
    if !sides.iter().any(|side| side.name == "nats") {
        text += "not compared with nats: no write side runs on this data folder, and nats_url is not set\n";
    }
    if !overruns.is_empty() {
        text += &format!("\nover the quota\n{}\n", table(overruns));
    }
    for (side, Waiting { not_copied, not_counted }) in waiting {
        if *not_copied > 0 {
            let calls = count(*not_copied);
            text += &format!("not copied yet: {calls} calls that {side} has; the next start copies them\n");
        }
        if *not_counted > 0 {
            let calls = count(*not_counted);
            text +=
                &format!("not counted yet: {calls} calls that {side} lacks; the next start counts them\n");
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
