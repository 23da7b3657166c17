//! Reads the ledger of the write side page by page: it keeps every call permanently, NATS only for some weeks.

use std::time::{Duration, Instant};

use async_nats::client::RequestErrorKind;
use read::counters::{Ledger, Metered, Source};
use schemas::control::{LedgerEntry, LedgerSource, ReadUsage, UsagePage};
use schemas::ids::Position;
use schemas::subject;
use tokio_util::sync::CancellationToken;

use super::{CountersWorker, MAX_REPLAY_BATCH};
use crate::error::WorkerError;
use crate::worker::ProgressFn;

/// How often to ask for a ledger while none answers.
const FILL_RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// The same once the streams are followed without one.
const BACKFILL_RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// The pause between two pages that are read while the streams are followed, so that their calls are counted meanwhile.
const BACKFILL_PAGE_INTERVAL: Duration = Duration::from_millis(10);

/// The most entries per request; the answer has as many as fit into a message.
const PAGE_SIZE: usize = 2_000;

impl CountersWorker {
    /// Fills an empty model from the ledger. If no ledger answers within `time_limit`, the streams are followed without one, and
    /// [`CountersWorker::backfill_from_ledger`] asks again; without `time_limit`, or after a first page, this is an error.
    pub(super) async fn fill_from_ledger(
        &mut self,
        time_limit: Option<Duration>,
        stop: &CancellationToken,
        report: ProgressFn<'_>,
    ) -> Result<(), WorkerError> {
        let Ledger::After(mut after) = self.progress.ledger else { return Ok(()) };
        if self.progress.awaits_ledger {
            return Ok(());
        }
        let began = Instant::now();
        let (mut calls, mut previous_sources) = (Vec::new(), None::<Vec<LedgerSource>>);
        loop {
            // After `stop` it ends between two commits, and continues from the last one at the next start.
            let answer = stop.run_until_cancelled(page(self.source.client(), after)).await;
            let Some(page) = answer else { return Ok(()) };
            let page = match page {
                Ok(page) => page,
                Err(LedgerError::NoResponder)
                    if time_limit.is_some_and(|time_limit| began.elapsed() < time_limit) =>
                {
                    tokio::time::sleep(FILL_RETRY_INTERVAL).await;
                    continue;
                }
                // Only before the first page: the ids of its calls of earlier months are not kept, so the streams must not
                // repeat those.
                Err(LedgerError::NoResponder) if time_limit.is_some() && after == Position::START => {
                    tracing::info!(
                        "no ledger of calls answers yet; counting what NATS has, and the rest once one answers"
                    );
                    self.progress.awaits_ledger = true;
                    return self.commit(&[]).await;
                }
                Err(LedgerError::NoResponder) => {
                    return Err(WorkerError::NoLedger("no write side answers".into()));
                }
                Err(LedgerError::Failed(reason)) => return Err(WorkerError::NoLedger(reason)),
            };
            after = page.entries.last().map_or(after, |last| last.position);
            calls.extend(self.metered(page.entries));
            // The calls up to the stream positions of the previous page are in the ledger up to the head of this one; the
            // positions of this page may be newer than its head.
            if after >= page.head
                && let Some(sources) = previous_sources
            {
                self.progress.sources = sources.into_iter().map(stream_source).collect();
                break;
            }
            previous_sources = Some(page.sources);
            if calls.len() >= MAX_REPLAY_BATCH {
                self.progress.ledger = Ledger::After(after);
                self.commit(&std::mem::take(&mut calls)).await?;
                report(after, page.head);
            }
        }
        self.progress.ledger = Ledger::Done;
        self.commit(&calls).await
    }

    /// Reads one page of a ledger that did not answer when the streams began to be followed, for the calls that NATS no longer
    /// had. Returns how long to wait before the next page.
    pub(super) async fn backfill_from_ledger(
        &mut self,
        stop: &CancellationToken,
    ) -> Result<Duration, WorkerError> {
        let Ledger::After(after) = self.progress.ledger else { return Ok(BACKFILL_RETRY_INTERVAL) };
        let page = match stop.run_until_cancelled(page(self.source.client(), after)).await {
            Some(Ok(page)) => page,
            None | Some(Err(LedgerError::NoResponder)) => return Ok(BACKFILL_RETRY_INTERVAL),
            Some(Err(LedgerError::Failed(reason))) => {
                tracing::debug!(reason, "the ledger of calls cannot be read at present");
                return Ok(BACKFILL_RETRY_INTERVAL);
            }
        };
        let after = page.entries.last().map_or(after, |last| last.position);
        let mut calls = self.metered(page.entries);
        // The streams are counted beyond these entries, whose sequences must not set them back.
        calls.iter_mut().for_each(|call| call.sequence = None);
        let is_done = after >= page.head;
        if is_done {
            tracing::info!("the ledger of calls was read up to {after}");
            self.progress.awaits_ledger = false;
        }
        self.progress.ledger = if is_done { Ledger::Done } else { Ledger::After(after) };
        self.commit(&calls).await?;
        Ok(BACKFILL_PAGE_INTERVAL)
    }

    fn metered(&self, entries: Vec<LedgerEntry>) -> Vec<Metered> {
        let received = self.month();
        let metered = |entry: LedgerEntry| Metered {
            call: entry.call,
            overrun: entry.overrun,
            sequence: Some(entry.sequence),
            recreated: false,
            received,
        };
        entries.into_iter().map(metered).collect()
    }
}

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LedgerError {
    /// No write side with a ledger is connected.
    NoResponder,
    /// The answer is an error or unreadable.
    Failed(String),
}

/// Requests the entries after a position.
async fn page(client: &async_nats::Client, after: Position) -> Result<UsagePage, LedgerError> {
    let failed = |error: &dyn std::fmt::Display| LedgerError::Failed(error.to_string());
    let request =
        serde_json::to_vec(&ReadUsage { after, limit: PAGE_SIZE }).map_err(|error| failed(&error))?;
    let answer =
        client.request(subject::READ_USAGE, request.into()).await.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => LedgerError::NoResponder,
            _ => failed(&error),
        })?;
    let page: UsagePage =
        serde_json::from_slice(&answer.payload).map_err(|_| failed(&"its answer is unreadable"))?;
    let expected = (after.0 + 1..).map(Position);
    let is_complete = page.entries.iter().zip(expected).all(|(entry, expected)| entry.position == expected);
    if !is_complete || (page.entries.is_empty() && page.head > after) {
        return Err(failed(&format!("its page after {after} has a gap")));
    }
    Ok(page)
}

fn stream_source(source: LedgerSource) -> (String, Source) {
    let LedgerSource { stream, created, sequence } = source;
    (stream, Source { created, sequence, call: None, recreated: false })
}
