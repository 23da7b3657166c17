//! The log of a service, as a log collector reads it.

use kit::ProgramOutput;
use kit::process::{self, Loggia};
use serde_json::Value;

use crate::service::{LOGGIA, json as run_json};

/// The trace context of a caller, and its trace id.
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Returns the lines whose `target` begins with a text.
fn lines_of(log: &str, target: &str) -> Vec<Value> {
    let lines =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")));
    lines.filter(|line: &Value| line["target"].as_str().unwrap().starts_with(target)).collect()
}

/// Checks that the log begins with the start and its settings, and ends with the reason for stopping.
fn check_start_and_stop(log: &str) {
    let own: Vec<Value> = lines_of(log, "loggia::");
    let messages: Vec<&str> = own.iter().map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!((messages.first(), messages.last()), (Some(&"starting"), Some(&"stopped")), "{messages:?}");
    let first = &own[0];
    assert_eq!((&first["role"], &first["version"]), (&"up".into(), &env!("CARGO_PKG_VERSION").into()));
    let set = own.iter().filter_map(|line| line["setting"].as_str());
    assert_eq!(
        set.collect::<Vec<_>>(),
        ["data", "listen", "nats_server", "auth", "vectors", "log", "log_format"]
    );
    for message in ["the log of events is open", "ready", "stopping"] {
        assert!(messages.contains(&message), "{message} in {messages:?}");
    }
    let stopping = own.iter().find(|line| line["message"] == "stopping").unwrap();
    assert_eq!(stopping["signal"], "SIGTERM");
}

/// Checks that each request is logged with its key and its trace.
fn check_requests(log: &str, key_id: &str) {
    let requests = lines_of(log, "access");
    let usage = requests.iter().find(|line| line["path"] == "/v1/usage").unwrap();
    assert_eq!(
        (&usage["method"], &usage["status"], &usage["key"]),
        (&"GET".into(), &200.into(), &key_id.into())
    );
    assert!(
        usage["micros"].is_u64() && usage["request"].as_str().is_some_and(|id| id.len() == 16),
        "{usage}"
    );
    assert_eq!(usage["trace_id"], TRACE_ID);
    let watched = requests.iter().find(|line| line["path"] == "/readyz" && line["status"] == 200).unwrap();
    assert!(watched.get("trace_id").is_none(), "{watched}");
}

#[tokio::test]
async fn operator_commands_and_requests_are_logged_as_json() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let (data, file) = (folder.path().join("data"), folder.path().join("two.ndjson"));
    std::fs::write(
        &file,
        "{\"name\": \"One\", \"category\": \"art\"}\n{\"name\": \"\", \"category\": \"art\"}\n",
    )
    .unwrap();
    let mut command = process::command(&LOGGIA, &data);
    command.args([
        "up",
        "--no-demo",
        "--auth",
        "keys",
        "--log-format",
        "json",
        "--log",
        "warn,loggia=info,access=info",
    ]);
    let mut loggia = Loggia::spawn_command(command, &data);
    let http = loggia.ready().await;
    let issue = ["keys", "issue", "--email", "ada@example.org", "--actor", "ann"];
    let issued = run_json(&data, &issue).pop().unwrap();
    let key_id = issued["key_id"].as_str().unwrap();
    let mut import = process::command(&LOGGIA, &data);
    import.args(["import", file.to_str().unwrap(), "--actor", "bea"]).env("TRACEPARENT", TRACE);
    ProgramOutput::of(&mut import).success();
    run_json(&data, &["rebuild", "catalog"]);
    let path = format!("/v1/usage?key={}", issued["key"].as_str().unwrap());
    assert_eq!(http.send("GET", &path, &[("traceparent", TRACE)], "").await.status, 200);
    run_json(&data, &["keys", "erase", "--email", "ada@example.org", "--actor", "cleo"]);
    assert!(loggia.terminate().await.success());
    let log = loggia.stderr();

    check_start_and_stop(&log);
    let commands: Vec<[String; 3]> = lines_of(&log, "write::command_server")
        .iter()
        .map(|line| ["command", "actor", "outcome"].map(|member| line[member].as_str().unwrap().to_owned()))
        .collect();
    let expected = [
        ["issue_key", "ann", &format!("done: {key_id}")],
        ["import", "bea", "1 new, 1 rejected"],
        ["erase_account", "cleo", &format!("done: {key_id}")],
    ];
    assert_eq!(commands, expected.map(|line| line.map(str::to_owned)));
    let traced = |line: &Value| line["trace_id"].as_str().map(str::to_owned);
    let of_commands: Vec<_> = lines_of(&log, "write::command_server").iter().map(traced).collect();
    assert_eq!(of_commands, [None, Some(TRACE_ID.to_owned()), None]);
    let rebuilt = lines_of(&log, "projections::rebuilds");
    assert_eq!(
        rebuilt.iter().map(|line| line["projection"].as_str().unwrap()).collect::<Vec<_>>(),
        ["catalog"]
    );
    check_requests(&log, key_id);
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("\"WARN\"")).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(!log.contains(issued["key"].as_str().unwrap()) && !log.contains("ada@"), "{log}");
}
