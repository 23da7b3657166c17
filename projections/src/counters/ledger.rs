//! The ledger of the write side, asked page by page: it holds every call for ever, NATS only those of some weeks.

use std::time::{Duration, Instant};

use async_nats::client::RequestErrorKind;
use read::counters::{Ledger, Metered, Source};
use schemas::control::{LedgerEntry, LedgerSource, ReadUsage, UsagePage};
use schemas::ids::Position;
use schemas::subject;
use tokio_util::sync::CancellationToken;

use super::{CountersWorker, REPLAY_BATCH};
use crate::failure::Failure;
use crate::work::Progress as Tell;

/// Between two questions whether there is a ledger by now.
const ASKED: Duration = Duration::from_millis(250);

/// The same once the streams are followed without one.
const ASKED_AGAIN: Duration = Duration::from_secs(2);

/// Between two pages that are read beside the streams, whose calls go on being counted.
const PAGES_APART: Duration = Duration::from_millis(10);

/// Entries asked for at once; the answer holds what fits into a message.
const PAGE: usize = 2_000;

impl CountersWorker {
    /// Fills an empty model from the ledger. Where no ledger answers within the patience it goes on without one, and
    /// [`CountersWorker::fill_in`] asks again; without patience, and once a part was read, that is a failure.
    pub(super) async fn fill(
        &mut self,
        patience: Option<Duration>,
        stop: &CancellationToken,
        tell: Tell<'_>,
    ) -> Result<(), Failure> {
        let Ledger::Behind(mut after) = self.progress.ledger else { return Ok(()) };
        if self.progress.awaits_ledger {
            return Ok(());
        }
        let began = Instant::now();
        let (mut calls, mut told) = (Vec::new(), None::<Vec<LedgerSource>>);
        loop {
            // Told to stop, it ends between two commits, and goes on from the last one the next time.
            let asked = stop.run_until_cancelled(page(self.source.client(), after)).await;
            let Some(page) = asked else { return Ok(()) };
            let page = match page {
                Ok(page) => page,
                Err(NoPage::Nobody) if patience.is_some_and(|patience| began.elapsed() < patience) => {
                    tokio::time::sleep(ASKED).await;
                    continue;
                }
                // The ids of a part's earlier months are forgotten already, so the streams must not repeat them.
                Err(NoPage::Nobody) if patience.is_some() && after == Position::START => {
                    tracing::info!(
                        "no ledger of calls answers yet; counting what NATS has, and the rest once one answers"
                    );
                    self.progress.awaits_ledger = true;
                    return self.commit(&[]).await;
                }
                Err(NoPage::Nobody) => return Err(Failure::NoLedger("nobody answers for it".into())),
                Err(NoPage::Failed(reason)) => return Err(Failure::NoLedger(reason)),
            };
            after = page.entries.last().map_or(after, |last| last.position);
            calls.extend(self.counted_by_ledger(page.entries));
            // What an earlier page says of the streams is in the ledger up to the head of this one; what this page says
            // may be newer than its head.
            if after >= page.head
                && let Some(sources) = told
            {
                self.progress.sources = sources.into_iter().map(source).collect();
                break;
            }
            told = Some(page.sources);
            if calls.len() >= REPLAY_BATCH {
                self.progress.ledger = Ledger::Behind(after);
                self.commit(&std::mem::take(&mut calls)).await?;
                tell(after, page.head);
            }
        }
        self.progress.ledger = Ledger::Done;
        self.commit(&calls).await
    }

    /// Takes in one page of a ledger that was not there when the streams began to be followed: the calls that NATS no
    /// longer had. Returns how long to wait before the next one.
    pub(super) async fn fill_in(&mut self, stop: &CancellationToken) -> Result<Duration, Failure> {
        let Ledger::Behind(after) = self.progress.ledger else { return Ok(ASKED_AGAIN) };
        let page = match stop.run_until_cancelled(page(self.source.client(), after)).await {
            Some(Ok(page)) => page,
            None | Some(Err(NoPage::Nobody)) => return Ok(ASKED_AGAIN),
            Some(Err(NoPage::Failed(reason))) => {
                tracing::debug!(reason, "the ledger of calls cannot be read at present");
                return Ok(ASKED_AGAIN);
            }
        };
        let after = page.entries.last().map_or(after, |last| last.position);
        let mut calls = self.counted_by_ledger(page.entries);
        // The streams are counted beyond where these stand.
        calls.iter_mut().for_each(|call| call.sequence = None);
        let is_done = after >= page.head;
        if is_done {
            tracing::info!("the ledger of calls was read up to {after}");
            self.progress.awaits_ledger = false;
        }
        self.progress.ledger = if is_done { Ledger::Done } else { Ledger::Behind(after) };
        self.commit(&calls).await?;
        Ok(PAGES_APART)
    }

    fn counted_by_ledger(&self, entries: Vec<LedgerEntry>) -> Vec<Metered> {
        let heard = self.month();
        let metered = |entry: LedgerEntry| Metered {
            call: entry.call,
            overrun: entry.overrun,
            sequence: Some(entry.sequence),
            remade: false,
            heard,
        };
        entries.into_iter().map(metered).collect()
    }
}

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NoPage {
    /// Nobody keeps a ledger behind this connection.
    Nobody,
    /// Somebody does, and did not answer well.
    Failed(String),
}

/// The entries behind a position.
async fn page(client: &async_nats::Client, after: Position) -> Result<UsagePage, NoPage> {
    let failed = |error: &dyn std::fmt::Display| NoPage::Failed(error.to_string());
    let request = serde_json::to_vec(&ReadUsage { after, limit: PAGE }).map_err(|error| failed(&error))?;
    let answer =
        client.request(subject::READ_USAGE, request.into()).await.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => NoPage::Nobody,
            _ => failed(&error),
        })?;
    let page: UsagePage =
        serde_json::from_slice(&answer.payload).map_err(|_| failed(&"its answer is unreadable"))?;
    let expected = (after.0 + 1..).map(Position);
    let whole = page.entries.iter().zip(expected).all(|(entry, expected)| entry.position == expected);
    if !whole || (page.entries.is_empty() && page.head > after) {
        return Err(failed(&format!("its page behind {after} has a hole")));
    }
    Ok(page)
}

fn source(source: LedgerSource) -> (String, Source) {
    let LedgerSource { stream, created, sequence } = source;
    (stream, Source { created, sequence, call: None, remade: false })
}
