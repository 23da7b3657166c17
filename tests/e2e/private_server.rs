//! The private nats-server of a node, as a process of its own.

use std::collections::BTreeSet;

use kit::process::{self, Loggia};

use crate::service::{LOGGIA, Service};

/// What a nats-server may know: where programs and temporary files are, the time zone, and the settings of the Go runtime.
const KNOWN: [&str; 9] =
    ["GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", "HOME", "PATH", "TMPDIR", "TZ"];

#[tokio::test]
async fn it_gets_no_setting_and_no_secret_of_the_node() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let data = folder.path();
    let mut command = process::command(&LOGGIA, data);
    command
        .args(["up", "--no-demo"])
        .env("LOGGIA_STRIPE_SECRET", "whsec_cGVuZ3VpbnM")
        .env("LOGGIA_MAIL", "smtp://loggia:penguins@127.0.0.1:1025")
        .env("LOGGIA_MAIL_FROM", "catalog@example.org")
        .env("TZ", "UTC")
        .env("UNRELATED", "penguins");
    let mut loggia = Loggia::spawn_command(command, data);
    loggia.ready().await;
    let pid = std::fs::read_to_string(data.join("nats/nats.pid")).unwrap();
    let environment = std::fs::read(format!("/proc/{}/environ", pid.trim())).unwrap();
    let environment = String::from_utf8(environment).unwrap();
    let variables = environment.split('\0').filter_map(|variable| variable.split_once('='));
    let names: BTreeSet<&str> = variables.map(|(name, _)| name).collect();
    assert!(names.is_subset(&KNOWN.into()), "{environment}");
    for name in ["PATH", "TZ"] {
        assert!(names.contains(name), "{name} is not in {environment}");
    }
    assert!(loggia.terminate().await.success(), "{}", loggia.stderr());
}

#[tokio::test]
async fn a_node_starts_and_serves_though_the_log_of_its_server_cannot_be_opened() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let log = folder.path().join("nats/nats.log");
    std::fs::create_dir_all(&log).unwrap();
    let mut loggia = Loggia::up(&LOGGIA, folder.path(), &["--no-demo"]).await;
    let http = loggia.ready().await;
    let service = Service { loggia, folder, http };
    service.import(&[serde_json::json!({"name": "Bridge", "category": "architecture"})]).await;
    assert_eq!(service.http.get("/v1/project/bridge").await.status, 200);
    let warned = format!("nats-server cannot write its log {}", log.canonicalize().unwrap().display());
    assert!(service.loggia.stderr().contains(&warned), "{}", service.loggia.stderr());
}
