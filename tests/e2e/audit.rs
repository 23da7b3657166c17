//! `loggia audit` with and without a running service; the test publishes calls like a node.

use async_nats::HeaderMap;
use async_nats::jetstream;
use futures::StreamExt;
use kit::process;
use rustix::process::Signal;
use schemas::clock::Clock;
use schemas::month::Month;
use schemas::subject;
use schemas::usage::{Call, CallId, Surface};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::service::{LOGGIA, Service, TIMEOUT};

const KEY: &str = "Ab3dEf9h";

pub(crate) struct TestPublisher {
    clock: Clock,
    jetstream: jetstream::Context,
}

impl TestPublisher {
    pub(crate) async fn of(service: &Service) -> TestPublisher {
        TestPublisher { clock: Clock::system(), jetstream: jetstream::new(service.nats_client().await) }
    }

    pub(crate) async fn publish(&self, subject: impl Fn(&Call) -> String) -> Call {
        let time = self.clock.now();
        let call = Call {
            id: CallId(self.clock.event_id().0),
            key_id: KEY.parse().unwrap(),
            tier: "free".parse().unwrap(),
            month: Month::of(time),
            time,
            surface: Surface::Rest,
            operation: "search".into(),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in call.headers() {
            headers.insert(name, value);
        }
        let body = call.body().into();
        let sent = self.jetstream.publish_with_headers(subject(&call), headers, body).await.unwrap();
        sent.await.unwrap();
        call
    }
}

fn shown(call: &Call, position: u64, overrun: bool) -> Value {
    json!({
        "position": position, "time": call.time.to_string(), "surface": "rest", "operation": "search",
        "call_id": call.id.to_string(), "key_id": KEY, "tier": "free", "month": call.month.to_string(),
        "overrun": overrun,
    })
}

async fn copied(service: &Service, count: u64) {
    kit::wait_until(TIMEOUT, "the calls in the ledger", async || {
        service.json(&["status"])[0]["ledger"]["position"] == count
    })
    .await;
}

#[tokio::test]
async fn every_counted_call_is_listed_and_recounted() {
    let Some(mut service) = Service::with(&["--no-demo", "--auth", "keys", "--tiers", "free=5"]).await else {
        return;
    };
    let publisher = TestPublisher::of(&service).await;
    let mut calls = Vec::new();
    for _ in 0..5 {
        calls.push(publisher.publish(Call::subject).await);
    }
    copied(&service, 5).await;
    calls.push(publisher.publish(Call::overrun_subject).await);
    copied(&service, 6).await;
    let month = calls[0].month.to_string();

    let mut expected: Vec<Value> =
        (1..).zip(&calls).map(|(position, call)| shown(call, position, position == 6)).collect();
    expected.push(json!({"total": {"key_id": KEY, "month": month, "tier": "free", "used": 5, "overrun": 1}}));
    assert_eq!(service.json(&["audit", KEY]), expected);
    assert_eq!(service.json(&["audit", KEY, "--month", &month]), expected);
    let csv = service.run(&["audit", KEY, "--csv"]).stdout;
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "position,time,surface,operation,call_id,key_id,tier,month,overrun");
    assert_eq!(rows[6], format!("6,{},rest,search,{},{KEY},free,{month},true", calls[5].time, calls[5].id));
    let text = service.run(&["audit", KEY]).stdout;
    assert!(text.ends_with(&format!("\n{month} free: 5 calls, and 1 over the quota\n")), "{text}");
    let unknown = service.run(&["audit", "Zz000000"]).ended(1);
    assert!(unknown.stderr.contains("there is no key Zz000000"), "{unknown}");

    // A key without calls is valid too.
    let issued = service.json(&["keys", "issue", "--email", "idle@example.org"]).pop().unwrap();
    let idle = &issued["key"].as_str().unwrap()[9..17];
    assert_eq!(service.json(&["audit", idle]), [json!(null); 0]);
    let listed = service.json(&["keys", "list", "--email", "idle@example.org"]).pop().unwrap();
    assert_eq!((&listed["key_id"], &listed["last_used_at"]), (&json!(idle), &json!(null)));
    let report = service.json(&["audit", "verify", "--tiers", "free=5"]).pop().unwrap();
    assert_eq!(
        json!({"entries": 6, "keys": 1, "calls": 5, "overrun": 1, "compared": ["nats", "counters"], "differences": [],
            "overruns": [{"key_id": KEY, "month": month, "tier": "free", "ledger": {"used": 5, "overrun": 1}}]}),
        without_hash(report)
    );
    let screen = service.run(&["status"]).stdout;
    assert!(
        screen.contains("ledger       position 6,") && screen.contains(&format!("6 calls in {month}")),
        "{screen}"
    );

