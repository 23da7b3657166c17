//! What differs between two revisions of a project.

use answers::catalog::cited::CiteStyle;
use answers::catalog::compare::{self, CompareError};
use answers::catalog::detail::Detail;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::revision::RevisionQuery;
use answers::error::ApiError;
use schemas::api::comparison::MemberChange;
use schemas::ids::Revision;
use serde_json::Value;

use super::shortened::LONGEST;
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::record::{self, Reference, RevisionNumber};
use crate::tools::{CallContext, listing, quota};

/// Maximum sizes in bytes of one text, tried in this order until the changes are short enough.
const TEXTS: [usize; 4] = [4_000, 1_000, 300, 100];
/// The maximum number of elements of a list if shorter texts are not enough.
const ITEMS: usize = 20;

/// Answers with what differs between revision `from` and the present record, or that of another revision.
pub(super) async fn run<'a>(
    context: CallContext<'a>,
    (slug, query): (&Reference, Option<RevisionQuery>),
    RevisionNumber(from): RevisionNumber,
    cite: Option<CiteStyle>,
) -> Answered<'a> {
    let found = record::find(context, slug, query).await?;
    let compared = compare::compare(context.state, Revision(from), &found.record).await;
    let mut compared = compared.map_err(|error| match error {
        CompareError::Fault(fault) => Refusal::guided(fault.detail),
        CompareError::Api(error) => error.into(),
    })?;
    quota::check(context)?;
    let is_short = shorten(&mut compared.changes)?;
    let site = context.state.site();
    compared.citation = cite.map(|cite| cite.citation(&found.record, site)).transpose()?;
    let rendered = serde_json::to_vec(&compared).map_err(ApiError::internal)?;
    let mut json = JsonWriter::reopen(site, &rendered);
    listing::preview(&mut json, (context, Detail::Full), 1, 1)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(found.notes.into_iter().map(Into::into));
    if compared.changes.is_empty() {
        answer = answer.note("Both revisions say the same.");
    }
    if is_short {
        answer = answer.note(format!(
            "The values are long, so they are cut short (…) around the first difference; all of them are at {} and {}.",
            compared.from_url, compared.to_url
        ));
    }
    Ok(answer)
}

/// Cuts the values until they fit into an answer; returns whether anything was cut.
fn shorten(changes: &mut [MemberChange]) -> Result<bool, ApiError> {
    let length = |changes: &[MemberChange]| {
        serde_json::to_vec(changes).map(|written| written.len()).map_err(ApiError::internal)
    };
    if length(changes)? <= LONGEST {
        return Ok(false);
    }
    for most in TEXTS {
        for MemberChange { before, now, .. } in &mut *changes {
            match (before, now) {
                (Value::String(before), Value::String(now)) => cut_both(before, now, most),
                (before, now) => [before, now].into_iter().for_each(|value| cut_within(value, most)),
            }
        }
        if length(changes)? <= LONGEST {
            return Ok(true);
        }
    }
    for value in changes.iter_mut().flat_map(|change| [&mut change.before, &mut change.now]) {
        if let Value::Array(items) = value {
            items.truncate(ITEMS);
        }
    }
    Ok(true)
}

/// Cuts two texts around their first difference.
fn cut_both(before: &mut String, now: &mut String, most: usize) {
    let same = before.bytes().zip(now.bytes()).take_while(|(before, now)| before == now).count();
    // Some of what is the same says where the difference is.
    let from = if before.len().max(now.len()) <= most { 0 } else { same.saturating_sub(most / 4) };
    for text in [before, now] {
        let from = text.floor_char_boundary(from);
        if from > 0 {
            text.replace_range(..from, "…");
        }
        cut(text, most);
    }
}

/// Cuts the texts within a value.
fn cut_within(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => cut(text, most),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_within(item, most)),
        Value::Object(members) => members.values_mut().for_each(|member| cut_within(member, most)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts a text at a character. A text that was cut to the same size is unchanged.
fn cut(text: &mut String, most: usize) {
    if text.len() > most + '…'.len_utf8() {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(before: Value, now: Value) -> MemberChange {
        MemberChange { member: "description".into(), before, now }
    }

    #[test]
    fn changes_of_usual_size_are_unchanged() {
        let mut changes = vec![change("ü".repeat(3_000).into(), Value::Null)];
        let whole = changes.clone();
        assert!(!shorten(&mut changes).unwrap());
        assert_eq!(changes, whole);
    }

    #[test]
    fn long_texts_are_cut_around_their_first_difference() {
        let same = "ü".repeat(9_000);
        let text = |own: &str| Value::String(format!("{same}{own}{}", "z".repeat(9_000)));
        let mut changes = vec![change(text("a"), text("b"))];
        assert!(shorten(&mut changes).unwrap());
        for (value, own) in [(&changes[0].before, "a"), (&changes[0].now, "b")] {
            let text = value.as_str().unwrap();
            assert!(text.starts_with("…ü") && text.ends_with("z…"), "{text}");
            assert!(text.contains(&format!("ü{own}z")) && text.len() <= 4_003, "{text}");
        }
        let mut longer = vec![change("a".repeat(20_000).into(), "a".repeat(3_000).into())];
        assert!(shorten(&mut longer).unwrap());
        assert_eq!(longer[0].now, format!("…{}", "a".repeat(1_000)));
        assert_eq!(longer[0].before, format!("…{}…", "a".repeat(3_997)));
    }

    #[test]
    fn however_long_the_values_are_they_stay_within_the_bound() {
        let details = |own: &str| {
            let detail = json!({"label": "l".repeat(200), "value": own.repeat(5_000)});
            Value::Array(vec![detail; 100])
        };
        let mut changes = vec![
            change("a".repeat(50_000).into(), "b".repeat(50_000).into()),
            change(details("x"), details("y")),
            change(Value::Null, json!({"value": "v".repeat(5_000)})),
        ];
        assert!(shorten(&mut changes).unwrap());
        let written = serde_json::to_vec(&changes).unwrap();
        assert!(written.len() <= LONGEST, "{}", written.len());
        assert_eq!(changes[1].now.as_array().unwrap().len(), ITEMS);
        assert_eq!(changes[2].now, json!({"value": format!("{}…", "v".repeat(100))}));
    }
}
