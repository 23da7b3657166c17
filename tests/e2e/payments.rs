//! Payments from Stripe's webhook to the tier of a key, on a whole service over real sockets.

use std::path::Path;
use std::time::Duration;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use kit::http::{Answer, Http};
use kit::process::{self, Loggia};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::service::{LOGGIA, TIMEOUT, json as run_json};

const ADA: &str = "ada.pelt@example.org";
const SECRET: &str = "whsec_loggia_e2e_secret";

/// A service with keys and payments, on a folder that survives it.
struct PaymentService {
    // Declared first: dropping it looks in the folder for the nats-server that a killed process leaves.
    loggia: Loggia,
    http: Http,
    folder: tempfile::TempDir,
}

impl PaymentService {
    async fn start_new() -> Option<PaymentService> {
        let folder = kit::nats::data_folder().await?;
        let (loggia, http) = start(folder.path()).await;
        Some(PaymentService { loggia, http, folder })
    }

    /// Kills it with SIGKILL, and starts it again.
    async fn crash(&mut self) {
        self.loggia.kill9();
        (self.loggia, self.http) = start(self.folder.path()).await;
    }

    /// Issues a key of Ada's; an operator confirms a proven one.
    fn key(&self, proven: bool) -> String {
        self.key_of(ADA, proven)
    }

    fn key_of(&self, email: &str, proven: bool) -> String {
        let tier = if proven { "studio" } else { "free" };
        let issued =
            run_json(self.folder.path(), &["keys", "issue", "--email", email, "--tier", tier]).pop().unwrap();
        let (key, key_id) = (issued["key"].as_str().unwrap(), issued["key_id"].as_str().unwrap());
        run_json(self.folder.path(), &["keys", "tier", "--email", email, "--key", key_id, "free"]);
        key.to_owned()
    }

    async fn post_event(&self, event: &Value) -> Answer {
        post_event(&self.http, event).await.unwrap()
    }

