//! The life of an API key: its permissions, its quota, and its usage report.

use kit::http::{Answer, Http};
use serde_json::{Value, json};

use crate::service::{Service, TIMEOUT};

/// A service that requires keys, with one project and a new key.
struct KeyedService {
    started: Service,
    key: String,
    key_id: String,
}

impl KeyedService {
    async fn with(settings: &[&str]) -> Option<KeyedService> {
        let all: Vec<&str> = ["--no-demo", "--auth", "keys"].iter().chain(settings).copied().collect();
        let started = Service::with(&all).await?;
        started.import(&[json!({"name": "Bridge", "category": "architecture"})]).await;
        let (key, key_id) = issue(&started, settings, "ada@example.org");
        // Without the key, so that waiting is not counted.
        let position = started.json(&["status"])[0]["store"]["position"].as_u64().unwrap();
        started.caught_up(position).await;
        Some(KeyedService { started, key, key_id })
    }

    fn http(&self) -> &Http {
        &self.started.http
    }

    async fn call(&self, path: &str) -> Answer {
        self.send("GET", path, &[]).await
    }

    async fn send(&self, method: &str, path: &str, more: &[(&str, &str)]) -> Answer {
        let bearer = format!("Bearer {}", self.key);
        let headers: Vec<(&str, &str)> =
            [("authorization", bearer.as_str())].into_iter().chain(more.iter().copied()).collect();
        self.http().send(method, path, &headers, "").await
    }

    async fn usage(&self) -> Value {
        self.call("/v1/usage").await.json()
    }
}

/// Issues a key; returns it with its id.
fn issue(started: &Service, settings: &[&str], email: &str) -> (String, String) {
    let args: Vec<&str> = ["keys", "issue", "--email", email].iter().chain(settings).copied().collect();
    let issued = &started.json(&args)[0];
    let text = |name: &str| issued[name].as_str().unwrap_or_else(|| panic!("{issued}")).to_owned();
    (text("key"), text("key_id"))
}

fn remaining(answer: &Answer) -> (&str, &str) {
    let header = |name| answer.header(name).unwrap_or_else(|| panic!("{answer:?}"));
    (header("x-ratelimit-limit"), header("x-ratelimit-remaining"))
}

#[tokio::test]
async fn a_keys_calls_and_remaining_quota_are_reported() {
    let Some(service) = KeyedService::with(&[]).await else { return };
    let first = service.call("/v1/search?q=bridge").await;
    assert_eq!((first.status, remaining(&first)), (200, ("200", "199")), "a new key is good at once");
    let second = service.http().get(&format!("/v1/project/bridge?key={}", service.key)).await;
    assert_eq!((second.status, remaining(&second)), (200, ("200", "198")));
    let head = service.send("HEAD", "/v1/search?q=bridge", &[]).await;
    assert_eq!((head.status, remaining(&head)), (200, ("200", "197")));
    let tag = first.header("etag").unwrap();
    let same = service.send("GET", "/v1/search?q=bridge", &[("if-none-match", tag)]).await;
    assert_eq!((same.status, remaining(&same)), (304, ("200", "197")));
    for (path, status) in
        [("/v1/project/none", 404), ("/v1/search", 400), ("/v1/nothing", 404), ("/healthz", 200)]
    {
        let free = service.call(path).await;
        assert_eq!((free.status, remaining(&free)), (status, ("200", "197")), "{path}");
        assert_eq!(free.header("x-call-id"), None, "{path}");
    }
    let usage = service.usage().await;
    // The ledger copies calls from NATS a moment later.
    let calls = kit::wait_for(TIMEOUT, "the calls in the ledger", async || {
        let calls = service.started.run(&["audit", &service.key_id, "--json"]).json_lines();
        (calls.iter().filter(|call| call.get("call_id").is_some()).count() >= 3).then_some(calls)
    })
    .await;
    let ids = |answers: &[&Answer]| -> Vec<Value> {
        answers.iter().map(|answer| json!(answer.header("x-call-id").unwrap())).collect()
    };
    let audited: Vec<Value> = calls.iter().filter_map(|call| call.get("call_id").cloned()).collect();
    assert_eq!(audited, ids(&[&first, &second, &head]));
    assert_eq!((&usage["limit"], &usage["used"], &usage["remaining"]), (&json!(200), &json!(3), &json!(197)));
    assert_eq!(usage["tier"], "free");
    assert_eq!(usage["days"].as_array().unwrap().len(), 1);
    assert_eq!((&usage["days"][0]["rest"], &usage["days"][0]["mcp"]), (&json!(3), &json!(0)));
    assert_eq!(usage["key"]["key_id"], json!(service.key_id));
    assert_eq!(usage["key"]["hint"], json!(service.key[51..]));
    assert!(usage["key"]["last_used_at"].is_string() && usage["key"]["revoked_at"].is_null());
    service.started.run(&["audit", "verify"]).success();
}

