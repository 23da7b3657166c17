//! What a connection may cost, and what it may be used for.

use std::time::{Duration, Instant};

use super::client::TIMEOUT;
use super::keyed::KEY;
use super::*;
use crate::{Limits, RateLimits};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const GET: &str = "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";

/// The status and the type's name of a refusal, behind which the server closes.
async fn refused(node: &Node, bytes: &str) -> (u16, String) {
    let mut connection = node.connect().await;
    connection.send(bytes).await;
    let reply = connection.reply("GET").await;
    assert_eq!(reply.header("connection"), Some("close"), "{reply:?}");
    reply.problem();
    assert!(connection.is_closed().await);
    let kind = reply.json()["type"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    (reply.status, kind)
}

/// Sends a request on new connections until it is answered with 200, and returns the connection: on a busy machine a connection may
/// rest for longer than a short limit before its request comes.
async fn answered(node: &Node, request: &str) -> Connection {
    let begun = Instant::now();
    loop {
        let mut connection = node.connect().await;
        if connection.try_send(request).await
            && let Some(reply) = connection.try_reply("GET").await
        {
            assert_eq!(reply.status, 200, "{reply:?}");
            return connection;
        }
        assert!(begun.elapsed() < TIMEOUT, "no answer to {request:?}");
    }
}

#[tokio::test]
async fn heads_have_a_size() {
    let node = Node::start().await;
    let too_large = (431, "too-large".to_owned());
    let header =
        |length: usize| format!("GET /healthz HTTP/1.1\r\nHost: test\r\nX: {}\r\n\r\n", "y".repeat(length));
    assert_eq!(refused(&node, &header(16 * 1024)).await, too_large);
    assert_eq!(
        refused(&node, &header(2 * 1024 * 1024)).await,
        too_large,
        "a client that continues to send gets the answer too"
    );
    assert_eq!(
        refused(&node, &format!("GET /{} HTTP/1.1\r\nHost: test\r\n\r\n", "a".repeat(70_000))).await,
        too_large
    );
    assert_eq!(refused(&node, &GET.replace("Host: test\r\n", &"X: y\r\n".repeat(101))).await, too_large);
    let mut connection = node.connect().await;
    connection.send(header(16 * 1024 - 42)).await;
    assert_eq!(connection.reply("GET").await.status, 200);

    let longest = |length: usize| format!("/v1/search?q=a&x={}", "y".repeat(length - 17));
    assert_eq!(connection.ask("GET", &longest(8 * 1024), "").await.status, 200);
    let reply = connection.ask("GET", &longest(8 * 1024 + 1), "").await;
    assert_eq!(
        (reply.status, &reply.json()["type"]),
        (414, &"https://catalog.example.org/problems/too-large".into())
    );
    assert_eq!(connection.ask("GET", "/healthz", "").await.status, 200, "the connection stays open");
}

#[tokio::test]
async fn malformed_http_is_rejected() {
    let node = Node::start().await;
    let malformed = (400, "malformed-request".to_owned());
    for bytes in [
        "nonsense\r\n\r\n",
        "GET / HTTP/3.0\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: test\r\nNo colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: test\r\nA: b\r\n folded: c\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        assert_eq!(refused(&node, bytes).await, malformed, "{bytes:?}");
    }
}

#[tokio::test]
async fn a_rejection_is_sent_after_the_replies_to_earlier_requests() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    connection.send(format!("{GET}HEAD /healthz HTTP/1.1\r\nHost: test\r\n\r\nnonsense\r\n\r\n")).await;
    assert_eq!(connection.reply("GET").await.status, 200);
    assert_eq!(connection.reply("HEAD").await.status, 200);
    assert_eq!(connection.reply("GET").await.status, 400);
    assert!(connection.is_closed().await);
}