    /// Sends events that must be accepted.
    async fn post_accepted(&self, events: &[Value]) {
        for event in events {
            let answer = self.post_event(event).await;
            assert_eq!((answer.status, answer.text()), (200, r#"{"received":true}"#), "{event}");
        }
    }

    async fn tier(&self, key: &str) -> Value {
        let usage = self.http.get(&format!("/v1/usage?key={key}")).await;
        usage.json()["tier"].clone()
    }

    async fn wait_for_tier(&self, key: &str, tier: &str) {
        kit::wait_until(TIMEOUT, tier, async || self.tier(key).await == tier).await;
    }

    fn log(&self) -> Vec<Value> {
        run_json(self.folder.path(), &["events", "tail", "--from", "1", "--no-follow"])
    }

    /// Returns the ids of all notices in the log, in order.
    fn recorded(&self) -> Vec<String> {
        let log = self.log();
        let payments = log.iter().filter(|event| event["kind"] == "loggia.account.payment_recorded.v1");
        payments.map(|event| event["data"]["event_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the state and event of every line of `loggia payments list`.
    fn listed(&self) -> Vec<(String, String)> {
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        let rows = run_json(self.folder.path(), &["payments", "list"]);
        rows.iter().map(|row| (text(row, "state"), text(row, "event_id"))).collect()
    }
}

async fn start(folder: &Path) -> (Loggia, Http) {
    start_with(folder, Some("price_studio=studio, price_pro=pro")).await
}

async fn start_with(folder: &Path, prices: Option<&str>) -> (Loggia, Http) {
    let mut command = process::command(&LOGGIA, folder);
    command.args(["up", "--no-demo", "--auth", "keys", "--burst-per-key", "0"]);
    command.env("LOGGIA_STRIPE_SECRET", SECRET);
    if let Some(prices) = prices {
        command.env("LOGGIA_STRIPE_PRICES", prices);
    }
    let mut loggia = Loggia::spawn_command(command, folder);
    let http = loggia.ready().await;
    (loggia, http)
}

async fn post_event(http: &Http, event: &Value) -> Result<Answer, String> {
    let body = event.to_string();
    let signature = signature(&body, SECRET, seconds_ago(0));
    http.attempt("POST", "/webhooks/stripe", &[("stripe-signature", &signature)], body).await
}

fn signature(body: &str, secret: &str, time: i64) -> String {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).unwrap();
    let digest = mac.chain_update(format!("{time}.{body}")).finalize().into_bytes();
    let digits = HEXLOWER.encode(&digest);
    format!("t={time},v1={digits}")
}

fn seconds_ago(seconds: i64) -> i64 {
    jiff::Timestamp::now().as_second() - seconds
}

fn event(id: &str, kind: &str, ago: i64, object: Value) -> Value {
    json!({"id": id, "object": "event", "type": kind, "created": seconds_ago(ago), "livemode": true,
        "data": {"object": object}})
}

fn checkout(id: &str) -> Value {
    let session = json!({"id": "cs_1", "mode": "subscription", "payment_status": "paid", "customer": "cus_1",
        "customer_details": {"email": "Ada.Pelt@Example.ORG"}, "subscription": "sub_1", "invoice": "in_1"});
    event(id, "checkout.session.completed", 60, session)
}

fn invoice(id: &str, ends_in: i64) -> Value {
    let line = json!({"amount": 2900, "period": {"end": seconds_ago(-ends_in)},
        "pricing": {"price_details": {"price": "price_studio"}}});
    let invoice = json!({"id": "in_1", "customer": "cus_1", "customer_email": ADA, "lines": {"data": [line]},
        "payments": {"data": [{"payment": {"type": "payment_intent", "payment_intent": "pi_1"}}]},
        "parent": {"subscription_details": {"subscription": "sub_1"}}});
    event(id, "invoice.paid", 58, invoice)
}

fn deleted(id: &str) -> Value {
    let subscription = json!({"id": "sub_1", "customer": "cus_1", "status": "canceled",
        "items": {"data": [{"current_period_end": seconds_ago(30)}]}});
    event(id, "customer.subscription.deleted", 30, subscription)
}

fn refund(id: &str) -> Value {
    event(
        id,
        "charge.refunded",
        20,
        json!({"id": "ch_1", "customer": "cus_1", "payment_intent": "pi_1", "refunded": true}),
    )
}

const MONTH: i64 = 30 * 24 * 3600;

#[tokio::test]
async fn a_payment_upgrades_the_proven_key_at_once_and_a_refund_downgrades_it() {
    let Some(service) = PaymentService::start_new().await else { return };
    let (proven, unproven) = (service.key(true), service.key(false));
    service.wait_for_tier(&proven, "free").await;
    service.post_accepted(&[checkout("evt_1"), invoice("evt_2", MONTH)]).await;
    service.wait_for_tier(&proven, "studio").await;
    assert_eq!(service.tier(&unproven).await, "free", "somebody else could have requested it");

    let log = service.log().len();
    for _ in 0..10 {
        service.post_accepted(&[invoice("evt_2", MONTH), checkout("evt_1")]).await;
    }
    assert_eq!(service.log().len(), log, "each is applied once");

    service.post_accepted(&[refund("evt_3")]).await;
    service.wait_for_tier(&proven, "free").await;
    assert_eq!(service.recorded(), ["evt_1", "evt_2", "evt_3"]);
    let text = std::fs::read(service.folder.path().join("store/vault.db")).unwrap();
    assert!(
        !text.windows(8).any(|window| window.eq_ignore_ascii_case(b"ada.pelt")),
        "no address is readable"
    );
    assert!(!service.loggia.stderr().contains("payments::event"), "{}", service.loggia.stderr());
}

#[tokio::test]
async fn an_operator_moves_a_subscription_and_later_payments_follow_it() {
    let Some(service) = PaymentService::start_new().await else { return };
    let (ada, grace) = (service.key(true), service.key_of("grace@example.org", true));
    service.post_accepted(&[checkout("evt_1"), invoice("evt_2", MONTH)]).await;
    service.wait_for_tier(&ada, "studio").await;

    let to_grace = ["--to", "grace@example.org"];
    let unknown = [&["payments", "move", "cus_9"], &to_grace[..]].concat();
    let unknown = process::run(&LOGGIA, service.folder.path(), &unknown).ended(1);
    assert!(unknown.stderr.contains("no account has a payment that names “cus_9”"), "{unknown}");
    let moving = [&["payments", "move", "cus_1"], &to_grace[..]].concat();
    assert_eq!(run_json(service.folder.path(), &moving)[0]["changed"], true);
    service.wait_for_tier(&grace, "studio").await;
    service.wait_for_tier(&ada, "free").await;
    assert_eq!(run_json(service.folder.path(), &moving)[0]["changed"], false);

    service.post_accepted(&[refund("evt_3")]).await;
    service.wait_for_tier(&grace, "free").await;
    let rows = run_json(service.folder.path(), &["payments", "list", "--email", "grace@example.org"]);
    let states: Vec<_> = rows.iter().map(|row| (&row["event_id"], &row["state"])).collect();
    assert_eq!(json!(states), json!([["evt_1", "moved"], ["evt_2", "moved"], ["evt_3", "recorded"]]));
}

#[tokio::test]
async fn forged_stale_and_test_notices_have_no_effect_and_order_does_not_matter() {
    let Some(service) = PaymentService::start_new().await else { return };
    let key = service.key(true);
    service.wait_for_tier(&key, "free").await;
    let body = invoice("evt_9", MONTH).to_string();
    for (signature, sent) in [
        (signature(&body, "whsec_of_somebody_else", seconds_ago(0)), body.clone()),
        (signature(&body, SECRET, seconds_ago(400)), body.clone()),
        (signature(&body, SECRET, seconds_ago(0)), body.replace("in_1", "in_2")),
        (String::new(), body.clone()),
    ] {
        let answer =
            service.http.send("POST", "/webhooks/stripe", &[("stripe-signature", &signature)], sent).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.json()["type"].as_str().unwrap().ends_with("/problems/invalid-signature"));
    }
    let mut test = invoice("evt_test", MONTH);
    test["livemode"] = json!(false);
    service.post_accepted(&[test, event("evt_new", "customer.created", 5, json!({"email": ADA}))]).await;
    service.post_accepted(&[event("evt_odd", "invoice.paid", 5, json!("no invoice"))]).await;
    assert_eq!(service.recorded(), Vec::<String>::new());
    let mut kept = service.listed();
    kept.sort();
    let state = |state: &str, event: &str| (state.to_owned(), event.to_owned());
    let expected =
        [state("not_looked_at", "evt_new"), state("other_mode", "evt_test"), state("unreadable", "evt_odd")];
    assert_eq!(kept, expected);
    assert!(service.loggia.stderr().contains("evt_odd"), "it is logged");
    assert!(!service.loggia.stderr().contains(ADA));

    // The end arrives before the beginning, and waits for it.
    service.post_accepted(&[deleted("evt_3")]).await;
    assert!(service.listed().contains(&state("waiting", "evt_3")));
    service.post_accepted(&[invoice("evt_2", MONTH), checkout("evt_1")]).await;
    assert_eq!(service.recorded(), ["evt_2", "evt_3", "evt_1"]);
    // Whoever knows a later key has applied the payments.
    let later = service.key_of("grace@example.org", true);
    service.wait_for_tier(&later, "free").await;
    assert_eq!(service.tier(&key).await, "free");
}

#[tokio::test]
async fn a_paid_period_expires_automatically() {
    let Some(service) = PaymentService::start_new().await else { return };
    let key = service.key(true);
    service.post_accepted(&[checkout("evt_1")]).await;
    // On a busy machine a short period may end before its tier is seen; then a longer one is paid.
    let mut is_seen = false;
    for (event, seconds) in [("evt_2", 6), ("evt_3", 30), ("evt_4", 90)] {
        service.post_accepted(&[invoice(event, seconds)]).await;
        let seen = service.wait_for_tier(&key, "studio");
        is_seen = tokio::time::timeout(Duration::from_secs(seconds.unsigned_abs()), seen).await.is_ok();
        if is_seen {
            break;
        }
    }
    assert!(is_seen, "the tier that was paid for");
    service.wait_for_tier(&key, "free").await;
}

#[tokio::test]
async fn a_crash_neither_loses_nor_duplicates_a_payment() {
    let Some(mut service) = PaymentService::start_new().await else { return };
    let key = service.key(true);
    let events = [deleted("evt_5"), invoice("evt_2", MONTH), checkout("evt_1"), refund("evt_6")];
    for (number, event) in events.iter().enumerate() {
        let (http, event) = (service.http.clone(), event.clone());
        let posting = tokio::spawn(async move { (post_event(&http, &event).await, event) });
        // After a random delay, so that the crash happens before, during or after the write.
        tokio::time::sleep(Duration::from_millis(7 * number as u64)).await;
        service.crash().await;
        let (answer, event) = posting.await.unwrap();
        if answer.is_ok_and(|answer| answer.status == 200) {
            continue;
        }
        service.post_accepted(&[event]).await;
    }
    service.post_accepted(&events).await;
    let mut recorded = service.recorded();
    recorded.sort();
    assert_eq!(recorded, ["evt_1", "evt_2", "evt_5", "evt_6"]);
    service.wait_for_tier(&key, "free").await;
    process::run(&LOGGIA, service.folder.path(), &["events", "verify"]).success();
}

#[tokio::test]
async fn a_service_without_prices_warns_at_start_that_payments_have_no_effect() {
    let Some(_) = kit::nats::available().await else { return };
    let warning = "stripe_secret is set and stripe_prices is not";
    for (prices, is_warned) in [(None, true), (Some("price_studio=studio"), false)] {
        let folder = tempfile::tempdir().unwrap();
        let (mut loggia, _http) = start_with(folder.path(), prices).await;
        assert!(loggia.terminate().await.success());
        assert_eq!(loggia.stderr().contains(warning), is_warned, "{prices:?}: {}", loggia.stderr());
    }
}

#[test]
fn notices_from_a_file_are_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let prices = ["--stripe-prices", "price_studio=studio"];
    let run = |args: &[&str]| process::run(&LOGGIA, folder.path(), &[args, &prices].concat());
    run(&["keys", "issue", "--email", ADA, "--tier", "studio"]);
    run(&["keys", "tier", "--email", ADA, "free"]);
    let mut test = invoice("evt_test", MONTH);
    test["livemode"] = json!(false);
    let stranger = event("evt_s", "invoice.payment_failed", 9, json!({"id": "in_9", "customer": "cus_9"}));
    let events =
        [invoice("evt_2", MONTH), checkout("evt_1"), test, stranger, event("evt_n", "ping", 9, json!({}))];
    let file = folder.path().join("events.ndjson");
    let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
    std::fs::write(&file, format!("{lines}nonsense\n")).unwrap();
    let path = file.to_str().unwrap();
    let replay = || run(&["payments", "replay", path, "--json"]);
    let replayed = replay().ended(1);
    let report = replayed.json();
    assert_eq!(
        report,
        json!({"applied": 2, "already_applied": 0, "waiting": 1, "kept": 1, "ignored": 1, "unreadable": [6],
            "unpriced": [], "position": report["position"]})
    );
    assert_eq!(replayed.stderr, "these are not events of Stripe: line 6\n");
    std::fs::write(&file, json!({"object": "list", "data": events}).to_string()).unwrap();
    assert_eq!(
        replay().success().json(),
        json!({"applied": 0, "already_applied": 2, "waiting": 1, "kept": 1, "ignored": 1, "unreadable": [],
            "unpriced": [], "position": 0})
    );
    let text = run(&["payments", "replay", path]);
    assert_eq!(text.stdout, "0 applied, 2 already applied, 1 waiting, 1 kept, 1 ignored, 0 unreadable\n");
    let keys = run_json(folder.path(), &["keys", "list"]);
    assert_eq!(keys[0]["tier"], "studio");
    let mine = run_json(folder.path(), &["payments", "list", "--email", "ADA.pelt@example.org"]);
    let events: Vec<&Value> = mine.iter().map(|row| &row["event_id"]).collect();
    assert_eq!(events, ["evt_1", "evt_2"]);
}
