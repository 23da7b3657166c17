//! An https server on this machine, with a certificate signed by a test authority.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// Returns the reply to a request path.
type Answer = dyn Fn(&str) -> Reply + Send + Sync;

/// The reply to one request.
pub(crate) enum Reply {
    /// These bytes, including the head. The connection is closed if they contain that header.
    Bytes(Vec<u8>),
    /// These bytes, then nothing, with the connection open.
    Stalled(Vec<u8>),
    /// This head, then zeros without an end.
    Endless(Vec<u8>),
    /// This head, then twelve zeros, four per second.
    Dripping(Vec<u8>),
}

impl Reply {
    /// Returns a complete response.
    pub(crate) fn whole(status: &str, headers: &str, body: &[u8]) -> Reply {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        Reply::Bytes([head.as_bytes(), body].concat())
    }

    /// Returns a redirect.
    pub(crate) fn redirect(location: &str) -> Reply {
        Reply::whole("302 Found", &format!("location: {location}\r\nconnection: close\r\n"), b"")
    }
}

/// Accepts connections until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The heads of all requests so far.
    pub(crate) heads: Arc<Mutex<Vec<String>>>,
    pub(crate) roots: RootCertStore,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server for `pictures.example` and 127.0.0.1.
    pub(crate) async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Server {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let names = vec!["pictures.example".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
        let config =
            config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key.into());
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));

        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (received, answer) = (heads.clone(), Arc::new(answer));
        #[expect(clippy::disallowed_methods, reason = "aborted with the server")]
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, received, answer) = (acceptor.clone(), received.clone(), answer.clone());
                connections.spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    while let Some(head) = read_head(&mut stream).await {
                        let path = head.split(' ').nth(1).unwrap().to_owned();
                        received.lock().unwrap().push(head);
                        if !reply(&mut stream, answer.as_ref(), &path).await {
                            return;
                        }
                    }
                });
            }
        });
        Server { address, heads, roots, task }
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads.iter().map(|head| head.split(' ').nth(1).unwrap().to_owned()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_head(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

/// Sends a reply, and returns whether the connection stays open.
async fn reply(stream: &mut (impl AsyncWrite + Unpin), answer: &Answer, path: &str) -> bool {
    match answer(path) {
        Reply::Bytes(bytes) => {
            let sent = stream.write_all(&bytes).await.is_ok() && stream.flush().await.is_ok();
            sent && !bytes.windows(17).any(|part| part == b"connection: close")
        }
        Reply::Stalled(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.flush().await;
            std::future::pending().await
        }
        Reply::Dripping(head) => {
            let _ = stream.write_all(&head).await;
            for _ in 0..20 {
                tokio::time::sleep(std::time::Duration::from_millis(250)).await;
                if stream.write_all(&[0]).await.is_err() || stream.flush().await.is_err() {
                    return false;
                }
            }
            true
        }
        Reply::Endless(head) => {
            let _ = stream.write_all(&head).await;
            while stream.write_all(&[0; 1 << 16]).await.is_ok() {}
            false
        }
    }
}