#[tokio::test]
async fn bodies_are_passed_over_up_to_their_limit() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    let body = "x".repeat(64 * 1024);
    connection
        .send(format!("GET /healthz HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
        .await;
    assert_eq!(connection.reply("GET").await.status, 200);
    let chunk = format!("{:x}\r\n{body}\r\n", body.len());
    let chunked = "GET /healthz HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
    connection.send(format!("{chunked}{chunk}0\r\n\r\n")).await;
    assert_eq!(connection.reply("GET").await.status, 200, "the connection stays open");
    let too_large = (413, "too-large".to_owned());
    assert_eq!(refused(&node, &format!("{chunked}{chunk}{chunk}0\r\n\r\n")).await, too_large);
    assert_eq!(
        refused(&node, "GET /healthz HTTP/1.1\r\nHost: test\r\nContent-Length: 65537\r\n\r\n").await,
        too_large
    );
}

#[tokio::test]
async fn a_head_that_has_begun_must_end_soon() {
    let head = Duration::from_millis(150);
    let node = Node::start_with(Limits { head, ..Limits::default() }).await;
    let mut connection = node.connect().await;
    connection.send(GET).await;
    assert_eq!(connection.reply("GET").await.status, 200);
    connection.send("GET /healthz HTTP/1.1\r\nX: ").await;
    let dripping = async {
        while connection.try_send("y").await {
            tokio::time::sleep(head / 2).await;
        }
    };
    tokio::time::timeout(TIMEOUT, dripping).await.expect("a byte now and then does not help");
    assert!(connection.is_closed().await);
}

#[tokio::test]
async fn a_connection_may_rest_only_for_a_while() {
    let node = Node::start_with(Limits { head: Duration::from_millis(50), ..Limits::default() }).await;
    let mut rested = node.connect().await;
    assert_eq!(rested.ask("GET", "/healthz", "").await.status, 200);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(rested.ask("GET", "/healthz", "").await.status, 200, "resting is not dawdling");

    let node = Node::start_with(Limits { idle: Duration::from_millis(200), ..Limits::default() }).await;
    let (mut used, mut unused) = (answered(&node, GET).await, node.connect().await);
    assert!(used.is_closed().await);
    assert!(unused.is_closed().await);
}

#[tokio::test]
async fn an_answer_under_way_keeps_its_connection() {
    let short = Duration::from_millis(50);
    let node = Node::start_with(Limits { idle: short, head: short, write: short, ..Limits::default() }).await;
    answered(&node, "GET /soon HTTP/1.1\r\nHost: test\r\n\r\n").await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_let_go() {
    let limits = Limits { write: Duration::from_millis(100), ..Limits::default() };
    let node = Node::start_with(limits).await;
    let mut connection = node.connect().await;
    let requests = "GET /openapi.json HTTP/1.1\r\nHost: test\r\n\r\n".repeat(100);
    // The buffers of both systems fill up, then the server stops reading, then it closes.
    let asking = tokio::time::timeout(TIMEOUT, async { while connection.try_send(&requests).await {} });
    asking.await.expect("the server closes");
}

fn open_connections(node: &Node) -> u64 {
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &node.registry).unwrap();
    let line = text.lines().find(|line| line.starts_with("loggia_open_connections ")).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn requests_may_be_sent_ahead() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    let mut ids = std::collections::HashSet::new();
    let paths = ["/healthz", "/v1/search?q=street", "/nothing", "/v1/project/haus-am-see"];
    let requests: String =
        (0..100).map(|n| format!("GET {} HTTP/1.1\r\nHost: test\r\n\r\n", paths[n % 4])).collect();
    connection.send(requests).await;
    for n in 0..100 {
        let reply = connection.reply("GET").await;
        assert_eq!(reply.status, [200, 200, 404, 200][n % 4]);
        ids.insert(reply.header("x-request-id").unwrap().to_owned());
    }
    assert_eq!(ids.len(), 100, "each request has its own name");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_connections_are_kept_and_used() {
    let node = Node::start().await;
    let address = node.address;
    let clients: Vec<_> = (0..100)
        .map(|_| {
            tokio::spawn(async move {
                let mut connection = Connection::to(address).await;
                for _ in 0..20 {
                    let reply = connection.ask("GET", "/v1/search?q=street", "").await;
                    assert_eq!((reply.status, &reply.json()["total"]), (200, &3.into()));
                }
                connection
            })
        })
        .collect();
    let mut open = Vec::new();
    for client in clients {
        open.push(client.await.unwrap());
    }
    assert_eq!(open_connections(&node), 100);
}

#[tokio::test]
async fn a_connection_too_many_gets_the_place_of_the_longest_idle_one() {
    let node = Node::start_with(Limits { connections: 2, ..Limits::default() }).await;
    let (mut first, mut second) = (node.connect().await, node.connect().await);
    assert_eq!(first.ask("GET", "/healthz", "").await.status, 200);
    assert_eq!(second.ask("GET", "/healthz", "").await.status, 200);
    assert_eq!(first.ask("GET", "/healthz", "").await.status, 200);
    let mut third = node.connect().await;
    assert_eq!(third.ask("GET", "/healthz", "").await.status, 200);
    assert!(second.is_closed().await, "it was idle for longer");
    assert_eq!(first.ask("GET", "/healthz", "").await.status, 200, "the other one is kept");
    // A head that has only begun keeps nobody out.
    let mut begun = node.connect().await;
    begun.send("GET /healthz HTTP/1.1\r\nX: ").await;
    begun.is_read().await;
    assert!(third.is_closed().await);
    assert_eq!(first.ask("GET", "/healthz", "").await.status, 200);
    assert_eq!(node.connect().await.ask("GET", "/healthz", "").await.status, 200);
    assert!(begun.is_closed().await);
}

#[tokio::test]
async fn a_connection_too_many_waits_while_all_are_within_a_call() {
    let node = Node::start_with(Limits { connections: 1, request: 2 * TIMEOUT, ..Limits::default() }).await;
    let mut first = node.connect().await;
    first.send("GET /stopping HTTP/1.1\r\nHost: test\r\n\r\n").await;
    first.is_read().await;
    let mut second = node.connect().await;
    second.send(GET).await;
    let early = tokio::time::timeout(Duration::from_millis(100), second.reply("GET")).await;
    assert!(early.is_err(), "there is one place");
    drop(first);
    assert_eq!(second.reply("GET").await.status, 200);
}

#[tokio::test]
async fn an_address_has_so_many_connections_at_once() {
    let node = Node::start_with(Limits { per_address: 2, ..Limits::default() }).await;
    let (mut first, mut second) = (node.connect().await, node.connect().await);
    assert_eq!(first.ask("GET", "/healthz", "").await.status, 200);
    assert_eq!(second.ask("GET", "/healthz", "").await.status, 200);
    let mut third = node.connect().await;
    let reply = third.reply("GET").await;
    assert_eq!((reply.status, reply.header("retry-after")), (429, Some("1")));
    assert!(reply.problem().contains("Too many connections are open from this address."), "{reply:?}");
    assert!(third.is_closed().await);
    drop(first);
    let begun = Instant::now();
    loop {
        let mut next = node.connect().await;
        if next.try_send(GET).await && next.try_reply("GET").await.is_some_and(|reply| reply.status == 200) {
            break;
        }
        assert!(begun.elapsed() < TIMEOUT, "the place of a closed connection is free again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(second.ask("GET", "/healthz", "").await.status, 200, "the others continue");
}

#[tokio::test]
async fn all_bodies_together_have_a_size() {
    // The first body is read until the test ends it. Half of the memory is for messages.
    let limits = Limits { bodies: 200 << 10, request: 2 * TIMEOUT, ..Limits::default() };
    let node = Node::start_with(limits).await;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n", 90 << 10);
    let mut slow = node.connect().await;
    slow.send(head.clone() + &"x".repeat(80 << 10)).await;
    let begun = Instant::now();
    // Until the first body is there the second has room.
    loop {
        let reply = node.post("", "x".repeat(90 << 10)).await;
        if reply.status == 503 {
            assert!(reply.problem().contains("Too many requests with a body are being read."), "{reply:?}");
            break;
        }
        assert_eq!(reply.status, 400, "{reply:?}");
        assert!(begun.elapsed() < TIMEOUT, "the first body takes its room");
    }
    assert_eq!(node.get("/healthz").await.status, 200, "what has no body is answered");
    slow.send("x".repeat(10 << 10)).await;
    assert_eq!(slow.reply("POST").await.status, 400, "no JSON");
    assert_eq!(node.post("", "x".repeat(90 << 10)).await.status, 400, "there is room again");
}

#[tokio::test]
async fn a_stranger_who_sends_slowly_keeps_no_body_of_others_out() {
    let limits = Limits { bodies: 4 << 20, request: 2 * TIMEOUT, ..Limits::default() };
    let node = Node::start_with_keys(limits, RateLimits::new(0, 0, 0)).await;
    let ping = |size: usize| format!("{}{}", " ".repeat(size - PING.len()), PING);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n", 64 << 10);
    let mut slow = node.connect().await;
    slow.send(head + &"x".repeat((64 << 10) - 1)).await;
    slow.is_read().await;
    let begun = Instant::now();
    loop {
        let reply = node.post("", ping(2 << 10)).await;
        if reply.status == 503 {
            assert!(reply.problem().contains("Too many requests with a body are being read."), "{reply:?}");
            break;
        }
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(begun.elapsed() < TIMEOUT, "the slow body takes the share of the address");
    }
    let bearer = format!("Authorization: Bearer {KEY}\r\n");
    let keyed = node.post(&bearer, ping(256 << 10)).await;
    assert_eq!(
        (keyed.status, keyed.json()),
        (200, serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
    );
    let form = "POST /keys HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                Content-Length: 7\r\n\r\nemail=x";
    let mut filling = node.connect().await;
    filling.send(form).await;
    let reply = filling.reply("POST").await;
    assert_eq!(reply.status, 422, "the form is read: {reply:?}");
    assert_eq!(node.get("/healthz").await.status, 200);
    slow.send("x").await;
    assert_eq!(slow.reply("POST").await.status, 400, "no JSON");
    assert_eq!(node.post("", ping(64 << 10)).await.status, 200, "there is room again");
    let large = node.post("", ping((64 << 10) + 1)).await;
    let detail = "Without a key a message has at most 64 KiB. Shorten its arguments, or send it with a key, with which 256 KiB are read.";
    assert_eq!((large.status, large.json()["detail"].as_str()), (413, Some(detail)));
}

#[tokio::test]
async fn bodies_without_a_key_are_counted_before_they_are_read() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 1, 0)).await;
    let begun = Instant::now();
    let head = "POST /mcp HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n[";
    let refused = loop {
        let mut connections = Vec::new();
        for _ in 0..32 {
            let mut connection = node.connect().await;
            connection.send(head).await;
            connections.push(Box::pin(async move { connection.reply("POST").await }));
        }
        let first = futures::future::select_all(connections);
        if let Ok((reply, ..)) = tokio::time::timeout(Duration::from_secs(5), first).await {
            break reply;
        }
        assert!(begun.elapsed() < TIMEOUT, "some are refused while their body is still to come");
    };
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
}

#[tokio::test]
async fn ambiguous_framing_is_rejected() {
    let node = Node::start().await;
    let malformed = (400, "malformed-request".to_owned());
    for head in [
        "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: test\r\n",
        "GET /healthz HTTP/1.1\r\nAccept: */*\r\n",
        "GET http://a.example/healthz HTTP/1.1\r\nHost: b.example\r\n",
        "GET /healthz HTTP/1.1\r\nHost: test\r\nX: a\nContent-Length: 0\r\n",
        "GET /healthz HTTP/1.1\nHost: test\r\n",
        "POST /mcp HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    ] {
        assert_eq!(refused(&node, &format!("{head}\r\n")).await, malformed, "{head:?}");
    }
    let coded = "POST /mcp HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n";
    assert_eq!(refused(&node, coded).await, (501, "malformed-request".to_owned()));
}
