//! The connection of a process to NATS: servers, credentials, certificate authority and user.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use nkeys::{KeyPair, KeyPairType};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::sync::watch;

use crate::requirements::{self, InsufficientServer};
use crate::same_cluster::{self, DifferentClusters};
use crate::url::{self, BadUrl};
use crate::user::{self, User, WrongUser};

/// How long one server may take to answer.
const ANSWERED: Duration = Duration::from_secs(5);

/// How often a silent connection is tried: three without an answer, and another server is taken.
const PING: Duration = Duration::from_secs(5);

/// How often a connection that is still to be made is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The longest pause between two attempts to connect again.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// What stands in a credentials file that holds a token.
const TOKEN: &str = "-----BEGIN NATS USER JWT-----";

/// What a process connects with.
#[derive(Debug, Clone)]
pub struct Login {
    /// The setting `nats_url`: one server, or several of one cluster with commas.
    pub url: String,
    /// The setting `nats_creds`: a file with a token and its key, or with the seed of an NKEY.
    pub credentials: Option<PathBuf>,
    /// The setting `nats_ca`: a file with the certificates that the servers' are to be signed by; unset: the system's.
    pub ca: Option<PathBuf>,
    /// The user that the process is.
    pub user: User,
}

/// Why there is no connection to NATS. Each names the setting.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The addresses are none.
    #[error("nats_url: {0}")]
    Url(#[from] BadUrl),
    /// The addresses log in as different users.
    #[error("nats_url: the addresses name different users; give all the same one, or use nats_creds")]
    Users,
    /// The credentials cannot be read, or are none.
    #[error("nats_creds: {} {reason}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates cannot be read, or there are none.
    #[error("nats_ca: {} {reason}", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody answers.
    #[error("the NATS server at {shown} does not answer ({reason}); is it running, and is nats_url right?")]
    Unanswered {
        /// The addresses, without passwords.
        shown: String,
        /// What the system said.
        reason: String,
    },
    /// The server does not know who this is.
    #[error(
        "the NATS server at {shown} refuses the login; check nats_creds, or user and password in nats_url"
    )]
    LoginRefused {
        /// The addresses, without passwords.
        shown: String,
    },
    /// The server's certificate is not believed.
    #[error(
        "the NATS server at {shown} shows a certificate that is not believed ({reason}); set nats_ca to the file \
         of its authority, and nats_url to a name that is in it"
    )]
    Certificate {
        /// The addresses, without passwords.
        shown: String,
        /// What speaks against it.
        reason: String,
    },
    /// The server cannot be worked with.
    #[error("the NATS server at {shown} cannot be worked with: {source}")]
    Insufficient {
        /// The addresses, without passwords.
        shown: String,
        /// Why.
        source: InsufficientServer,
    },
    /// The user may not do what the role does.
    #[error(transparent)]
    User(#[from] WrongUser),
    /// The servers are not of one cluster.
    #[error(transparent)]
    Clusters(#[from] DifferentClusters),
}

impl LoginError {
    /// Whether waiting helps: a server that is started later answers then.
    pub fn may_pass(&self) -> bool {
        matches!(self, LoginError::Unanswered { .. })
    }
}

impl Login {
    /// Connects, and refuses a server that cannot be worked with and a user that may not do what the role does. The
    /// connection is made again for ever when it is lost, to whichever server answers.
    pub async fn connect(&self) -> Result<Client, LoginError> {
        let servers = self.servers()?;
        let (options, refusals) = self.options().await?;
        let patience = ANSWERED * u32::try_from(servers.len()).unwrap_or(u32::MAX) + ANSWERED;
        let client = match tokio::time::timeout(patience, options.connect(servers)).await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(self.refusal(&error)),
            Err(elapsed) => {
                return Err(LoginError::Unanswered { shown: self.shown(), reason: elapsed.to_string() });
            }
        };
        self.check(&client, refusals).await?;
        Ok(client)
    }

    /// Gives a connection that is made as soon as a server answers, and the checks of [`Login::connect`], which wait for
    /// that.
    ///
    /// # Errors
    ///
    /// Fails when a setting is wrong.
    pub async fn connect_later(
        &self,
    ) -> Result<(Client, impl Future<Output = Result<(), LoginError>> + Send + 'static), LoginError> {
        let servers = self.servers()?;
        let (options, refusals) = self.options().await?;
        let connected = options.retry_on_initial_connect().connect(servers).await;
        let client = connected.map_err(|error| self.refusal(&error))?;
        let (login, waiting) = (self.clone(), client.clone());
        let checks = async move {
            while waiting.connection_state() != State::Connected {
                tokio::time::sleep(LOOK).await;
            }
            login.check(&waiting, refusals).await?;
            login.check_cluster().await
        };
        Ok((client, checks))
    }

    async fn check(
        &self,
        client: &Client,
        refusals: watch::Receiver<Option<String>>,
    ) -> Result<(), LoginError> {
        requirements::check(client)
            .map_err(|source| LoginError::Insufficient { shown: self.shown(), source })?;
        Ok(user::check(client, &self.user, refusals).await?)
    }

    /// Refuses addresses of servers that do not belong together. A server that is away is passed over.
    pub async fn check_cluster(&self) -> Result<(), LoginError> {
        let mut asked = Vec::new();
        for server in self.servers()? {
            let (options, _) = self.options().await?;
            asked.push((server, options));
        }
        Ok(same_cluster::check(asked).await?)
    }

    /// The addresses without passwords.
    pub fn shown(&self) -> String {
        let shown = |url: &str| url.trim().rsplit(['@', '/']).next().unwrap_or_default().to_owned();
        self.url.split(',').map(shown).collect::<Vec<_>>().join(", ")
    }

    fn servers(&self) -> Result<Vec<ServerAddr>, LoginError> {
        let urls = self.url.split(',').map(str::trim);
        let mut servers = Vec::new();
        for url in urls {
            let server: ServerAddr = url::parse(url)?;
            if server.host().is_empty() {
                return Err(BadUrl(format!("“{url}” has no host")).into());
            }
            servers.push(server);
        }
        let user = |server: &ServerAddr| {
            server.username().map(|user| (user.to_owned(), server.password().map(str::to_owned)))
        };
        let named: Vec<_> = servers.iter().filter_map(user).collect();
        match named.split_first() {
            Some((first, others)) if others.iter().any(|other| other != first) => Err(LoginError::Users),
            _ => Ok(servers),
        }
    }

    /// The options, and the last thing that a server refused to this connection.
    async fn options(&self) -> Result<(ConnectOptions, watch::Receiver<Option<String>>), LoginError> {
        // Several providers may be compiled in, and then a process has no default. The first choice holds.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let with_user = self.url.split(',').map(str::trim).find(|url| url.contains('@'));
        let mut options = match with_user {
            Some(url) => url::connect_options(url)?,
            None => ConnectOptions::new(),
        };
        if let (None, Some(path)) = (with_user, &self.credentials) {
            options = with_credentials(options, path).await?;
        }
        if let Some(path) = &self.ca {
            check_authority(path).await?;
            // A server that offers no TLS is not one of that authority, whatever it says. The private one of this machine
            // has none, and a user of its own.
            let is_private = with_user.is_some() && self.servers()?.iter().all(is_here);
            options = options.add_root_certificates(path.clone()).require_tls(!is_private);
        }
        let (refused, refusals) = watch::channel(None);
        let options = options
            .name(format!("loggia {}", self.user.name))
            .custom_inbox_prefix(self.user.inbox.clone())
            .connection_timeout(ANSWERED)
            .ping_interval(PING)
            .reconnect_delay_callback(pause_before)
            .event_callback(move |event| {
                let refused = refused.clone();
                async move { heard(event, &refused) }
            });
        Ok((options, refusals))
    }

    fn refusal(&self, error: &ConnectError) -> LoginError {
        let (shown, reason) = (self.shown(), innermost(error).to_string());
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                LoginError::LoginRefused { shown }
            }
            ConnectErrorKind::Tls => LoginError::Certificate { shown, reason },
            _ if reason.contains("certificate") => LoginError::Certificate { shown, reason },
            _ => LoginError::Unanswered { shown, reason },
        }
    }
}

