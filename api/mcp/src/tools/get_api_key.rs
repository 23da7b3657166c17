//! `get_api_key`: a free key for an email address, shown once.

use answers::auth::access::Access;
use answers::catalog::json_writer::JsonWriter;
use answers::command_client::{CommandError, IssuedKey, KeyRequest};
use schemas::email::Email;

use super::{CallContext, Run, Tool};
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::Arguments;
use crate::tools::input::{Value, input};

pub(super) static TOOL: Tool = Tool {
    name: "get_api_key",
    title: "Get an API key",
    description: "Use this when the user wants more than 5 results a call and gives their own email address; never invent one. Creates a free key, for up to 20, and shows it once: hand it to the user to keep. At most 3 keys an address.",
    input: Input::schema,
    output: r#"{"type":"object","properties":{"key":{"type":"string"},"key_id":{"type":"string"},"tier":{"type":"string"},"quota":{"type":"integer"},"how_to_use":{"type":"string"},"good_for":{"type":"string"},"note":{"type":"string"}},"required":["key","key_id","tier","quota"]}"#,
    arguments: Input::NAMES,
    example: r#"{"email":"you@example.org"}"#,
    is_counted: false,
    writes: true,
    run: Run::Waiting(|context, arguments| {
        let input = Input::read(arguments);
        Box::pin(async move { run(context, input?).await })
    }),
};

input! {
    email: Email = "The user's own address",
}

impl Value for Email {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Email> {
        arguments.parsed(name, |text| text.parse().ok(), "an address such as you@example.org")
    }
}

/// The actor that is recorded.
const ACTOR: &str = "mcp";

const LATER: &str = "No key can be handed out at present; nothing was created. Try again in a minute. Meanwhile every tool works \
                     without a key, with at most 5 results a call.";

/// The text when the write side did not reply.
const UNKNOWN: &str = "No answer came in time, so it is not known whether a key was created; one that was cannot be shown. Try \
                       again in a minute. Meanwhile every tool works without a key, with at most 5 results a call.";

async fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { email } = input;
    let Access::Keys(access) = context.state.access() else {
        return Err(Refusal::guided(
            "This service runs without keys: every tool answers in full without one. Nothing was created.",
        ));
    };
    if let Err(wait) = access.rate_limits.new_key(context.address) {
        let minutes = wait.as_secs() / 60 + 1;
        return Err(Refusal::guided(format!(
            "Too many keys were created from this network within an hour; nothing was created. Try again in {minutes} minutes."
        )));
    }
    let tier = access.tiers.first();
    let request = KeyRequest { email, tier: tier.name.clone(), name: None, actor: ACTOR, form: None };
    let (models, now) = (context.state.models(), context.state.now());
    let issued = access.commands.issue(models, request, now, context.deadline).await;
    let key = match issued {
        Ok(IssuedKey::New(key)) => key,
        Ok(IssuedKey::AlreadyIssued) => return Err(Refusal::Broken { message: LATER.into(), cause: None }),
        Err(CommandError::Rejected(reason)) => {
            return Err(Refusal::guided(format!(
                "No key was created: {reason}. A key that was lost cannot be shown again."
            )));
        }
        Err(CommandError::Unavailable(cause)) => {
            return Err(Refusal::Broken { message: LATER.into(), cause: Some(cause) });
        }
        Err(CommandError::OutcomeUnknown(cause)) => {
            return Err(Refusal::Broken { message: UNKNOWN.into(), cause: Some(cause) });
        }
    };
    let mut json = JsonWriter::object(context.state.site(), 1_024);
    json.member("key", key.expose())?;
    json.member("key_id", &key.id())?;
    json.member("tier", &tier.name)?;
    json.member("quota", &tier.quota)?;
    let site = context.state.site();
    json.member(
        "how_to_use",
        &format!(
            "Keep it: it is shown this once. Send it as header Authorization: Bearer with every request to {site}/mcp, or where \
             a client has no field for headers as {site}/mcp?key=…; the same key works for {site}/v1."
        ),
    )?;
    json.member(
        "good_for",
        &format!(
            "{} calls in a calendar month (UTC) with up to 20 results each; personal use and evaluation. More: {site}/pricing.",
            tier.quota
        ),
    )?;
    Ok(Answer::new(json))
}
