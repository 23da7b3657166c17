//! What changed since a time, over REST and MCP.

use read::checkpoint::Checkpoint;
use schemas::event::{Event, ProjectRestored, ProjectWithdrawn};
use schemas::ids::Position;
use serde_json::{Value, json};

use super::node::{record_all, revised};
use super::past::later;
use super::*;
use crate::{Limits, RateLimits};

const LEFT_OUT: &str = "Withdrawn projects match no filter and are left out.";
const ONE_WITHDRAWN: &str = "One of these is withdrawn: it has its slug and change alone.";

/// Records more in the catalog and the archive of a node that serves.
async fn happen(node: &Node, position: u64, project: usize, event: Event) {
    let at = "2026-11-24T10:00:00Z".parse().unwrap();
    let events = vec![(position, at, project, event)];
    record_all(node.folder.path(), events, Checkpoint::default()).await;
    node.state.models().refresh().await.unwrap();
}

/// The answers over REST and MCP, which are the same but for a note that is null.
async fn answer(node: &Node, query: &str, arguments: Value) -> Value {
    let reply = node.get(&format!("/v1/projects?{query}")).await;
    assert_eq!(reply.status, 200, "{query}: {reply:?}");
    let mut called = node.tool("browse", arguments).await;
    called.as_object_mut().unwrap().entry("note").or_insert(Value::Null);
    assert_eq!(called, reply.json(), "{query}");
    called
}

/// The kind, slug, former slug, revision and members of each change.
fn changes(answer: &Value) -> Vec<Value> {
    let results = answer["results"].as_array().unwrap().iter();
    let one = |change: &Value, slug: &Value| {
        json!([change["kind"], slug, change["from"], change["revision"], change["fields"]])
    };
    results.map(|result| one(&result["change"], &result["slug"])).collect()
}

#[tokio::test]
async fn a_project_comes_with_its_summary_and_its_last_change() {
    let node = Node::start_after(&later()).await;
    let record = node.get("/v1/project/lake-house").await.json();
    let result = |members: &[&str]| {
        let mut result: Value =
            members.iter().map(|name| ((*name).to_owned(), record[*name].clone())).collect();
        result["change"] = json!({
            "kind": "revised", "at": "2026-11-23T10:00:00.5Z", "revision": 3, "fields": ["slug", "name"],
        });
        result
    };
    let concise = ["slug", "name", "studio", "city", "year", "citation_url", "revision_url"];
    let full =
        ["category", "intro", "published", "thumbnail", "thumbnail_state", "url", "provenance", "added_at"]
            .into_iter()
            .chain(concise);
    let with_taste: Vec<&str> = concise.into_iter().chain(["taste"]).collect();
    for (detail, members) in [("full", full.collect()), ("concise", concise.to_vec()), ("taste", with_taste)]
    {
        let since = "2026-11-21";
        let arguments = json!({"changed_since": since, "detail": detail});
        let answer = answer(&node, &format!("changed_since={since}&detail={detail}"), arguments).await;
        let expected = json!({
            "count": 1, "total": 1, "results": [result(&members)], "next_cursor": null, "note": null,
        });
        assert_eq!(answer, expected, "{detail}");
    }
    assert_eq!(record["revision_url"], "https://catalog.example.org/cite/lake-house/3");
}

