//! Fetches pictures from untrusted URLs. Every IP address is checked after the DNS look-up, and the connection uses exactly the
//! checked addresses: a name that resolves to another address a moment later (DNS rebinding) is useless.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Response, StatusCode, Url, redirect, retry};
use rustls::ClientConfig;
use tokio::sync::OnceCell;

use super::{MAX_BYTES, guard};

/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 5;
/// The time limit for everything from the look-up to the last byte, while a caller waits.
const TIMEOUT: Duration = Duration::from_secs(5);
/// In the background: the longest time without a byte.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);
/// In the background: the time limit for everything; 10 MiB within it need 1.4 Mbit/s.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(60);

/// Which hosts pictures may be fetched from.
#[derive(Debug, Clone, Default)]
pub struct FetchRules {
    /// The only permitted hosts, as full names, ignoring case; `None` permits all.
    pub allowed_hosts: Option<Vec<String>>,
    /// Permits addresses that are not public, and ports other than 443: for pictures in the operator's own network, and for tests.
    /// Anyone who may name URLs can then reach that network.
    pub allow_private: bool,
}

/// A picture could not be fetched; the messages are sentences for editors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// A retry is pointless.
    #[error("{0}")]
    Permanent(String),
    /// A retry may succeed.
    #[error("{0}")]
    Transient(String),
    /// A retry may succeed, but the host was silent or slow for so long that it should not be soon.
    #[error("{0}")]
    Timeout(String),
}

/// Creates the TLS configuration with the trusted certificate authorities; `None` if there are none.
type TlsSource = Arc<dyn Fn() -> Option<ClientConfig> + Send + Sync>;

/// Resolves a host name.
pub(super) type Resolver = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Fetches pictures. It keeps no state between them: no connection, no cookie, no address.
#[derive(Clone)]
pub struct Fetcher {
    rules: FetchRules,
    user_agent: &'static str,
    tls_source: TlsSource,
    /// Created when the first picture is fetched: most processes never fetch one.
    tls: Arc<OnceCell<ClientConfig>>,
    resolve: Resolver,
    is_public: fn(IpAddr) -> bool,
    timeout: Duration,
}

impl Fetcher {
    /// Creates a fetcher that sends `user_agent`. `tls_source` is called when the first picture is fetched, on a thread that may block;
    /// `None` from it means that no certificate authority is trusted.
    pub fn new(
        rules: FetchRules,
        user_agent: &'static str,
        tls_source: impl Fn() -> Option<ClientConfig> + Send + Sync + 'static,
    ) -> Fetcher {
        Fetcher {
            rules,
            user_agent,
            tls_source: Arc::new(tls_source),
            tls: Arc::default(),
            resolve: Arc::new(|host| Box::pin(resolve(host))),
            is_public: guard::is_public,
            timeout: TIMEOUT,
        }
    }

    /// Creates a fetcher for tests, with other authorities, another resolver, another guard and another timeout.
    #[cfg(test)]
    pub(super) fn for_tests(
        rules: FetchRules,
        roots: rustls::RootCertStore,
        resolve: Resolver,
        is_public: fn(IpAddr) -> bool,
        timeout: Duration,
    ) -> Fetcher {
        let tls_source = move || {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config =
                ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
            let config = config.with_root_certificates(roots.clone()).with_no_client_auth();
            (!roots.is_empty()).then_some(config)
        };
        Fetcher { resolve, is_public, timeout, ..Fetcher::new(rules, "pictures/1", tls_source) }
    }

