//! The ledger of the write side, asked page by page: it holds every call for ever, NATS only those of some weeks.

use std::time::{Duration, Instant};

use async_nats::client::RequestErrorKind;
use read::counters::{Ledger, Metered, Source};
use schemas::control::{LedgerSource, ReadUsage, UsagePage};
use schemas::ids::Position;
use schemas::subject;
use tokio_util::sync::CancellationToken;

use super::{CountersWorker, REPLAY_BATCH};
use crate::failure::Failure;
use crate::work::Progress as Tell;

/// Between two questions whether there is a ledger by now.
const ASKED: Duration = Duration::from_millis(250);

/// Entries asked for at once; the answer holds what fits into a message.
const PAGE: usize = 2_000;

impl CountersWorker {
    /// Fills an empty model from the ledger. Where nobody answers within the patience it goes on without one; without
    /// patience that is a failure.
    pub(super) async fn fill(
        &mut self,
        patience: Option<Duration>,
        stop: &CancellationToken,
        tell: Tell<'_>,
    ) -> Result<(), Failure> {
        let Ledger::Behind(mut after) = self.progress.ledger else { return Ok(()) };
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
                Err(NoPage::Nobody) if patience.is_some() => {
                    tracing::info!("nobody keeps a ledger of calls here; counting what NATS still has");
                    break;
                }
                Err(NoPage::Nobody) => return Err(Failure::NoLedger("nobody answers for it".into())),
                Err(NoPage::Failed(reason)) => return Err(Failure::NoLedger(reason)),
            };
            after = page.entries.last().map_or(after, |last| last.position);
            calls.extend(page.entries.into_iter().map(|entry| Metered {
                call: entry.call,
                overrun: entry.overrun,
                sequence: entry.sequence,
                remade: false,
            }));
            // What an earlier page says of the streams is in the ledger up to the head of this one; what this page says
            // may be newer than its head.
            if after >= page.head
                && let Some(sources) = told
            {
                self.progress.sources = sources.into_iter().map(from_ledger).collect();
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

fn from_ledger(source: LedgerSource) -> (String, Source) {
    let LedgerSource { stream, created, sequence } = source;
    (stream, Source { created, sequence, call: None, remade: false })
}
