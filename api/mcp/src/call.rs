//! `tools/call`: checks that a call may run, runs its tool, charges it and writes the result.

use answers::auth::principal::Principal;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use metering::Outcome;
use schemas::usage::{CallId, Surface};
use traces::{Kind, Span};

use super::tools::{self, CallContext, Tool};
use crate::protocol::escape::escape;
use crate::protocol::params::Params;
use crate::protocol::rpc_error::{RpcError, quoted};
use crate::tools::answer::{Answer, Refusal};
use crate::tools::arguments::Arguments;
use crate::tools::quota::{self, Quota};

/// The maximum number of unknown arguments that are listed.
const MAX_NAMED: usize = 5;

/// What a call cost the holder of a key; part of the `_meta` of its result.
pub(super) struct CallReceipt {
    pub(super) quota: Quota,
    /// The id of the call in the ledger; `None` if it was not counted.
    pub(super) call_id: Option<CallId>,
}

/// Writes the members of the result of a call and returns what it cost. Errors are those of the protocol: a failure of the tool is a
/// result too.
pub(super) async fn call(
    context: CallContext<'_>,
    params: &Params<'_>,
    into: &mut Vec<u8>,
) -> Result<Option<CallReceipt>, RpcError> {
    let Some(name) = params.name() else {
        let message = format!("params.name is missing. It names the tool: {}.", tools::names());
        return Err(RpcError::invalid_params(message));
    };
    let Some(tool) = tools::find(&name) else {
        let message = format!("There is no tool {}. There are {}.", quoted(&name), tools::names());
        return Err(RpcError::invalid_params(message).with_status(http::StatusCode::OK));
    };
    let mut arguments = Arguments::read(params.arguments)?;
    arguments.accept_aliases(tool.arguments);
    let parent = params.traceparent().or_else(traces::current);
    let span = Span::child_of(Kind::Server, "tools/call", tool.name, parent);
    let done = match check(context) {
        // A tool that takes too long or panics fails alone: the other calls of the message are charged and answered.
        Ok(()) => match context.deadline.bound(run(tool, context, &mut arguments, &span)).await {
            Ok(Ok(answer)) => charge(context, tool, &answer).await.map(|receipt| (answer, receipt)),
            Ok(Err(refusal)) => Err(refusal),
            Err(fault) => Err(fault.into()),
        },
        Err(refusal) => Err(refusal),
    };
    Ok(match done {
        Ok((answer, receipt)) => {
            let mut answer = with_note(answer, tool, &arguments);
            let counted = receipt.as_ref().filter(|_| tool.is_counted);
            let left = counted.and_then(|receipt| receipt.quota.little_left(context.state.site()));
            answer.notes.extend(left.map(Into::into));
            write_result(answer, into);
            receipt
        }
        Err(refusal) => {
            write_error(&error_text(context, refusal, tool, &arguments), into);
            balance(context)
        }
    })
}

/// Runs a tool as part of its caller's trace, if there is one.
async fn run<'a>(
    tool: &'static Tool,
    context: CallContext<'a>,
    arguments: &mut Arguments<'_>,
    span: &Span,
) -> Result<Answer<'a>, Refusal> {
    let work = tools::run(tool, context, arguments);
    match span.traceparent() {
        None => work.await,
        traceparent => traces::scope(traceparent, work).await,
    }
}

/// Refuses a call for which its batch has no time left, or over the rate limit. The quota is checked by the tool, once its
/// arguments are read, and when the call is charged.
fn check(context: CallContext<'_>) -> Result<(), Refusal> {
    if context.deadline.has_passed() {
        return Err(Refusal::guided(
            "Not run: the calls before it in this batch took all the time that a request has. Nothing was counted; send \
             it again.",
        ));
    }
    let Some(wait) = context.wait else { return Ok(()) };
    let seconds = wait.as_secs() + 1;
    let more = match context.principal {
        Principal::Anonymous => " A key from get_api_key has a limit of its own.",
        Principal::Unmetered | Principal::ApiKey(_) => "",
    };
    Err(Refusal::guided(format!(
        "Too many calls came within a second. Wait {seconds} s and call again; nothing was counted.{more}"
    )))
}