#[tokio::test]
async fn all_kinds_of_changes_are_there_and_may_be_chosen() {
    let mut events = later();
    events.push(("2026-11-23T11:00:00Z", 5, Event::ProjectRestored(ProjectRestored {})));
    let reason = "Again.".into();
    events.push(("2026-11-23T12:00:00Z", 1, Event::ProjectWithdrawn(ProjectWithdrawn { reason })));
    let node = Node::start_after(&events).await;
    let all = [
        json!(["withdrawn", "street-house-1", null, 1, []]),
        json!(["restored", "gone-house", null, 1, []]),
        json!(["revised", "lake-house", null, 3, ["slug", "name"]]),
        json!(["renamed", "new-mill", "old-mill", 1, []]),
        json!(["selected", "street-house-3", null, 1, []]),
        json!(["selected", "street-house-2", null, 1, []]),
    ];
    let whole = answer(&node, "changed_since=2026-11-20", json!({"changed_since": "2026-11-20"})).await;
    assert_eq!((changes(&whole), &whole["total"]), (all.to_vec(), &json!(6)));
    let withdrawn = json!({
        "slug": "street-house-1",
        "change": {"kind": "withdrawn", "at": "2026-11-23T12:00:00Z", "revision": 1, "fields": []},
    });
    assert_eq!((&whole["results"][0], &whole["note"]), (&withdrawn, &json!(ONE_WITHDRAWN)));
    assert_eq!(whole["results"][1]["name"], "gone house", "it is listed again");
    // Everything, from before the first event, and in whatever form a time is given.
    for (since, sent) in [
        ("0001-01-01", "0001-01-01"),
        ("2026-11-20T08:00:00Z", "2026-11-20T08:00:00Z"),
        ("2026-11-20T10:00:00+02:00", "2026-11-20T10:00:00%2B02:00"),
    ] {
        let same = answer(&node, &format!("changed_since={sent}"), json!({"changed_since": since})).await;
        assert_eq!(same, whole, "{since}");
    }
    let renamed = [
        json!(["renamed", "lake-house", "haus-am-see", 2, []]),
        json!(["renamed", "new-mill", "old-mill", 1, []]),
    ];
    let gone = [all[0].clone(), json!(["withdrawn", "gone-house", null, 1, []])];
    for (kinds, list, expected) in [
        ("kinds=renamed", json!("Renamed"), &renamed[..]),
        (
            "kinds=withdrawn,revised",
            json!(["withdrawn", "revised"]),
            &[all[0].clone(), all[2].clone(), gone[1].clone()],
        ),
        ("kinds=withdrawn&kinds=RESTORED", json!("restored, withdrawn"), &all[..2]),
        ("kinds=withdrawn", json!(["withdrawn"]), &gone),
    ] {
        let arguments = json!({"changed_since": "2026-11-20", "kinds": list});
        let chosen = answer(&node, &format!("changed_since=2026-11-20&{kinds}"), arguments).await;
        assert_eq!(
            (changes(&chosen), &chosen["total"]),
            (expected.to_vec(), &json!(expected.len())),
            "{kinds}"
        );
    }
}

#[tokio::test]
async fn filters_hold_for_projects_as_they_are_now() {
    let node = Node::start_after(&later()).await;
    let house = json!(["revised", "lake-house", null, 3, ["slug", "name"]]);
    let streets = [3, 2, 1].map(|number| json!(["selected", format!("street-house-{number}"), null, 1, []]));
    let mill = json!(["renamed", "new-mill", "old-mill", 1, []]);
    let designs = [&[mill][..], &streets].concat();
    let undated = "4 projects without a year are left out.";
    let photography = "No project is in the category photography; there are design (4), architecture (1). Without category 5 projects \
         remain.";
    for (query, mut filters, expected, note) in [
        ("category=design", json!({"category": "design"}), &designs[..], LEFT_OUT.to_owned()),
        ("year_from=2020", json!({"year_from": 2020}), &[house], format!("{undated} {LEFT_OUT}")),
        (
            "category=photography",
            json!({"category": "photography"}),
            &[],
            format!("{photography} {LEFT_OUT}"),
        ),
    ] {
        filters["changed_since"] = "2026-11-20".into();
        let found = answer(&node, &format!("changed_since=2026-11-20&{query}"), filters).await;
        assert_eq!(
            (changes(&found), &found["total"], &found["note"]),
            (expected.to_vec(), &json!(expected.len()), &json!(note)),
            "{query}"
        );
    }
}

