//! What differs between two revisions, over REST and MCP.

use schemas::event::{Event, PictureAttached, PictureErased};
use schemas::picture::{Colour, Picture, PictureFormat, PictureId};
use serde_json::{Value, json};

use super::node::revised;
use super::past::later;
use super::*;

const CITE: &str = "https://catalog.example.org/cite";

/// Takes the note out of an answer.
fn parted(mut answer: Value) -> (Value, Value) {
    let note = answer.as_object_mut().unwrap().remove("note").unwrap_or_default();
    (answer, note)
}

fn change(member: &str, before: impl Into<Value>, now: impl Into<Value>) -> Value {
    json!({"member": member, "before": before.into(), "now": now.into()})
}

fn fault(detail: &str, allowed: &str) -> Value {
    json!([{"parameter": "compare_to", "detail": detail, "allowed": allowed}])
}

#[tokio::test]
async fn a_revision_is_compared_with_the_present_record() {
    let node = Node::start_after(&later()).await;
    let expected = json!({
        "slug": "lake-house", "from": 1, "to": 3, "from_url": format!("{CITE}/haus-am-see/1"),
        "to_url": format!("{CITE}/lake-house/3"),
        "changes": [
            change("slug", "haus-am-see", "lake-house"),
            change("name", "Haus am See", "Lake House"),
            change("studio", "Atelier Łoś", Value::Null),
            change("city", "Zürich, Switzerland", Value::Null),
            change("year", "2019", "2020"),
            change("intro", "A \"quiet\" house.", Value::Null),
            change("published", "2024-05-01", Value::Null),
            change("provenance.curated_by", "Ada", Value::Null),
            change("provenance.selected", "2024-04-01", Value::Null),
            change("provenance.in_archive_since", 2024, Value::Null),
            change("provenance.note", "Seen.", Value::Null),
            change("description", "Long.", Value::Null),
            change("details", json!([{"label": "Area", "value": "120 m²"}]), json!([])),
            change("taste.material", "larch", Value::Null),
        ],
    });
    let reply = node.get("/v1/project/lake-house?compare_to=1").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert_eq!(reply.json(), expected);
    for arguments in [
        json!({"slug": "lake-house", "compare_to": 1}),
        json!({"slug": format!("{CITE}/lake-house/3"), "compare_to": "1"}),
    ] {
        assert_eq!(node.tool("get_project", arguments).await, expected);
    }
    let odd = node.get("/v1/project/lake-house?compare_to=1&cite=apa&odd=1").await.json();
    let mut expected = expected;
    let title = "Lake House (Revision 3) [Architecture]. (2020). catalog.example.org. ";
    expected["citation"] = format!("{title}{CITE}/lake-house/3").into();
    let cited = json!({"slug": "lake-house", "compare_to": 1, "cite": "APA"});
    assert_eq!(node.tool("get_project", cited).await, expected);
    expected["ignored_parameters"] = json!(["odd"]);
    assert_eq!(odd, expected);
    // A former slug leads on, with what was asked.
    let moved = node.get("/v1/project/haus-am-see?compare_to=1&key=k").await;
    assert_eq!((moved.status, moved.header("location")), (308, Some("/v1/project/lake-house?compare_to=1")));
}

#[tokio::test]
async fn two_former_revisions_are_compared() {
    let node = Node::start_after(&later()).await;
    let expected = json!({
        "slug": "lake-house", "from": 3, "to": 2, "from_url": format!("{CITE}/lake-house/3"),
        "to_url": format!("{CITE}/haus-am-see/2"),
        "changes": [
            change("slug", "lake-house", "haus-am-see"),
            change("name", "Lake House", "Haus am Zürichsee"),
        ],
    });
    for (query, arguments) in
        [("revision=2", json!({"revision": 2})), ("as_of=2026-11-22", json!({"as_of": "2026-11-22"}))]
    {
        let rest = node.get(&format!("/v1/project/lake-house?compare_to=3&{query}")).await.json();
        assert_eq!(rest, expected, "{query}");
        let mut arguments = arguments;
        (arguments["slug"], arguments["compare_to"]) = ("lake-house".into(), 3.into());
        let (answer, note) = parted(node.tool("get_project", arguments).await);
        assert_eq!(answer, expected, "{query}");
        let newer = format!(
            "This is revision 2, recorded on 2026-11-21; revision 3 is newer: {CITE}/lake-house/3. The project's slug is \
             lake-house now."
        );
        assert_eq!(note, newer.as_str(), "{query}");
    }
}

