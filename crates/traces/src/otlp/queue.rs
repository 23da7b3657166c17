//! The queue before the collector: bounded, so that one that is away or slow costs spans and nothing else. A thread of its
//! own sends them; where it waits, nothing else does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use opentelemetry::Context;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};

/// How many spans may wait.
const PLACES: usize = 4_096;
/// How many are sent at once.
const BATCH: usize = 512;
/// How long a span waits for others.
const GATHERING: Duration = Duration::from_secs(1);
/// How often it is warned of spans that were dropped.
const WARNING: Duration = Duration::from_secs(60);

/// Spans that were dropped since the start of the process.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Returns how many spans were dropped since the start of the process.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// What is handed to the thread.
#[derive(Debug)]
enum Handed {
    // Large, and thousands wait.
    Span(Box<SpanData>),
    /// Something else is to be looked at.
    Nothing,
}

/// The way to the thread that sends.
#[derive(Debug)]
pub(super) struct Queue {
    spans: SyncSender<Handed>,
    is_stopping: Arc<AtomicBool>,
    ended: Receiver<()>,
}

/// Takes each span as it ends.
#[derive(Debug)]
pub(super) struct Processor {
    spans: SyncSender<Handed>,
}

impl Queue {
    /// Starts the thread.
    pub(super) fn start<E: SpanExporter + 'static>(exporter: E) -> io::Result<(Queue, Processor)> {
        let (spans, waiting) = sync_channel(PLACES);
        // Dropped by the thread when it ends.
        let (alive, ended) = sync_channel::<()>(0);
        let is_stopping = Arc::new(AtomicBool::new(false));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut sender =
            Sender { exporter, runtime, waiting, is_stopping: is_stopping.clone(), warned: None, told: 0 };
        std::thread::Builder::new().name("traces".to_owned()).spawn(move || {
            sender.run();
            // Before `stop` returns: a span that comes later is refused, and so counted.
            drop(sender);
            drop(alive);
        })?;
        Ok((Queue { spans: spans.clone(), is_stopping, ended }, Processor { spans }))
    }

    /// Lets the thread send what waits, and end; does not wait longer than this for it.
    pub(super) fn stop(self, patience: Duration) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // A full queue needs no call.
        let _ = self.spans.try_send(Handed::Nothing);
        // It never sends anything: this ends when the thread does, or when the time is over.
        let _ = self.ended.recv_timeout(patience);
    }
}

impl SpanProcessor for Processor {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() && self.spans.try_send(Handed::Span(Box::new(span))).is_err() {
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

/// The thread's own.
struct Sender<E> {
    exporter: E,
    runtime: tokio::runtime::Runtime,
    waiting: Receiver<Handed>,
    is_stopping: Arc<AtomicBool>,
    warned: Option<Instant>,
    /// How many dropped spans it has warned of.
    told: u64,
}

impl<E: SpanExporter> Sender<E> {
    fn run(&mut self) {
        loop {
            let (batch, is_open) = self.gather();
            let is_last = !is_open || (batch.is_empty() && self.is_stopping.load(Ordering::SeqCst));
            if !batch.is_empty() {
                self.send(batch);
            }
            if is_last {
                return;
            }
        }
    }

    /// Takes spans until a batch is full or has waited long enough; returns whether more may come.
    fn gather(&self) -> (Vec<SpanData>, bool) {
        let (began, mut batch) = (Instant::now(), Vec::new());
        while batch.len() < BATCH {
            let left = match self.is_stopping.load(Ordering::SeqCst) {
                true => Duration::ZERO,
                false => GATHERING.saturating_sub(began.elapsed()),
            };
            match self.waiting.recv_timeout(left) {
                Ok(Handed::Span(span)) => batch.push(*span),
                Ok(Handed::Nothing) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return (batch, false),
            }
        }
        (batch, true)
    }

    fn send(&mut self, batch: Vec<SpanData>) {
        let spans = batch.len() as u64;
        let outcome = self.runtime.block_on(self.exporter.export(batch));
        let why = match outcome {
            Ok(()) => "the collector is too slow".to_owned(),
            Err(error) => {
                DROPPED.fetch_add(spans, Ordering::Relaxed);
                error.to_string()
            }
        };
        let (dropped, now) = (dropped(), Instant::now());
        let is_due = self.warned.is_none_or(|warned| now.duration_since(warned) >= WARNING);
        if dropped > self.told && is_due {
            let spans = dropped - self.told;
            tracing::warn!(spans, "spans were dropped and not sent to the collector: {why}");
            (self.warned, self.told) = (Some(now), dropped);
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

    /// A collector that takes nothing while it is shut.
    #[derive(Debug, Clone, Default)]
    struct Collector {
        taken: Arc<Mutex<Vec<usize>>>,
        is_away: bool,
    }

    impl SpanExporter for Collector {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            let mut taken = self.taken.lock().unwrap();
            if self.is_away {
                return Err(OTelSdkError::InternalFailure("as a test".into()));
            }
            taken.push(batch.len());
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

    /// One test, since what is dropped is counted for the whole process.
    #[test]
    fn what_waits_is_sent_at_the_end_and_what_cannot_be_sent_is_counted() {
        let collector = Collector::default();
        let (queue, processor) = Queue::start(collector.clone()).unwrap();
        for _ in 0..3 {
            processor.on_end(span(TraceFlags::SAMPLED));
        }
        processor.on_end(span(TraceFlags::default()));
        queue.stop(Duration::from_secs(60));
        assert_eq!(*collector.taken.lock().unwrap(), [3], "those that are not sampled are left out");

        processor.on_end(span(TraceFlags::SAMPLED));
        assert_eq!(dropped(), 1, "the thread has ended");

        let away = Collector { is_away: true, ..Collector::default() };
        let (queue, processor) = Queue::start(away).unwrap();
        processor.on_end(span(TraceFlags::SAMPLED));
        processor.on_end(span(TraceFlags::SAMPLED));
        queue.stop(Duration::from_secs(60));
        assert_eq!(dropped(), 3);

        let slow = Collector::default();
        let (queue, processor) = Queue::start(slow.clone()).unwrap();
        let shut = slow.taken.lock().unwrap();
        // The thread may hold a batch besides those that wait.
        let most = (PLACES + BATCH) as u64;
        for _ in 0..most + 100 {
            processor.on_end(span(TraceFlags::SAMPLED));
        }
        assert!(dropped() >= 103, "{}", dropped());
        drop(shut);
        queue.stop(Duration::from_secs(60));
        let taken: usize = slow.taken.lock().unwrap().iter().sum();
        assert_eq!(taken as u64 + dropped() - 3, most + 100);
    }
}
