//! The queue of ended spans: bounded, so that an unreachable or slow collector costs spans and nothing else. A dedicated thread sends
//! them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use opentelemetry::Context;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};

/// The most queued spans.
const CAPACITY: usize = 4_096;
/// The most spans per request.
const BATCH: usize = 512;
/// The longest time that a span waits for a batch to fill.
const MAX_BATCH_DELAY: Duration = Duration::from_secs(1);
/// The shortest time between two warnings of dropped spans.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Spans dropped since the start of the process.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of spans dropped since the start of the process.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// A message to the thread.
#[derive(Debug)]
enum Message {
    // Boxed: spans are large, and up to `CAPACITY` wait.
    Span(Box<SpanData>),
    /// Wakes the thread up, to look at `is_stopping`.
    Wake,
}

/// The handle of the sending thread.
#[derive(Debug)]
pub(super) struct Queue {
    spans: SyncSender<Message>,
    is_stopping: Arc<AtomicBool>,
    ended: Receiver<()>,
}

/// Queues each span when it ends.
#[derive(Debug)]
pub(super) struct Processor {
    spans: SyncSender<Message>,
}

impl Queue {
    /// Starts the thread.
    pub(super) fn start<E: SpanExporter + 'static>(exporter: E) -> io::Result<(Queue, Processor)> {
        let (spans, queued) = sync_channel(CAPACITY);
        // Dropped by the thread when it ends.
        let (alive, ended) = sync_channel::<()>(0);
        let is_stopping = Arc::new(AtomicBool::new(false));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut sender =
            Sender { exporter, runtime, queued, is_stopping: is_stopping.clone(), warned: None, reported: 0 };
        std::thread::Builder::new().name("traces".to_owned()).spawn(move || {
            sender.run();
            // Before `stop` returns, so that later spans are refused and counted as dropped.
            drop(sender);
            drop(alive);
        })?;
        Ok((Queue { spans: spans.clone(), is_stopping, ended }, Processor { spans }))
    }

    /// Has the thread send all queued spans and end; waits for it at most `timeout`.
    pub(super) fn stop(self, timeout: Duration) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // A full queue wakes the thread anyway.
        let _ = self.spans.try_send(Message::Wake);
        // Nothing is ever sent: this returns when the thread drops its end, or at the timeout.
        let _ = self.ended.recv_timeout(timeout);
    }
}

impl SpanProcessor for Processor {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() && self.spans.try_send(Message::Span(Box::new(span))).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// The state of the thread.
struct Sender<E> {
    exporter: E,
    runtime: tokio::runtime::Runtime,
    queued: Receiver<Message>,
    is_stopping: Arc<AtomicBool>,
    warned: Option<Instant>,
    /// Dropped spans included in warnings so far.
    reported: u64,
}

impl<E: SpanExporter> Sender<E> {
    fn run(&mut self) {
        loop {
            let (batch, is_open) = self.receive_batch();
            let is_last = !is_open || (batch.is_empty() && self.is_stopping.load(Ordering::SeqCst));
            if !batch.is_empty() {
                self.send(batch);
            }
            if is_last {
                return;
            }
        }
    }

    /// Receives spans until a batch is full or its first span has waited long enough; returns whether more may come.
    fn receive_batch(&self) -> (Vec<SpanData>, bool) {
        let (began, mut batch) = (Instant::now(), Vec::new());
        while batch.len() < BATCH {
            let left = match self.is_stopping.load(Ordering::SeqCst) {
                true => Duration::ZERO,
                false => MAX_BATCH_DELAY.saturating_sub(began.elapsed()),
            };
            match self.queued.recv_timeout(left) {
                Ok(Message::Span(span)) => batch.push(*span),
                Ok(Message::Wake) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return (batch, false),
            }
        }
        (batch, true)
    }

    fn send(&mut self, batch: Vec<SpanData>) {
        let spans = batch.len() as u64;
        let outcome = self.runtime.block_on(self.exporter.export(batch));
        let reason = match outcome {
            Ok(()) => "the collector is too slow".to_owned(),
            Err(error) => {
                DROPPED.fetch_add(spans, Ordering::Relaxed);
                error.to_string()
            }
        };
        let (dropped, now) = (dropped(), Instant::now());
        let is_due = self.warned.is_none_or(|warned| now.duration_since(warned) >= WARNING_INTERVAL);
        if dropped > self.reported && is_due {
            let spans = dropped - self.reported;
            tracing::warn!(spans, "spans were dropped and not sent to the collector: {reason}");
            (self.warned, self.reported) = (Some(now), dropped);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Mutex;
    use std::time::SystemTime;

    use opentelemetry::InstrumentationScope;
    use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
    use opentelemetry_sdk::error::OTelSdkError;

    use super::*;

    /// A collector that is unreachable, or blocked by its lock.
    #[derive(Debug, Clone, Default)]
    struct Collector {
        received: Arc<Mutex<Vec<usize>>>,
        is_unreachable: bool,
    }

    impl SpanExporter for Collector {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            let mut received = self.received.lock().unwrap();
            if self.is_unreachable {
                return Err(OTelSdkError::InternalFailure("as a test".into()));
            }
            received.push(batch.len());
            Ok(())
        }
    }

    fn span(flags: TraceFlags) -> SpanData {
        let (trace, id) = (TraceId::from_bytes([1; 16]), SpanId::from_bytes([1; 8]));
        SpanData {
            span_context: SpanContext::new(trace, id, flags, false, TraceState::NONE),
            parent_span_id: SpanId::INVALID,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: Cow::Borrowed("a test"),
            start_time: SystemTime::UNIX_EPOCH,
            end_time: SystemTime::UNIX_EPOCH,
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: Default::default(),
            links: Default::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::default(),
        }
    }

    /// One test, because the number of dropped spans is global.
    #[test]
    fn queued_spans_are_sent_at_the_end_and_dropped_ones_are_counted() {
        let collector = Collector::default();
        let (queue, processor) = Queue::start(collector.clone()).unwrap();
        for _ in 0..3 {
            processor.on_end(span(TraceFlags::SAMPLED));
        }
        processor.on_end(span(TraceFlags::default()));
        queue.stop(Duration::from_secs(60));
        assert_eq!(*collector.received.lock().unwrap(), [3], "unsampled spans are not sent");

        processor.on_end(span(TraceFlags::SAMPLED));
        assert_eq!(dropped(), 1, "the thread has ended");

        let unreachable = Collector { is_unreachable: true, ..Collector::default() };
        let (queue, processor) = Queue::start(unreachable).unwrap();
        processor.on_end(span(TraceFlags::SAMPLED));
        processor.on_end(span(TraceFlags::SAMPLED));
        queue.stop(Duration::from_secs(60));
        assert_eq!(dropped(), 3);

        let slow = Collector::default();
        let (queue, processor) = Queue::start(slow.clone()).unwrap();
        let blocked = slow.received.lock().unwrap();
        // The thread may hold a batch beside the queue.
        let most = (CAPACITY + BATCH) as u64;
        for _ in 0..most + 100 {
            processor.on_end(span(TraceFlags::SAMPLED));
        }
        assert!(dropped() >= 103, "{}", dropped());
        drop(blocked);
        queue.stop(Duration::from_secs(60));
        let received: usize = slow.received.lock().unwrap().iter().sum();
        assert_eq!(received as u64 + dropped() - 3, most + 100);
    }
}
