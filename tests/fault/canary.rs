//! An API key that is sent in every place is found in no log, file or answer afterwards.

use std::path::Path;

use kit::http::Answer;
use kit::process::{self, Loggia};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::LOGGIA;

/// Every path, and some that do not exist.
const PATHS: [&str; 12] = [
    "/v1/search?q=bridge",
    "/v1/search",
    "/v1/search?q=bridge&limit=99",
    "/v1/project/bridge",
    "/v1/project/none",
    "/v1/usage",
    "/v1/nothing",
    "/openapi.json",
    "/problems/invalid-key",
    "/healthz",
    "/readyz",
    "/",
];

#[tokio::test]
async fn a_key_is_found_in_no_log_file_or_answer() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let data = folder.path().join("data");
    let admin = "127.0.0.1:0";
    let mut command = process::command(&LOGGIA, &data);
    command.args(["up", "--no-demo", "--auth", "keys", "--burst-per-key", "0", "--burst-per-address", "0"]);
    command.args(["--admin-listen", admin]).env("LOGGIA_LOG", "trace");
    let mut loggia = Loggia::spawn_command(command, &data);
    let http = loggia.http().await;
    let file = folder.path().join("in.ndjson");
    std::fs::write(&file, "{\"name\":\"Bridge\",\"category\":\"architecture\"}\n").unwrap();
    process::run(&LOGGIA, &data, &["import", file.to_str().unwrap()]).success();
    let issue = ["keys", "issue", "--email", "canary@example.org", "--json"];
    let issued = process::run(&LOGGIA, &data, &issue).success().json();
    let key = issued["key"].as_str().unwrap();
    // A key that was never issued must be protected the same.
    let stranger = format!("log_live_{}", "Z".repeat(46));
    crate::caught_up(&data).await;

    let mut answers: Vec<Answer> = Vec::new();
    for key in [key, &stranger] {
        let bearer = format!("Bearer {key}");
        let referer = format!("https://elsewhere.example/?key={key}");
        for path in PATHS {
            let joined = if path.contains('?') { '&' } else { '?' };
            let in_query = format!("{path}{joined}key={key}");
            for method in ["GET", "HEAD", "OPTIONS", "POST"] {
                let in_header = [("authorization", bearer.as_str()), ("referer", &referer)];
                answers.push(http.send(method, path, &in_header, "").await);
                answers.push(http.send(method, &in_query, &[], "").await);
                answers.push(http.send(method, &in_query, &in_header, "").await);
            }
        }
        answers.push(http.get(&format!("/v1/project/{key}")).await);
        answers.push(http.send("POST", "/v1/search", &[], key.to_owned()).await);
        send_malformed_requests(loggia.address().await, key).await;
    }
    assert!(answers.iter().filter(|answer| answer.status == 200).count() > 20, "some of it was answered");
    for answer in &answers {
        let answer_text = format!("{:?}{}", answer.headers, String::from_utf8_lossy(&answer.body));
        assert!(!answer_text.contains(key) && !answer_text.contains(&stranger), "{answer_text}");
    }
    let log = loggia.stderr() + &loggia.stdout();
    let listening = log.split("metrics and health on ").nth(1).unwrap().split_whitespace().next().unwrap();
    let operators = kit::http::Http::new(listening);
    for path in ["/metrics", "/status", "/readyz"] {
        let answer_text = operators.get(&format!("{path}?key={key}")).await;
        assert!(!answer_text.text().contains(key) && !answer_text.text().contains(&stranger), "{path}");
    }
    assert!(log.contains("TRACE"), "it was as noisy as it can be");
    assert!(loggia.terminate().await.success());
    let log = log + &loggia.stderr();
    for secret in [key, &stranger, &key[17..49]] {
        assert!(!log.contains(secret), "the log contains a key");
        assert_eq!(files_containing(&data, secret.as_bytes()), Vec::<String>::new());
    }
}

/// Malformed requests.
async fn send_malformed_requests(address: std::net::SocketAddr, key: &str) {
    for request in [
        format!("GET /v1/search?key={key}&q={} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(20_000)),
        format!("GET /v1/search?key={key} HTTP/9.9\r\n\r\n"),
        format!("GET /v1/search HTTP/1.1\r\nAuthorization: Bearer {key}\r\nhost : x\r\n\r\n"),
        format!("{key}\r\n\r\n"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!String::from_utf8_lossy(&answer).contains(key));
    }
}

/// Returns the files below a folder that contain these bytes.
fn files_containing(folder: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_containing(&path, bytes));
        } else {
            let content = std::fs::read(&path).unwrap();
            if content.windows(bytes.len()).any(|window| window == bytes) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}
