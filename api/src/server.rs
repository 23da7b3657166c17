//! Accepts connections and bounds what each may cost: in time, in bytes, in number. `axum::serve` has none of these bounds: no
//! time limit for a head that arrives slowly or an answer that is not read, no limit on the connections of one address, no answer
//! to a head that hyper refuses. So the accept loop is our own, on hyper's connections and timers.

mod connection_limit;
mod heads;
mod places;
mod refusal;
mod timed_stream;

use std::convert::Infallible;
use std::error::Error;
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use answers::auth::proxies::TrustedProxies;
use answers::metrics::Metrics;
use answers::state::ApiState;
use axum::Router;
use axum::response::Response;
use futures::FutureExt;
use http::header::CONNECTION;
use http::{Request, StatusCode};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::http::bodies::BodyMemory;
use crate::http::pipeline::Pipeline;
use crate::rest;
use crate::shares::PARTS;
use connection_limit::ConnectionLimit;
use places::Places;
use refusal::Refusals;
use timed_stream::{Calls, TimedStream};

/// The maximum size in bytes of a request's head: its first line and headers.
const LARGEST_HEAD: usize = 16 * 1024;
/// The maximum size in bytes of the read and write buffers of a connection.
const LARGEST_BUFFER: usize = 64 * 1024;
/// The initial and maximum pause after a failure to accept.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// The limits of connections and requests.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The maximum number of open connections; a further one gets the place of the one that has been idle for the longest time, and
    /// waits while none is.
    pub connections: usize,
    /// The maximum number of open connections of an address; further ones are refused. An IPv6 network counts as one address, and all
    /// networks of a site may have twice as many.
    pub per_address: usize,
    /// Proxies, whose connections are not limited.
    pub proxies: TrustedProxies,
    /// The maximum size in bytes of the bodies of all requests under way together.
    pub bodies: usize,
    /// The maximum time from the first byte of a request's head to its end.
    pub head: Duration,
    /// The maximum time that a connection is open between requests.
    pub idle: Duration,
    /// The maximum time that a client may read nothing of a reply.
    pub write: Duration,
    /// The maximum time of an answer.
    pub request: Duration,
    /// The maximum time of requests under way once the server is shutting down.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 10_000,
            per_address: 10_000 / PARTS,
            proxies: TrustedProxies::default(),
            bodies: 64 << 20,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            write: Duration::from_secs(30),
            request: Duration::from_secs(10),
            drain: Duration::from_secs(10),
        }
    }
}

/// The result of draining.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were closed because their requests did not finish in time.
    pub cut: usize,
}

/// Serves the public interface until `shutdown`; then accepts no more, lets the requests under way finish, and returns. Failures of
/// single connections are logged and do not end it.
pub async fn serve(
    listener: TcpListener,
    state: ApiState,
    limits: Limits,
    shutdown: CancellationToken,
) -> Drained {
    let metrics = state.metrics().clone();
    let bodies = BodyMemory::new(limits.bodies, limits.proxies.clone());
    let pipeline = Pipeline::new(rest::router(state.clone()), state, limits.request, bodies);
    serve_pipeline(listener, pipeline, metrics, limits, shutdown).await
}

