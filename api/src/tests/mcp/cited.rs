//! Revisions that are named by an address or an argument, and arguments that are not known.

use super::*;
use crate::tests::addresses::brought;
use crate::tests::node::revised;
use crate::tests::past::later;

const CITE: &str = "https://catalog.example.org/cite";

#[tokio::test]
async fn a_long_record_is_shortened_with_a_link_to_the_whole() {
    let long = json!({"name": "Haus am See", "category": "architecture", "description": "ü".repeat(40_000)});
    let node = Node::start_after(&[("2026-11-21T10:00:00Z", 0, revised(long))]).await;
    let mut whole = node.get("/v1/project/haus-am-see").await.json();
    let (record, note) = parted(node.tool("get_project", json!({"slug": "haus-am-see"})).await);
    whole["description"] = format!("{}…", "ü".repeat(4_000)).into();
    assert_eq!(record, whole);
    assert_eq!(
        note,
        format!("The record is long, so texts are cut short (…); all of it is at {CITE}/haus-am-see/2.")
    );
    let fetched = node.tool("fetch", json!({"id": "haus-am-see"})).await;
    let note = format!("The text is shortened; all of it is at {CITE}/haus-am-see/2.");
    assert!(fetched["note"].as_str().unwrap().starts_with(&note), "{fetched}");
}

/// An answer without its note, and the note.
fn parted(mut answer: Value) -> (Value, Value) {
    let note = answer.as_object_mut().unwrap().remove("note").unwrap_or_default();
    (answer, note)
}

#[tokio::test]
async fn a_citation_is_answered_with_the_revision_that_it_names() {
    let node = Node::start_after(&later()).await;
    let first = node.get("/v1/project/lake-house?revision=1").await.json();
    let newer = format!(
        "This is revision 1, recorded on 2026-11-20; revision 3 is newer: {CITE}/lake-house/3. The project's slug is lake-house now."
    );
    for arguments in [
        json!({"slug": format!("{CITE}/haus-am-see/1")}),
        json!({"slug": format!("{CITE}/lake-house/1/?format=bibtex")}),
        json!({"slug": "http://localhost:8080/cite/haus-am-see/1"}),
        json!({"slug": "lake-house", "revision": 1}),
        json!({"slug": "haus-am-see", "revision": " 1 "}),
        json!({"slug": "lake-house", "as_of": "2026-11-20"}),
        json!({"slug": format!("{CITE}/haus-am-see/1"), "revision": 1.0}),
    ] {
        let (record, note) = parted(node.tool("get_project", arguments.clone()).await);
        assert_eq!((record, note), (first.clone(), json!(newer)), "{arguments}");
        let mut fetched = arguments.clone();
        let slug = fetched.as_object_mut().unwrap().remove("slug").unwrap();
        fetched["id"] = slug;
        let fetched = node.tool("fetch", fetched).await;
        assert!(
            fetched["text"].as_str().unwrap().starts_with("Haus am See, Atelier Łoś, Zürich"),
            "{fetched}"
        );
        assert_eq!(fetched["metadata"]["revision_url"], format!("{CITE}/haus-am-see/1"));
        assert!(fetched["note"].as_str().unwrap().starts_with(&newer), "{fetched}");
    }
    let (newest, note) =
        parted(node.tool("get_project", json!({"slug": format!("{CITE}/lake-house/3")})).await);
    assert_eq!((&newest["name"], &newest["revision"], note), (&json!("Lake House"), &json!(3), Value::Null));
    let (gone, note) =
        parted(node.tool("get_project", json!({"slug": format!("{CITE}/gone-house/1")})).await);
    assert_eq!(gone["name"], "gone house");
    assert_eq!(
        note,
        "The project was withdrawn from the catalog on 2026-11-20: The owners \"asked\" for it."
    );
}

