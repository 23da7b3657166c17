//! Which URLs are fetched, and which are rejected.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::RootCertStore;
use tokio::net::TcpListener;

use super::server::{Reply, Server};
use crate::fetch::{FetchError, FetchRules, Fetcher, Resolver};
use crate::guard;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// A time limit that even a busy machine does not exceed.
const LIMIT: Duration = Duration::from_secs(60);
/// Another address of this machine.
const TRAP: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

fn anywhere() -> FetchRules {
    FetchRules { allowed_hosts: None, allow_private: true }
}

/// Resolves every name to these addresses.
fn resolving(addresses: impl Fn() -> std::io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Resolver {
    Arc::new(move |_| Box::pin(std::future::ready(addresses())))
}

fn here() -> Resolver {
    resolving(|| Ok(vec![HERE]))
}

/// Returns a fetcher for which every name resolves to this machine.
fn fetcher(server: &Server) -> Fetcher {
    Fetcher::for_tests(anywhere(), server.roots.clone(), here(), guard::is_public, LIMIT)
}

fn url(server: &Server, path: &str) -> String {
    format!("https://pictures.example:{}{path}", server.address.port())
}

/// Fetches like `fetch`, but permits all ports.
async fn fetch_from_any_port(fetcher: &Fetcher, url: &str) -> Result<Vec<u8>, FetchError> {
    let followed = fetcher.follow(url.parse().unwrap(), LIMIT);
    tokio::time::timeout(LIMIT, followed).await.unwrap()
}

fn permanent<T>(sentence: &str) -> Result<T, FetchError> {
    Err(FetchError::Permanent(sentence.to_owned()))
}

fn timeout<T>(sentence: &str) -> Result<T, FetchError> {
    Err(FetchError::Timeout(sentence.to_owned()))
}

fn transient<T>(sentence: &str) -> Result<T, FetchError> {
    Err(FetchError::Transient(sentence.to_owned()))
}

#[tokio::test]
async fn a_picture_is_fetched_with_a_plain_request() {
    let server = Server::start(|_| Reply::whole("200 OK", "", b"a pear")).await;
    assert_eq!(fetcher(&server).fetch(&url(&server, "/pear.jpg?size=2")).await, Ok(b"a pear".to_vec()));
    let head = server.heads.lock().unwrap()[0].to_ascii_lowercase();
    let mut lines: Vec<_> = head.trim_end().split("\r\n").collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "accept-encoding: identity",
            "accept: image/jpeg, image/png, image/webp",
            "get /pear.jpg?size=2 http/1.1",
            &format!("host: pictures.example:{}", server.address.port()),
            "user-agent: pictures/1",
        ]
    );
    let number = format!("https://127.0.0.1:{}/", server.address.port());
    assert_eq!(fetcher(&server).fetch(&number).await, Ok(b"a pear".to_vec()));
}

#[tokio::test]
async fn redirects_are_followed_and_each_target_is_checked() {
    let server =
        Server::start(|path| match path.split_once("?n=").map(|(path, n)| (path, n.parse::<u32>())) {
            Some(("/steps", Ok(0))) => Reply::whole("200 OK", "", b"a pear"),
            Some(("/steps", Ok(n))) => Reply::redirect(&format!("/steps?n={}", n - 1)),
            _ if path == "/loop" => Reply::redirect("loop"),
            _ if path == "/down" => Reply::redirect("http://pictures.example/a.jpg"),
            _ if path == "/user" => Reply::redirect("//ada@pictures.example/a.jpg"),
            _ => Reply::whole("302 Found", "", b""),
        })
        .await;
    let fetcher = fetcher(&server);
    assert_eq!(fetcher.fetch(&url(&server, "/steps?n=5")).await, Ok(b"a pear".to_vec()));
    assert_eq!(server.paths().len(), 6);
    let too_many = "pictures.example redirects more than 5 times; give the URL of the picture itself.";
    assert_eq!(fetcher.fetch(&url(&server, "/steps?n=6")).await, permanent(too_many));
    assert_eq!(fetcher.fetch(&url(&server, "/loop")).await, permanent(too_many));
    assert_eq!(server.paths().len(), 18);
    for (path, reason) in [
        (
            "/down",
            "http://pictures.example. Its address begins with http:; give one that begins with https://.",
        ),
        (
            "/user",
            "https://pictures.example. Its address contains a user name or password; give one without.",
        ),
    ] {
        let sentence = format!("pictures.example redirects to {reason}");
        assert_eq!(fetcher.fetch(&url(&server, path)).await, permanent(&sentence), "{path}");
    }
    assert_eq!(
        fetcher.fetch(&url(&server, "/nowhere")).await,
        permanent("pictures.example redirects without a target.")
    );
}

