//! The table of servers.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::*;

#[test]
fn a_missing_majority_is_a_problem_and_a_missing_server_a_warning() {
    let judged = |missing: &[&str]| {
        let missing = missing.iter().map(|name| (*name).to_owned()).collect();
        let mut status = Status::default();
        judge(&mut status, &Copies { servers: 3, missing });
        (status.problems, status.warnings)
    };
    assert_eq!(judged(&[]), (vec![], vec![]));
    let warning = "1 of the 3 NATS servers is missing: n2; start it before NATS lacks a majority";
    assert_eq!(judged(&["n2"]), (vec![], vec![warning.to_owned()]));
    let problem = "NATS lacks a majority, so it stores nothing: edits and new keys wait, and counted calls wait or go to \
                   spools; 2 of the 3 NATS servers are missing: n1, n3; start them";
    assert_eq!(judged(&["n1", "n3"]), (vec![problem.to_owned()], vec![]));
}

#[test]
fn waiting_calls_are_shown_by_node() {
    let node = |name: &str, spool: u64, waiting: Option<u64>| -> NodeSummary {
        serde_json::from_value(
            serde_json::json!({"node": name, "role": "read", "version": "0.2.0", "settings": "0",
            "ready": true, "spool": spool, "waiting": waiting}),
        )
        .unwrap()
    };
    assert_eq!(where_calls_wait(&[node("one", 0, None), node("two", 0, Some(0))]), None);
    assert_eq!(
        where_calls_wait(&[node("one", 1_234, None), node("two", 0, Some(12)), node("three", 1, Some(2))])
            .unwrap(),
        "calls wait until NATS counts them: 1,234 in the spool of the read node one, 12 unanswered on the read node two, \
         1 in the spool of the read node three, 2 unanswered on the read node three"
    );
}

#[tokio::test]
async fn servers_that_hang_or_are_gone_are_unreachable() {
    let bound = async || TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (works, hangs, gone) = (bound().await, bound().await, bound().await);
    let [one, two, three] =
        [&works, &hangs, &gone].map(|listener| listener.local_addr().unwrap().to_string());
    drop(gone);
    let greeting = async {
        let (mut client, _) = works.accept().await.unwrap();
        client.write_all(b"INFO {\"server_id\":\"one\"}\r\n").await.unwrap();
        client
    };
    let url = format!("nats://{one}, tls://{two},nats://ada:secret@{three}");
    let (asked, _client) = tokio::join!(unreachable(&url), greeting);
    let mut missing = vec![two, three];
    missing.sort();
    assert_eq!(asked, Some(Copies { servers: 3, missing }));
    assert_eq!(unreachable(&format!("nats://{one}")).await, None);
}