#[tokio::test]
async fn all_requests_without_a_valid_key_get_the_same_answer() {
    let Some(service) = KeyedService::with(&[]).await else { return };
    let missing = service.http().get("/v1/search?q=bridge").await;
    assert_eq!((missing.status, remaining(&missing)), (401, ("0", "0")));
    assert!(missing.json()["type"].as_str().unwrap().ends_with("/problems/missing-key"));
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    let revoked = service.key.clone();
    service.started.run(&["keys", "revoke", &service.key_id]).success();
    let mut flipped = revoked.clone();
    flipped.replace_range(20..21, if &revoked[20..21] == "a" { "b" } else { "a" });
    let mut bodies = Vec::new();
    for key in [revoked.as_str(), flipped.as_str(), "", "log_live_", "x", &"y".repeat(5_000)] {
        let answer = service
            .http()
            .send("GET", "/v1/search?q=a", &[("authorization", &format!("Bearer {key}"))], "")
            .await;
        let mut body = answer.json();
        assert_eq!((answer.status, remaining(&answer)), (401, ("0", "0")), "{key:.20}");
        body.as_object_mut().unwrap().remove("instance");
        bodies.push(body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    assert!(bodies[0]["type"].as_str().unwrap().ends_with("/problems/invalid-key"));
    let both = service.send("GET", "/v1/search?q=a&key=x", &[]).await;
    assert_eq!(both.status, 400);
    assert!(both.json()["type"].as_str().unwrap().ends_with("/problems/ambiguous-key"));
    let preflight = service.http().send("OPTIONS", "/v1/search", &[], "").await;
    assert_eq!(preflight.status, 204, "a browser asks before it sends the key");
}

#[tokio::test]
async fn an_exhausted_quota_says_what_to_do_and_a_larger_tier_applies_at_once() {
    let settings = ["--tiers", "free=3, studio=5"];
    let Some(service) = KeyedService::with(&settings).await else { return };
    for left in ["2", "1", "0"] {
        let answer = service.call("/v1/search?q=bridge").await;
        assert_eq!((answer.status, remaining(&answer)), (200, ("3", left)));
    }
    let refused = service.call("/v1/search?q=bridge").await;
    assert_eq!((refused.status, remaining(&refused)), (429, ("3", "0")));
    let problem = refused.json();
    let pricing = format!("{}/pricing", service.started.base());
    assert!(problem["type"].as_str().unwrap().ends_with("/problems/quota-exceeded"));
    assert_eq!((&problem["limit"], &problem["used"]), (&json!(3), &json!(3)));
    assert_eq!(problem["upgrade_url"], json!(pricing));
    assert_eq!(refused.header("link"), Some(format!("<{pricing}>; rel=\"payment\"").as_str()));
    let reset: i64 = refused.header("x-ratelimit-reset").unwrap().parse().unwrap();
    let wait: i64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(problem["resets_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second(), reset);
    assert!((1..=31 * 86_400).contains(&wait), "{wait}");
    assert_eq!(service.usage().await["used"], json!(3), "looking is free");
    let args = [&["keys", "tier", "--email", "Ada@Example.ORG", "studio"][..], &settings].concat();
    service.started.run(&args).success();
    // The node checks for changes every 25 ms, on a busy machine less often.
    kit::wait_until(TIMEOUT, "the tier on the node", async || service.usage().await["tier"] == "studio")
        .await;
    let more = service.call("/v1/search?q=bridge").await;
    assert_eq!((more.status, remaining(&more)), (200, ("5", "4")));
    let usage = service.usage().await;
    assert_eq!((&usage["used"], &usage["days"][0]["rest"]), (&json!(1), &json!(4)), "{usage}");
}

#[tokio::test]
async fn unmetered_requests_are_answered_after_the_quota_is_used_up() {
    let Some(service) = KeyedService::with(&["--tiers", "free=1"]).await else { return };
    let first = service.call("/v1/search?q=bridge").await;
    assert_eq!((first.status, remaining(&first)), (200, ("1", "0")));
    let tag = first.header("etag").unwrap();
    for (method, path, headers, status) in [
        ("GET", "/v1/search?q=bridge", vec![("if-none-match", tag)], 304),
        ("GET", "/v1/search?q=", vec![], 400),
        ("GET", "/v1/project/none", vec![], 404),
        ("POST", "/v1/search?q=bridge", vec![], 405),
        ("GET", "/v1/usage", vec![], 200),
        ("GET", "/v1/terms", vec![], 200),
        ("GET", "/v1/suggest?q=bri", vec![], 200),
        ("GET", "/v1/taste", vec![], 400),
        ("GET", "/v1/projects", vec![], 429),
        ("GET", "/v1/projects?slugs=bridge", vec![], 429),
        ("GET", "/v1/taste?mood=calm", vec![], 200),
        ("GET", "/v1/search?q=zeppelin", vec![], 200),
        ("GET", "/v1/projects?city=Ulm", vec![], 200),
        ("GET", "/v1/discover", vec![], 429),
        ("GET", "/v1/changes", vec![], 429),
        ("GET", "/v1/search?q=bridge", vec![], 429),
        ("HEAD", "/v1/project/bridge", vec![], 429),
    ] {
        let answer = service.send(method, path, &headers).await;
        assert_eq!((answer.status, remaining(&answer)), (status, ("1", "0")), "{method} {path}");
    }
    assert_eq!(service.usage().await["used"], json!(1));
    // The same over MCP: invalid arguments are reported as such.
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get_project", "arguments": {}}});
    let bearer = format!("Bearer {}", service.key);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let answer = service.http().send("POST", "/mcp", &headers, call.to_string()).await.json();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("These arguments cannot be used: slug is missing"), "{answer}");
}

#[tokio::test]
async fn an_unsupported_method_is_reported_before_the_key_is_checked() {
    let Some(service) = KeyedService::with(&[]).await else { return };
    for (path, allow) in [
        ("/v1/search?q=bridge", "GET, HEAD, OPTIONS"),
        ("/v1/project/bridge", "GET, HEAD, OPTIONS"),
        ("/v1/similar/bridge", "GET, HEAD, OPTIONS"),
        ("/v1/usage", "GET, HEAD, OPTIONS"),
    ] {
        for (method, key) in
            [("POST", None), ("DELETE", Some("log_live_wrong")), ("PUT", Some(&*service.key))]
        {
            let bearer = format!("Bearer {}", key.unwrap_or_default());
            let headers: &[(&str, &str)] = if key.is_some() { &[("authorization", &bearer)] } else { &[] };
            let answer = service.http().send(method, path, headers, "").await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{method} {path}");
        }
    }
    let answer = service.http().send("GET", "/mcp?key=wrong", &[], "").await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST, OPTIONS")));
}

/// Sends bursts of 30 calls until some are slowed down, and returns all answers: a busy machine may take longer for a burst than its
/// calls are permitted in.
async fn slowed_down(who: &str, call: impl AsyncFn() -> Answer) -> Vec<Answer> {
    let mut answers = Vec::new();
    kit::wait_until(TIMEOUT, &format!("{who} to be slowed down"), async || {
        answers.extend(futures::future::join_all((0..30).map(|_| call())).await);
        answers.iter().any(|answer| answer.status == 429)
    })
    .await;
    answers
}

#[tokio::test]
async fn pages_ignore_keys_and_cacheable_answers_do_not_depend_on_them() {
    let Some(service) = KeyedService::with(&["--burst-per-address", "3"]).await else { return };
    let document = service.call("/llms.txt").await;
    assert!(document.header("cache-control").unwrap().starts_with("public"), "{:?}", document.headers);
    assert_eq!(remaining(&document), ("0", "0"), "as for a request without a key");
    for path in ["/projects/bridge", "/cite/bridge/1", "/feed.atom", "/"] {
        slowed_down(path, async || service.call(path).await).await;
    }
    assert_eq!(
        service.call("/v1/search?q=bridge").await.status,
        200,
        "calls of the key have a limit of their own"
    );
}

#[tokio::test]
async fn a_burst_is_rate_limited_and_not_counted() {
    let Some(service) = KeyedService::with(&["--burst-per-key", "5", "--burst-per-address", "3"]).await
    else {
        return;
    };
    let answers = slowed_down("the key", async || service.call("/v1/search?q=bridge").await).await;
    let counted = answers.iter().filter(|answer| answer.status == 200).count();
    let slowed: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(counted >= 5 && counted + slowed.len() == answers.len(), "{counted} of {}", answers.len());
    let problem = slowed[0].json();
    assert!(problem["type"].as_str().unwrap().ends_with("/problems/too-many-requests"), "{problem}");
    assert_eq!(slowed[0].header("retry-after"), Some("1"));
    kit::wait_until(TIMEOUT, "every counted call", async || service.usage().await["used"] == json!(counted))
        .await;
    // The ledger has calls in the order in which they are counted: with a later one, it has all of the burst.
    let later = kit::wait_for(TIMEOUT, "a later call", async || {
        let answer = service.call("/v1/search?q=bridge").await;
        (answer.status == 200).then(|| json!(answer.header("x-call-id").unwrap()))
    })
    .await;
    let ids: Vec<Value> = kit::wait_for(TIMEOUT, "the later call in the ledger", async || {
        let calls = service.started.run(&["audit", &service.key_id, "--json"]).json_lines();
        let ids: Vec<Value> = calls.iter().filter_map(|call| call.get("call_id").cloned()).collect();
        ids.contains(&later).then_some(ids)
    })
    .await;
    assert_eq!(ids.len(), counted + 1);
    let guess = async || service.http().get("/v1/search?q=a&key=guess").await;
    slowed_down("an address that guesses keys", guess).await;
}