#[tokio::test]
async fn another_host_is_checked_and_resolved_like_the_first() {
    let there = Server::start(|_| Reply::whole("200 OK", "", b"a pear")).await;
    let place = format!("https://127.0.0.1:{}/pear", there.address.port());
    let (listed, private) = (place.clone(), format!("https://10.0.0.1:{}/pear", there.address.port()));
    let server =
        Server::start(move |path| Reply::redirect(if path == "/listed" { &listed } else { &private })).await;
    let fetcher = |hosts: &[&str], is_public: fn(IpAddr) -> bool, allow_private| {
        let mut roots = server.roots.clone();
        roots.roots.extend(there.roots.roots.iter().cloned());
        let allowed_hosts = Some(hosts.iter().map(|host| (*host).to_owned()).collect());
        let rules = FetchRules { allowed_hosts, allow_private };
        Fetcher::for_tests(rules, roots, here(), is_public, LIMIT)
    };
    let both = fetcher(&["pictures.example", "127.0.0.1"], guard::is_public, true);
    assert_eq!(both.fetch(&url(&server, "/listed")).await, Ok(b"a pear".to_vec()));
    assert_eq!(there.paths(), ["/pear"]);
    let one = fetcher(&["pictures.example"], guard::is_public, true);
    let sentence = "pictures.example redirects to https://127.0.0.1. It is at 127.0.0.1, which is not one of the \
                    hosts that pictures are fetched from; send the file itself.";
    assert_eq!(one.fetch(&url(&server, "/listed")).await, permanent(sentence));
    let guarded = fetcher(&["pictures.example", "10.0.0.1"], |ip| ip == HERE, false);
    let sentence = format!(
        "pictures.example redirects to https://10.0.0.1. Its address names port {}; give one without a port.",
        there.address.port()
    );
    assert_eq!(fetch_from_any_port(&guarded, &url(&server, "/private")).await, permanent(&sentence));
    assert_eq!(there.paths(), ["/pear"]);
}

