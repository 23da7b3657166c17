//! Tests of the kit itself: other tests rely on it.

#![allow(clippy::unwrap_used)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use kit::http::Http;
use kit::nats::Nats;
use kit::process::{self, Loggia};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Writes a shell script that replaces the binary, with known reactions to signals and files.
fn stand_in(folder: &Path, script: &str) -> String {
    let path: PathBuf = folder.join("loggia");
    // Another process writes it: a descriptor opened for writing here could leak into a child of a concurrent test, and
    // the system refuses to run a file that is open for writing (ETXTBSY).
    let written = std::process::Command::new("sh")
        .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\"; chmod +x \"$2\"", "sh", script])
        .arg(&path)
        .status();
    assert!(written.unwrap().success());
    path.to_str().unwrap().to_owned()
}

const SERVES: &str = r#"
echo "$@" >&2; mkdir -p "$LOGGIA_DATA/run"; echo 127.0.0.1:4711 >"$LOGGIA_DATA/run/api.addr"
trap 'echo bye >&2; exit 7' TERM
while :; do sleep 0.01; done"#;

#[tokio::test]
async fn a_process_is_started_distinguished_from_an_earlier_one_and_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let slow = format!("sleep 0.2; {SERVES}");
    let binary = stand_in(folder.path(), &slow);
    std::fs::create_dir_all(data.join("run")).unwrap();
    std::fs::write(data.join("run/api.addr"), "127.0.0.1:1").unwrap();

    let mut loggia = Loggia::up(&binary, &data, &["--no-demo"]).await;
    assert_eq!(loggia.base().await, "http://127.0.0.1:4711");
    assert_eq!(loggia.stderr(), "up --no-demo\n");
    assert_eq!(loggia.terminate().await.code(), Some(7));
    assert_eq!(loggia.stderr(), "up --no-demo\nbye\n");

    let mut loggia = Loggia::up(&binary, &data, &[]).await;
    loggia.kill9();
    assert_eq!(loggia.ended(kit::TIMEOUT).await.signal(), Some(9));
}

#[tokio::test]
#[should_panic(expected = "loggia ended (exit status: 3) before it served:\nno disk")]
async fn a_process_that_ends_early_is_reported_with_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let binary = stand_in(folder.path(), "echo 'no disk' >&2; exit 3");
    Loggia::up(&binary, folder.path(), &[]).await;
}

#[test]
fn a_command_runs_to_its_end_without_the_callers_settings() {
    let folder = tempfile::tempdir().unwrap();
    let binary = stand_in(folder.path(), "echo \"$1 $LOGGIA_DATA $LOGGIA_LISTEN\"; echo warn >&2; exit 3");
    let output = process::run(&binary, Path::new("/data"), &["verify"]).ended(3);
    assert_eq!((&*output.stdout, &*output.stderr), ("verify /data 127.0.0.1:0\n", "warn\n"));
}

#[tokio::test]
async fn nats_is_killed_restarted_and_wiped_at_one_address() {
    let Some(mut nats) = Nats::start().await else { return };
    let address = nats.address().clone();
    let client = nats.client().await;
    let context = async_nats::jetstream::new(client.clone());
    let config = async_nats::jetstream::stream::Config { name: "S".into(), ..Default::default() };
    context.create_stream(config).await.unwrap();

    nats.kill9().await;
    assert!(nats.address().connect_options().connect(format!("nats://{address}")).await.is_err());
    nats.restart().await;
    let names = async |client| {
        let context = async_nats::jetstream::new(client);
        context.get_stream("S").await.is_ok()
    };
    assert!(names(nats.client().await).await);
    // The client from before the kill reconnects.
    kit::wait_until(kit::TIMEOUT, "the old client's reconnect", async || names(client.clone()).await).await;
    nats.wipe().await;
    assert!(!names(nats.client().await).await);
    assert_eq!(nats.address(), &address);
}

/// Answers one request with `answer` and returns the request as received.
async fn one_exchange(listener: TcpListener, answer: &'static str) -> String {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut request = vec![0; 4096];
    let length = socket.read(&mut request).await.unwrap();
    socket.write_all(answer.as_bytes()).await.unwrap();
    String::from_utf8(request[..length].to_vec()).unwrap()
}

#[tokio::test]
async fn a_response_is_returned_as_received() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http::new(format!("http://{}/", listener.local_addr().unwrap()));
    let answer = "HTTP/1.1 308 Permanent Redirect\r\nLocation: /b\r\nContent-Length: 9\r\n\r\n{\"ok\":42}";
    let (request, answer) = tokio::join!(
        one_exchange(listener, answer),
        http.send("POST", "/a?q=%20", &[("X-One", "1")], "body"),
    );
    assert!(request.starts_with("POST /a?q=%20 HTTP/1.1\r\nx-one: 1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\nbody"), "{request}");
    assert_eq!((answer.status, answer.header("location")), (308, Some("/b")));
    assert_eq!((answer.text(), answer.json()), ("{\"ok\":42}", serde_json::json!({"ok": 42})));
}

#[tokio::test]
async fn an_unreachable_server_is_an_error_with_its_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = Http::new(format!("http://{address}")).attempt("GET", "/x", &[], "").await.unwrap_err();
    assert!(failure.starts_with(&format!("GET http://{address}/x: ")), "{failure}");
    assert!(failure.contains("onnection refused"), "{failure}");
}
