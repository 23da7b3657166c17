//! `tools/call`: who may call, the work, what it costs, and the result as a message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memchr2_iter;
use schemas::usage::{CallId, Surface};
use serde::Serialize;

use super::answer::{Answer, Refusal};
use super::arguments::Arguments;
use super::params::Params;
use super::rpc_error::{RpcError, quoted};
use super::tools::{self, Asked, Tool, Visitor};
use crate::access::{Access, Balance, KeyAccess};
use crate::metering::Outcome;

/// What a keyed caller is told beside the answer.
#[derive(Serialize)]
struct Told {
    quota: Quota,
    /// As the ledger names the call; none where it did not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<CallId>,
}

/// What a keyed caller has left.
#[derive(Serialize)]
struct Quota {
    limit: u64,
    used: u64,
    remaining: u64,
    resets_at: jiff::Timestamp,
}

/// The members of the result of a call. An error is one of the protocol: what a tool cannot do is a result too.
pub(super) async fn call(asked: Asked<'_>, params: &Params<'_>) -> Result<Vec<u8>, RpcError> {
    let Some(name) = params.name() else {
        let message = format!("params.name is missing. It names the tool: {}.", tools::names());
        return Err(RpcError::invalid_params(message));
    };
    let Some(tool) = tools::find(&name) else {
        let message = format!("There is no tool {}. There are {}.", quoted(&name), tools::names());
        return Err(RpcError::invalid_params(message).with_status(http::StatusCode::OK));
    };
    let mut arguments = Arguments::read(params.arguments)?;
    let done = match admit(asked, tool) {
        Ok(()) => match tools::run(tool, asked, &mut arguments).await {
            Ok(answer) => charge(asked, tool).await.map(|told| (answer, told)),
            Err(refusal) => Err(refusal),
        },
        Err(refusal) => Err(refusal),
    };
    Ok(match done {
        Ok((answer, told)) => good(noted(answer, tool, &arguments), told.as_ref()),
        Err(refusal) => bad(&words(refusal, tool)),
    })
}

/// Whether the caller may call now.
fn admit(asked: Asked<'_>, tool: &Tool) -> Result<(), Refusal> {
    let Access::Keys(access) = asked.state.access() else { return Ok(()) };
    let waiting = |allowed: Result<(), std::time::Duration>, more: &str| {
        allowed.map_err(|wait| {
            let seconds = wait.as_secs() + 1;
            Refusal::guided(format!(
                "Too many calls came within a second. Wait {seconds} s and call again; nothing was counted.{more}"
            ))
        })
    };
    match asked.visitor {
        Visitor::Open => Ok(()),
        Visitor::Anonymous(address) => {
            waiting(access.bursts.address(*address), " A key from get_api_key has a limit of its own.")
        }
        Visitor::Keyed(known, _) => {
            waiting(access.bursts.key(known.key_id), "")?;
            let balance = access.balance(asked.state.models(), known, asked.state.now());
            if tool.is_counted && balance.used >= balance.limit {
                return Err(used_up(asked, &balance));
            }
            Ok(())
        }
    }
}

/// Counts a call that is about to be answered.
async fn charge(asked: Asked<'_>, tool: &'static Tool) -> Result<Option<Told>, Refusal> {
    let (Access::Keys(access), Visitor::Keyed(known, _)) = (asked.state.access(), asked.visitor) else {
        return Ok(None);
    };
    let access: &KeyAccess = access;
    if !tool.is_counted {
        let balance = access.balance(asked.state.models(), known, asked.state.now());
        return Ok(Some(Told { quota: quota(&balance, balance.used), call_id: None }));
    }
    let charged = access.charge(asked.state, known, Surface::Mcp, tool.name).await;
    match charged.outcome {
        Outcome::Counted { used } => {
            Ok(Some(Told { quota: quota(&charged.balance, used), call_id: Some(charged.id) }))
        }
        Outcome::Exceeded => Err(used_up(asked, &charged.balance)),
        Outcome::Unavailable(cause) => Err(Refusal::Broken {
            told: "The call cannot be counted at present, so it is not answered. Try again in a few seconds."
                .into(),
            cause: Some(cause),
        }),
    }
}

