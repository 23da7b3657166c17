//! The rules and the dashboard in deploy/, checked against each other, against the runbook and against the metrics of
//! real processes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kit::http::Http;
use kit::process::{self, Loggia};
use kit::{ProgramOutput, TIMEOUT};
use serde_json::Value;

use crate::{LOGGIA, ROOT, text};

const RULES: &str = "deploy/prometheus/rules.yml";
/// The tests of the rules for promtool.
const TESTS: [&str; 2] = ["deploy/prometheus/tests.yml", "deploy/prometheus/tests_of_days.yml"];
const DASHBOARD: &str = "deploy/grafana/loggia.json";
const RUNBOOK: &str = "docs/operating/runbook.md";

/// Returns promtool of Prometheus, if it is installed.
fn promtool() -> Option<PathBuf> {
    let path = Path::new(ROOT).join(".tools/deploy/bin/promtool");
    if !path.exists() {
        kit::absent("promtool is not in .tools/deploy: run bin/setup --test");
        return None;
    }
    Some(path)
}

/// Runs promtool on this input, and returns whether it passed, and its output.
fn checked(promtool: &Path, args: &[&str], input: &str) -> (bool, String) {
    let mut command = Command::new(promtool);
    command.args(args).current_dir(ROOT);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A promtool that does not read its input may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = ProgramOutput::new(&command, child.wait_with_output().unwrap());
    (output.status.success(), output.stdout + &output.stderr)
}

#[test]
fn prometheus_accepts_the_rules_and_each_alert_fires_as_expected() {
    let Some(promtool) = promtool() else { return };
    let (is_accepted, output) = checked(&promtool, &["check", "rules", RULES], "");
    assert!(is_accepted && output.contains(&format!("{} rules found", alerts().len())), "{output}");
    let (is_accepted, output) = checked(&promtool, &["test", "rules", TESTS[0], TESTS[1]], "");
    assert!(is_accepted, "{output}");
    let tested = TESTS.map(text).concat();
    for alert in alerts() {
        let named = format!("alertname: {alert}");
        let times =
            tested.lines().filter(|line| line.split([',', '{']).any(|part| part.trim() == named)).count();
        assert_eq!(times, 2, "{alert} is to fire once and to be silent once");
    }
    // The check detects a fault.
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("rules.yml");
    std::fs::write(&bad, text(RULES).replace("loggia_ready == 0", "loggia_ready ==")).unwrap();
    assert!(!checked(&promtool, &["check", "rules", bad.to_str().unwrap()], "").0);
}

fn alerts() -> Vec<String> {
    let rules = text(RULES);
    let named = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    named.map(str::to_owned).collect()
}

#[test]
fn each_alert_has_a_section_in_the_runbook() {
    let (rules, runbook) = (text(RULES), text(RUNBOOK));
    let links: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("runbook: ")).collect();
    let expected: Vec<String> =
        alerts().iter().map(|alert| format!("{RUNBOOK}#{}", alert.to_lowercase())).collect();
    assert_eq!(links, expected);
    let headings: BTreeSet<String> = runbook
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter(|heading| heading.starts_with("Loggia"))
        .map(str::to_owned)
        .collect();
    assert_eq!(headings, alerts().into_iter().collect::<BTreeSet<_>>());
    for section in runbook.split("\n## ").filter(|section| section.starts_with("Loggia")) {
        for part in ["What it means:", "What users notice:", "What to do:"] {
            assert!(section.contains(part), "{part} is missing in {section}");
        }
    }
}

/// Returns the names of metrics in an expression: words with the prefix of Loggia's metrics.
fn metrics_in(expression: &str) -> impl Iterator<Item = String> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("loggia_") || word.starts_with("process_")).map(str::to_owned)
}

/// Returns the metrics that the rules and the dashboard use, each with the place.
fn used() -> BTreeMap<String, &'static str> {
    let rules = text(RULES);
    let of_rules = rules.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).flat_map(metrics_in);
    let dashboard: Value = serde_json::from_str(&text(DASHBOARD)).unwrap();
    let mut expressions = vec![dashboard["templating"]["list"][1]["query"]["query"].clone()];
    for panel in dashboard["panels"].as_array().unwrap() {
        let targets = panel["targets"].as_array().into_iter().flatten();
        expressions.extend(targets.map(|target| target["expr"].clone()));
    }
    let of_dashboard = expressions.iter().flat_map(|expression| metrics_in(expression.as_str().unwrap()));
    let of_dashboard: Vec<_> = of_dashboard.map(|name| (name, DASHBOARD)).collect();
    assert!(of_dashboard.len() > 30, "{of_dashboard:?}");
    of_rules.map(|name| (name, RULES)).chain(of_dashboard).collect()
}

fn samples(metrics: &str) -> BTreeSet<String> {
    let lines = metrics.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(['{', ' ']).next().unwrap().to_owned()).collect()
}

/// A process with an operators' listener.
struct ObservedProcess {
    process: Loggia,
    operators: Http,
}

impl ObservedProcess {
    async fn start(role: &[&str], data: &Path, settings: &[(&str, &str)]) -> ObservedProcess {
        let mut command = process::command(&LOGGIA, data);
        command.args(role).args(["--admin-listen", "127.0.0.1:0"]).envs(settings.iter().copied());
        let process = Loggia::spawn_command(command, data);
        let address = kit::wait_for(TIMEOUT, "the operators' listener", async || {
            let log = process.stderr() + &process.stdout();
            let output = log.split("metrics and health on ").nth(1)?;
            output.contains(char::is_whitespace).then(|| output.split_whitespace().next().unwrap().to_owned())
        })
        .await;
        let operators = Http::new(address);
        operators.ready().await;
        ObservedProcess { process, operators }
    }

