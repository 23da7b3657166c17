//! The queue before the writer: appends are encoded by whoever sends them, wait in the order in which they came, and
//! are taken out as many at once as one commit may have.

use tokio::sync::{mpsc, oneshot};

use super::admission::Prepared;
use crate::{Append, AppendError, Appended, StoreError};

/// How many appends of one sender wait together; the next ones are encoded while the writer is at work on them.
const TOGETHER: usize = 500;

/// How many senders' appends may wait; more wait for a place.
const PLACES: usize = 1_000;

/// One commit stops gathering beyond so many appends …
const BATCH: usize = 2_000;

/// … and beyond so many bytes of payloads.
const BATCH_BYTES: usize = 4 << 20;

type Outcomes = Vec<Result<Appended, AppendError>>;

/// Appends that wait, and who waits for their outcomes.
pub(super) struct Pending {
    appends: Vec<Prepared>,
    answer: oneshot::Sender<Outcomes>,
}

/// Where appends are sent.
pub(super) struct Queue {
    pending: mpsc::Sender<Pending>,
    /// How many bytes one append may have.
    limit: Option<usize>,
}

/// Whom to answer, and for how many appends.
pub(super) type Answer = (oneshot::Sender<Outcomes>, usize);

/// An empty queue, and its end at the writer.
pub(super) fn queue(limit: Option<usize>) -> (Queue, mpsc::Receiver<Pending>) {
    let (pending, appends) = mpsc::channel(PLACES);
    (Queue { pending, limit }, appends)
}

/// Takes what waits, as much as one commit may have, and says who waits for what.
pub(super) fn gather(first: Pending, queue: &mut mpsc::Receiver<Pending>) -> (Vec<Prepared>, Vec<Answer>) {
    let (mut batch, mut answers, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut next = Some(first);
    while let Some(Pending { appends, answer }) = next {
        bytes += appends.iter().map(Prepared::bytes).sum::<usize>();
        answers.push((answer, appends.len()));
        batch.extend(appends);
        let is_full = batch.len() >= BATCH || bytes >= BATCH_BYTES;
        next = if is_full { None } else { queue.try_recv().ok() };
    }
    (batch, answers)
}

impl Queue {
    /// Hands appends to the writer and waits until it says what became of each.
    pub(super) async fn append_all(&self, appends: Vec<Append>) -> Outcomes {
        let (mut appends, mut sent) = (appends.into_iter(), Vec::new());
        while appends.len() > 0 {
            sent.push(self.send(appends.by_ref().take(TOGETHER)).await);
        }
        let mut outcomes = Vec::new();
        for sent in sent {
            outcomes.extend(sent.outcomes().await);
        }
        outcomes
    }

    /// Waits until the writer is gone.
    pub(super) async fn closed(&self) {
        self.pending.closed().await;
    }

    async fn send(&self, appends: impl Iterator<Item = Append>) -> Sent {
        let (mut prepared, mut refused) = (Vec::new(), Vec::new());
        for append in appends {
            let encoded = Prepared::new(append, self.limit);
            refused.push(encoded.map(|append| prepared.push(append)).err());
        }
        let (answer, answered) = oneshot::channel();
        if !prepared.is_empty() {
            // A writer that is gone drops them, and so the answer.
            self.pending.send(Pending { appends: prepared, answer }).await.ok();
        }
        Sent { refused, answered }
    }
}

/// Appends on their way to the writer.
struct Sent {
    /// For each why it cannot be written, if it cannot.
    refused: Vec<Option<AppendError>>,
    /// What became of the others.
    answered: oneshot::Receiver<Outcomes>,
}

impl Sent {
    async fn outcomes(self) -> Outcomes {
        let mut written = self.answered.await.unwrap_or_default().into_iter();
        let closing = || Err(StoreError::unavailable("it is closing; try again").into());
        let outcome = |refused: Option<AppendError>| match refused {
            Some(refused) => Err(refused),
            None => written.next().unwrap_or_else(closing),
        };
        self.refused.into_iter().map(outcome).collect()
    }
}