fn quota(balance: &Balance, used: u64) -> Quota {
    let limit = balance.limit;
    Quota { limit, used, remaining: limit.saturating_sub(used), resets_at: balance.budget.month.end() }
}

fn used_up(asked: Asked<'_>, balance: &Balance) -> Refusal {
    let (limit, until, site) = (balance.limit, balance.budget.month.end(), asked.state.site());
    Refusal::guided(format!(
        "The {limit} calls of this month are used up; nothing was billed. New ones begin at {until}. For more, tell the user to \
         see {site}/pricing; without a key the tools answer with at most 5 results."
    ))
}

/// Adds what the caller should know besides.
fn noted<'a>(mut answer: Answer<'a>, tool: &Tool, arguments: &Arguments<'_>) -> Answer<'a> {
    let unknown = arguments.unknown(tool.arguments);
    if !unknown.is_empty() {
        let named: Vec<String> = unknown.into_iter().take(5).map(quoted).collect();
        let known = match tool.arguments {
            [] => "takes no arguments".to_owned(),
            known => format!("takes {}", known.join(", ")),
        };
        answer.notes.push(format!("Not used: {}. {} {known}.", named.join(", "), tool.name).into());
    }
    answer
}

/// What an agent is told where there is no answer.
fn words(refusal: Refusal, tool: &Tool) -> String {
    match refusal {
        Refusal::Arguments(faults) => {
            format!(
                "These arguments cannot be used: {}. A call of {} that works: {}",
                faults.join("; "),
                tool.name,
                tool.example
            )
        }
        Refusal::Guided(text) => text.into_owned(),
        Refusal::Broken { told, cause } => {
            if let Some(cause) = cause {
                tracing::error!(tool = tool.name, cause, "a tool could not answer");
            }
            told.into_owned()
        }
    }
}

/// The result: the content as text and as structure, each complete alone.
fn good(answer: Answer<'_>, told: Option<&Told>) -> Vec<u8> {
    let Answer { mut json, notes, image } = answer;
    if !notes.is_empty() {
        // A text always serialises.
        let _ = json.member("note", &notes.join(" "));
    }
    let content = json.finish();
    let pixels = image.as_ref().map_or(0, |image| image.bytes.len() / 3 * 4 + 128);
    let mut result = Vec::with_capacity(content.len() / 4 * 9 + pixels + 512);
    if let Some(told) = told {
        result.extend_from_slice(br#""_meta":"#);
        let _ = serde_json::to_writer(&mut result, told);
        result.push(b',');
    }
    result.extend_from_slice(br#""content":[{"type":"text","text":""#);
    escape(&content, &mut result);
    result.extend_from_slice(br#""}"#);
    if let Some(image) = image {
        result.extend_from_slice(br#",{"type":"image","mimeType":""#);
        result.extend_from_slice(image.kind.as_bytes());
        result.extend_from_slice(br#"","data":""#);
        result.extend_from_slice(STANDARD.encode(&image.bytes).as_bytes());
        result.extend_from_slice(br#""}"#);
    }
    result.extend_from_slice(br#"],"structuredContent":"#);
    result.extend_from_slice(&content);
    result.extend_from_slice(br#","isError":false"#);
    result
}

fn bad(text: &str) -> Vec<u8> {
    let mut result = br#""content":[{"type":"text","text":"#.to_vec();
    let _ = serde_json::to_writer(&mut result, text);
    result.extend_from_slice(br#"}],"isError":true"#);
    result
}

/// Writes JSON text as the inside of a JSON string. It has no line breaks and no control characters of its own.
fn escape(json: &[u8], into: &mut Vec<u8>) {
    let mut start = 0;
    for at in memchr2_iter(b'"', b'\\', json) {
        into.extend_from_slice(&json[start..at]);
        into.push(b'\\');
        start = at;
    }
    into.extend_from_slice(&json[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_the_inside_of_a_string() {
        let value = serde_json::json!({"a": "x\"y\\z\n\u{1}é", "b": [1, "\u{2028}"], "c": ""});
        let mut text = b"\"".to_vec();
        escape(value.to_string().as_bytes(), &mut text);
        text.push(b'"');
        let inside: String = serde_json::from_slice(&text).unwrap();
        assert_eq!(inside, value.to_string());
    }
}
