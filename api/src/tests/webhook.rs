//! What Stripe's webhook answers. That what it takes has its effect is tested with a whole service.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Node, Reply};

const PATH: &str = "/webhooks/stripe";
const SECRET: &[u8] = b"whsec_loggia_first_secret";
const EVENT: &str =
    r#"{"id":"evt_1","type":"customer.created","created":1795163400,"livemode":true,"data":{"object":{}}}"#;

fn signed(time: i64, body: &str) -> String {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(SECRET).unwrap();
    let digest = mac.chain_update(format!("{time}.{body}")).finalize().into_bytes();
    let digits = HEXLOWER.encode(&digest);
    format!("Stripe-Signature: t={time},v1={digits}\r\n")
}

fn now() -> i64 {
    schemas::clock::Clock::system().now().as_second()
}

async fn post_notice(node: &Node, headers: &str, body: &str) -> Reply {
    let mut connection = node.connect().await;
    let length = body.len();
    let head =
        format!("POST {PATH} HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
    connection.send(head).await;
    connection.reply("POST").await
}

fn problem(reply: &Reply) -> (u16, String) {
    reply.problem();
    let kind = reply.json()["type"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    (reply.status, kind)
}

#[tokio::test]
async fn unsigned_notices_are_rejected() {
    let node = Node::start_told_of_payments().await;
    let forged = signed(now(), "{}");
    for headers in ["", &forged, &signed(now() - 400, EVENT), "Stripe-Signature: v1=\r\n"] {
        let reply = post_notice(&node, headers, EVENT).await;
        assert_eq!(problem(&reply), (400, "invalid-signature".into()), "{headers}");
        assert!(!reply.text().contains("evt_1"), "{reply:?}");
    }
    let stale = post_notice(&node, &signed(now() + 400, EVENT), EVENT).await;
    assert_eq!(
        stale.json()["detail"],
        "The signature was made more than 300 seconds ago, or that far in the future. Check both clocks; an event is signed \
         again each time it is sent."
    );
    assert_eq!(node.get("/problems/invalid-signature").await.status, 200);
}

#[tokio::test]
async fn a_notice_that_cannot_be_stored_must_be_sent_again() {
    let node = Node::start_told_of_payments().await;
    let reply = post_notice(&node, &signed(now(), EVENT), EVENT).await;
    assert_eq!(problem(&reply), (503, "unavailable".into()));
    assert!(reply.header("retry-after").is_some());
}

#[tokio::test]
async fn the_webhook_exists_only_with_a_secret_and_accepts_only_notices() {
    let node = Node::start_empty().await;
    assert_eq!(problem(&post_notice(&node, &signed(now(), EVENT), EVENT).await), (404, "not-found".into()));
    assert_eq!(problem(&node.get(PATH).await), (404, "not-found".into()));

    let node = Node::start_told_of_payments().await;
    let read = node.get(PATH).await;
    assert_eq!(
        (problem(&read), read.header("allow")),
        ((405, "method-not-allowed".into()), Some("POST, OPTIONS"))
    );
    let large = "x".repeat(256 * 1024 + 1);
    assert_eq!(problem(&post_notice(&node, "", &large).await), (413, "too-large".into()));
}