/// Returns the innermost cause of an error: the others repeat where it happened.
fn innermost<'e>(error: &'e (dyn std::error::Error + 'static)) -> &'e (dyn std::error::Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

fn is_here(server: &ServerAddr) -> bool {
    let host = server.host();
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// How long to wait before this attempt to connect again.
fn pause_before(attempt: usize) -> Duration {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(9);
    if attempt <= 1 { Duration::ZERO } else { Duration::from_millis(1 << doublings).min(LONGEST_PAUSE) }
}

/// Tells what goes wrong with a connection that nobody waits for.
fn heard(event: Event, refused: &watch::Sender<Option<String>>) {
    match event {
        Event::ServerError(ServerError::Other(reason)) if reason.contains("ermissions") => {
            tracing::error!(
                "NATS refuses what this process does: {reason}; is nats_creds the file of its role, made by this version?"
            );
            refused.send_replace(Some(reason));
        }
        Event::ServerError(error) => tracing::warn!("NATS says: {error}"),
        other => tracing::debug!("the connection to NATS: {other}"),
    }
}

/// Takes a file with a token and its key, or with a seed.
async fn with_credentials(options: ConnectOptions, path: &Path) -> Result<ConnectOptions, LoginError> {
    let refused = |reason: String| LoginError::Credentials { path: path.to_owned(), reason };
    let text =
        tokio::fs::read_to_string(path).await.map_err(|error| refused(format!("cannot be read: {error}")))?;
    if text.contains(TOKEN) {
        return options.credentials(&text).map_err(|error| refused(format!("cannot be used: {error}")));
    }
    match seed(&text) {
        Some(seed) => Ok(options.nkey(seed.to_owned())),
        None => Err(refused(
            "holds neither a token with its key nor the seed of a user; `loggia nats config` makes seeds"
                .into(),
        )),
    }
}

/// The seed of a user in a text that has nothing else but comments and frames.
fn seed(text: &str) -> Option<&str> {
    let is_user =
        |line: &&str| KeyPair::from_seed(line).is_ok_and(|pair| pair.key_pair_type() == KeyPairType::User);
    text.lines().map(str::trim).find(is_user)
}

async fn check_authority(path: &Path) -> Result<(), LoginError> {
    let refused = |reason: String| LoginError::Authority { path: path.to_owned(), reason };
    let bytes = tokio::fs::read(path).await.map_err(|error| refused(format!("cannot be read: {error}")))?;
    let mut certificates = CertificateDer::pem_slice_iter(&bytes);
    match certificates.next() {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(refused(format!("holds no certificate in PEM: {error}"))),
        None => Err(refused("holds no certificate in PEM".into())),
    }
}

#[cfg(test)]
mod tests;
