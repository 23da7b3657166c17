//! Pictures in answers of `get_project`, and what is said of those that are not there yet, over REST, MCP and on pages.

use data_encoding::BASE64;
use kit::samples::{self, scene};
use schemas::event::{Event, PictureAttached, PictureErased, PictureRefused, ProjectWithdrawn};
use schemas::picture::{Form, Picture, PictureFormat, PictureId};
use serde_json::{Value, json};

use super::mcp::{call, content};
use super::*;
use crate::{Limits, RateLimits};

const WAITING: &str = "A picture that is waiting is being fetched or drawn; call again in a minute.";

/// A JPEG of this size.
fn jpeg(width: u32, height: u32) -> Vec<u8> {
    samples::jpeg(&scene(width, height))
}

/// Returns width and height of a JPEG: those in the header of its frame.
fn size(jpeg: &[u8]) -> (u16, u16) {
    let number = |at: usize| u16::from_be_bytes([jpeg[at], jpeg[at + 1]]);
    let mut at = 2;
    loop {
        assert_eq!(jpeg[at], 0xff, "a marker");
        if matches!(jpeg[at + 1], 0xc0..=0xc2) {
            return (number(at + 7), number(at + 5));
        }
        at += 2 + usize::from(number(at + 2));
    }
}

fn attached(source: &str, id: u8, width: u32, height: u32) -> Event {
    let (id, format) = (PictureId([id; 32]), PictureFormat::Jpeg);
    let picture = Picture { id, format, width, height, palette: Vec::new() };
    Event::PictureAttached(PictureAttached { source: source.into(), picture })
}

/// A node with projects whose pictures are there in a large and a small form, are being fetched, were refused or erased, or whose project
/// was withdrawn.
async fn pictured() -> Node {
    let design = |slug: &str, members: Value| {
        let mut record = json!({"name": slug, "category": "design"});
        record.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        node::selected(slug, record)
    };
    let named = |source: &str| json!({"pictures": [{"source": source}]});
    let credited = json!({"pictures": [{"source": "t.jpg", "credit": "Ann B", "rights": "CC BY 4.0"}]});
    let refused =
        PictureRefused { source: "https://m.org/s.jpg".into(), reason: "It is not a picture.".into() };
    let events = [
        (6, design("tower", credited)),
        (6, attached("t.jpg", 0x61, 1_000, 1_500)),
        (7, design("bench", named("b.jpg"))),
        (7, attached("b.jpg", 0x62, 200, 100)),
        (8, design("quay", named("https://m.org/q.jpg"))),
        (9, design("stall", named("https://m.org/s.jpg"))),
        (9, Event::PictureRefused(refused)),
        (10, design("vase", json!({"thumbnail": "https://m.org/v.jpg"}))),
        (11, design("lost", named("https://m.org/l.jpg"))),
        (11, attached("https://m.org/l.jpg", 0x63, 1_000, 500)),
        (11, Event::PictureErased(PictureErased { picture: PictureId([0x63; 32]) })),
        (12, design("shed", named("h.jpg"))),
        (12, attached("h.jpg", 0x62, 200, 100)),
        (12, Event::ProjectWithdrawn(ProjectWithdrawn { reason: "It burnt down.".into() })),
    ];
    let events = events.map(|(number, event)| ("2026-11-24T10:00:00Z", number, event));
    let node = Node::start_listing(&events).await;
    keep(&node, 0x61, Form::Jpeg(640), &jpeg(640, 960));
    keep(&node, 0x62, Form::Jpeg(200), &jpeg(200, 100));
    node
}

fn keep(node: &Node, id: u8, form: Form, bytes: &[u8]) {
    let file = node.folder.path().join("media").join(form.path(PictureId([id; 32])));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, bytes).unwrap();
}

