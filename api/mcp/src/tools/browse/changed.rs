//! What changed since a time: the projects, the one that changed last first.

use answers::catalog::browse;
use answers::catalog::changed::{self, ChangedError, ChangedSince, EXCLUDED, SINCE};
use answers::catalog::detail::Detail;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list_options::ListOptions;
use answers::effort::Effort;
use jiff::Timestamp;
use read::catalog::{ChangeKind, ChangedCursor};
use serde_json::{Value as Json, json};

use crate::protocol::rpc_error::quoted;
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::{Argument, Value};
use crate::tools::listing::{self, Fitted};
use crate::tools::{CallContext, quota};

/// What is said of a cursor of another list.
pub(super) const OTHER_LIST: &str = "The cursor does not belong to this query: it was given with the results of other arguments. \
     Leave it out to start from the first page.";

/// The time of the first change.
pub(super) struct Since(pub(super) Timestamp);

impl Value for Since {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Since> {
        let since = arguments.parsed(name, changed::since, SINCE)?;
        for other in EXCLUDED {
            if arguments.has(other) {
                arguments.fault(format!(
                    "{other} cannot be used with {name}, which begins with what changed last"
                ));
            }
        }
        Some(Since(since))
    }
}

/// The kinds of changes; all if there are none.
pub(super) struct Kinds(pub(super) Vec<ChangeKind>);

impl Argument for Kinds {
    const IS_REQUIRED: bool = false;

    fn schema() -> Json {
        json!({"type": "string"})
    }

    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Kinds> {
        let texts = arguments.texts(name);
        if !texts.is_empty() && !arguments.has("changed_since") {
            arguments.fault(format!("{name} is given without changed_since"));
        }
        match changed::kinds(&texts) {
            Ok(kinds) => Some(Kinds(kinds)),
            Err(wrong) => {
                let known = changed::kind_names();
                arguments.fault(format!("{name} is {}, it must be one of {known}", quoted(&wrong)));
                None
            }
        }
    }
}

/// Answers with a page of the projects that changed.
pub(super) async fn run<'a>(
    context: CallContext<'a>,
    asked: &ChangedSince,
    options: &ListOptions,
    (limit, after): (Limit, Option<ChangedCursor>),
) -> Answered<'a> {
    let used_up = quota::used_up(context);
    // A call that will be refused finds only whether there is anything to be charged for.
    let most = if used_up.is_some() { 1 } else { listing::most(context, limit) };
    let CallContext { state, principal, address, .. } = context;
    let page = changed::page(state, asked, options, (most, after));
    let page = principal.read_from_disk(state, address, Effort::of_changed(options), page).await;
    let page = page.map_err(refusal)?;
    if let Some(used_up) = used_up {
        quota::refuse_list(context, used_up, page.total)?;
    }
    // They are rendered in their detail.
    let found = page.shown.iter().map(|(rendered, _)| (&rendered[..], ())).collect();
    let Fitted { shown, note } = listing::fitted(context, (limit, Detail::Full), found);
    let (site, count) = (state.site(), shown.len());
    let next = page.next_after(count).map(|cursor| cursor.to_string());
    let mut json = JsonWriter::object(site, listing::room_for(&shown, site));
    let results = shown.iter().map(|(rendered, ())| (&**rendered, ()));
    browse::write(&mut json, results, page.total, next.as_deref(), |_, ()| Ok(()))?;
    listing::preview(&mut json, (context, options.detail), count, page.total)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(note.into_iter().chain(page.notes).map(Into::into));
    Ok(answer.of_total(page.total))
}

fn refusal(error: ChangedError) -> Refusal {
    match error {
        ChangedError::Future(fault) => {
            let wrong = fault.detail.trim_start_matches("It ").trim_end_matches('.');
            Refusal::Arguments(vec![format!("{} {wrong}; allowed: {}", fault.parameter, fault.allowed)])
        }
        ChangedError::OtherList => Refusal::guided(OTHER_LIST),
        ChangedError::Api(error) => error.into(),
    }
}
