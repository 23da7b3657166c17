//! What differs between two revisions of a project: the parameter `compare_to`.

use bytes::Bytes;
use read::catalog::History;
use schemas::api::comparison::{ComparisonAnswer, MemberChange};
use schemas::api::problem::ParameterFault;
use schemas::api::site;
use schemas::ids::Revision;
use schemas::slug::Slug;
use serde_json::{Map, Value};

use super::slug;
use crate::error::{ApiError, fault};
use crate::query::QueryParams;
use crate::site::Site;
use crate::state::ApiState;

/// The members that say which revision a record is of, or in which state its pictures are, and not what was recorded.
const NOT_COMPARED: [&str; 5] = ["added_at", "thumbnail_state", "revision", "revision_url", "updated_at"];

/// The members whose own members are compared one by one.
const DIVIDED: [&str; 2] = ["provenance", "taste"];

/// A record as answered.
type Members = Map<String, Value>;

/// Why two revisions are not compared.
#[derive(Debug)]
pub enum CompareError {
    /// The project has no such other revision.
    Fault(ParameterFault),
    /// The catalog cannot be read.
    Api(ApiError),
}

impl From<ApiError> for CompareError {
    fn from(error: ApiError) -> CompareError {
        CompareError::Api(error)
    }
}

impl From<CompareError> for ApiError {
    fn from(error: CompareError) -> ApiError {
        match error {
            CompareError::Fault(fault) => ApiError::invalid_parameters(vec![fault]),
            CompareError::Api(error) => error,
        }
    }
}

/// Returns the parameter `compare_to`.
pub fn compare_to<const N: usize>(sent: &mut QueryParams<'_, N>) -> Option<Revision> {
    match sent.single("compare_to")?.parse() {
        Ok(number) if number > 0 => Some(Revision(number)),
        _ => {
            sent.refuse("compare_to", "It is not an integer from 1.", "an integer from 1");
            None
        }
    }
}

/// Compares a revision with a rendered record of the same project, the present one or that of another revision. What was erased is in
/// neither of the two.
///
/// # Errors
///
/// If the project has no such revision, or if the record is of this one; and if the catalog cannot be read.
pub async fn compare(
    state: &ApiState,
    from: Revision,
    record: &Bytes,
) -> Result<ComparisonAnswer, CompareError> {
    let site = state.site();
    let now = members(record, site)?;
    let slug: Slug = text(&now, "slug").parse().map_err(ApiError::internal)?;
    let (catalog, history) = slug::history(state, &slug).await?;
    let to = serde_json::from_value(now.get("revision").cloned().unwrap_or_default());
    let to: Revision = to.map_err(ApiError::internal)?;
    other_revision(&history, from, to).map_err(CompareError::Fault)?;
    let before = catalog.reader.revision(&history, from).await.map_err(slug::api_error)?;
    let before = before.ok_or_else(|| ApiError::unknown_revision(history.newest().revision))?;
    let before = members(&before, site)?;
    Ok(ComparisonAnswer {
        slug: history.slug,
        from,
        to,
        from_url: text(&before, "revision_url").to_owned(),
        to_url: text(&now, "revision_url").to_owned(),
        changes: changes(&before, &now, site),
        citation: None,
        ignored_parameters: Vec::new(),
    })
}

/// Returns the names of the members that differ between two rendered records of a project, in the order of the record.
///
/// # Errors
///
/// If a record cannot be read.
pub(super) fn differing([before, now]: &[Bytes; 2], site: &Site) -> Result<Vec<String>, ApiError> {
    let (before, now) = (members(before, site)?, members(now, site)?);
    Ok(changes(&before, &now, site).into_iter().map(|change| change.member).collect())
}

/// Checks that a revision is another one than `to`.
fn other_revision(history: &History, from: Revision, to: Revision) -> Result<(), ParameterFault> {
    let newest = history.newest().revision;
    let is_known = history.find(from).is_some();
    if is_known && from != to {
        return Ok(());
    }
    if newest == Revision::FIRST {
        let detail = "The project has revision 1 alone, so there is no other to compare it with.";
        return Err(fault("compare_to", detail, "none: the project was not revised"));
    }
    let wrong = if is_known {
        format!("Revision {from} is the one that is compared")
    } else {
        format!("The project has no revision {from}")
    };
    let detail = format!("{wrong}; its revisions are 1 to {newest}.");
    Err(fault("compare_to", detail, format!("an integer from 1 to {newest} other than {to}")))
}

/// Returns the members of a rendered record.
fn members(rendered: &[u8], site: &Site) -> Result<Members, ApiError> {
    let mut filled = Vec::with_capacity(rendered.len() + 512);
    site::fill(rendered, site.as_str(), &mut filled);
    serde_json::from_slice(&filled).map_err(ApiError::internal)
}

/// Returns the members that differ, in the order of the record.
fn changes(before: &Members, now: &Members, site: &Site) -> Vec<MemberChange> {
    let mut found = Vec::new();
    let only_before = before.keys().filter(|name| !now.contains_key(*name));
    for name in now.keys().chain(only_before).filter(|name| !NOT_COMPARED.contains(&name.as_str())) {
        let (old, new) = (value(before, name), value(now, name));
        if old == new || (is_derived(name, before, site) && is_derived(name, now, site)) {
            continue;
        }
        match (DIVIDED.contains(&name.as_str()), old, new) {
            (true, Value::Object(old), Value::Object(new)) => {
                let differing = new.keys().filter(|inner| value(old, inner) != value(new, inner));
                found.extend(differing.map(|inner| MemberChange {
                    member: format!("{name}.{inner}"),
                    before: value(old, inner).clone(),
                    now: value(new, inner).clone(),
                }));
            }
            _ => found.push(MemberChange { member: name.clone(), before: old.clone(), now: new.clone() }),
        }
    }
    found
}