/// Returns the structured content of an answer of `get_project`, and its items after the first one, which says the same.
async fn get_project(node: &Node, arguments: Value) -> (Value, Vec<Value>) {
    let reply = node.post("", call("get_project", arguments)).await;
    let said = content(&reply);
    (said, reply.json()["result"]["content"].as_array().unwrap()[1..].to_vec())
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Returns the bytes of a JPEG in an item of an answer.
fn image(item: &Value) -> Vec<u8> {
    assert_eq!((&item["type"], &item["mimeType"]), (&json!("image"), &json!("image/jpeg")), "{item}");
    BASE64.decode(item["data"].as_str().unwrap().as_bytes()).unwrap()
}

#[tokio::test]
async fn pictures_of_several_projects_are_in_one_answer() {
    let node = pictured().await;
    let slugs = ["tower", "quay", "stall", "shed", "bench", "vase", "lost", "haus-am-see", "no-such"];
    let (plain, none) = get_project(&node, json!({"slugs": slugs, "detail": "concise"})).await;
    assert_eq!((plain.get("pictures"), none), (None, vec![]), "they are not asked for");
    let (mut answer, items) =
        get_project(&node, json!({"slugs": slugs, "detail": "concise", "pictures": true})).await;
    let outcome = |slug: &str, outcome: &str| json!({"slug": slug, "outcome": outcome});
    let said = answer.as_object_mut().unwrap();
    assert_eq!(
        (said.remove("pictures"), said.remove("note")),
        (
            Some(json!([
                outcome("tower", "attached"),
                outcome("quay", "waiting"),
                outcome("stall", "none"),
                outcome("bench", "attached"),
                outcome("vase", "waiting"),
                outcome("lost", "none"),
                outcome("haus-am-see", "none"),
            ])),
            Some(json!(WAITING))
        )
    );
    assert_eq!(answer, plain, "everything else is the same");
    assert_eq!(answer["missing"], json!(["shed", "no-such"]));
    let [of_tower, tower, of_bench, bench] = items.as_slice() else { panic!("{items:?}") };
    let cite = "https://catalog.example.org/cite";
    assert_eq!(*of_tower, text(&format!("tower: {cite}/tower/1\nPicture: Ann B, CC BY 4.0")));
    assert_eq!(*of_bench, text(&format!("bench: {cite}/bench/1")));
    assert_eq!(size(&image(tower)), (213, 320), "the longer side has 320 pixels");
    assert_eq!(image(bench), jpeg(200, 100), "a small one is as it is kept");
}

#[tokio::test]
async fn the_picture_of_one_project_comes_with_its_citation() {
    let node = pictured().await;
    for pictures in [json!(true), json!("True")] {
        let arguments = json!({"slug": "tower", "cite": "bibtex", "pictures": pictures});
        let (answer, items) = get_project(&node, arguments).await;
        assert_eq!(answer["pictures"], json!([{"slug": "tower", "outcome": "attached"}]));
        let citation = answer["citation"].as_str().unwrap().trim_end();
        assert!(citation.starts_with('@') && citation.contains('\n'), "{citation}");
        assert_eq!(items[0], text(&format!("tower: {citation}\nPicture: Ann B, CC BY 4.0")));
        assert_eq!((items.len(), size(&image(&items[1]))), (2, (213, 320)));
    }
    for pictures in [json!(false), json!("false"), json!(null), json!("")] {
        let (answer, items) = get_project(&node, json!({"slug": "tower", "pictures": pictures})).await;
        assert_eq!((answer.get("pictures"), items), (None, vec![]), "{pictures}");
    }
    // Of a withdrawn project a former revision can still be read, with its picture.
    let (answer, items) = get_project(&node, json!({"slug": "shed", "revision": 1, "pictures": true})).await;
    assert_eq!(answer["pictures"], json!([{"slug": "shed", "outcome": "attached"}]));
    assert_eq!(image(&items[1]), jpeg(200, 100));
}

#[tokio::test]
async fn a_picture_that_cannot_be_read_is_said() {
    let node = pictured().await;
    let of_tower = async || get_project(&node, json!({"slug": "tower", "pictures": true})).await;
    let waiting = json!([{"slug": "tower", "outcome": "waiting"}]);
    keep(&node, 0x61, Form::Jpeg(640), &jpeg(640, 960)[..1_000]);
    let (answer, items) = of_tower().await;
    assert_eq!((&answer["pictures"], items), (&waiting, vec![]));
    assert_eq!(
        answer["note"],
        "A picture that is kept cannot be read at present and is given as waiting; call again in a minute."
    );
    let file = node.folder.path().join("media").join(Form::Jpeg(640).path(PictureId([0x61; 32])));
    std::fs::remove_file(file).unwrap();
    let (answer, items) = of_tower().await;
    assert_eq!((&answer["pictures"], &answer["note"], items), (&waiting, &json!(WAITING), vec![]));
    let journal = node.folder.path().join("media/pictures-erased.ndjson");
    let line = json!({"picture": PictureId([0x61; 32]), "erased_at": "2026-11-25T00:00:00Z"});
    std::fs::write(journal, format!("{line}\n")).unwrap();
    let (answer, items) = of_tower().await;
    assert_eq!(answer["pictures"], json!([{"slug": "tower", "outcome": "none"}]), "it was just erased");
    assert_eq!((answer.get("note"), items), (None, vec![]));
}

#[tokio::test]
async fn wrong_arguments_are_refused_and_say_what_is_allowed() {
    let node = pictured().await;
    let slugs = |count: usize| (0..count).map(|number| format!("no-{number}")).collect::<Vec<_>>();
    for (arguments, fault) in [
        (
            json!({"slugs": slugs(11), "pictures": true}),
            "slugs has 11 slugs, at most 10 are taken with pictures",
        ),
        (
            json!({"slugs": slugs(21), "pictures": true}),
            "slugs has 21 slugs, at most 10 are taken with pictures",
        ),
        (json!({"slugs": slugs(21)}), "slugs has 21 slugs, at most 20 are taken"),
        (json!({"slugs": slugs(21), "pictures": false}), "slugs has 21 slugs, at most 20 are taken"),
        (json!({"slug": "tower", "pictures": "yes"}), "pictures is “yes”, it must be true or false"),
        (json!({"slugs": ["tower"], "pictures": 1}), "pictures is “1”, it must be true or false"),
        (json!({"slug": "tower", "pictures": {}}), "pictures is an object, one value is taken"),
        (
            json!({"slug": "tower", "pictures": true, "compare_to": 1}),
            "compare_to cannot be used with pictures, give one of them",
        ),
    ] {
        let refusal = node.tool_refusal("get_project", arguments.clone()).await;
        let expected = format!("These arguments cannot be used: {fault}. A call of get_project that works: ");
        assert!(refusal.starts_with(&expected), "{arguments}: {refusal}");
    }
    let refusal = node.tool_refusal("get_project", json!({"slug": "shed", "pictures": true})).await;
    assert!(
        refusal.starts_with("The project shed was withdrawn from the catalog: It burnt down."),
        "{refusal}"
    );
    let (answer, items) = get_project(&node, json!({"slugs": slugs(10), "pictures": true})).await;
    assert_eq!((&answer["count"], &answer["pictures"], items), (&json!(0), &json!([]), vec![]));
}

#[tokio::test]
async fn a_preview_has_the_pictures_of_what_it_shows() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let shown = ["haus-am-see", "street-house-1", "street-house-2", "street-house-3", "new-mill"];
    let slugs: Vec<&str> = shown.into_iter().chain(["gone-house"]).collect();
    let (answer, _) = get_project(&node, json!({"slugs": slugs, "pictures": true})).await;
    let none = shown.map(|slug| json!({"slug": slug, "outcome": "none"}));
    assert_eq!((&answer["pictures"], &answer["missing"]), (&json!(none), &json!([])));
    assert_eq!((&answer["preview"]["shown"], &answer["preview"]["total"]), (&json!(5), &json!(6)));
}