#[tokio::test]
async fn pages_are_as_of_the_first_one() {
    let node = Node::start_after(&later()).await;
    let first = node.get("/v1/projects?changed_since=2026-11-20&limit=2").await;
    let next = first.json()["next_cursor"].as_str().unwrap().to_owned();
    let link = format!("/v1/projects?changed_since=2026-11-20&limit=2&cursor={next}");
    let expected = format!("<https://catalog.example.org{link}>; rel=\"next\"");
    assert_eq!(first.header("link"), Some(expected.as_str()));
    let arguments = |cursor: &str| json!({"changed_since": "2026-11-20", "limit": 2, "cursor": cursor});
    assert_eq!(node.tool("browse", arguments("")).await["next_cursor"], next);

    // What was not shown yet changes: it is revised, withdrawn, and something is restored that was shown.
    happen(&node, 30, 3, revised(json!({"name": "Street", "category": "design"}))).await;
    let reason = "Again.".into();
    happen(&node, 31, 2, Event::ProjectWithdrawn(ProjectWithdrawn { reason })).await;
    happen(&node, 32, 5, Event::ProjectRestored(ProjectRestored {})).await;
    let second = answer(&node, link.split_once('?').unwrap().1, arguments(&next)).await;
    let (mill, third) = (
        json!(["renamed", "new-mill", "old-mill", 1, []]),
        json!(["selected", "street-house-3", null, 1, []]),
    );
    assert_eq!((changes(&second), &second["total"]), (vec![mill, third], &json!(6)));
    assert_eq!(second["results"][1]["name"], "Street", "as it is now");
    let next = second["next_cursor"].as_str().unwrap();
    let last =
        answer(&node, &format!("changed_since=2026-11-20&limit=2&cursor={next}"), arguments(next)).await;
    let rest = [2, 1].map(|number| json!(["selected", format!("street-house-{number}"), null, 1, []]));
    assert_eq!((changes(&last), &last["next_cursor"]), (rest.to_vec(), &Value::Null));
    assert_eq!((&last["results"][0]["name"], &last["note"]), (&Value::Null, &json!(ONE_WITHDRAWN)));

    let again = answer(&node, "changed_since=2026-11-24", json!({"changed_since": "2026-11-24"})).await;
    let expected = [
        json!(["restored", "gone-house", null, 1, []]),
        json!(["withdrawn", "street-house-2", null, 1, []]),
        json!(["revised", "street-house-3", null, 2, ["name"]]),
    ];
    assert_eq!(changes(&again), expected);
}

#[tokio::test]
async fn a_cursor_belongs_to_its_query() {
    let node = Node::start_after(&later()).await;
    let cursor = async |query: &str| {
        let answer = node.get(&format!("/v1/projects?limit=1{query}")).await.json();
        answer["next_cursor"].as_str().unwrap().to_owned()
    };
    let (changed, newest) = (cursor("&changed_since=2026-11-20").await, cursor("").await);
    let refused =
        "cursor: It is not a cursor of this list. Start again from the first page, without a cursor.";
    let other = "The cursor does not belong to this query: it was given with the results of other arguments. Leave it out to start \
         from the first page.";
    for (query, mut arguments, cursor) in [
        ("changed_since=2026-11-19", json!({"changed_since": "2026-11-19"}), &changed),
        (
            "changed_since=2026-11-20&kinds=selected",
            json!({"changed_since": "2026-11-20", "kinds": "selected"}),
            &changed,
        ),
        (
            "changed_since=2026-11-20&category=design",
            json!({"changed_since": "2026-11-20", "category": "design"}),
            &changed,
        ),
        ("changed_since=2026-11-20", json!({"changed_since": "2026-11-20"}), &newest),
        ("", json!({}), &changed),
    ] {
        arguments["cursor"] = cursor.as_str().into();
        assert_eq!(
            node.get(&format!("/v1/projects?{query}&cursor={cursor}")).await.faults(),
            [refused],
            "{query}"
        );
        assert_eq!(node.tool_refusal("browse", arguments).await, other, "{query}");
    }
    // Another catalog never had this one's changes.
    let other_log = Node::start().await;
    let path = format!("/v1/projects?changed_since=2026-11-20&cursor={changed}");
    assert_eq!(other_log.get(&path).await.faults(), [refused]);
    assert_eq!(node.get(&path).await.status, 200);
    let catalog = schemas::control::ProjectionStatus {
        position: Position(8),
        lag: 1_000,
        ..schemas::control::ProjectionStatus::new("catalog")
    };
    let behind = Node::start_behind(vec![catalog]).await.get(&path).await;
    let detail = "This node has not come as far as the cursor yet. Try again in a second.";
    assert_eq!((behind.status, &behind.json()["detail"]), (503, &json!(detail)), "{behind:?}");
}

