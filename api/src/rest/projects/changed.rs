//! `GET /v1/projects?changed_since=…`: the projects that changed since a time, the one that changed last first.

use read::catalog::{ChangeKind, ChangedCursor};

use answers::auth::caller::Caller;
use answers::catalog::browse;
use answers::catalog::changed::{self, ChangedSince, EXCLUDED, SINCE};
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list_notes;
use answers::catalog::list_options::ListOptions;
use answers::effort::Effort;
use answers::error::ApiError;
use answers::route::PROJECTS;
use answers::state::ApiState;

use super::Sent;

/// The parameters of the query.
struct Parameters {
    asked: ChangedSince,
    options: ListOptions,
    limit: usize,
    /// The end of the previous page.
    after: Option<ChangedCursor>,
    /// Parameters that are ignored.
    ignored: Vec<String>,
}

/// Returns whether a call is about what changed.
pub(super) fn is_asked(sent: &Sent<'_>) -> bool {
    sent.is_given("changed_since") || sent.is_given("kinds")
}

pub(super) async fn projects(
    state: &ApiState,
    caller: &Caller,
    query: &str,
    sent: Sent<'_>,
) -> Result<JsonDocument, ApiError> {
    let Parameters { asked, options, limit, after, ignored } = Parameters::read(sent)?;
    let used_up = caller.used_up(state);
    // A call that will be refused finds only whether there is anything to be charged for.
    let limit = if used_up.is_some() { 1 } else { limit };
    let page = changed::page(state, &asked, &options, (limit, after));
    let effort = Effort::of_changed(&options);
    let page = caller.principal.read_from_disk(state, caller.address, effort, page).await?;
    if let Some(used_up) = used_up {
        used_up.refuse_list(state, page.total)?;
    }
    let site = state.site();
    let rendered = || page.shown.iter().map(|(rendered, _)| &rendered[..]);
    let mut json = JsonWriter::object(site, json_writer::capacity(rendered(), site));
    let next = page.next.map(|cursor| cursor.to_string());
    browse::write(&mut json, rendered().map(|one| (one, ())), page.total, next.as_deref(), |_, ()| Ok(()))?;
    json.member("note", &list_notes::joined(&page.notes))?;
    json.ignored_parameters(&ignored)?;
    let document = JsonDocument::page(json.finish(), site, PROJECTS, query, next.as_deref());
    Ok(document.of_total(page.total))
}

impl Parameters {
    fn read(mut sent: Sent<'_>) -> Result<Parameters, ApiError> {
        let since = read_since(&mut sent);
        let kinds = read_kinds(&mut sent);
        for name in ["slugs", "cite"].into_iter().chain(EXCLUDED) {
            if sent.is_given(name) && sent.is_given("changed_since") {
                let detail =
                    "It is given together with changed_since, whose answers begin with what changed last.";
                sent.refuse(name, detail, format!("changed_since without {name}"));
            }
        }
        let options = ListOptions::of_query(&mut sent, 0, false, |name, _| !EXCLUDED.contains(&name));
        let (limit, after) = (sent.limit(), sent.cursor(browse::invalid_cursor));
        let ignored = sent.finish()?;
        // Without a time there was a fault.
        let asked = ChangedSince { since: since.unwrap_or_default(), kinds };
        Ok(Parameters { asked, options, limit, after, ignored })
    }
}

fn read_since(sent: &mut Sent<'_>) -> Option<jiff::Timestamp> {
    let text = sent.single("changed_since")?;
    let since = changed::since(&text);
    if since.is_none() {
        sent.refuse("changed_since", format!("It is not {SINCE}."), SINCE);
    }
    since
}

fn read_kinds(sent: &mut Sent<'_>) -> Vec<ChangeKind> {
    if !sent.is_given("changed_since") {
        sent.refuse("kinds", "It is given without changed_since.", "changed_since and kinds together");
    }
    match changed::kinds(&sent.all("kinds")) {
        Ok(kinds) => kinds,
        Err(wrong) => {
            let wrong: String = wrong.chars().take(60).collect();
            sent.refuse("kinds", format!("“{wrong}” is not a kind of change."), changed::kind_names());
            Vec::new()
        }
    }
}