    service.loggia.terminate().await;
    let report = service.json(&["audit", "verify"]).pop().unwrap();
    assert_eq!(report["compared"], json!(["counters"]), "NATS is not there to compare with");
    let text = service.run(&["audit", "verify"]).stdout;
    assert!(text.contains("not compared with nats: no write side runs on this data folder"), "{text}");
}

/// Removes values that differ from run to run.
fn without_hash(mut report: Value) -> Value {
    let spools = report.as_object_mut().unwrap().remove("spools").unwrap();
    assert_eq!((&spools[0]["role"], &spools[0]["calls"]), (&json!("up"), &json!(0)), "{spools}");
    let hash = report.as_object_mut().unwrap().remove("hash").unwrap();
    assert_eq!(hash.as_str().unwrap().len(), 64);
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_the_spool_of_a_node_are_reported() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    let Some(mut service) = started_on(&nats).await else { return };
    service.loggia.terminate().await;
    // A read node that could not publish its calls yet.
    let client = nats.client().await;
    let mut requests = client.subscribe(subject::NODES).await.unwrap();
    client.flush().await.unwrap();
    let answering = tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let summary = json!({"node": "far", "role": "read", "version": "0.2.0", "settings": "a", "ready": true,
                "spool": 7});
            client.publish(request.reply.unwrap(), summary.to_string().into()).await.unwrap();
        }
    });
    let url = nats.url();
    let verify = |more: &[&str]| service.run(&[&["audit", "verify", "--nats-url", &url], more].concat());
    let report = verify(&["--json"]).json();
    assert_eq!(report["spools"], json!([{"node": "far", "role": "read", "calls": 7}]));
    let text = verify(&[]).stdout;
    assert!(text.contains("\nnot counted yet: 7 calls wait in the spool of far (read)\n"), "{text}");
    answering.abort();
    // And one that was killed in this folder: its file has two calls and half of a third.
    let spool = service.folder.path().join("spool");
    std::fs::create_dir_all(&spool).unwrap();
    std::fs::write(spool.join("0.free.spool"), "{}\n{}\n{").unwrap();
    let report = verify(&["--json"]).json();
    assert_eq!(report["spools"], json!([{"node": "this data folder", "role": "stopped", "calls": 2}]));
    let text = verify(&[]).stdout;
    assert!(
        text.contains("\nnot counted yet: 2 calls wait in the spool of this data folder (stopped)\n"),
        "{text}"
    );
}