    /// Returns the metrics, which must be valid for promtool and have these samples.
    async fn metrics(&self, promtool: Option<&Path>, expected: &[&str]) -> BTreeSet<String> {
        let metrics = kit::wait_for(TIMEOUT, &format!("{expected:?}"), async || {
            let metrics = self.operators.get("/metrics").await;
            expected.iter().all(|name| samples(metrics.text()).contains(*name)).then_some(metrics)
        })
        .await;
        assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        if let Some(promtool) = promtool {
            let (is_accepted, output) = checked(promtool, &["check", "metrics"], metrics.text());
            assert!(is_accepted && output.is_empty(), "{output}\n{}", metrics.text());
        }
        let openmetrics = [("accept", "application/openmetrics-text; version=1.0.0")];
        let answer = self.operators.send("GET", "/metrics", &openmetrics, "").await;
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert_eq!(answer.header("content-type"), Some(kind));
        assert_openmetrics(answer.text());
        samples(metrics.text())
    }
}

/// Fails if a family is described twice or not at all, or its samples do not follow its description.
fn assert_openmetrics(text: &str) {
    let text = text.strip_suffix("# EOF\n").unwrap();
    let (mut families, mut family) = (BTreeSet::new(), "");
    for (number, line) in text.lines().enumerate() {
        let name = if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split(' ').next().unwrap();
            assert!(families.insert(family), "{family} is described twice");
            assert!(help.ends_with('.'), "no sentence: {help}");
            family
        } else if let Some(typed) = line.strip_prefix("# TYPE ") {
            typed.split(' ').next().unwrap()
        } else {
            let name = line.split(['{', ' ']).next().unwrap();
            let ends = ["_total", "_bucket", "_sum", "_count", "_info", ""];
            ends.into_iter()
                .find_map(|end| name.strip_suffix(end).filter(|name| *name == family))
                .unwrap_or(name)
        };
        assert_eq!(name, family, "line {number}: {line}");
    }
    assert!(families.len() > 10, "{families:?}");
}

#[tokio::test]
async fn every_role_serves_valid_metrics_and_all_used_ones_exist() {
    let Some(_) = kit::nats::available().await else { return };
    let promtool = promtool();
    let promtool = promtool.as_deref();
    let folder = tempfile::tempdir().unwrap();
    let data = |name: &str| folder.path().join(name);
    let keys = [("LOGGIA_AUTH", "keys")];
    let common = ["loggia_ready", "loggia_nats_connected", "loggia_build_info", "loggia_disk_free_bytes"];
    let of_write = ["loggia_relay_lag", "loggia_ledger_lag", "loggia_commands_total", "loggia_keeper"];
    let of_models = ["loggia_projection_lag", "loggia_projection_heartbeat_timestamp_seconds"];
    let of_calls = ["loggia_requests_total", "loggia_spool_calls", "loggia_model_refresh_failing"];

    let write = ObservedProcess::start(&["write"], &data("write"), &keys).await;
    let record = folder.path().join("records.ndjson");
    std::fs::write(&record, "{\"name\": \"Bridge\", \"category\": \"architecture\"}\n").unwrap();
    process::run(&LOGGIA, &data("write"), &["import", record.to_str().unwrap()]).success();
    let running: Value =
        serde_json::from_slice(&std::fs::read(data("write").join("run/write.json")).unwrap()).unwrap();
    let nats = running["nats_url"].as_str().unwrap().to_owned();
    let there = [keys[0], ("LOGGIA_NATS_URL", &nats)];
    write.metrics(promtool, &[&common[..], &of_write].concat()).await;

    let project = ObservedProcess::start(&["project"], &data("node"), &there).await;
    project.metrics(promtool, &[&common[..], &of_models].concat()).await;
    let serve = ObservedProcess::start(&["serve"], &data("node"), &there).await;
    serve.metrics(promtool, &[&common[..], &of_calls].concat()).await;
    let read = ObservedProcess::start(&["read"], &data("read"), &there).await;
    read.metrics(promtool, &[&common[..], &of_calls, &of_models].concat()).await;
    for mut operated in [serve, read, project, write] {
        assert!(operated.process.terminate().await.success());
    }

    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, rcgen::generate_simple_self_signed(vec!["nats".to_owned()]).unwrap().cert.pem())
        .unwrap();
    let settings = [keys[0], ("LOGGIA_NATS_CA", ca.to_str().unwrap())];
    let up = ObservedProcess::start(&["up", "--no-demo"], &data("up"), &settings).await;
    process::run(&LOGGIA, &data("up"), &["import", record.to_str().unwrap()]).success();
    process::run(&LOGGIA, &data("up"), &["backup", data("backup").to_str().unwrap()]).success();
    let all = [&common[..], &of_write, &of_calls, &of_models].concat();
    let there = up.metrics(promtool, &all).await;
    for (name, file) in used() {
        // Metrics of the process are available only on Linux.
        let is_known = there.contains(&name) || (name.starts_with("process_") && !cfg!(target_os = "linux"));
        assert!(is_known, "{file} uses {name}, which no process has");
    }
}
