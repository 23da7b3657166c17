//! `loggia audit`: every counted call of a key, and the recount of all calls.

mod verify;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Result, bail};
use cli_output::{Output, Usage, count, say};
use data_folder::DataFolder;
use ledger::{Ledger, Used};
use schemas::control::LedgerEntry;
use schemas::ids::Position;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId, Surface};
use serde::Serialize;
use write::service::read_accounts;

use crate::cli::AuditArgs;
use crate::config::{Auth, Config};
use crate::store;

/// The number of calls that are printed at once.
const CHUNK: usize = 1_000;

/// The headings of comma-separated values. No value needs quotes: times, ids, tiers and operations consist of letters, digits
/// and a few signs, and none begins like a formula of a spreadsheet.
const HEADINGS: &str = "position,time,surface,operation,call_id,key_id,tier,month,overrun";

pub async fn run(config: &Config, args: &AuditArgs, output: Output) -> Result<ExitCode> {
    DataFolder::new(&config.server.data).check()?;
    if args.subject == "verify" {
        if args.month.is_some() || args.csv {
            return Err(Usage(
                "--month and --csv need the id of a key; `loggia audit verify` checks everything",
            )
            .into());
        }
        let Some(ledger) = ledger(config).await? else {
            store::require_log_here(config)?;
            if config.access.auth == Auth::Off {
                return nothing_to_verify(config, output).await;
            }
            bail!(
                "there is no ledger in {} yet: calls are counted by `loggia up` and `loggia write` while auth is keys",
                store::folder(config).display()
            );
        };
        return verify::run(config, &ledger, output).await;
    }
    if args.csv && output.is_json() {
        return Err(Usage("choose one of --csv and --json").into());
    }
    let key: KeyId = args.subject.parse()?;
    // If nothing was ever counted there is no ledger.
    let is_empty = match ledger(config).await? {
        Some(ledger) => calls(&ledger, key, args, output).await?,
        None => true,
    };
    if is_empty {
        if !is_issued(config, key).await? {
            bail!("there is no key {key}; `loggia keys list` shows the keys");
        }
        if !args.csv && !output.is_json() {
            let when = args.month.map(|month| format!(" in {month}")).unwrap_or_default();
            say(&format!("no call of the key {key} is counted{when}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Answers where no call was ever counted and none is: fails only if there is no log, since the folder is another one then.
async fn nothing_to_verify(config: &Config, output: Output) -> Result<ExitCode> {
    if store::is_here(config) {
        store::open_read_only(config).await?;
    }
    let report = serde_json::json!({"entries": 0, "keys": 0, "calls": 0, "overrun": 0, "compared": [], "differences": []});
    output.answer(&report, || "nothing to verify: auth is off, so no call is counted".to_owned())?;
    Ok(ExitCode::SUCCESS)
}

async fn ledger(config: &Config) -> Result<Option<Ledger>> {
    Ok(Ledger::open_read_only(&store::folder(config)).await?)
}

/// One counted call as it is printed.
#[derive(Debug, Serialize)]
struct Line<'a> {
    position: Position,
    time: String,
    surface: Surface,
    operation: &'a str,
    call_id: CallId,
    key_id: KeyId,
    tier: &'a TierName,
    month: Month,
    overrun: bool,
}

/// The calls of a key in a month and tier.
#[derive(Debug, Serialize)]
struct Total<'a> {
    key_id: KeyId,
    month: Month,
    tier: &'a TierName,
    #[serde(flatten)]
    used: Used,
}

async fn is_issued(config: &Config, key: KeyId) -> Result<bool> {
    let accounts = read_accounts(&store::open_read_only(config).await?).await?;
    Ok(accounts.iter().any(|(_, account)| account.keys().iter().any(|one| one.issued.key_id == key)))
}

/// Prints every call of a key, and the totals. Returns whether there is none.
async fn calls(ledger: &Ledger, key: KeyId, args: &AuditArgs, output: Output) -> Result<bool> {
    let months = match args.month {
        Some(month) => vec![month],
        None => ledger.months().await?,
    };
    let headings = args.csv.then(|| HEADINGS.to_owned());
    let mut printer =
        Printer { output, csv: args.csv, lines: headings.into_iter().collect(), outcome: Ok(()) };
    let mut totals: BTreeMap<(Month, TierName), Used> = BTreeMap::new();
    for month in months {
        ledger
            .each_call(key, month, |entry| {
                let used = totals.entry((month, entry.call.tier.clone())).or_default();
                *(if entry.overrun { &mut used.overrun } else { &mut used.used }) += 1;
                printer.print(&entry);
            })
            .await?;
    }
    printer.flush();
    printer.outcome?;
    let is_empty = totals.is_empty();
    for ((month, tier), used) in totals {
        if !args.csv {
            output.answer(
                &serde_json::json!({"total": Total { key_id: key, month, tier: &tier, used }}),
                || {
                    let over = match used.overrun {
                        0 => String::new(),
                        over => format!(", and {} over the quota", count(over)),
                    };
                    format!("{month} {tier}: {} calls{over}", count(used.used))
                },
            )?;
        }
    }
    Ok(is_empty)
}

/// Prints calls, many at once: one write per call would be slow.
struct Printer {
    output: Output,
    csv: bool,
    lines: Vec<String>,
    outcome: Result<()>,
}

impl Printer {
    fn print(&mut self, entry: &LedgerEntry) {
        self.lines.push(line(entry, self.csv, self.output.is_json()));
        if self.lines.len() >= CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if self.outcome.is_ok() && !lines.is_empty() {
            self.outcome = self.output.lines(&lines).map_err(Into::into);
        }
    }
}

fn line(entry: &LedgerEntry, csv: bool, json: bool) -> String {
    let LedgerEntry { position, call, overrun, .. } = entry;
    let Call { id, key_id, tier, month, time, surface, operation } = call;
    if csv {
        let surface = surface.as_str();
        return format!("{position},{time},{surface},{operation},{id},{key_id},{tier},{month},{overrun}");
    }
    if json {
        let line = Line {
            position: *position,
            time: time.to_string(),
            surface: *surface,
            operation,
            call_id: *id,
            key_id: *key_id,
            tier,
            month: *month,
            overrun: *overrun,
        };
        // A struct of texts and numbers can always be serialized.
        return serde_json::to_string(&line).unwrap_or_default();
    }
    let mark = if *overrun { "  over the quota" } else { "" };
    format!("{time:.6}  {:<4}  {operation:<16}  {id}  {tier}{mark}", surface.as_str())
}

#[cfg(test)]
mod tests;