#[tokio::test]
async fn a_revision_that_is_missing_or_the_same_is_refused_with_those_that_exist() {
    let node = Node::start_after(&later()).await;
    for (slug, query, detail, allowed) in [
        (
            "lake-house",
            "compare_to=4",
            "The project has no revision 4; its revisions are 1 to 3.",
            "an integer from 1 to 3 other than 3",
        ),
        (
            "lake-house",
            "compare_to=3",
            "Revision 3 is the one that is compared; its revisions are 1 to 3.",
            "an integer from 1 to 3 other than 3",
        ),
        (
            "lake-house",
            "compare_to=2&revision=2",
            "Revision 2 is the one that is compared; its revisions are 1 to 3.",
            "an integer from 1 to 3 other than 2",
        ),
        (
            "street-house-1",
            "compare_to=1",
            "The project has revision 1 alone, so there is no other to compare it with.",
            "none: the project was not revised",
        ),
        (
            "gone-house",
            "compare_to=2&revision=1",
            "The project has revision 1 alone, so there is no other to compare it with.",
            "none: the project was not revised",
        ),
    ] {
        let reply = node.get(&format!("/v1/project/{slug}?{query}")).await;
        assert_eq!((reply.status, &reply.json()["errors"]), (400, &fault(detail, allowed)), "{slug} {query}");
        let mut arguments = json!({"slug": slug});
        for (name, number) in query.split('&').map(|pair| pair.split_once('=').unwrap()) {
            arguments[name] = number.into();
        }
        assert_eq!(node.tool_refusal("get_project", arguments).await, detail, "{slug} {query}");
    }
    for wrong in ["0", "-1", "1.5", "first", ""] {
        let reply = node.get(&format!("/v1/project/lake-house?compare_to={wrong}")).await;
        let expected = fault("It is not an integer from 1.", "an integer from 1");
        assert_eq!((reply.status, &reply.json()["errors"]), (400, &expected), "{wrong}");
        if !wrong.is_empty() {
            let arguments = json!({"slug": "lake-house", "compare_to": wrong});
            let refused = node.tool_refusal("get_project", arguments).await;
            let expected = format!("compare_to is “{wrong}”, it must be a whole number from 1.");
            assert!(refused.contains(&expected), "{refused}");
        }
    }
    let arguments = json!({"slugs": ["lake-house"], "compare_to": 1});
    let refused = node.tool_refusal("get_project", arguments).await;
    let expected = "compare_to cannot be used with slugs, which gives the present records.";
    assert!(refused.contains(expected), "{refused}");
}

#[tokio::test]
async fn a_withdrawn_or_unknown_project_is_not_compared() {
    let node = Node::start().await;
    let gone = node.get("/v1/project/gone-house?compare_to=1").await;
    assert!(gone.status == 410 && gone.problem().contains("/problems/withdrawn"), "{gone:?}");
    let refused = node.tool_refusal("get_project", json!({"slug": "gone-house", "compare_to": 1})).await;
    assert!(refused.starts_with("The project gone-house was withdrawn from the catalog: "), "{refused}");
    let unknown = node.get("/v1/project/nothing?compare_to=1").await;
    assert!(unknown.status == 404 && unknown.problem().contains("/problems/unknown-slug"), "{unknown:?}");
    let refused = node.tool_refusal("get_project", json!({"slug": "nothing", "compare_to": 1})).await;
    assert!(refused.starts_with("No project has the slug “nothing”."), "{refused}");
}

