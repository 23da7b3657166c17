//! A connection with the limits that hyper does not have: the time of a head and of a client that reads nothing, and a lingering
//! close: a client that still sends is read from briefly, since closing at once would reset the connection and discard the reply.
//! hyper's refusals are replaced here.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep};

use super::Limits;
use super::heads::Heads;
use super::refusal::{self, Refusals};

/// The maximum time and number of bytes of a lingering close.
const LINGER: (Duration, usize) = (Duration::from_secs(1), 1024 * 1024);

/// The calls of a connection, as the service reports them to the stream.
#[derive(Debug)]
pub(super) struct Calls {
    /// Incremented when a call begins and when it ends: odd within a call.
    turns: AtomicUsize,
    leaves_body: AtomicBool,
    /// Whether a part of a reply waits for the client to read.
    is_writing: AtomicBool,
    accepted: Instant,
    /// When the last call ended, in nanoseconds since `accepted`.
    ended: AtomicU64,
    place_wanted: Notify,
}

impl Calls {
    /// Returns the calls of a connection that is accepted now.
    pub(super) fn new() -> Calls {
        Calls {
            turns: AtomicUsize::default(),
            leaves_body: AtomicBool::default(),
            is_writing: AtomicBool::default(),
            accepted: Instant::now(),
            ended: AtomicU64::default(),
            place_wanted: Notify::new(),
        }
    }

    pub(super) fn begin(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a call. `leaves_body`: the reply was made without reading what the client still sends.
    pub(super) fn end(&self, leaves_body: bool) {
        let ended = u64::try_from(self.accepted.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.ended.store(ended, Ordering::Relaxed);
        self.turns.fetch_add(1, Ordering::Relaxed);
        if leaves_body {
            self.leaves_body.store(true, Ordering::Relaxed);
        }
    }

    /// Returns since when nothing is under way on the connection; `None` within a call. A head that has only begun is nothing yet.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.turns().is_multiple_of(2) && !self.is_writing.load(Ordering::Relaxed);
        is_idle.then(|| self.accepted + Duration::from_nanos(self.ended.load(Ordering::Relaxed)))
    }

    /// Asks the connection to end if nothing is under way on it.
    pub(super) fn want_place(&self) {
        self.place_wanted.notify_one();
    }

    /// Waits until the connection is asked to end while nothing is under way on it.
    pub(super) async fn must_end(&self) {
        loop {
            self.place_wanted.notified().await;
            // It may have read a request since it was chosen.
            if self.idle_since().is_some() {
                return;
            }
        }
    }

    fn turns(&self) -> usize {
        self.turns.load(Ordering::Relaxed)
    }
}

/// A stream with time limits.
#[derive(Debug)]
pub(super) struct TimedStream<Stream> {
    stream: Stream,
    calls: Arc<Calls>,
    head_limit: Duration,
    write_limit: Duration,
    /// The turn in which bytes of a head arrived, until their call begins.
    head: Option<usize>,
    head_timer: Option<Pin<Box<Sleep>>>,
    heads: Heads,
    write_timer: Option<Pin<Box<Sleep>>>,
    refusals: Option<Refusals>,
    refusal: Option<Refusal>,
    lingering: Option<LingeringClose>,
}

/// A refusal that is being sent.
#[derive(Debug)]
struct Refusal {
    bytes: Vec<u8>,
    sent: usize,
}

#[derive(Debug)]
struct LingeringClose {
    timer: Pin<Box<Sleep>>,
    left: usize,
}

impl<Stream> TimedStream<Stream> {
    pub(super) fn new(
        stream: Stream,
        calls: Arc<Calls>,
        limits: &Limits,
        refusals: Option<Refusals>,
    ) -> TimedStream<Stream> {
        TimedStream {
            stream,
            calls,
            head_limit: limits.head,
            write_limit: limits.write,
            head: None,
            head_timer: None,
            heads: Heads::default(),
            write_timer: None,
            refusals,
            refusal: None,
            lingering: None,
        }
    }
}

impl<Stream: AsyncRead + Unpin> AsyncRead for TimedStream<Stream> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let turn = self.calls.turns();
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(read) => {
                self.heads.inspect(&mut buffer.filled_mut()[before..]);
                // Within a call these are bytes of its body, or of a pipelined request.
                let head = (turn.is_multiple_of(2) && buffer.filled().len() > before).then_some(turn);
                if head != self.head {
                    self.head = head;
                    self.head_timer = None;
                }
                Poll::Ready(read)
            }
            // Most heads arrive in one piece, have become a call by now, and need no timer.
            Poll::Pending if self.head == Some(turn) => {
                let limit = self.head_limit;
                let timer = self.head_timer.get_or_insert_with(|| Box::pin(sleep(limit)));
                ready!(timer.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<Stream: AsyncWrite + Unpin> TimedStream<Stream> {
    /// Returns the outcome of a write, or an error if it has waited for too long.
    fn watched(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.calls.is_writing.store(written.is_pending(), Ordering::Relaxed);
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let limit = self.write_limit;
        let timer = self.write_timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Sends the rest of the refusal.
    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(refusal) = &mut self.refusal
            && refusal.sent < refusal.bytes.len()
        {
            let written = Pin::new(&mut self.stream).poll_write(context, &refusal.bytes[refusal.sent..]);
            let written = ready!(self.watched(context, written))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            if let Some(refusal) = &mut self.refusal {
                refusal.sent += written;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<Stream: AsyncRead + AsyncWrite + Unpin> TimedStream<Stream> {
    /// Reads and discards until the client stops or the limits of a lingering close are reached.
    fn poll_lingering_close(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let hearing = self
            .lingering
            .get_or_insert_with(|| LingeringClose { timer: Box::pin(sleep(LINGER.0)), left: LINGER.1 });
        let mut forgotten = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut forgotten);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(()))
                    if !buffer.filled().is_empty() && buffer.filled().len() < hearing.left =>
                {
                    hearing.left -= buffer.filled().len();
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return hearing.timer.as_mut().poll(context),
            }
        }
    }
}

impl<Stream: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedStream<Stream> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut before = bytes;
        if let Some(refusals) = &self.refusals
            && let Some((at, status)) = refusal::find(bytes)
        {
            if at == 0 {
                self.refusal = Some(Refusal { bytes: refusals.write(status), sent: 0 });
                return Poll::Ready(Ok(bytes.len()));
            }
            // The bytes before it are sent first; hyper writes the refusal again.
            before = &bytes[..at];
        }
        let written = Pin::new(&mut self.stream).poll_write(context, before);
        self.watched(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A refusal has no body: it is one slice, or follows bytes that are still to be sent.
        let filled = slices.iter().filter(|slice| !slice.is_empty()).count();
        if filled <= 1 {
            let bytes = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| &slice[..]);
            return self.poll_write(context, bytes);
        }
        let last = slices.iter().rposition(|slice| !slice.is_empty()).unwrap_or(0);
        let whole = self.refusals.is_none() || refusal::find(&slices[last]).is_none();
        let slices = if whole { slices } else { &slices[..last] };
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watched(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(context))?;
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        if self.refusal.is_some() || self.calls.leaves_body.load(Ordering::Relaxed) {
            ready!(self.poll_lingering_close(context));
        }
        Poll::Ready(Ok(()))
    }
}
