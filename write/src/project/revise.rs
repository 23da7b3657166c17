//! Changes some members of a record.

use schemas::event::Event;
use schemas::import::{ImportRecord, SlugOrigin, lost_characters, parse_members, patched};
use schemas::slug::Slug;
use serde_json::{Map, Value};

use super::urls::reject_logins;
use super::{Listing, Project, Rejection};

/// Changes the record of the project requested as `slug`. `changes` is a JSON merge patch (RFC 7396) for an import record: null
/// removes a member; members inside `taste` and `provenance` are merged.
pub fn revise(project: &Project, slug: &Slug, changes: Map<String, Value>) -> Result<Vec<Event>, Rejection> {
    let listing = project.listed(slug)?;
    if changes.get("vectors").is_some_and(Value::is_null) {
        return Err(Rejection::invalid(
            "vectors",
            "can only be removed by a change without other members; the encoder then computes them again",
        ));
    }
    if let Some(name) = ["id", "source"].into_iter().find(|name| changes.contains_key(*name)) {
        return Err(Rejection::invalid(name, "is recorded by an import with the slug; leave it out"));
    }
    let lost = lost_characters(&changes);
    if !lost.is_empty() {
        return Err(Rejection::Invalid(lost));
    }
    let members = patched(current(listing)?, changes).map_err(Rejection::Invalid)?;
    if members.get("slug").and_then(Value::as_str) != Some(listing.slug.as_str()) {
        return Err(Rejection::invalid("slug", "is not changed by revising; rename the project instead"));
    }
    let revised = parse_members(members, false).map_err(Rejection::Invalid)?;
    reject_logins(Some(&listing.record), &revised.record)?;
    Ok(listing.revisions(revised.record, revised.vectors))
}

/// Returns the members of a record in the form of an import line.
pub(super) fn current(listing: &Listing) -> Result<Map<String, Value>, Rejection> {
    let (slug, record) = (listing.slug.clone(), listing.record.clone());
    ImportRecord { slug, origin: SlugOrigin::Given, id: None, record, vectors: None }
        .to_members()
        .map_err(|error| Rejection::invalid("", format!("cannot be revised: {error}")))
}

#[cfg(test)]
mod tests {
    use super::super::scenario::*;
    use super::*;
    use serde_json::json;

    fn change(value: Value) -> impl Fn(&Project) -> Result<Vec<Event>, Rejection> {
        let Value::Object(changes) = value else { panic!("a patch is an object") };
        move |project| revise(project, &"a".parse().unwrap(), changes.clone())
    }

    #[test]
    fn members_are_set_and_removed_and_the_others_stay() {
        given(&[selected()])
            .when(change(json!({"intro": " New. ", "studio": null, "year": 2019})))
            .then(&[revised_so(r#"{"name":"First","category":"art","intro":"New.","year":"2019","taste":{"material":"oak"},"provenance":{"note":"seen"}}"#)]);
    }

    #[test]
    fn members_of_members_are_merged() {
        given(&[selected()])
            .when(change(json!({"taste": {"light": "dusk"}, "provenance": {"note": null, "curated_by": "Ada"}})))
            .then(&[revised_so(r#"{"name":"First","category":"art","studio":"Nord","taste":{"material":"oak","light":"dusk"},"provenance":{"curated_by":"Ada"}}"#)]);
    }

    #[test]
    fn taste_dimensions_may_be_members_of_the_record() {
        let after = revised_so(
            r#"{"name":"First","category":"art","studio":"Nord","taste":{"light":"dusk"},"provenance":{"note":"seen"}}"#,
        );
        given(&[selected()])
            .when(change(json!({"material": null, "light": "dusk"})))
            .then(std::slice::from_ref(&after));
        given(&[selected()]).when(change(json!({"taste": null, "light": "dusk"}))).then(&[after]);
        given(&[selected()])
            .when(change(json!({"taste": {"light": "dawn"}, "light": "dusk"})))
            .then_rejected("light differs from taste.light; give it once");
    }

    #[test]
    fn another_spelling_of_a_label_is_the_same_detail() {
        let with = |details: &str| {
            revised_so(&format!(
                r#"{{"name":"First","category":"art","studio":"Nord","taste":{{"material":"oak"}},"provenance":{{"note":"seen"}},"details":{details}}}"#
            ))
        };
        let past = [selected(), with("[{\"label\":\"Fl\u{e4}che\",\"value\":\"Gr\u{f6}\u{df}e\"}]")];
        for label in ["Fl\u{e4}che", "Fla\u{308}che", " Fla\u{308}che "] {
            given(&past).when(change(json!({"details": {label: "Gro\u{308}\u{df}e"}}))).then_nothing();
            given(&past).when(change(json!({"details": {label: null}}))).then(&[with("[]")]);
        }
    }

    #[test]
    fn vectors_may_be_supplied_and_not_removed() {
        given(&[selected()])
            .when(change(json!({"vectors": {"visual": [1.0]}, "vector_model": "m"})))
            .then(&[vectors("m", &[1.0])]);
        given(&[selected()]).when(change(json!({"vectors": null}))).then_rejected(
            "vectors can only be removed by a change without other members; the encoder then computes them again",
        );
    }

    #[test]
    fn a_change_without_a_difference_is_no_revision() {
        given(&[selected()])
            .when(change(json!({"studio": "Nord", "slug": "a", "intro": null})))
            .then_nothing();
    }

    #[test]
    fn every_invalid_member_is_reported() {
        given(&[selected()])
            .when(change(json!({"name": null, "year": "now", "colour": "red"})))
            .then_rejected(
                "name is absent or blank; every record needs one; year is “now”; a year is four digits; \
             colour is not a member of an import record; leave it out, or ignore unknown members",
            );
        given(&[selected()])
            .when(change(json!({"provenance": "x"})))
            .then_rejected("provenance is a text; expected an object");
    }

    #[test]
    fn the_slug_cannot_be_revised() {
        let sentence = "slug is not changed by revising; rename the project instead";
        for slug in [json!("b"), json!(null), json!(7)] {
            given(&[selected()]).when(change(json!({ "slug": slug }))).then_rejected(sentence);
        }
    }

    #[test]
    fn only_a_listed_project_can_be_revised() {
        given(&[])
            .when(change(json!({})))
            .then_rejected("there is no project “a”; check the slug, or select the project first");
        given(&[selected(), withdrawn("sold")])
            .when(change(json!({})))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }
}