    /// Returns the bytes at an https URL, at most [`MAX_BYTES`], within 5 seconds. Does not check whether they are a picture.
    ///
    /// # Errors
    ///
    /// Fails if the URL is not permitted, or the host does not answer with the bytes in time.
    pub async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        self.fetch_within(url, self.timeout, self.timeout).await
    }

    /// As [`fetch`](Fetcher::fetch), for workers: within a minute, and at most 10 seconds without a byte.
    ///
    /// # Errors
    ///
    /// As [`fetch`](Fetcher::fetch).
    pub async fn fetch_in_background(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        let idle_timeout = if self.timeout == TIMEOUT { IDLE_TIMEOUT } else { self.timeout };
        self.fetch_within(url, idle_timeout, BACKGROUND_TIMEOUT).await
    }

    async fn fetch_within(
        &self,
        url: &str,
        idle_timeout: Duration,
        timeout: Duration,
    ) -> Result<Vec<u8>, FetchError> {
        let url = self.permitted(url)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let bytes = tokio::time::timeout(timeout, self.follow(url, idle_timeout)).await;
        bytes.unwrap_or_else(|_| {
            Err(FetchError::Timeout(format!("{host} did not send it within {} s.", timeout.as_secs_f32())))
        })
    }

    /// Returns the parsed URL if the rules permit it.
    fn permitted(&self, url: &str) -> Result<Url, FetchError> {
        let refused = |reason: String| Err(FetchError::Permanent(reason));
        let url = match Url::parse(url) {
            Ok(url) => url,
            Err(error) => {
                return refused(format!(
                    "Its address is not a URL ({error}); give one that begins with https://."
                ));
            }
        };
        if url.scheme() != "https" {
            let scheme = url.scheme();
            return refused(format!(
                "Its address begins with {scheme}:; give one that begins with https://."
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refused("Its address contains a user name or password; give one without.".to_owned());
        }
        if let Some(port) = url.port()
            && !self.rules.allow_private
        {
            return refused(format!("Its address names port {port}; give one without a port."));
        }
        let host = url.host_str().unwrap_or_default();
        match &self.rules.allowed_hosts {
            Some(hosts) if !hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host)) => {
                refused(format!(
                    "It is at {host}, which is not one of the hosts that pictures are fetched from; send the file itself."
                ))
            }
            _ => Ok(url),
        }
    }

    /// Fetches a URL and follows redirects: each other host is checked and resolved as the first was.
    pub(super) async fn follow(&self, mut url: Url, idle_timeout: Duration) -> Result<Vec<u8>, FetchError> {
        let first = url.host_str().unwrap_or_default().to_owned();
        let mut client = self.client_for(&url, idle_timeout).await?;
        for _ in 0..=MAX_REDIRECTS {
            let host = url.host_str().unwrap_or_default().to_owned();
            let sent = within(idle_timeout, &host, client.get(url.clone()).send()).await?;
            let response = sent.map_err(|error| unreachable(&host, &error))?;
            match response.status() {
                status if status.is_success() => return body(&host, response, idle_timeout).await,
                StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT => {
                    let next = self.redirect_target(&host, &url, response.headers())?;
                    if next.origin() != url.origin() {
                        client = self.client_for(&next, idle_timeout).await?;
                    }
                    url = next;
                }
                status => return Err(status_error(&host, status)),
            }
        }
        Err(FetchError::Permanent(format!(
            "{first} redirects more than {MAX_REDIRECTS} times; give the URL of the picture itself."
        )))
    }

    /// Returns the target of a redirect if the rules permit it.
    fn redirect_target(&self, host: &str, url: &Url, headers: &HeaderMap) -> Result<Url, FetchError> {
        let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
        let Some(next) = location.and_then(|location| url.join(location).ok()) else {
            return Err(FetchError::Permanent(format!("{host} redirects without a target.")));
        };
        if next.origin() == url.origin() && next.username().is_empty() && next.password().is_none() {
            return Ok(next);
        }
        let place = format!("{}://{}", next.scheme(), next.host_str().unwrap_or_default());
        self.permitted(next.as_str())
            .map_err(|reason| FetchError::Permanent(format!("{host} redirects to {place}. {reason}")))
    }

    /// Returns a client for the addresses that the host of a URL has now.
    async fn client_for(&self, url: &Url, idle_timeout: Duration) -> Result<Client, FetchError> {
        let host = url.host_str().unwrap_or_default();
        let addresses = within(idle_timeout, host, self.addresses(url, host)).await??;
        self.client(host, addresses).await
    }

    /// Resolves the host once, and returns the addresses that the rules permit.
    async fn addresses(&self, url: &Url, host: &str) -> Result<Vec<SocketAddr>, FetchError> {
        // A literal address needs no look-up; IPv6 addresses are in brackets.
        let mut addresses = match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) => vec![address],
            Err(_) => (self.resolve)(host.to_owned())
                .await
                .map_err(|error| FetchError::Transient(format!("{host} cannot be looked up ({error}).")))?,
        };
        if addresses.is_empty() {
            return Err(FetchError::Transient(format!("{host} has no address at present.")));
        }
        addresses.retain(|address| self.rules.allow_private || (self.is_public)(*address));
        if addresses.is_empty() {
            return Err(FetchError::Permanent(format!(
                "It is at {host}, which is not on the public internet; send the file itself."
            )));
        }
        let port = url.port_or_known_default().unwrap_or(443);
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    /// Creates a client that connects to these addresses of this host only: no proxy, no redirects, no DNS.
    async fn client(&self, host: &str, addresses: Vec<SocketAddr>) -> Result<Client, FetchError> {
        let tls = self.tls.get_or_try_init(|| self.tls_config()).await?.clone();
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("image/jpeg, image/png, image/webp")),
            (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        ]);
        Client::builder()
            .tls_backend_preconfigured(tls)
            .https_only(true)
            .http1_only()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .resolve_to_addrs(host, &addresses)
            .user_agent(self.user_agent)
            .default_headers(headers)
            .build()
            .map_err(|error| unreachable(host, &error))
    }

    async fn tls_config(&self) -> Result<ClientConfig, FetchError> {
        let tls_source = Arc::clone(&self.tls_source);
        let config = tokio::task::spawn_blocking(move || tls_source()).await.ok().flatten();
        config.ok_or_else(|| {
            FetchError::Transient(
                "This machine trusts no certificate authority; install its package of them (ca-certificates), or \
                 name a file of them in SSL_CERT_FILE, and start this service again."
                    .to_owned(),
            )
        })
    }
}

