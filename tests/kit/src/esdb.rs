//! A small server for the part of EventStoreDB's protocol that the event log uses, for tests with the vendor's real
//! client. It is not EventStoreDB and proves nothing about it.

mod batch;
mod log;
mod messages;
mod service;
mod wire;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::MutexGuard;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use log::Log;

/// A fault of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends before the append is executed.
    DropRequest,
    /// The append is executed, and the connection ends without a response.
    DropResponse,
    /// The append is executed, and the stream of appends ends normally without a response.
    EndStream,
}

/// A server on its own port with data in a temporary folder. Dropping it stops it.
pub struct EventStoreDb {
    folder: TempDir,
    address: SocketAddr,
    state: Arc<Shared>,
    /// Stops the listener and every connection; `None` while the server is down.
    running: Option<CancellationToken>,
    tls: Option<(TlsAcceptor, PathBuf)>,
}

#[derive(Default)]
struct Shared {
    faults: Mutex<VecDeque<Fault>>,
    /// The number of reads.
    reads: AtomicU64,
    /// The number of opened append streams.
    streams: AtomicU64,
    /// Whether batch appends are unsupported.
    is_old: AtomicBool,
    /// The required authorization header; `None` admits everyone.
    authorization: Mutex<Option<String>>,
}

/// The state of a running server.
struct State {
    shared: Arc<Shared>,
    log: tokio::sync::Mutex<Log>,
    address: SocketAddr,
}

impl EventStoreDb {
    /// Starts a server without TLS and authentication.
    pub async fn start() -> EventStoreDb {
        EventStoreDb::start_as(false).await
    }

    /// Starts a server with TLS for 127.0.0.1 and `localhost`.
    pub async fn start_tls() -> EventStoreDb {
        EventStoreDb::start_as(true).await
    }

    async fn start_as(secure: bool) -> EventStoreDb {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tls = secure.then(|| tls(&folder));
        let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let address = listener.local_addr().expect("its address");
        let mut server = EventStoreDb { folder, address, state: Arc::default(), running: None, tls };
        server.run(listener).await;
        server
    }

    /// Returns its connection string, with a user if given.
    pub fn address(&self, user: Option<(&str, &str)>) -> String {
        let user = user.map(|(name, password)| format!("{name}:{password}@")).unwrap_or_default();
        let tls = match &self.tls {
            Some((_, authority)) => format!("true&tlsCaFile={}", authority.display()),
            None => "false".to_owned(),
        };
        // By default the client waits 500 ms before each first contact.
        format!("esdb://{user}{}?tls={tls}&discoveryInterval=1", self.address)
    }

    /// Requires this user from now on.
    pub fn require_user(&self, user: &str, password: &str) {
        let header = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
        *self.state.authorization.lock().unwrap_or_else(PoisonError::into_inner) = Some(header);
    }

    /// Returns the number of reads so far.
    pub fn reads(&self) -> u64 {
        self.state.reads.load(Ordering::Relaxed)
    }

    /// Returns the number of opened append streams so far.
    pub fn streams(&self) -> u64 {
        self.state.streams.load(Ordering::Relaxed)
    }

    /// Removes all events of a stream after the first `kept`, like a restored older copy of the disk.
    pub async fn truncate(&self, stream: &str, kept: u64) {
        Log::open(&self.file()).await.truncate(stream, kept).await;
    }

    /// Disables batch appends, like servers before 21.10.
    pub fn disable_batch_append(&self) {
        self.state.is_old.store(true, Ordering::Relaxed);
    }

    /// Injects faults into the next appends.
    pub fn inject(&self, faults: &[Fault]) {
        self.state.faults.lock().unwrap_or_else(PoisonError::into_inner).extend(faults);
    }

    /// Stops it like a crash: all connections break at once. Does nothing while it is down.
    pub fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            running.cancel();
        }
    }

    /// Starts it again on the same port with its data.
    pub async fn restart(&mut self) {
        self.kill();
        self.run(listen(self.address)).await;
    }

    /// Returns the SQLite file with its streams.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("streams.db")
    }

    async fn run(&mut self, listener: TcpListener) {
        let running = CancellationToken::new();
        let log = tokio::sync::Mutex::new(Log::open(&self.file()).await);
        let state = Arc::new(State { shared: self.state.clone(), log, address: self.address });
        let tls = self.tls.as_ref().map(|(tls, _)| tls.clone());
        let ended = running.clone();
        tokio::spawn(ended.clone().run_until_cancelled_owned(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Like the real server: otherwise parts of a response wait for TCP acknowledgements.
                stream.set_nodelay(true).expect("a socket's option");
                let connection = ended.child_token();
                let serving = accepted(stream, tls.clone(), state.clone(), connection.clone());
                tokio::spawn(connection.run_until_cancelled_owned(serving));
            }
        }));
        self.running = Some(running);
    }
}

impl Drop for EventStoreDb {
    fn drop(&mut self) {
        self.kill();
    }
}

impl State {
    /// Takes the next fault if it is this one.
    fn met(&self, fault: Fault) -> bool {
        let mut faults = self.shared.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let met = faults.front() == Some(&fault);
        if met {
            faults.pop_front();
        }
        met
    }

    fn takes_batches(&self) -> bool {
        !self.shared.is_old.load(Ordering::Relaxed)
    }

    fn count(&self, counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn admits(&self, header: Option<&HeaderValue>) -> bool {
        let required = self.shared.authorization.lock().unwrap_or_else(PoisonError::into_inner);
        required.as_ref().is_none_or(|required| header.is_some_and(|header| header == required.as_str()))
    }

    async fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().await
    }

    /// A cluster of only this server.
    fn cluster(&self) -> wire::ClusterInfo {
        let end_point =
            wire::EndPoint { address: self.address.ip().to_string(), port: self.address.port().into() };
        let member = wire::MemberInfo {
            instance_id: Some(uuid::Uuid::from_u128(1).into()),
            state: 8,
            is_alive: true,
            http_end_point: Some(end_point),
        };
        wire::ClusterInfo { members: vec![member] }
    }
}

async fn accepted(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    state: Arc<State>,
    connection: CancellationToken,
) {
    match tls {
        None => serve(stream, state, connection).await,
        Some(tls) => {
            // The client does not trust the certificate.
            if let Ok(stream) = tls.accept(stream).await {
                serve(stream, state, connection).await;
            }
        }
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    state: Arc<State>,
    connection: CancellationToken,
) {
    let service = service_fn(move |request| {
        let (state, connection) = (state.clone(), connection.clone());
        async move {
            match service::answer(request, &state, &connection).await {
                Some(answer) => Ok(answer),
                None => {
                    connection.cancel();
                    Err("the connection ends")
                }
            }
        }
    });
    // A client may break its connection.
    let _ = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(1_000)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Listens, also on a port that a killed server used a moment ago.
fn listen(address: SocketAddr) -> TcpListener {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseaddr(true).expect("a port that is free again");
    socket.bind(address).expect("the port");
    socket.listen(1_024).expect("a listener")
}

/// Returns the TLS acceptor, and the file with the certificate authority.
fn tls(folder: &TempDir) -> (TlsAcceptor, PathBuf) {
    let (mut config, pem) = crate::tls::configured(&["localhost", "127.0.0.1"]);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let path = folder.path().join("authority.pem");
    std::fs::write(&path, pem).expect("the authority's file");
    (TlsAcceptor::from(Arc::new(config)), path)
}
