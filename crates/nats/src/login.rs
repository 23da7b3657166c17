//! The connection of a process to NATS: servers, credentials, certificate authority and user.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use nkeys::{KeyPair, KeyPairType};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::sync::watch;

use crate::connection;
use crate::requirements::{self, InsufficientServer};
use crate::same_cluster::{self, DifferentClusters};
use crate::url::{self, BadUrl};
use crate::user::{self, MissingPermission, User};

/// The time in which one server must answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval of pings on an idle connection; after three without an answer the client connects to another server.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// The longest pause between two attempts to reconnect.
const MAX_RECONNECT_DELAY: Duration = Duration::from_millis(500);

/// The header of a token in a credentials file.
const TOKEN_HEADER: &str = "-----BEGIN NATS USER JWT-----";

/// The settings with which a process connects.
#[derive(Debug, Clone)]
pub struct Login {
    /// The setting `nats_url`: one server, or several of one cluster, separated by commas.
    pub url: String,
    /// The setting `nats_creds`: a file with a token and its key, or with the seed of an NKEY.
    pub credentials: Option<PathBuf>,
    /// The setting `nats_ca`: a file with the certificates of the authorities that must have signed the servers'; unset: those of the
    /// system.
    pub ca: Option<PathBuf>,
    /// The user as which the process logs in, and the permissions it needs.
    pub user: User,
}