async fn resolve(host: String) -> io::Result<Vec<IpAddr>> {
    let found = tokio::net::lookup_host((host.as_str(), 443)).await?;
    Ok(found.map(|address| address.ip()).collect())
}

/// Waits for `event`, at most for the idle timeout.
async fn within<T>(
    idle_timeout: Duration,
    host: &str,
    event: impl Future<Output = T>,
) -> Result<T, FetchError> {
    tokio::time::timeout(idle_timeout, event).await.map_err(|_| {
        FetchError::Timeout(format!("{host} sent nothing for {} s.", idle_timeout.as_secs_f32()))
    })
}

/// Reads the body of a response, at most [`MAX_BYTES`].
async fn body(host: &str, mut response: Response, idle_timeout: Duration) -> Result<Vec<u8>, FetchError> {
    let too_large = || {
        Err(FetchError::Permanent(format!(
            "{host} sends more than {MAX_BYTES} bytes (10 MiB); put a smaller one there."
        )))
    };
    let announced = response.content_length().unwrap_or(0);
    if usize::try_from(announced).is_ok_and(|bytes| bytes > MAX_BYTES) {
        return too_large();
    }
    let mut bytes = Vec::new();
    while let Some(chunk) =
        within(idle_timeout, host, response.chunk()).await?.map_err(|error| unreachable(host, &error))?
    {
        if bytes.len() + chunk.len() > MAX_BYTES {
            return too_large();
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Returns the error of a status. Only 410 Gone and statuses that make no sense are permanent.
fn status_error(host: &str, status: StatusCode) -> FetchError {
    let sentence = format!("{host} answered {status}.");
    match status {
        StatusCode::GONE => FetchError::Permanent(sentence),
        status if status.is_client_error() || status.is_server_error() => FetchError::Transient(sentence),
        _ => FetchError::Permanent(sentence),
    }
}

/// Returns the error of a connection with its innermost cause only: the outer ones repeat the URL, which may contain secrets.
fn unreachable(host: &str, error: &reqwest::Error) -> FetchError {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    FetchError::Transient(match cause.downcast_ref::<reqwest::Error>() {
        Some(_) => format!("{host} cannot be reached."),
        None => format!("{host} cannot be reached ({cause})."),
    })
}
