//! Revising: an editor corrects or completes some members of the record.

use schemas::event::Event;
use schemas::import::{ImportRecord, SlugOrigin, parse_members};
use schemas::slug::Slug;
use serde_json::{Map, Value};

use super::{Listing, Project, Rejection};

/// The dimensions that may also stand at a record's top level.
const DIMENSIONS: [&str; 6] = ["material", "light", "color", "mood", "composition", "subject"];

/// Decides how the record of the project asked for as `slug` changes. `changes` is a JSON merge patch (RFC 7396) over
/// the members of an import record: null takes a member away, members inside `taste` and `provenance` are merged.
pub fn revise(project: &Project, slug: &Slug, changes: Map<String, Value>) -> Result<Vec<Event>, Rejection> {
    let listing = project.listed(slug)?;
    if changes.get("vectors").is_some_and(Value::is_null) {
        return Err(Rejection::fault("vectors", "cannot be taken away; record others instead"));
    }
    if changes.contains_key("id") {
        return Err(Rejection::fault("id", "makes the slug of a new project only; leave it out"));
    }
    let mut members = current(listing)?;
    merge(&mut members, gathered(changes));
    if members.get("slug").and_then(Value::as_str) != Some(listing.slug.as_str()) {
        return Err(Rejection::fault("slug", "is not changed by revising; rename the project instead"));
    }
    let revised = parse_members(members, false).map_err(Rejection::Faulty)?;
    Ok(listing.rewritten(revised.record, revised.vectors))
}

fn current(listing: &Listing) -> Result<Map<String, Value>, Rejection> {
    let (slug, record) = (listing.slug.clone(), listing.record.clone());
    ImportRecord { slug, origin: SlugOrigin::Given, record, vectors: None }
        .to_members()
        .map_err(|error| Rejection::fault("", format!("cannot be revised: {error}")))
}

/// Moves the dimensions at the top of a patch into its `taste`, where the record keeps them. A dimension that is
/// given at both places stays at both, for the reader to judge.
fn gathered(mut changes: Map<String, Value>) -> Map<String, Value> {
    if changes.get("taste").is_some_and(|taste| !taste.is_object()) {
        return changes;
    }
    for dimension in DIMENSIONS {
        let nested = changes.get("taste").and_then(|taste| taste.get(dimension));
        if nested.is_none()
            && let Some(value) = changes.shift_remove(dimension)
            && let Value::Object(taste) = changes.entry("taste").or_insert_with(|| Map::new().into())
        {
            taste.insert(dimension.to_owned(), value);
        }
    }
    changes
}

/// Applies a merge patch to an object.
fn merge(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, change) in patch {
        match change {
            Value::Null => {
                target.shift_remove(&name);
            }
            Value::Object(change) => {
                let inner = target.entry(name).or_insert(Value::Null);
                if !inner.is_object() {
                    *inner = Map::new().into();
                }
                if let Value::Object(inner) = inner {
                    merge(inner, change);
                }
            }
            other => {
                target.insert(name, other);
            }
        }
    }
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
    fn members_are_set_and_taken_away_and_the_rest_stays() {
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
    fn the_taste_dimensions_may_stand_at_the_top() {
        let after = revised_so(
            r#"{"name":"First","category":"art","studio":"Nord","taste":{"light":"dusk"},"provenance":{"note":"seen"}}"#,
        );
        given(&[selected()])
            .when(change(json!({"material": null, "light": "dusk"})))
            .then(std::slice::from_ref(&after));
        given(&[selected()]).when(change(json!({"taste": null, "light": "dusk"}))).then(&[after]);
        given(&[selected()])
            .when(change(json!({"taste": {"light": "dawn"}, "light": "dusk"})))
            .then_rejected("light says something else than taste.light; give it once");
    }

    #[test]
    fn a_patch_is_applied_as_rfc_7396_says() {
        for (target, patch, result) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({"a": "foo"}), json!({"b": {"c": null}}), json!({"a": "foo", "b": {}})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let (Value::Object(mut merged), Value::Object(patch)) = (target, patch) else { unreachable!() };
            merge(&mut merged, patch);
            assert_eq!(Value::Object(merged), result);
        }
    }

    #[test]
    fn vectors_may_be_brought_and_not_taken_away() {
        given(&[selected()])
            .when(change(json!({"vectors": {"visual": [1.0]}, "vector_model": "m"})))
            .then(&[vectors("m", &[1.0])]);
        given(&[selected()])
            .when(change(json!({"vectors": null})))
            .then_rejected("vectors cannot be taken away; record others instead");
    }

    #[test]
    fn a_change_that_says_the_same_is_no_revision() {
        given(&[selected()])
            .when(change(json!({"studio": "Nord", "slug": "a", "intro": null})))
            .then_nothing();
    }

    #[test]
    fn every_wrong_member_is_named() {
        given(&[selected()])
            .when(change(json!({"name": null, "year": "now", "colour": "red"})))
            .then_rejected(
                "name is absent or blank; every record needs one; year is “now”; a year is four digits; \
             colour is not a member of an import record; leave it out, or ignore unknown members",
            );
        given(&[selected()])
            .when(change(json!({"provenance": "x"})))
            .then_rejected("provenance is a text; an object is wanted");
    }

    #[test]
    fn the_slug_is_renamed_not_revised() {
        let sentence = "slug is not changed by revising; rename the project instead";
        for slug in [json!("b"), json!(null), json!(7)] {
            given(&[selected()]).when(change(json!({ "slug": slug }))).then_rejected(sentence);
        }
    }

    #[test]
    fn what_is_not_in_the_catalog_is_not_revised() {
        given(&[])
            .when(change(json!({})))
            .then_rejected("there is no project “a”; check the slug, or select the project first");
        given(&[selected(), withdrawn("sold")])
            .when(change(json!({})))
            .then_rejected("the project “a” is withdrawn (sold); restore it first");
    }
}
