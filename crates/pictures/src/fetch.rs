//! Fetches pictures from URLs that strangers wrote. Every address is judged after it was looked up, and the connection
//! goes to exactly what was judged: a name that leads elsewhere a moment later leads nowhere.

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

/// The most times that a host may send on.
const MOST_REDIRECTS: usize = 5;
/// For everything from the look-up to the last byte, where somebody waits for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// For a worker: the longest time in which nothing comes.
const SILENCE: Duration = Duration::from_secs(10);
/// For a worker: everything, so that 10 MiB need 1.4 Mbit/s.
const CAP: Duration = Duration::from_secs(60);

/// Where pictures may be fetched from.
#[derive(Debug, Clone, Default)]
pub struct FetchRules {
    /// Only from these hosts, written in full, in capitals or not; from any where there is no list.
    pub allowed_hosts: Option<Vec<String>>,
    /// Also from addresses that are not public, and from other ports than 443: for pictures in an operator's own
    /// network, and for tests. Whoever may name URLs can then reach that network.
    pub allow_private: bool,
}

/// Why there is no picture, in sentences for editors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Another try is of no use.
    #[error("{0}")]
    Refused(String),
    /// A later try may bring it.
    #[error("{0}")]
    Later(String),
    /// A later try may bring it; the host was silent, or slow, for so long that it is better left alone.
    #[error("{0}")]
    Silent(String),
}

/// Makes the TLS configuration with the trusted certificate authorities; `None` where there are none.
type Trusting = Arc<dyn Fn() -> Option<ClientConfig> + Send + Sync>;

/// Looks a name up.
type LookUp = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Fetches one picture after another, and keeps nothing between them: no connection, no cookie, no address.
#[derive(Clone)]
pub struct Fetcher {
    rules: FetchRules,
    user_agent: &'static str,
    trusting: Trusting,
    /// Made when the first picture is fetched: most processes that could fetch one never do.
    tls: Arc<OnceCell<ClientConfig>>,
    look_up: LookUp,
    is_public: fn(IpAddr) -> bool,
    patience: Duration,
}

impl Fetcher {
    /// A fetcher that calls itself `user_agent` and connects as `trusting` says, which is asked when the first picture is
    /// fetched, from a thread that may wait; `None` means that no certificate authority is trusted.
    pub fn new(
        rules: FetchRules,
        user_agent: &'static str,
        trusting: impl Fn() -> Option<ClientConfig> + Send + Sync + 'static,
    ) -> Fetcher {
        Fetcher {
            rules,
            user_agent,
            trusting: Arc::new(trusting),
            tls: Arc::default(),
            look_up: Arc::new(|host| Box::pin(look_up(host))),
            is_public: guard::is_public,
            patience: PATIENCE,
        }
    }

    /// Fetcher for tests: with other authorities, another look-up, another guard and less patience.
    #[cfg(test)]
    pub(super) fn for_tests(
        rules: FetchRules,
        roots: rustls::RootCertStore,
        look_up: LookUp,
        is_public: fn(IpAddr) -> bool,
        patience: Duration,
    ) -> Fetcher {
        let trusting = move || {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config =
                ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
            let config = config.with_root_certificates(roots.clone()).with_no_client_auth();
            (!roots.is_empty()).then_some(config)
        };
        Fetcher { look_up, is_public, patience, ..Fetcher::new(rules, "pictures/1", trusting) }
    }