/// The house got a picture with its second revision, and lost it with the third.
fn pictured() -> Vec<(&'static str, usize, Event)> {
    let record = |pictures: Value| {
        revised(json!({"name": "Haus am See", "category": "architecture", "pictures": pictures}))
    };
    let id = PictureId([0x5e; 32]);
    let picture =
        Picture { id, format: PictureFormat::Png, width: 400, height: 300, palette: vec![Colour([9; 3])] };
    let attached = PictureAttached { source: "a.png".into(), picture };
    vec![
        ("2026-11-21T10:00:00Z", 0, record(json!([{"source": "a.png"}]))),
        ("2026-11-21T10:00:01Z", 0, Event::PictureAttached(attached)),
        ("2026-11-22T10:00:00Z", 0, record(json!([]))),
    ]
}

#[tokio::test]
async fn an_erased_picture_is_in_neither_revision() {
    let shown = Node::start_after(&pictured()).await;
    let members = |answer: &Value| -> Vec<String> {
        let changes = answer["changes"].as_array().unwrap().iter();
        changes.map(|one| one["member"].as_str().unwrap().to_owned()).collect()
    };
    let answer = shown.get("/v1/project/haus-am-see?compare_to=2").await.json();
    assert_eq!(members(&answer), ["thumbnail", "images"], "{answer}");
    let before = &answer["changes"][1]["before"][0]["url"];
    assert_eq!(*before, format!("https://catalog.example.org/media/{}/400.webp", "5e".repeat(32)));
    assert_eq!(shown.tool("get_project", json!({"slug": "haus-am-see", "compare_to": 2})).await, answer);

    let erased = Event::PictureErased(PictureErased { picture: PictureId([0x5e; 32]) });
    let events: Vec<_> = pictured().into_iter().chain([("2026-11-23T10:00:00Z", 0, erased)]).collect();
    let node = Node::start_after(&events).await;
    let expected = json!({
        "slug": "haus-am-see", "from": 2, "to": 3, "from_url": format!("{CITE}/haus-am-see/2"),
        "to_url": format!("{CITE}/haus-am-see/3"), "changes": [],
    });
    assert_eq!(node.get("/v1/project/haus-am-see?compare_to=2").await.json(), expected);
    let (answer, note) =
        parted(node.tool("get_project", json!({"slug": "haus-am-see", "compare_to": 2})).await);
    assert_eq!((answer, note), (expected, json!("Both revisions say the same.")));
}

#[tokio::test]
async fn long_texts_are_cut_around_their_first_difference_for_agents_alone() {
    let text = |own: &str| format!("{}{own}{}", "a".repeat(15_000), "b".repeat(15_000));
    let record = |text: String| {
        revised(json!({"name": "Haus am See", "category": "architecture", "description": text}))
    };
    let node = Node::start_after(&[
        ("2026-11-21T10:00:00Z", 0, record(text("old"))),
        ("2026-11-22T10:00:00Z", 0, record(text("new"))),
    ])
    .await;
    let whole = node.get("/v1/project/haus-am-see?compare_to=2").await.json();
    assert_eq!(whole["changes"], json!([change("description", text("old"), text("new"))]));
    let (answer, note) =
        parted(node.tool("get_project", json!({"slug": "haus-am-see", "compare_to": 2})).await);
    let cut = |own: &str| format!("…{}{own}{}…", "a".repeat(1_000), "b".repeat(2_994));
    let mut expected = whole;
    expected["changes"] = json!([change("description", cut("old"), cut("new"))]);
    assert_eq!(answer, expected);
    let said = format!(
        "The values are long, so they are cut short (…) around the first difference; all of them are at {CITE}/haus-am-see/2 and \
         {CITE}/haus-am-see/3."
    );
    assert_eq!(note, said.as_str());
}