#[tokio::test]
async fn bad_input_is_refused_with_what_is_allowed() {
    let node = Node::start_after(&later()).await;
    let allowed = "a date such as 2026-11-20, whose beginning in UTC is meant, or an instant with its offset such as 2026-11-20T08:00:00Z";
    for wrong in ["2026-11-20T08:00:00", "2026-02-30", "last week", "1732089600"] {
        let reply = node.get(&format!("/v1/projects?changed_since={}", wrong.replace(' ', "+"))).await;
        let expected = json!([{"parameter": "changed_since", "detail": format!("It is not {allowed}."), "allowed": allowed}]);
        assert_eq!((reply.status, &reply.json()["errors"]), (400, &expected), "{wrong}");
        let refused = node.tool_refusal("browse", json!({"changed_since": wrong})).await;
        let expected =
            format!("These arguments cannot be used: changed_since is “{wrong}”, it must be {allowed}.");
        assert!(refused.starts_with(&expected), "{refused}");
    }
    let future = node.get("/v1/projects?changed_since=9999-12-31").await;
    let fault = &future.json()["errors"][0];
    let is_future = fault["detail"].as_str().unwrap().starts_with("It is in the future: it is 2");
    assert_eq!((future.status, is_future), (400, true), "{future:?}");
    assert_eq!(
        (&fault["parameter"], &fault["allowed"]),
        (&json!("changed_since"), &json!(format!("{allowed}, up to now")))
    );
    let refused = node.tool_refusal("browse", json!({"changed_since": "2999-01-01"})).await;
    assert!(
        refused.starts_with("These arguments cannot be used: changed_since is in the future: it is 2"),
        "{refused}"
    );
    assert!(
        refused.contains(&format!("; allowed: {allowed}, up to now. A call of browse that works: ")),
        "{refused}"
    );

    let together = "It is given together with changed_since, whose answers begin with what changed last.";
    let named = ["slugs", "cite", "sort", "facets"].map(|name| format!("{name}: {together}"));
    let query = "changed_since=2026-11-20&sort=newest&facets=city&slugs=a&cite=apa";
    assert_eq!(node.get(&format!("/v1/projects?{query}")).await.faults(), named);
    let kinds = "kinds: “deleted” is not a kind of change.";
    let query = "changed_since=2026-11-20&kinds=revised,deleted&limit=99";
    assert_eq!(
        node.get(&format!("/v1/projects?{query}")).await.faults(),
        [kinds, "limit: It is not an integer from 1 to 50."]
    );
    let faults = node.get("/v1/projects?kinds=revised").await.faults();
    assert_eq!(faults, ["kinds: It is given without changed_since."]);
    for (arguments, fault) in [
        (
            json!({"changed_since": "2026-11-20", "sort": "newest", "facets": "city"}),
            "sort cannot be used with changed_since, which begins with what changed last; facets cannot be used with changed_since, \
             which begins with what changed last",
        ),
        (
            json!({"changed_since": "2026-11-20", "kinds": ["revised", "deleted"]}),
            "kinds is “deleted”, it must be one of selected, revised, renamed, withdrawn, restored",
        ),
        (json!({"kinds": "revised"}), "kinds is given without changed_since"),
    ] {
        let refused = node.tool_refusal("browse", arguments).await;
        let expected = format!("These arguments cannot be used: {fault}. A call of browse that works: ");
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[tokio::test]
async fn where_nothing_changed_the_note_says_when_the_last_time_was() {
    let node = Node::start_after(&later()).await;
    for (kinds, said) in [
        ("restored", "restored since 2026-11-23T00:00:00Z, nor ever before."),
        ("renamed", "renamed since 2026-11-23T00:00:00Z; the last time was 2026-11-22T10:00:00Z."),
        (
            "selected,renamed",
            "selected or renamed since 2026-11-23T00:00:00Z; the last time was 2026-11-22T10:00:00Z.",
        ),
    ] {
        let arguments = json!({"changed_since": "2026-11-23", "kinds": kinds});
        let answer = answer(&node, &format!("changed_since=2026-11-23&kinds={kinds}"), arguments).await;
        let note = format!("No project was {said}");
        let expected = json!({"count": 0, "total": 0, "results": [], "next_cursor": null, "note": note});
        assert_eq!(answer, expected, "{kinds}");
    }
}

#[tokio::test]
async fn without_a_key_a_part_is_shown() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let shown = node.tool("browse", json!({"changed_since": "2026-11-20", "limit": 20})).await;
    assert_eq!(shown["preview"], json!({"shown": 5, "total": 6, "how": "get_api_key"}));
    let next =
        node.tool("browse", json!({"changed_since": "2026-11-20", "cursor": shown["next_cursor"]})).await;
    assert_eq!((slugs(&shown).len(), slugs(&next)), (5, vec!["haus-am-see"]));
    assert_eq!(slugs(&shown)[..2], ["gone-house", "new-mill"]);
}