#[tokio::test]
async fn a_missing_revision_is_reported_with_the_existing_ones() {
    let node = Node::start_after(&later()).await;
    let get = async |arguments: Value| node.tool_refusal("get_project", arguments).await;
    let unknown = "The project lake-house has no revision 4; they are 1 to 3.";
    assert_eq!(get(json!({"slug": format!("{CITE}/lake-house/4")})).await, unknown);
    assert_eq!(get(json!({"slug": "lake-house", "revision": 4})).await, unknown);
    assert_eq!(
        get(json!({"slug": "gone-house", "revision": 2})).await,
        "The project gone-house has no revision 2; its only one is 1."
    );
    assert_eq!(
        get(json!({"slug": "lake-house", "as_of": "2026-11-19"})).await,
        "The project lake-house has no revision of 2026-11-19T23:59:59.999999999Z: the first was recorded at \
         2026-11-20T08:00:00Z; they are 1 to 3."
    );
    assert_eq!(
        get(json!({"slug": format!("{CITE}/lake-house/01")})).await,
        "The address of a citation ends with the number of a revision, from 1 on; this one ends with “01”."
    );
    assert_eq!(
        get(json!({"slug": format!("{CITE}/lake-house/1"), "revision": 2})).await,
        "The address names revision 1, and revision or as_of another one. Give the address alone, or the slug with the other."
    );
    let both = get(json!({"slug": "lake-house", "revision": 1, "as_of": "2026-11-20"})).await;
    assert!(both.contains("revision and as_of each name a revision, give one of them."), "{both}");
    let wrong = get(json!({"slug": "lake-house", "revision": 0, "as_of": "soon"})).await;
    assert!(
        wrong.contains(
            "revision is “0”, it must be a whole number from 1; as_of is “soon”, it must be a date"
        ),
        "{wrong}"
    );
}

#[tokio::test]
async fn a_project_is_found_by_the_addresses_that_it_brings() {
    let node = Node::start_after(&[brought()]).await;
    let rest = node.get("/v1/project/vase").await.json();
    for address in ["https://museum.example/Art/1?lang=en", " https://museum.example/id/1 ", "VASE"] {
        assert_eq!(node.tool("get_project", json!({"slug": address})).await, rest, "{address}");
        assert_eq!(node.tool("fetch", json!({"id": address})).await["id"], "vase");
    }
}

#[tokio::test]
async fn a_name_leads_to_its_slug() {
    let node = Node::start().await;
    for wanted in ["Haus am See", "haus_am_see", "Street House 2"] {
        let refusal = node.tool_refusal("get_project", json!({"slug": wanted})).await;
        let near = wanted.to_lowercase().replace([' ', '_'], "-");
        assert!(refusal.contains(&format!("Slugs that are near: {near}")), "{refusal}");
        let path = format!("/v1/project/{}", wanted.replace(' ', "%20"));
        let problem = node.get(&path).await;
        assert_eq!((problem.status, &problem.json()["suggestions"][0]), (404, &json!(near)), "{wanted}");
    }
}

#[tokio::test]
async fn arguments_that_are_not_known_are_named_where_the_call_fails() {
    let node = Node::start().await;
    for (tool, arguments, expected) in [
        ("search_projects", json!({"q": "house"}), "query is missing; “q” is not known, did you mean query?"),
        (
            "search_projects",
            json!({"Query": "house", "odd": 1}),
            "“Query” is not known, did you mean query?; “odd” is not known.",
        ),
        (
            "search_by_taste",
            json!({"materials": "larch"}),
            "is needed; “materials” is not known, did you mean material?",
        ),
        ("get_project", json!({"name": "haus-am-see"}), "slug is missing; “name” is not known."),
    ] {
        let said = node.tool_refusal(tool, arguments).await;
        assert!(said.contains(expected), "{said}");
    }
    let noted = node.tool("search_projects", json!({"query": "haus", "limt": 3})).await;
    let note = noted["note"].as_str().unwrap();
    assert!(
        note.starts_with("Not used: “limt” (did you mean limit?). search_projects takes query, mode, limit"),
        "{note}"
    );
    assert_eq!(node.tool("get_project", json!({"id": "haus-am-see"})).await["slug"], "haus-am-see");
    assert_eq!(node.tool("fetch", json!({"slug": "haus-am-see"})).await["id"], "haus-am-see");
    let grey = node.tool("search_by_taste", json!({"colour": "grey"})).await;
    assert!(grey["note"].as_str().unwrap().starts_with("No project matches color “grey”"), "{grey}");
}

#[tokio::test]
async fn examples_work_on_this_catalog() {
    let node = Node::start().await;
    for tool in ["get_project", "similar_projects", "fetch"] {
        let refusal = node.tool_refusal(tool, json!({})).await;
        let (_, example) = refusal.split_once(" that works: ").unwrap();
        let arguments: Value = serde_json::from_str(example).unwrap();
        let answer = node.post("", call(tool, arguments)).await;
        assert_eq!(answer.json()["result"]["isError"], false, "{refusal}");
    }
    let empty = Node::start_empty().await.tool_refusal("get_project", json!({})).await;
    assert!(empty.ends_with("{\"slug\":\"slug-of-a-result\"}"), "{empty}");
}
