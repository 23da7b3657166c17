//! A key that is sent is written nowhere.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

const CANARY: &str = "log_live_CANARY";

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn log() -> MutexGuard<'static, Vec<u8>> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        log().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_key_is_found_in_no_log_line_and_no_reply() {
    // Global, so that the threads of the database are heard too; the other tests only add lines.
    tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(|| Log).init();
    tracing::trace!("this is heard too");
    let node = Node::start().await;
    let bearer = format!("Authorization: Bearer {CANARY}\r\n");
    let mut ids = Vec::new();
    for path in [
        "/v1/search?q=street",
        "/v1/search?x",
        "/v1/project/haus-am-see?x",
        "/v1/project/old-mill?x",
        "/v1/project/nothing?x",
        "/v1/project/gone-house?x",
        "/openapi.json?x",
        "/problems/internal?x",
        "/healthz?x",
        "/readyz?x",
        "/nothing?x",
        "/panic?x",
    ] {
        for (path, headers) in [
            (format!("{path}&key={CANARY}"), ""),
            (path.to_owned(), &bearer),
            (format!("{path}&key={CANARY}"), &bearer),
        ] {
            let mut connection = node.connect().await;
            let reply = connection.ask("GET", &path, headers).await;
            assert!(!format!("{:?}", reply.headers).contains(CANARY), "{reply:?}");
            assert!(!reply.text().contains(CANARY), "{reply:?}");
            ids.push(reply.header("x-request-id").unwrap().to_owned());
        }
    }
    for bytes in [
        format!("GET /v1/search?q=a&key={CANARY} HTTP/1.1\r\nbroken\r\n\r\n"),
        format!("G(T /v1/search?q=a&key={CANARY} HTTP/1.1\r\n\r\n"),
        format!("GET /v1/search?q={}&key={CANARY} HTTP/1.1\r\nHost: test\r\n\r\n", "a".repeat(9_000)),
    ] {
        let mut connection = node.connect().await;
        connection.send(bytes).await;
        let reply = connection.reply("GET").await;
        assert!(reply.status >= 400 && !reply.text().contains(CANARY), "{reply:?}");
        ids.push(reply.header("x-request-id").unwrap().to_owned());
    }
    node.stop.cancel();
    node.served.await.unwrap();
    let log = String::from_utf8_lossy(&log()).into_owned();
    for id in ids {
        assert!(log.contains(&id), "the log names the request {id}");
    }
    assert!(log.contains("this is heard too"), "everything is heard");
    let line = log.lines().find(|line| line.contains("CANARY"));
    assert_eq!(line, None);
}