#[tokio::test]
async fn a_slow_host_is_waited_for_while_bytes_arrive() {
    let server =
        Server::start(|_| Reply::Dripping(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n".to_vec())).await;
    let hasty = Fetcher::for_tests(
        anywhere(),
        server.roots.clone(),
        here(),
        guard::is_public,
        Duration::from_secs(4),
    );
    // Twenty bytes, four per second: longer than the timeout, but never idle for as long.
    assert_eq!(hasty.fetch_in_background(&url(&server, "/")).await, Ok(vec![0; 20]));
    let slow = hasty.fetch(&url(&server, "/")).await;
    assert_eq!(slow, timeout("pictures.example did not send it within 4 s."));
}

#[tokio::test]
async fn urls_that_are_not_permitted_are_not_fetched() {
    let fetcher = Fetcher::new(FetchRules::default(), "pictures/1", || None);
    for (url, sentence) in [
        (
            "pear.jpg",
            "Its address is not a URL (relative URL without a base); give one that begins with https://.",
        ),
        ("http://example.org/", "Its address begins with http:; give one that begins with https://."),
        ("file:///etc/passwd", "Its address begins with file:; give one that begins with https://."),
        ("https://ada@example.org/", "Its address contains a user name or password; give one without."),
        ("https://:secret@example.org/", "Its address contains a user name or password; give one without."),
        ("https://example.org:8443/", "Its address names port 8443; give one without a port."),
    ] {
        assert_eq!(fetcher.fetch(url).await, permanent(sentence), "{url}");
    }
    // In any notation of an address, and for a name that resolves to it.
    for (url, host) in [
        ("https://127.0.0.1/", "127.0.0.1"),
        ("https://2130706433/", "127.0.0.1"),
        ("https://0x7f.1/", "127.0.0.1"),
        ("https://169.254.169.254/latest/meta-data", "169.254.169.254"),
        ("https://10.1.2.3/", "10.1.2.3"),
        ("https://[::1]/", "[::1]"),
        ("https://[::ffff:10.0.0.1]/", "[::ffff:a00:1]"),
        ("https://localhost/", "localhost"),
    ] {
        let sentence = format!("It is at {host}, which is not on the public internet; send the file itself.");
        assert_eq!(fetcher.fetch(url).await, permanent(&sentence), "{url}");
    }
}

#[tokio::test]
async fn hosts_that_are_not_listed_are_not_fetched_from() {
    let server = Server::start(|_| Reply::whole("200 OK", "", b"a pear")).await;
    let listed = |host: &str, allow_private| {
        let rules = FetchRules { allowed_hosts: Some(vec![host.to_owned()]), allow_private };
        Fetcher::for_tests(rules, server.roots.clone(), here(), guard::is_public, LIMIT)
    };
    assert_eq!(listed("PICTURES.example", true).fetch(&url(&server, "/")).await, Ok(b"a pear".to_vec()));
    let other = "It is at pictures.example, which is not one of the hosts that pictures are fetched from; send the \
                 file itself.";
    assert_eq!(listed("example", true).fetch(&url(&server, "/")).await, permanent(other));
    let private = "It is at pictures.example, which is not on the public internet; send the file itself.";
    assert_eq!(
        listed("pictures.example", false).fetch("https://pictures.example/").await,
        permanent(private)
    );
    assert_eq!(server.paths().len(), 1);
}

#[tokio::test]
async fn a_name_that_is_rebound_to_a_private_address_is_refused() {
    let server = Server::start(|path| match path {
        "/moved" => Reply::redirect("/pear"),
        _ => Reply::whole("200 OK", "connection: close\r\n", b"a pear"),
    })
    .await;
    let trap = TcpListener::bind((TRAP, server.address.port())).await.unwrap();
    let look_ups = Arc::new(AtomicUsize::new(0));
    let counter = look_ups.clone();
    // Resolves to the server once, then always to the trap, which represents the operator's own network.
    let resolve = resolving(move || {
        let is_first = counter.fetch_add(1, Ordering::SeqCst) == 0;
        Ok(vec![if is_first { HERE } else { TRAP }])
    });
    let rules = FetchRules { allow_private: false, ..FetchRules::default() };
    let fetcher = Fetcher::for_tests(rules, server.roots.clone(), resolve, |ip| ip == HERE, LIMIT);
    let url = url(&server, "/moved");
    assert_eq!(fetch_from_any_port(&fetcher, &url).await, Ok(b"a pear".to_vec()));
    assert_eq!((look_ups.load(Ordering::SeqCst), server.paths()), (1, vec!["/moved".into(), "/pear".into()]));
    let sentence = "It is at pictures.example, which is not on the public internet; send the file itself.";
    assert_eq!(fetch_from_any_port(&fetcher, &url).await, permanent(sentence));
    let connection = tokio::time::timeout(Duration::from_millis(50), trap.accept()).await;
    assert!(connection.is_err(), "{connection:?}");
}

#[tokio::test]
async fn only_public_addresses_of_a_name_are_connected_to() {
    let server = Server::start(|_| Reply::whole("200 OK", "", b"a pear")).await;
    let trap = TcpListener::bind((TRAP, server.address.port())).await.unwrap();
    let both = resolving(|| Ok(vec![TRAP, HERE]));
    let rules = FetchRules::default();
    let fetcher = Fetcher::for_tests(rules, server.roots.clone(), both, |ip| ip == HERE, LIMIT);
    let url = url(&server, "/");
    assert_eq!(fetch_from_any_port(&fetcher, &url).await, Ok(b"a pear".to_vec()));
    assert!(tokio::time::timeout(Duration::from_millis(50), trap.accept()).await.is_err());
}

#[tokio::test]
async fn responses_are_classified_as_permanent_or_transient_failures() {
    let server = Server::start(|path| Reply::whole(path.trim_start_matches('/'), "", b"")).await;
    let fetcher = fetcher(&server);
    for (status, text) in [
        (404, "404 Not Found"),
        (403, "403 Forbidden"),
        (410, "410 Gone"),
        (304, "304 Not Modified"),
        (408, "408 Request Timeout"),
        (425, "425 Too Early"),
        (429, "429 Too Many Requests"),
        (500, "500 Internal Server Error"),
        (503, "503 Service Unavailable"),
    ] {
        let sentence = format!("pictures.example answered {text}.");
        let expected = if [304, 410].contains(&status) { permanent(&sentence) } else { transient(&sentence) };
        assert_eq!(fetcher.fetch(&url(&server, &format!("/{status}"))).await, expected);
    }
}

#[tokio::test]
async fn oversized_responses_are_rejected_with_and_without_a_content_length() {
    let server = Server::start(|path| match path {
        "/announced" => Reply::Stalled(b"HTTP/1.1 200 OK\r\ncontent-length: 10485761\r\n\r\n".to_vec()),
        "/exactly" => Reply::whole("200 OK", "", &vec![7; 10 << 20]),
        _ => Reply::Endless(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec()),
    })
    .await;
    let sentence = "pictures.example sends more than 10485760 bytes (10 MiB); put a smaller one there.";
    let fetcher = fetcher(&server);
    assert_eq!(fetcher.fetch(&url(&server, "/announced")).await, permanent(sentence));
    assert_eq!(fetcher.fetch(&url(&server, "/endless")).await, permanent(sentence));
    assert_eq!(fetcher.fetch(&url(&server, "/exactly")).await.map(|bytes| bytes.len()), Ok(10 << 20));
}

#[tokio::test]
async fn failures_of_host_and_network_may_be_retried() {
    let server = Server::start(|path| match path {
        "/slow" => Reply::Stalled(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()),
        _ => Reply::Bytes(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nhalf".to_vec()),
    })
    .await;
    let short = Duration::from_millis(500);
    let hasty = Fetcher::for_tests(anywhere(), server.roots.clone(), here(), guard::is_public, short);
    let slow = hasty.fetch(&url(&server, "/slow")).await;
    assert!(matches!(slow, Err(FetchError::Timeout(_))), "{slow:?}");

    let half = fetcher(&server).fetch(&url(&server, "/half")).await;
    let Err(FetchError::Transient(error)) = half else { panic!("{half:?}") };
    assert!(error.starts_with("pictures.example cannot be reached ("), "{error}");

    let without_authorities =
        Fetcher::for_tests(anywhere(), RootCertStore::empty(), here(), guard::is_public, LIMIT);
    let FetchError::Transient(error) = without_authorities.fetch(&url(&server, "/")).await.unwrap_err()
    else {
        panic!()
    };
    assert!(error.starts_with("This machine trusts no certificate authority; install "), "{error}");

    let other = Server::start(|_| Reply::whole("200 OK", "", b"")).await;
    let distrusted = fetcher(&other).fetch(&url(&server, "/")).await;
    let Err(FetchError::Transient(error)) = distrusted else { panic!("{distrusted:?}") };
    assert!(error.starts_with("pictures.example cannot be reached (invalid peer certificate"), "{error}");

    let unknown = resolving(|| Err(std::io::Error::other("no such name")));
    let lost = Fetcher::for_tests(anywhere(), server.roots.clone(), unknown, guard::is_public, LIMIT);
    let error = lost.fetch(&url(&server, "/")).await;
    assert_eq!(error, transient("pictures.example cannot be looked up (no such name)."));

    let closed = url(&server, "/");
    let fetcher = fetcher(&server);
    drop(server);
    tokio::task::yield_now().await;
    let error = fetcher.fetch(&closed).await;
    assert!(matches!(&error, Err(FetchError::Transient(_))), "{error:?}");
}
