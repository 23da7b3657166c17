//! What operators see: metrics, health and status of a running node.

use kit::free_port;
use kit::http::Http;
use kit::process::{self, Loggia};
use serde_json::json;

use crate::service::{LOGGIA, Service, TIMEOUT, json as json_of};

#[tokio::test]
async fn metrics_cover_projections_and_requests() {
    let address = format!("127.0.0.1:{}", free_port());
    let Some(service) = Service::with(&["--no-demo", "--admin-listen", &address]).await else { return };
    service.import(&[json!({"name": "Bridge", "category": "architecture"})]).await;
    assert_eq!(service.http.get("/v1/search?q=bridge").await.status, 200);
    assert_eq!(service.http.get("/v1/project/nothing").await.status, 404);
    let operators = Http::new(format!("http://{address}"));
    assert_eq!(operators.get("/readyz").await.status, 200);
    let expected = [
        "loggia_projection_position{projection=\"catalog\"} 1",
        "loggia_projection_position{projection=\"search\"} 1",
        "loggia_projection_lag{projection=\"search\"} 0",
        "loggia_projection_parked{projection=\"catalog\"} 0",
        "loggia_log_position 1",
        "loggia_relay_position 1",
        "loggia_relay_lag 0",
    ];
    kit::wait_until(TIMEOUT, "the projections' gauges", async || {
        let metrics = operators.get("/metrics").await;
        expected.iter().all(|line| metrics.text().lines().any(|found| found == *line))
    })
    .await;
    let metrics = operators.get("/metrics").await;
    let helped: Vec<&str> = metrics.text().lines().filter(|line| line.starts_with("# HELP")).collect();
    let once: std::collections::BTreeSet<&str> = helped.iter().copied().collect();
    assert_eq!(helped.len(), once.len(), "each metric is described once: {helped:?}");
    assert!(metrics.text().contains("\nloggia_events_unheard_seconds "), "{}", metrics.text());
    for part in
        ["loggia_projection_heartbeat_timestamp_seconds{projection=\"catalog\"}", "route=\"", "status=\""]
    {
        assert!(metrics.text().contains(part), "{part} is missing:\n{}", metrics.text());
    }
    assert!(!metrics.text().contains("/nothing"), "no metric is labelled by a slug");
    let status = operators.get("/status").await.json();
    assert_eq!(status["projections"][0]["name"], "catalog");
    // A generation that cannot be opened is reported; the other models are refreshed, and so is this one later.
    let gauge = async |model: &str, fails: u8| {
        let line = format!("loggia_model_refresh_failing{{model=\"{model}\"}} {fails}");
        kit::wait_until(TIMEOUT, &line, async || {
            operators.get("/metrics").await.text().lines().any(|found| found == line)
        })
        .await;
    };
    let pointer = service.folder.path().join("models/search/current");
    let current = std::fs::read(&pointer).unwrap();
    std::fs::write(&pointer, "g999999").unwrap();
    gauge("search", 1).await;
    gauge("keys", 0).await;
    let failing = operators.get("/status").await.json()["failing"][0]["component"].clone();
    assert_eq!(failing, "model search");
    std::fs::write(&pointer, current).unwrap();
    gauge("search", 0).await;
    assert_eq!(service.http.get("/metrics").await.status, 404, "the public listener has none");
}

#[tokio::test]
async fn metrics_cover_commands_imports_and_metering() {
    let args = ["--no-demo", "--auth", "keys", "--admin-listen", "127.0.0.1:0"];
    let Some(service) = Service::with(&args).await else { return };
    let log = service.loggia.stderr() + &service.loggia.stdout();
    let address = log.split("metrics and health on ").nth(1).unwrap();
    let operators = Http::new(address.split_whitespace().next().unwrap());
    let bridge = json!({"name": "Bridge", "category": "architecture"});
    service.import(&[bridge.clone(), json!({"name": 7})]).await;
    service.import(&[bridge]).await;
    let issued = service.json(&["keys", "issue", "--email", "ada@example.org"]).pop().unwrap();
    let search = format!("/v1/search?q=bridge&key={}", issued["key"].as_str().unwrap());
    service.wait_for_response(&search, "the new key", |status, _| status == 200).await;
    assert_eq!(service.http.get(&search).await.status, 200);
    let expected = [
        "loggia_ready 1",
        "loggia_nats_connected 1",
        "loggia_keeper 1",
        "loggia_commands_total{command=\"import\",outcome=\"done\"} 2",
        "loggia_commands_total{command=\"issue_key\",outcome=\"done\"} 1",
        "loggia_commands_total{command=\"revise\",outcome=\"unavailable\"} 0",
        "loggia_command_seconds_count{command=\"import\"} 2",
        "loggia_import_lines_total{outcome=\"new\"} 1",
        "loggia_import_lines_total{outcome=\"same\"} 1",
        "loggia_import_lines_total{outcome=\"rejected\"} 1",
        "loggia_metered_calls_total{outcome=\"counted\"} 2",
        "loggia_ledger_position 2",
        "loggia_ledger_lag 0",
        "loggia_spool_calls 0",
        "loggia_spool_stuck_bytes 0",
    ];
    kit::wait_until(TIMEOUT, "what the write side did", async || {
        let metrics = operators.get("/metrics").await;
        expected.iter().all(|line| metrics.text().lines().any(|found| found == *line))
    })
    .await;
}

#[tokio::test]
async fn status_fits_on_one_screen() {
    let Some(service) = Service::empty().await else { return };
    service.import(&[json!({"name": "Bridge", "category": "architecture"})]).await;
    let screen = service.run(&["status"]).stdout;
    for part in [
        format!("process      {}, API on {}", service.loggia.pid(), service.base()),
        "event store  position 1,".into(),
        "stream EVENTS at 1, 1 messages".into(),
        "catalog      position 1, lag 0,".into(),
        "search       position 1, lag 0,".into(),
        "generation g000001".into(),
    ] {
        assert!(screen.contains(&part), "{part:?} is not in\n{screen}");
    }
}

/// Idle clients take all connections that few descriptors allow.
#[tokio::test]
async fn a_revoked_key_is_rejected_while_idle_connections_use_all_descriptors() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let mut command = process::command("sh", folder.path());
    let script = "ulimit -S -n 256 && ulimit -H -n 512 && exec \"$0\" \"$@\"";
    command.args(["-c", script, LOGGIA.as_str(), "up", "--no-demo", "--auth", "keys"]);
    let mut loggia = Loggia::spawn_command(command, folder.path());
    let http = loggia.ready().await;
    // The soft limit was raised to the hard one.
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", loggia.pid())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().skip(3).take(2).collect::<Vec<_>>(), ["512", "512"]);
    let issued = json_of(folder.path(), &["keys", "issue", "--email", "ada@example.org"]).pop().unwrap();
    let usage = format!("/v1/usage?key={}", issued["key"].as_str().unwrap());
    kit::wait_until(TIMEOUT, "the new key", async || http.get(&usage).await.status == 200).await;

    // The system accepts connections that the process has not accepted yet.
    let address = loggia.address().await;
    let mut idle = Vec::new();
    for _ in 0..400 {
        idle.push(tokio::net::TcpStream::connect(address).await.unwrap());
    }
    json_of(folder.path(), &["keys", "revoke", issued["key_id"].as_str().unwrap()]);
    kit::wait_until(TIMEOUT, "the end of the key", async || http.get(&usage).await.status == 401).await;
    let files = std::fs::read_dir(format!("/proc/{}/fd", loggia.pid())).unwrap().count();
    assert!(files < 500, "{files} of 512");
    drop(idle);
    assert!(loggia.terminate().await.success());
}