#[tokio::test]
async fn a_call_only_in_nats_is_pending_and_one_missing_from_nats_is_a_difference() {
    let Some(mut nats) = kit::nats::Nats::start().await else { return };
    let Some(mut service) = started_on(&nats).await else { return };
    let publisher = TestPublisher::of(&service).await;
    for _ in 0..3 {
        publisher.publish(Call::subject).await;
    }
    copied(&service, 3).await;
    service.loggia.terminate().await;
    publisher.publish(Call::subject).await;
    let url = nats.url();
    let verify = |json: &[&str]| {
        let args = [&["audit", "verify", "--nats-url", &url], json].concat();
        process::run(&LOGGIA, service.folder.path(), &args)
    };
    let report = verify(&["--json"]).success().json();
    assert_eq!(report["waiting"], json!({"nats": {"not_copied": 1, "not_counted": 0}}));
    assert_eq!(report["differences"], json!([]));
    let text = verify(&[]).stdout;
    assert!(text.contains("\nnot copied yet: 1 calls that nats has; the next start copies them\n"), "{text}");
    assert!(
        text.contains(
            "\ncalls that wait in the spools of nodes that do not answer are not part of this check\n"
        ),
        "{text}"
    );
    let backup =
        service.run(&["backup", service.folder.path().join("b").to_str().unwrap(), "--nats-url", &url]);
    let stderr = backup.stderr;
    assert!(stderr.contains("1 calls that are counted are not in the backup"), "{stderr}");

    publisher.jetstream.delete_stream("USAGE_FREE").await.unwrap();
    ledger::usage_streams::prepare(&nats.client().await, &"free=200".parse().unwrap(), 1).await.unwrap();
    let report = verify(&["--json"]).ended(3).json();
    let (ledger, none) = (json!({"used": 3, "overrun": 0}), json!({"used": 0, "overrun": 0}));
    assert_eq!(report["differences"][0]["ledger"], ledger);
    assert_eq!(report["differences"][0]["nats"], none);
    nats.kill9().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_during_the_audit_are_no_difference() {
    let Some(service) = Service::with(&["--no-demo", "--auth", "keys", "--tiers", "free=100000"]).await
    else {
        return;
    };
    let publisher = TestPublisher::of(&service).await;
    let calling = tokio::spawn(async move {
        loop {
            publisher.publish(Call::subject).await;
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    for _ in 0..3 {
        let report = service.json(&["audit", "verify"]).pop().unwrap();
        assert_eq!(report["differences"], json!([]));
    }
    calling.abort();
}

#[tokio::test]
async fn a_running_service_that_stands_still_has_calls_in_transit() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    let Some(service) = started_on(&nats).await else { return };
    let publisher = TestPublisher::of(&service).await;
    publisher.publish(Call::subject).await;
    copied(&service, 1).await;
    service.loggia.signal(Signal::STOP);
    publisher.publish(Call::subject).await;
    let report = service.json(&["audit", "verify"]).pop().unwrap();
    assert_eq!(report["waiting"], json!({"nats": {"not_copied": 1, "not_counted": 0}}));
    assert_eq!(report["differences"], json!([]));
    let text = service.run(&["audit", "verify"]).stdout;
    assert!(
        text.contains("\nnot copied yet: 1 calls that nats has; the running service copies them\n"),
        "{text}"
    );
    service.loggia.signal(Signal::CONT);
    copied(&service, 2).await;
    kit::wait_until(TIMEOUT, "all to have counted the call", async || {
        service.json(&["audit", "verify"]).pop().unwrap().get("waiting").is_none()
    })
    .await;
}

#[tokio::test]
async fn without_keys_there_is_nothing_to_verify() {
    let Some(mut service) = Service::with(&["--no-demo", "--auth", "off"]).await else { return };
    let verify = ["audit", "verify", "--auth", "off"];
    let report =
        json!({"entries": 0, "keys": 0, "calls": 0, "overrun": 0, "compared": [], "differences": []});
    for is_running in [true, false] {
        if !is_running {
            service.loggia.terminate().await;
        }
        let text = service.run(&verify).success().stdout;
        assert_eq!(text, "nothing to verify: auth is off, so no call is counted\n");
        assert_eq!(service.json(&verify), std::slice::from_ref(&report));
    }
    let refused = service.run(&["audit", "verify", "--auth", "keys"]).ended(1);
    assert!(refused.stderr.contains("there is no ledger in"), "{refused}");
    let elsewhere = tempfile::tempdir().unwrap();
    process::run(&LOGGIA, elsewhere.path(), &verify).ended(1);
}

/// Starts `loggia up` on a NATS server of the test.
async fn started_on(nats: &kit::nats::Nats) -> Option<Service> {
    Service::with(&["--no-demo", "--auth", "keys", "--nats-url", &nats.url()]).await
}

#[tokio::test]
async fn a_damaged_row_is_detected() {
    let Some(mut service) = Service::with(&["--no-demo", "--auth", "keys"]).await else { return };
    let publisher = TestPublisher::of(&service).await;
    for _ in 0..4 {
        publisher.publish(Call::subject).await;
    }
    copied(&service, 4).await;
    service.loggia.terminate().await;
    let file = service.folder.path().join("store/usage.db");
    let mut raw = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    sqlx::raw_sql("UPDATE entries SET time = time - 1 WHERE position = 3").execute(&mut raw).await.unwrap();
    raw.close().await.unwrap();
    let report = service.run(&["audit", "verify", "--json"]).ended(3).json();
    assert_eq!(report, json!({"position": 3, "reason": "the entry does not match its hash"}));
}

#[test]
fn a_key_without_calls_has_an_empty_audit_and_wrong_usage_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| process::run(&LOGGIA, folder.path(), args);
    let issued = run(&["keys", "issue", "--email", "ada@example.org", "--json"]).json();
    let id = issued["key_id"].as_str().unwrap();
    assert_eq!(run(&["audit", id, "--json"]).success().stdout, "");
    let unknown = run(&["audit", "Ab3dEf9h", "--json"]).ended(1);
    assert_eq!(unknown.json()["kind"], "failed");
    for (args, detail) in [
        (&["audit", "verify", "--csv"][..], "--month and --csv need the id of a key; "),
        (&["audit", id, "--csv"], "choose one of --csv and --json"),
        (&["curate", "revise", "a"], "nothing to change; give --set MEMBER=VALUE or --unset MEMBER"),
        (&["verify", "--repair"], "--repair restores pictures: "),
    ] {
        let failure = run(&[args, &["--json"]].concat()).ended(2).json();
        assert_eq!(failure["kind"], "usage", "{args:?}");
        assert!(failure["detail"].as_str().unwrap().starts_with(detail), "{failure}");
    }
}