/// Returns whether the value of a member is an address of this site that follows from slug and revision.
fn is_derived(name: &str, of: &Members, site: &Site) -> bool {
    match name {
        "citation_url" => text(of, name) == text(of, "revision_url"),
        "url" => text(of, name) == format!("{site}/projects/{}", text(of, "slug")),
        _ => false,
    }
}

fn value<'m>(members: &'m Members, name: &str) -> &'m Value {
    members.get(name).unwrap_or(&Value::Null)
}

fn text<'m>(members: &'m Members, name: &str) -> &'m str {
    value(members, name).as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use schemas::history::RecordedRevision;
    use serde_json::json;

    use super::*;

    fn record(revision: u32, changed: Value) -> Members {
        let mut record = json!({
            "slug": "a", "name": "A", "year": null, "url": "https://x.org/projects/a",
            "citation_url": format!("https://x.org/cite/a/{revision}"),
            "provenance": {"curated_by": "Ada", "note": null}, "added_at": "2026-11-20T08:00:00Z", "details": [],
            "taste": {"material": "oak", "light": "dim", "mood": null}, "images": [], "revision": revision,
            "revision_url": format!("https://x.org/cite/a/{revision}"), "updated_at": format!("2026-11-2{revision}T08:00:00Z"),
        });
        for (name, value) in changed.as_object().unwrap() {
            record[name] = value.clone();
        }
        record.as_object().unwrap().clone()
    }

    fn compared(before: Value, now: Value) -> Value {
        let changes = changes(&record(1, before), &record(2, now), &"https://x.org".parse().unwrap());
        serde_json::to_value(changes).unwrap()
    }

    #[test]
    fn only_what_was_recorded_is_compared() {
        assert_eq!(compared(json!({}), json!({})), json!([]));
        assert_eq!(
            compared(
                json!({"year": "1999", "details": [{"label": "Area", "value": "1"}], "thumbnail_state": "waiting"}),
                json!({"name": "B", "taste": {"material": "oak", "light": null, "mood": "calm"},
                    "provenance": {"curated_by": "Ada", "note": "Seen."}}),
            ),
            json!([
                {"member": "name", "before": "A", "now": "B"},
                {"member": "year", "before": "1999", "now": null},
                {"member": "provenance.note", "before": null, "now": "Seen."},
                {"member": "details", "before": [{"label": "Area", "value": "1"}], "now": []},
                {"member": "taste.light", "before": "dim", "now": null},
                {"member": "taste.mood", "before": null, "now": "calm"},
            ])
        );
    }

    #[test]
    fn an_address_that_follows_from_the_slug_is_no_change_of_its_own() {
        let renamed = json!({"slug": "b", "url": "https://x.org/projects/b"});
        assert_eq!(compared(json!({}), renamed), json!([{"member": "slug", "before": "a", "now": "b"}]));
        let outside = json!({"url": "https://m.org/1", "citation_url": "https://m.org/1"});
        assert_eq!(
            compared(json!({}), outside),
            json!([
                {"member": "url", "before": "https://x.org/projects/a", "now": "https://m.org/1"},
                {"member": "citation_url", "before": "https://x.org/cite/a/1", "now": "https://m.org/1"},
            ])
        );
    }

    #[test]
    fn a_member_of_one_of_the_two_is_null_in_the_other() {
        assert_eq!(
            compared(json!({"former": 1}), json!({"later": [2]})),
            json!([{"member": "later", "before": null, "now": [2]}, {"member": "former", "before": 1, "now": null}])
        );
    }

    #[test]
    fn a_revision_is_compared_with_another_one_that_exists() {
        let history = |newest: u32| {
            let recorded = |number| RecordedRevision {
                revision: Revision(number),
                slug: "a".into(),
                at: "2026-11-20T08:00:00Z".parse().unwrap(),
            };
            History::new("p".into(), "a".into(), None, (1..=newest).map(recorded).collect()).unwrap()
        };
        let refused = |newest, from, to| other_revision(&history(newest), Revision(from), Revision(to)).err();
        assert_eq!([refused(3, 1, 3), refused(3, 3, 1), refused(2, 1, 2)], [None, None, None]);
        for (newest, from, to, detail, allowed) in [
            (
                3,
                4,
                3,
                "The project has no revision 4; its revisions are 1 to 3.",
                "an integer from 1 to 3 other than 3",
            ),
            (
                3,
                2,
                2,
                "Revision 2 is the one that is compared; its revisions are 1 to 3.",
                "an integer from 1 to 3 other than 2",
            ),
            (
                1,
                1,
                1,
                "The project has revision 1 alone, so there is no other to compare it with.",
                "none: the project was not revised",
            ),
            (
                1,
                2,
                1,
                "The project has revision 1 alone, so there is no other to compare it with.",
                "none: the project was not revised",
            ),
        ] {
            assert_eq!(refused(newest, from, to), Some(fault("compare_to", detail, allowed)), "{from} {to}");
        }
    }
}