/// A connection to NATS failed. Each message names the setting to change.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// An address cannot be parsed.
    #[error("nats_url: {0}")]
    Url(#[from] BadUrl),
    /// The addresses contain different users.
    #[error("nats_url: the addresses name different users; give all the same one, or use nats_creds")]
    Users,
    /// The credentials cannot be read or parsed.
    #[error("nats_creds: {} {reason}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The certificates cannot be read or parsed.
    #[error("nats_ca: {} {reason}", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No server answers.
    #[error("the NATS server at {shown} does not answer ({reason}); is it running, and is nats_url right?")]
    Unanswered {
        /// The addresses, without passwords.
        shown: String,
        /// The error of the system.
        reason: String,
    },
    /// The server refuses the credentials.
    #[error(
        "the NATS server at {shown} refuses the login; check nats_creds, or user and password in nats_url"
    )]
    LoginRefused {
        /// The addresses, without passwords.
        shown: String,
    },
    /// The server's certificate is not trusted.
    #[error(
        "the NATS server at {shown} shows a certificate that is not believed ({reason}); set nats_ca to the file \
         of its authority, and nats_url to a name that is in it"
    )]
    Certificate {
        /// The addresses, without passwords.
        shown: String,
        /// Why.
        reason: String,
    },
    /// The server does not meet the requirements.
    #[error("the NATS server at {shown} cannot be worked with: {source}")]
    Insufficient {
        /// The addresses, without passwords.
        shown: String,
        /// Why.
        source: InsufficientServer,
    },
    /// The user lacks a permission.
    #[error(transparent)]
    User(#[from] MissingPermission),
    /// The addresses belong to different clusters.
    #[error(transparent)]
    Clusters(#[from] DifferentClusters),
}

impl LoginError {
    /// Returns whether a retry may succeed: when the server has been started.
    pub fn is_transient(&self) -> bool {
        matches!(self, LoginError::Unanswered { .. })
    }
}

impl Login {
    /// Connects, and checks the server against the requirements and the permissions of the user. A lost connection is
    /// re-established, without a limit of attempts, to any server of the cluster.
    ///
    /// # Errors
    ///
    /// Fails if a setting is wrong, no server answers, or a check fails.
    pub async fn connect(&self) -> Result<Client, LoginError> {
        let servers = self.servers()?;
        let (options, refusals) = self.options().await?;
        let timeout = CONNECT_TIMEOUT * u32::try_from(servers.len()).unwrap_or(u32::MAX) + CONNECT_TIMEOUT;
        let client = match tokio::time::timeout(timeout, options.connect(servers)).await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(self.login_error(&error)),
            Err(elapsed) => {
                return Err(LoginError::Unanswered {
                    shown: self.redacted_url(),
                    reason: elapsed.to_string(),
                });
            }
        };
        self.check(&client, refusals).await?;
        Ok(client)
    }

    /// Returns a client that connects as soon as a server answers, and a future that waits for that and does the checks of
    /// [`Login::connect`].
    ///
    /// # Errors
    ///
    /// Fails if a setting is wrong.
    pub async fn connect_in_background(
        &self,
    ) -> Result<(Client, impl Future<Output = Result<(), LoginError>> + Send + 'static), LoginError> {
        let servers = self.servers()?;
        let (options, refusals) = self.options().await?;
        let connected = options.retry_on_initial_connect().connect(servers).await;
        let client = connected.map_err(|error| self.login_error(&error))?;
        let (login, pending) = (self.clone(), client.clone());
        let checks = async move {
            connection::wait_until(&pending, connection::is_connected).await;
            login.check(&pending, refusals).await?;
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
            .map_err(|source| LoginError::Insufficient { shown: self.redacted_url(), source })?;
        Ok(user::check(client, &self.user, refusals).await?)
    }

    /// Checks that all addresses belong to one cluster. Servers that do not answer are skipped.
    ///
    /// # Errors
    ///
    /// Fails if two servers belong to different clusters, or a setting is wrong.
    pub async fn check_cluster(&self) -> Result<(), LoginError> {
        let mut targets = Vec::new();
        for server in self.servers()? {
            let (options, _) = self.options().await?;
            targets.push((server, options));
        }
        Ok(same_cluster::check(targets).await?)
    }

    /// Returns the addresses without users and passwords.
    pub fn redacted_url(&self) -> String {
        let redacted = |url: &str| url.trim().rsplit(['@', '/']).next().unwrap_or_default().to_owned();
        self.url.split(',').map(redacted).collect::<Vec<_>>().join(", ")
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

    /// Returns the connect options, and the last permission that a server refused to this connection.
    async fn options(&self) -> Result<(ConnectOptions, watch::Receiver<Option<String>>), LoginError> {
        // Several providers may be compiled in, and then a process has no default. The first one installed stays.
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
            // A server without TLS cannot prove that it has a certificate of that authority. The private server of this machine
            // has no TLS, but a password.
            let is_private = with_user.is_some() && self.servers()?.iter().all(is_loopback);
            options = options.add_root_certificates(path.clone()).require_tls(!is_private);
        }
        let (refused, refusals) = watch::channel(None);
        let options = options
            .name(format!("loggia {}", self.user.name))
            .custom_inbox_prefix(self.user.inbox.clone())
            .connection_timeout(CONNECT_TIMEOUT)
            .ping_interval(PING_INTERVAL)
            .reconnect_delay_callback(reconnect_delay)
            .event_callback(move |event| {
                let refused = refused.clone();
                async move { on_event(event, &refused) }
            });
        Ok((options, refusals))
    }

    fn login_error(&self, error: &ConnectError) -> LoginError {
        let (shown, reason) = (self.redacted_url(), innermost(error).to_string());
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

/// Returns the innermost cause of an error: the outer ones only repeat where it happened.
fn innermost<'e>(error: &'e (dyn std::error::Error + 'static)) -> &'e (dyn std::error::Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

fn is_loopback(server: &ServerAddr) -> bool {
    let host = server.host();
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Returns the delay before an attempt to reconnect, from 1: none, then 2 ms, doubling up to [`MAX_RECONNECT_DELAY`].
fn reconnect_delay(attempt: usize) -> Duration {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(9);
    if attempt <= 1 { Duration::ZERO } else { Duration::from_millis(1 << doublings).min(MAX_RECONNECT_DELAY) }
}

/// Logs errors of an established connection, and records a refused permission.
fn on_event(event: Event, refused: &watch::Sender<Option<String>>) {
    if matches!(event, Event::Connected | Event::Disconnected) {
        connection::changed();
    }
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

/// Adds the credentials of a file: a token with its key, or the seed of an NKEY.
async fn with_credentials(options: ConnectOptions, path: &Path) -> Result<ConnectOptions, LoginError> {
    let refused = |reason: String| LoginError::Credentials { path: path.to_owned(), reason };
    let text =
        tokio::fs::read_to_string(path).await.map_err(|error| refused(format!("cannot be read: {error}")))?;
    if text.contains(TOKEN_HEADER) {
        return options.credentials(&text).map_err(|error| refused(format!("cannot be used: {error}")));
    }
    match seed(&text) {
        Some(seed) => Ok(options.nkey(seed.to_owned())),
        None => Err(refused(
            "contains neither a token with its key nor the seed of a user; `loggia nats config` makes seeds"
                .into(),
        )),
    }
}

/// Returns the seed of a user in a text whose other lines are comments and delimiters.
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
        Some(Err(error)) => Err(refused(format!("contains no PEM certificate: {error}"))),
        None => Err(refused("contains no PEM certificate".into())),
    }
}

#[cfg(test)]
mod tests;