/// Charges a call that is about to be answered.
async fn charge(
    context: CallContext<'_>,
    tool: &'static Tool,
    answer: &Answer<'_>,
) -> Result<Option<CallReceipt>, Refusal> {
    if !tool.is_counted || !answer.is_charged {
        return Ok(balance(context));
    }
    let charge = context.principal.charge(context.state, Surface::Mcp, tool.name, context.deadline);
    let Some(charged) = charge.await else { return Ok(None) };
    match charged.outcome {
        Outcome::Counted { .. } => {
            Ok(Some(CallReceipt { quota: Quota::of(&charged.balance), call_id: Some(charged.id) }))
        }
        Outcome::Exceeded => Err(quota::exceeded(context, &charged.balance)),
        Outcome::Unavailable(cause) => Err(Refusal::Broken {
            message:
                "The call cannot be counted at present, so it is not answered. Try again in a few seconds."
                    .into(),
            cause: Some(cause),
        }),
    }
}

/// Returns the receipt of a call that was not counted.
fn balance(context: CallContext<'_>) -> Option<CallReceipt> {
    let balance = context.principal.balance(context.state, context.state.now())?;
    Some(CallReceipt { quota: Quota::of(&balance), call_id: None })
}

/// Adds a note about arguments that were ignored.
fn with_note<'a>(mut answer: Answer<'a>, tool: &Tool, arguments: &Arguments<'_>) -> Answer<'a> {
    let unknown = arguments.unknown(tool.arguments);
    if !unknown.is_empty() {
        let named = unknown.into_iter().take(MAX_NAMED).map(|(name, near)| match near {
            Some(near) => format!("{} (did you mean {near}?)", quoted(name)),
            None => quoted(name),
        });
        let named: Vec<String> = named.collect();
        let known = match tool.arguments {
            [] => "takes no arguments".to_owned(),
            known => format!("takes {}", known.join(", ")),
        };
        answer.notes.push(format!("Not used: {}. {} {known}.", named.join(", "), tool.name).into());
    }
    answer
}

/// Returns the sentences of a refusal.
fn error_text(context: CallContext<'_>, refusal: Refusal, tool: &Tool, arguments: &Arguments<'_>) -> String {
    match refusal {
        Refusal::Arguments(mut faults) => {
            let unknown = arguments.unknown(tool.arguments).into_iter().take(MAX_NAMED);
            faults.extend(unknown.map(|(name, near)| match near {
                Some(near) => format!("{} is not known, did you mean {near}?", quoted(name)),
                None => format!("{} is not known", quoted(name)),
            }));
            let faults = faults.join("; ");
            let end = if faults.ends_with('?') { "" } else { "." };
            format!(
                "These arguments cannot be used: {faults}{end} A call of {} that works: {}",
                tool.name,
                tools::example(context, tool)
            )
        }
        Refusal::Guided(text) => text.into_owned(),
        Refusal::Broken { message, cause } => {
            if let Some(cause) = cause {
                tracing::error!(tool = tool.name, cause, "a tool could not answer");
            }
            message.into_owned()
        }
    }
}

/// Writes a result: the content as text and as structure, each complete alone.
fn write_result(answer: Answer<'_>, into: &mut Vec<u8>) {
    let Answer { mut json, notes, images, .. } = answer;
    if !notes.is_empty() {
        // A text always serialises.
        let _ = json.member("note", &notes.join(" "));
    }
    let content = json.finish();
    let pixels: usize = images.iter().map(|image| image.bytes.len() / 3 * 4 + 512).sum();
    into.reserve(content.len() * 3 + pixels + 512);
    into.extend_from_slice(br#""content":[{"type":"text","text":""#);
    escape(&content, into);
    into.extend_from_slice(br#""}"#);
    for image in images {
        if let Some(caption) = &image.caption {
            into.extend_from_slice(br#",{"type":"text","text":"#);
            // A text always serialises; it may have line breaks.
            let _ = serde_json::to_writer(&mut *into, caption);
            into.push(b'}');
        }
        into.extend_from_slice(br#",{"type":"image","mimeType":""#);
        into.extend_from_slice(image.kind.as_bytes());
        into.extend_from_slice(br#"","data":""#);
        into.extend_from_slice(STANDARD.encode(&image.bytes).as_bytes());
        into.extend_from_slice(br#""}"#);
    }
    into.extend_from_slice(br#"],"structuredContent":"#);
    into.extend_from_slice(&content);
    into.extend_from_slice(br#","isError":false"#);
}

fn write_error(text: &str, into: &mut Vec<u8>) {
    into.extend_from_slice(br#""content":[{"type":"text","text":"#);
    let _ = serde_json::to_writer(&mut *into, text);
    into.extend_from_slice(br#"}],"isError":true"#);
}
