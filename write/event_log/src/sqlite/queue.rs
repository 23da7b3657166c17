//! The queue of the writer: appends are encoded in the task of their sender, wait in the order in which they were sent, and are
//! taken in batches of at most one commit.

use tokio::sync::{mpsc, oneshot};

use super::admission::PreparedAppend;
use crate::{Append, AppendError, Appended, StoreError};

/// The number of appends of one sender that are queued together; the next are encoded while the writer commits them.
const CHUNK: usize = 500;

/// The number of chunks in the queue; further senders wait for room.
const CAPACITY: usize = 1_000;

/// A batch is full with this many appends …
const BATCH: usize = 2_000;

/// … or with this many bytes.
const BATCH_BYTES: usize = 4 << 20;

type Outcomes = Vec<Result<Appended, AppendError>>;

/// A chunk of appends in the queue.
pub(super) struct Pending {
    appends: Vec<PreparedAppend>,
    reply: oneshot::Sender<Outcomes>,
}

/// The sending end of the queue.
pub(super) struct Queue {
    pending: mpsc::Sender<Pending>,
    /// The maximum size of one append, in bytes.
    limit: Option<usize>,
}

/// Where to send the outcomes of a chunk, and the number of its appends.
pub(super) type Reply = (oneshot::Sender<Outcomes>, usize);

/// Returns an empty queue and its receiving end.
pub(super) fn queue(limit: Option<usize>) -> (Queue, mpsc::Receiver<Pending>) {
    let (pending, appends) = mpsc::channel(CAPACITY);
    (Queue { pending, limit }, appends)
}

/// Takes what is queued, up to a full batch, with the replies to send in the same order.
pub(super) fn next_batch(
    first: Pending,
    queue: &mut mpsc::Receiver<Pending>,
) -> (Vec<PreparedAppend>, Vec<Reply>) {
    let (mut batch, mut replies, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut next = Some(first);
    while let Some(Pending { appends, reply }) = next {
        bytes += appends.iter().map(PreparedAppend::bytes).sum::<usize>();
        replies.push((reply, appends.len()));
        batch.extend(appends);
        let is_full = batch.len() >= BATCH || bytes >= BATCH_BYTES;
        next = if is_full { None } else { queue.try_recv().ok() };
    }
    (batch, replies)
}

impl Queue {
    /// Queues appends and waits for the outcome of each.
    pub(super) async fn append_all(&self, appends: Vec<Append>) -> Outcomes {
        let (mut appends, mut sent) = (appends.into_iter(), Vec::new());
        while appends.len() > 0 {
            sent.push(self.send(appends.by_ref().take(CHUNK)).await);
        }
        let mut outcomes = Vec::new();
        for sent in sent {
            outcomes.extend(sent.outcomes().await);
        }
        outcomes
    }

    /// Waits until the writer has ended.
    pub(super) async fn closed(&self) {
        self.pending.closed().await;
    }

    async fn send(&self, appends: impl Iterator<Item = Append>) -> Sent {
        let (mut prepared, mut invalid) = (Vec::new(), Vec::new());
        for append in appends {
            let encoded = PreparedAppend::new(append, self.limit);
            invalid.push(encoded.map(|append| prepared.push(append)).err());
        }
        let (reply, replied) = oneshot::channel();
        if !prepared.is_empty() {
            // A writer that has ended drops the chunk, and with it the reply.
            self.pending.send(Pending { appends: prepared, reply }).await.ok();
        }
        Sent { invalid, replied }
    }
}

/// A chunk that was sent to the writer.
struct Sent {
    /// For each append why it is invalid; the valid ones were queued.
    invalid: Vec<Option<AppendError>>,
    /// The outcomes of the valid ones.
    replied: oneshot::Receiver<Outcomes>,
}

impl Sent {
    async fn outcomes(self) -> Outcomes {
        let mut written = self.replied.await.unwrap_or_default().into_iter();
        let closing = || Err(StoreError::unavailable("it is closing; try again").into());
        let outcome = |invalid: Option<AppendError>| match invalid {
            Some(error) => Err(error),
            None => written.next().unwrap_or_else(closing),
        };
        self.invalid.into_iter().map(outcome).collect()
    }
}
