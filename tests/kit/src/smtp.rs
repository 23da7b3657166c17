//! A mail server for tests that receives mails over real sockets, or fails as configured.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::wait::{TIMEOUT, wait_for};

/// A fault of one SMTP session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It rejects the recipient with 451 (temporary), repeating the address as servers do.
    Temporary,
    /// It rejects the recipient with 550 (permanent).
    Permanent,
    /// It drops the connection during the mail.
    Disconnect,
}

/// A received mail, after dot-unstuffing (RFC 5321, section 4.5.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Received {
    /// The sender's name in EHLO.
    pub hello: String,
    /// The credentials of AUTH PLAIN.
    pub credentials: Option<String>,
    /// The envelope's sender.
    pub from: String,
    /// The envelope's recipients.
    pub to: Vec<String>,
    /// Headers and text, with LF line ends.
    pub data: String,
}

/// A mail server; dropping it stops it.
#[derive(Debug)]
pub struct Smtp {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    _task: JoinSet<()>,
}

#[derive(Debug, Default)]
struct State {
    faults: VecDeque<Fault>,
    sessions: usize,
    mails: Vec<Received>,
}

impl Smtp {
    /// Starts a server on a free port, with these faults in its first sessions.
    pub async fn start(faults: &[Fault]) -> Smtp {
        Smtp::listen(faults, None).await
    }

    /// Starts a server with implicit TLS as `localhost`; also returns its certificate as PEM.
    pub async fn start_tls() -> (Smtp, String) {
        let (config, authority) = crate::tls::configured(&["localhost"]);
        (Smtp::listen(&[], Some(TlsAcceptor::from(Arc::new(config)))).await, authority)
    }

    async fn listen(faults: &[Fault], tls: Option<TlsAcceptor>) -> Smtp {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let state =
            Arc::new(Mutex::new(State { faults: faults.iter().copied().collect(), ..State::default() }));
        let shared = state.clone();
        let mut task = JoinSet::new();
        task.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (state, tls) = (shared.clone(), tls.clone());
                tokio::spawn(async move {
                    // A client may break its connection.
                    let _ = match tls {
                        None => converse(stream, &state).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => converse(stream, &state).await,
                            Err(error) => Err(error),
                        },
                    };
                });
            }
        });
        Smtp { address, state, _task: task }
    }

    /// Returns the value of the setting `mail`.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// Returns its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the mails received so far.
    pub fn mails(&self) -> Vec<Received> {
        locked(&self.state).mails.clone()
    }

    /// Returns the number of sessions so far.
    pub fn sessions(&self) -> usize {
        locked(&self.state).sessions
    }

    /// Waits for the mail with this index.
    pub async fn mail(&self, number: usize) -> Received {
        wait_for(TIMEOUT, "a mail", async || self.mails().get(number).cloned()).await
    }
}

impl Received {
    /// Returns the text after the headers.
    pub fn text(&self) -> &str {
        self.data.split_once("\n\n").map_or("", |(_, text)| text)
    }

    /// Returns the first link to a claim page in the text.
    pub fn link(&self) -> &str {
        self.text().lines().find(|line| line.contains("/claim/")).expect("a link in the mail")
    }
}

fn locked(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn converse(stream: impl AsyncRead + AsyncWrite, state: &Mutex<State>) -> std::io::Result<()> {
    let fault = {
        let mut state = locked(state);
        state.sessions += 1;
        state.faults.pop_front()
    };
    let (read, mut write) = tokio::io::split(stream);
    let read = std::pin::pin!(read);
    let mut lines = BufReader::new(read).lines();
    let mut mail = Received::default();
    write.write_all(b"220 test ready\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        let (verb, rest) = line.split_once([' ', ':']).unwrap_or((&line, ""));
        let answer = match (verb.to_ascii_uppercase().as_str(), fault) {
            ("EHLO", _) => {
                mail.hello = rest.to_owned();
                "250-test\r\n250-AUTH PLAIN\r\n250 8BITMIME".to_owned()
            }
            ("AUTH", _) => {
                mail.credentials = rest.strip_prefix("PLAIN ").map(str::to_owned);
                "235 welcome".to_owned()
            }
            ("MAIL", _) => {
                mail.from = path(rest);
                "250 ok".to_owned()
            }
            ("RCPT", Some(Fault::Temporary)) => format!("451 <{}> may get mail later", path(rest)),
            ("RCPT", Some(Fault::Permanent)) => format!("550 <{}> is not known here", path(rest)),
            ("RCPT", _) => {
                mail.to.push(path(rest));
                "250 ok".to_owned()
            }
            ("DATA", _) => {
                write.write_all(b"354 go on\r\n").await?;
                while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                    if fault == Some(Fault::Disconnect) {
                        return Ok(());
                    }
                    mail.data += line.strip_prefix('.').unwrap_or(&line);
                    mail.data.push('\n');
                }
                locked(state).mails.push(mail.clone());
                "250 taken".to_owned()
            }
            ("QUIT", _) => {
                write.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "500 what?".to_owned(),
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}

/// Returns the text between the angle brackets of `FROM:<…>`.
fn path(rest: &str) -> String {
    let inner = rest.split_once('<').and_then(|(_, path)| path.split_once('>'));
    inner.map_or("", |(path, _)| path).to_owned()
}