/// Serves the operators' listener (see [`crate::admin::router`]) in the same way.
pub async fn serve_admin(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: CancellationToken,
) -> Drained {
    let answer = move |request: Request<Incoming>, _: IpAddr| {
        let mut router = router.clone();
        async move {
            match router.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    };
    Server { limits, metrics: None, refusals: None, answer }.run(listener, shutdown).await
}

pub(crate) async fn serve_pipeline(
    listener: TcpListener,
    pipeline: Pipeline,
    metrics: Metrics,
    limits: Limits,
    shutdown: CancellationToken,
) -> Drained {
    let pipeline = Arc::new(pipeline);
    let refusals = Some(Refusals::new(pipeline.clone()));
    let answer = move |request, peer| pipeline.answer(request, peer);
    Server { limits, metrics: Some(metrics), refusals, answer }.run(listener, shutdown).await
}

struct Server<Answer> {
    limits: Limits,
    metrics: Option<Metrics>,
    refusals: Option<Refusals>,
    answer: Answer,
}

impl<Answer, Answering, Content> Server<Answer>
where
    Answer: Fn(Request<Incoming>, IpAddr) -> Answering + Clone + Send + 'static,
    Answering: Future<Output = Response<Content>> + Send + 'static,
    Content: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    async fn run(self, listener: TcpListener, shutdown: CancellationToken) -> Drained {
        let graceful = GracefulShutdown::new();
        let mut acceptor = Acceptor::new(listener);
        let mut places = Places::new(self.limits.connections);
        let connection_limit = ConnectionLimit::new(self.limits.per_address, self.limits.proxies.clone());
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                Some(ended) = connections.join_next() => log_failure(ended),
                (stream, peer) = acceptor.next() => {
                    let Some(visit) = connection_limit.enter(peer) else {
                        self.reject(stream);
                        continue;
                    };
                    let calls = Arc::new(Calls::new());
                    let place = tokio::select! {
                        () = shutdown.cancelled() => break,
                        place = places.take(&calls) => place,
                    };
                    let connection = graceful.watch(self.connection(stream, peer, calls.clone()));
                    let open = self.metrics.as_ref().map(Metrics::connection);
                    connections.spawn(async move {
                        tokio::select! {
                            // First it reads what has arrived, so that no request is lost.
                            biased;
                            ended = connection => if let Err(error) = ended {
                                tracing::debug!(%error, "a connection ended early");
                            },
                            () = calls.must_end() => tracing::debug!("an idle connection gave its place to another"),
                        }
                        drop((place, visit, open));
                    });
                }
            }
        }
        drop(acceptor);
        // From now on idle connections close, and the others close after their reply.
        let _ = timeout(self.limits.drain, graceful.shutdown()).await;
        while let Some(ended) = connections.try_join_next() {
            log_failure(ended);
        }
        let cut = connections.len();
        connections.shutdown().await;
        Drained { cut }
    }

    /// Replies that there are too many connections, as far as that can be sent at once, and closes.
    fn reject(&self, stream: TcpStream) {
        let Some(refusals) = &self.refusals else { return };
        let refusal = refusals.write(StatusCode::TOO_MANY_REQUESTS);
        let sent = stream.into_std().and_then(|mut stream| stream.write(&refusal));
        if let Err(error) = sent {
            tracing::debug!(%error, "a connection too many was closed without a word");
        }
    }

    fn connection(
        &self,
        stream: TcpStream,
        peer: IpAddr,
        calls: Arc<Calls>,
    ) -> http1::Connection<
        TokioIo<TimedStream<TcpStream>>,
        impl hyper::service::Service<
            Request<Incoming>,
            Response = Response<Content>,
            Error = Infallible,
            Future: Send,
        > + Send
        + use<Answer, Answering, Content>,
    > {
        let timed = TimedStream::new(stream, calls.clone(), &self.limits, self.refusals.clone());
        let answer = self.answer.clone();
        let service = service_fn(move |request| {
            calls.begin();
            let calls = calls.clone();
            answer(request, peer).map(move |response| {
                calls.end(response.status().is_client_error() && response.headers().contains_key(CONNECTION));
                Ok(response)
            })
        });
        http1::Builder::new()
            .timer(TokioTimer::new())
            // hyper counts from the end of the previous request, so this is the idle time; the stream limits the time of a head.
            .header_read_timeout(self.limits.idle)
            .max_header_size(LARGEST_HEAD)
            .max_buf_size(LARGEST_BUFFER)
            .serve_connection(TokioIo::new(timed), service)
    }
}

/// Accepts connections.
struct Acceptor {
    listener: TcpListener,
    /// After a failure, when accepting continues, and the length of the pause.
    resting: Option<(Instant, Duration)>,
}

impl Acceptor {
    fn new(listener: TcpListener) -> Acceptor {
        Acceptor { listener, resting: None }
    }

    /// Returns the next connection. Cancellation-safe.
    async fn next(&mut self) -> (TcpStream, IpAddr) {
        loop {
            if let Some((until, _)) = self.resting {
                sleep_until(until).await;
            }
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    self.resting = None;
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "TCP_NODELAY could not be set");
                    }
                    return (stream, peer.ip());
                }
                Err(error) if is_client_gone(&error) => {}
                Err(error) => self.back_off(&error),
            }
        }
    }

    /// Pauses after a failure: without file descriptors or memory, trying again at once would only use the processor.
    fn back_off(&mut self, error: &io::Error) {
        let rest = match self.resting {
            None => {
                tracing::warn!(%error, "connections cannot be accepted; trying again, less and less often");
                BACKOFF.0
            }
            Some((_, rest)) => (rest * 2).min(BACKOFF.1),
        };
        self.resting = Some((Instant::now() + rest, rest));
    }
}

/// Returns whether the client was gone before it was accepted.
fn is_client_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

/// Logs a task of a connection that neither ended by itself nor was aborted: a defect.
fn log_failure(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "the task of a connection panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn accepting_backs_off_while_it_fails() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut acceptor = Acceptor::new(listener);
        let full = io::Error::from_raw_os_error(24);
        assert!(!is_client_gone(&full) && is_client_gone(&io::ErrorKind::ConnectionAborted.into()));
        let mut rests = Vec::new();
        for _ in 0..10 {
            acceptor.back_off(&full);
            rests.push(acceptor.resting.unwrap().1.as_millis());
        }
        assert_eq!(rests, [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000]);

        let rests_until = Instant::now() + Duration::from_millis(50);
        acceptor.resting = Some((rests_until, BACKOFF.0));
        let _client = TcpStream::connect(address).await.unwrap();
        acceptor.next().await;
        assert!(Instant::now() >= rests_until, "it rests");
        assert_eq!(acceptor.resting, None, "and then it is well again");
    }
}