    /// The bytes behind a URL of https, at most [`MAX_BYTES`], within a few seconds; whether they are a picture is not
    /// looked at.
    pub async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        self.fetch_within(url, self.patience, self.patience).await
    }

    /// Does the same in up to a minute, as long as bytes come.
    pub async fn fetch_patiently(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        let silence = if self.patience == PATIENCE { SILENCE } else { self.patience };
        self.fetch_within(url, silence, CAP).await
    }

    async fn fetch_within(&self, url: &str, silence: Duration, cap: Duration) -> Result<Vec<u8>, FetchError> {
        let url = self.permitted(url)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let bytes = tokio::time::timeout(cap, self.follow(url, silence)).await;
        bytes.unwrap_or_else(|_| {
            Err(FetchError::Silent(format!("{host} did not send it within {} s.", cap.as_secs_f32())))
        })
    }

    /// The URL, when it is one that is fetched at all.
    fn permitted(&self, url: &str) -> Result<Url, FetchError> {
        let refused = |reason: String| Err(FetchError::Refused(reason));
        let url = match Url::parse(url) {
            Ok(url) => url,
            Err(error) => {
                return refused(format!(
                    "Its address is no URL ({error}); give one that begins with https://."
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
            return refused("Its address holds a user or a password; give one without.".to_owned());
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
                    "It is at {host}, which is none of the hosts that pictures are fetched from; send the file itself."
                ))
            }
            _ => Ok(url),
        }
    }

    /// Fetches, and follows where the host sends on to: each other host is judged and looked up as the first was.
    pub(super) async fn follow(&self, mut url: Url, silence: Duration) -> Result<Vec<u8>, FetchError> {
        let first = url.host_str().unwrap_or_default().to_owned();
        let mut client = self.client_for(&url, silence).await?;
        for _ in 0..=MOST_REDIRECTS {
            let host = url.host_str().unwrap_or_default().to_owned();
            let sent = within(silence, &host, client.get(url.clone()).send()).await?;
            let response = sent.map_err(|error| unreachable(&host, &error))?;
            match response.status() {
                status if status.is_success() => return body(&host, response, silence).await,
                StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT => {
                    let next = self.next(&host, &url, response.headers())?;
                    if next.origin() != url.origin() {
                        client = self.client_for(&next, silence).await?;
                    }
                    url = next;
                }
                status => return Err(answered(&host, status)),
            }
        }
        Err(FetchError::Refused(format!(
            "{first} sends on more than {MOST_REDIRECTS} times; give the address where the picture is."
        )))
    }

    /// Where the host sends on to, when it is permitted.
    fn next(&self, host: &str, url: &Url, headers: &HeaderMap) -> Result<Url, FetchError> {
        let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
        let Some(next) = location.and_then(|location| url.join(location).ok()) else {
            return Err(FetchError::Refused(format!("{host} sends on without saying where to.")));
        };
        if next.origin() == url.origin() && next.username().is_empty() && next.password().is_none() {
            return Ok(next);
        }
        let place = format!("{}://{}", next.scheme(), next.host_str().unwrap_or_default());
        self.permitted(next.as_str())
            .map_err(|reason| FetchError::Refused(format!("{host} sends on to {place}. {reason}")))
    }

    /// A client for the addresses that the host of a URL has now.
    async fn client_for(&self, url: &Url, silence: Duration) -> Result<Client, FetchError> {
        let host = url.host_str().unwrap_or_default();
        let addresses = within(silence, host, self.addresses(url, host)).await??;
        self.client(host, addresses).await
    }

    /// The addresses of the host that may be reached, looked up once.
    async fn addresses(&self, url: &Url, host: &str) -> Result<Vec<SocketAddr>, FetchError> {
        // Numbers stand for themselves; those of IPv6 are in brackets.
        let mut addresses = match host.trim_start_matches('[').trim_end_matches(']').parse() {
            Ok(address) => vec![address],
            Err(_) => (self.look_up)(host.to_owned())
                .await
                .map_err(|error| FetchError::Later(format!("{host} cannot be looked up ({error}).")))?,
        };
        if addresses.is_empty() {
            return Err(FetchError::Later(format!("{host} has no address at present.")));
        }
        addresses.retain(|address| self.rules.allow_private || (self.is_public)(*address));
        if addresses.is_empty() {
            return Err(FetchError::Refused(format!(
                "It is at {host}, which is no place of the public internet; send the file itself."
            )));
        }
        let port = url.port_or_known_default().unwrap_or(443);
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    /// A client that knows these addresses of this host and no other way to anywhere.
    async fn client(&self, host: &str, addresses: Vec<SocketAddr>) -> Result<Client, FetchError> {
        let tls = self.tls.get_or_try_init(|| self.trusting()).await?.clone();
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

    async fn trusting(&self) -> Result<ClientConfig, FetchError> {
        let trusting = Arc::clone(&self.trusting);
        let trusted = tokio::task::spawn_blocking(move || trusting()).await.ok().flatten();
        trusted.ok_or_else(|| {
            FetchError::Later(
                "This machine trusts no certificate authority; install its package of them (ca-certificates), or \
                 name a file of them in SSL_CERT_FILE, and start this service again."
                    .to_owned(),
            )
        })
    }
}

async fn look_up(host: String) -> io::Result<Vec<IpAddr>> {
    let found = tokio::net::lookup_host((host.as_str(), 443)).await?;
    Ok(found.map(|address| address.ip()).collect())
}

/// Waits no longer than this for the next sign of a host.
async fn within<T>(silence: Duration, host: &str, sign: impl Future<Output = T>) -> Result<T, FetchError> {
    tokio::time::timeout(silence, sign)
        .await
        .map_err(|_| FetchError::Silent(format!("{host} sent nothing for {} s.", silence.as_secs_f32())))
}

async fn body(host: &str, mut response: Response, silence: Duration) -> Result<Vec<u8>, FetchError> {
    let too_large = || {
        Err(FetchError::Refused(format!(
            "{host} sends more than {MAX_BYTES} bytes (10 MiB); put a smaller one there."
        )))
    };
    let announced = response.content_length().unwrap_or(0);
    if usize::try_from(announced).is_ok_and(|bytes| bytes > MAX_BYTES) {
        return too_large();
    }
    let mut bytes = Vec::new();
    while let Some(chunk) =
        within(silence, host, response.chunk()).await?.map_err(|error| unreachable(host, &error))?
    {
        if bytes.len() + chunk.len() > MAX_BYTES {
            return too_large();
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Most answers are other ones tomorrow: only what says that it is gone, or makes no sense, is final.
fn answered(host: &str, status: StatusCode) -> FetchError {
    let sentence = format!("{host} answered {status}.");
    match status {
        StatusCode::GONE => FetchError::Refused(sentence),
        status if status.is_client_error() || status.is_server_error() => FetchError::Later(sentence),
        _ => FetchError::Refused(sentence),
    }
}

/// The innermost cause says most; the others repeat the URL, which may hold what is nobody's to read.
fn unreachable(host: &str, error: &reqwest::Error) -> FetchError {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    FetchError::Later(match cause.downcast_ref::<reqwest::Error>() {
        Some(_) => format!("{host} cannot be reached."),
        None => format!("{host} cannot be reached ({cause})."),
    })
}
