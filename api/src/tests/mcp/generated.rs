//! Generated bodies: broken, deep, huge, with doubled members, wrong types, halves of characters and NUL.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

/// Each of four tests, which run at the same time, sends so many from a seed of its own.
const BODIES: u32 = 2_500;

/// Any JSON, as text: also what no library would write.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => prop::sample::select(vec![
            "null", "true", "false", "0", "-0", "1.5", "3", "1e999", "-1e-999", "123456789012345678901234567890", "\"\"",
            "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\u0000\"", "\"art\"", "\" ARCHITECTURE \"", "\"20\"", "\"haus-am-see\"",
            "\"haus\"", "\"larch\"", "\"2026-07-28\"", "\"a@example.org\"", "\"../../etc/passwd\"", "\"%00\"",
        ]).prop_map(str::to_owned),
        1 => ".{0,40}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        1 => prop_oneof![30 => 1..300usize, 1 => 1..90_000usize].prop_map(|length| format!("\"{}\"", "(".repeat(length))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(","))),
            members(inner).prop_map(|members| format!("{{{}}}", members.join(","))),
            prop_oneof![30 => 1..20usize, 1 => 1..400usize].prop_map(|depth| format!(
                "{}1{}",
                "[".repeat(depth),
                "]".repeat(depth)
            )),
        ]
    })
}

/// Members with the names that matter, doubled now and then.
fn members(value: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    let name = prop::sample::select(vec![
        "query",
        "limit",
        "category",
        "slug",
        "id",
        "cursor",
        "email",
        "dimension",
        "material",
        "light",
        "mood",
        "odd",
        "name",
        "arguments",
        "_meta",
        "protocolVersion",
        "io.modelcontextprotocol/protocolVersion",
        "uri",
        "a\\u0000b",
    ]);
    prop::collection::vec((name, value), 0..6)
        .prop_map(|members| members.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect())
}

/// Something like a message.
fn message() -> impl Strategy<Value = String> {
    let tools: Vec<_> = tool_names().into_iter().chain(["nothing"]).collect();
    let version = prop_oneof![30 => Just("\"2.0\"".to_owned()), 1 => any_json()];
    let id = prop_oneof![20 => Just("1".to_owned()), 1 => any_json()];
    let methods = [
        "tools/call",
        "tools/call",
        "tools/call",
        "tools/list",
        "initialize",
        "server/discover",
        "ping",
        "notifications/x",
        "a",
    ];
    let method = prop_oneof![
        9 => prop::sample::select(methods.to_vec()).prop_map(|name| format!("\"{name}\"")),
        1 => any_json()
    ];
    let named =
        prop_oneof![9 => prop::sample::select(tools).prop_map(|name| format!("\"{name}\"")), 1 => any_json()];
    let arguments = prop_oneof![
        4 => members(any_json()).prop_map(|members| format!("{{{}}}", members.join(","))),
        1 => any_json()
    ];
    let params = prop_oneof![
        9 => (named, arguments, prop::option::weighted(0.2, members(any_json()))).prop_map(|(name, arguments, more)| {
            let mut more = more.unwrap_or_default();
            more.extend([format!("\"name\":{name}"), format!("\"arguments\":{arguments}")]);
            format!("{{{}}}", more.join(","))
        }),
        1 => any_json()
    ];
    let id = prop_oneof![20 => id.prop_map(|id| format!("\"id\":{id},")), 1 => Just(String::new())];
    (version, id, method, params, prop::option::weighted(0.1, any_json())).prop_map(
        |(version, id, method, params, more)| {
            let more = more.map_or_else(String::new, |more| format!(",\"id\":{more}"));
            format!(r#"{{"jsonrpc":{version},{id}"method":{method},"params":{params}{more}}}"#)
        },
    )
}

/// A body, most of them whole.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        8 => message(),
        1 => any_json(),
        1 => prop::collection::vec(message(), 0..36).prop_map(|messages| format!("[{}]", messages.join(","))),
    ];
    (text, any::<prop::sample::Index>(), 0..30u8, any::<u8>()).prop_map(|(text, at, harm, byte)| {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len().max(1)).min(bytes.len());
        match harm {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, byte),
            2 if at < bytes.len() => bytes[at] = byte,
            3 => bytes.insert(at, 0),
            4 => bytes.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
            _ => {}
        }
        bytes
    })
}

/// What may be answered to one message.
fn is_answer(answer: &Value) -> bool {
    let error = &answer["error"];
    let fault = error["code"].is_i64() && error["message"].as_str().is_some_and(|text| text.len() > 10);
    let result = &answer["result"];
    let is_tool_error = result["isError"] == true
        && result["content"][0]["text"].as_str().is_some_and(|text| text.len() > 10);
    let good = result.is_object() && result["isError"] != true;
    answer["jsonrpc"] == "2.0" && answer.get("id").is_some() && (fault || is_tool_error || good)
}

#[test]
fn generated_bodies_end_in_an_answer() {
    bodies_end_in_an_answer();
}

#[test]
fn other_generated_bodies_end_in_an_answer() {
    bodies_end_in_an_answer();
}

#[test]
fn more_generated_bodies_end_in_an_answer() {
    bodies_end_in_an_answer();
}

#[test]
fn yet_more_generated_bodies_end_in_an_answer() {
    bodies_end_in_an_answer();
}

/// Generates bodies from a random seed and sends them.
fn bodies_end_in_an_answer() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let node = runtime.block_on(Node::start());
    let connection = std::cell::RefCell::new(runtime.block_on(node.connect()));
    let seen = std::cell::RefCell::new(std::collections::BTreeMap::<String, u32>::new());
    let config = Config { cases: BODIES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let ran = runner.run(&body(), |body| {
        let reply = runtime.block_on(connection.borrow_mut().post("", &body));
        let kind = match reply.status {
            202 => "nothing",
            413 => {
                prop_assert!(body.len() > 256 << 10);
                *connection.borrow_mut() = runtime.block_on(node.connect());
                "too large"
            }
            200 | 400 => {
                let answer = reply.json();
                let answers = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
                for one in &answers {
                    prop_assert!(is_answer(one), "{one}");
                }
                match &answers[0] {
                    one if one["error"].is_object() => "error",
                    one if one["result"]["isError"] == true => "refusal",
                    _ => "result",
                }
            }
            status => return Err(TestCaseError::fail(format!("{status}: {}", reply.text()))),
        };
        *seen.borrow_mut().entry(kind.to_owned()).or_default() += 1;
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    // Each way out was taken many times.
    for kind in ["nothing", "error", "refusal", "result"] {
        assert!(seen.get(kind).is_some_and(|count| *count > BODIES / 100), "{seen:?}");
    }
}