#[tokio::test]
async fn a_thumbnail_that_is_not_there_yet_is_waited_for_everywhere() {
    let node = pictured().await;
    let state = |summary: &Value| (summary["thumbnail"].is_null(), summary["thumbnail_state"].clone());
    let waiting = (true, json!("waiting"));
    for (slug, expected) in [
        ("tower", (false, Value::Null)),
        ("quay", waiting.clone()),
        ("stall", (true, Value::Null)),
        ("vase", (false, Value::Null)),
        ("lost", (true, Value::Null)),
        ("haus-am-see", (true, Value::Null)),
    ] {
        for query in ["", "?revision=1"] {
            let record = node.get(&format!("/v1/project/{slug}{query}")).await.json();
            assert!(record.get("thumbnail_state").is_some(), "{slug}: null is written, too");
            assert_eq!(state(&record), expected, "{slug}{query}");
        }
        let answer = node.tool("get_project", json!({"slug": slug})).await;
        assert_eq!(state(&answer), expected, "{slug}");
    }
    let in_lists = ["/v1/search?q=quay", "/v1/projects?slugs=quay", "/v1/projects?sort=newest&limit=20"];
    for path in in_lists {
        let answer = node.get(path).await.json();
        let results = answer["results"].as_array().unwrap();
        let quay = results.iter().find(|result| result["slug"] == "quay").expect(path);
        assert_eq!(state(quay), waiting, "{path}");
    }
    let concise = node.get("/v1/search?q=quay&detail=concise").await.json();
    assert_eq!(concise["results"][0].get("thumbnail_state"), None);
    let found = node.tool("search_projects", json!({"query": "quay"})).await;
    assert_eq!(state(&found["results"][0]), waiting);
    let fetched = node.tool("fetch", json!({"id": "quay"})).await;
    assert_eq!(fetched["note"], "The picture is being fetched or drawn; call again in a minute.");
    let refused = node.tool("fetch", json!({"id": "stall"})).await;
    assert_eq!(refused["note"], "No picture of this project is recorded.");
}

#[tokio::test]
async fn pages_say_that_a_picture_is_being_fetched() {
    let node = pictured().await;
    let says = async |path: &str, text: &str| {
        let page = node.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        page.text().contains(text)
    };
    let (on_card, on_page) = ("Picture is being fetched", "The picture of this project is being fetched.");
    // Pages show no pictures of other hosts, so that of the vase is waited for, too. The catalog knows better than the summaries of
    // search here that the one of the stall was refused.
    for (slug, is_waiting) in
        [("tower", false), ("quay", true), ("stall", false), ("vase", true), ("lost", false)]
    {
        assert_eq!(says(&format!("/?q={slug}"), on_card).await, is_waiting, "{slug} in a list");
        assert_eq!(says(&format!("/board?slugs={slug}"), on_card).await, is_waiting, "{slug} on a board");
        assert_eq!(says(&format!("/projects/{slug}"), on_page).await, is_waiting, "{slug}");
        assert_eq!(says(&format!("/cite/{slug}/1"), on_page).await, is_waiting, "{slug} as cited");
    }
}
