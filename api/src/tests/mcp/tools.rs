//! What each tool answers, next to what REST answers to the same question.

use schemas::picture::{Form, PictureId};

use super::*;
use crate::tests::slugs;

const HAUS: &str = "haus-am-see";

#[tokio::test]
async fn search_over_mcp_finds_the_same_as_over_rest() {
    let node = Node::start().await;
    let mut rest = node.get("/v1/search?q=street&limit=2").await.json();
    for said in ["approximate", "missing_words", "replaced", "did_you_mean", "note"] {
        rest.as_object_mut().unwrap().remove(said);
    }
    assert_eq!(node.tool("search_projects", json!({"query": " street ", "limit": "2"})).await, rest);
    let next = json!({"query": "street", "limit": 2, "cursor": rest["next_cursor"]});
    let next = node.tool("search_projects", next).await;
    assert_eq!((next["count"].as_u64(), &next["next_cursor"]), (Some(1), &Value::Null), "{next}");
    assert!(!slugs(&rest).contains(&slugs(&next)[0]), "{next}");
    let foreign = json!({"query": "haus", "cursor": rest["next_cursor"]});
    assert_eq!(
        node.tool_refusal("search_projects", foreign).await,
        "The cursor cannot be used: it was made for another text, category or filter. Start again from the first page, without a cursor."
    );
    let rest = node.get("/v1/search?q=street").await.json();
    let found =
        node.tool("search_projects", json!({"query": "street", "category": "DESIGN", "limit": 20})).await;
    assert_eq!(found["results"], rest["results"]);

    let nothing = node.tool("search_projects", json!({"query": "street", "category": "art"})).await;
    let note = "No project is in the category art; there are design (4), architecture (1). Without category 3 projects remain.";
    assert_eq!(
        nothing,
        json!({"query": "street", "count": 0, "total": 0, "results": [], "next_cursor": null, "note": note})
    );
    let nothing = node.tool("search_projects", json!({"query": "qqqqqq"})).await;
    assert!(
        nothing["note"]
            .as_str()
            .unwrap()
            .starts_with("No project has “qqqqqq”. Try other or more general words"),
        "{nothing}"
    );
    for tool in ["search_projects", "search"] {
        let corrected = node.tool(tool, json!({"query": "strete house 2"})).await;
        let note = "Shown are projects with “street” instead of “strete”.";
        assert_eq!(corrected["note"], note, "{corrected}");
        let many = "house ".to_owned() + &(0..20).map(|number| format!("w{number} ")).collect::<String>();
        let cut = node.tool(tool, json!({"query": many})).await;
        assert!(cut["note"].as_str().unwrap().contains("Only the first 16 words were looked for."), "{cut}");
    }

    assert_eq!(
        node.tool_refusal("search_projects", json!({"limit": 99})).await,
        "These arguments cannot be used: query is missing; limit is “99”, it must be a whole number from 1 to 20. \
         A call of search_projects that works: {\"query\":\"brick library\",\"limit\":5,\"category\":\"architecture\"}"
    );
    let long = "x".repeat(201);
    assert!(
        node.tool_refusal("search_projects", json!({"query": long}))
            .await
            .contains("query has 201 characters, at most 200 are taken")
    );
}

#[tokio::test]
async fn neighbours_are_those_of_rest() {
    let node = Node::start().await;
    let mut rest = node.get(&format!("/v1/similar/{HAUS}?limit=2")).await.json();
    rest.as_object_mut().unwrap().remove("note");
    assert_eq!(node.tool("similar_projects", json!({"slug": HAUS, "limit": 2})).await, rest);
    let next = rest["next_cursor"].as_str().unwrap();
    let second = node.tool("similar_projects", json!({"slug": HAUS, "limit": 2, "cursor": next})).await;
    let mut rest = node.get(&format!("/v1/similar/{HAUS}?limit=2&cursor={next}")).await.json();
    rest.as_object_mut().unwrap().remove("note");
    assert_eq!((&second, &second["total"], &second["next_cursor"]), (&rest, &json!(3), &Value::Null));
    let other =
        node.tool_refusal("similar_projects", json!({"slug": "street-house-1", "cursor": next})).await;
    assert!(
        other.starts_with("The cursor was not given out with the neighbours of street-house-1."),
        "{other}"
    );
    let moved = node.tool("similar_projects", json!({"slug": "old-mill"})).await;
    let rest = node.get("/v1/similar/new-mill").await.json();
    assert_eq!((&moved["slug"], &moved["results"]), (&rest["slug"], &rest["results"]));
    assert_eq!(
        moved["note"],
        "The project was renamed: its slug is new-mill now, and old-mill still leads here."
    );
    let alone = node.tool("similar_projects", json!({"slug": "street-house-3"})).await;
    assert_eq!(alone["count"], 0);
    assert!(
        alone["note"].as_str().unwrap().contains("no picture and no text that could be compared"),
        "{alone}"
    );
}

#[tokio::test]
async fn a_record_is_that_of_rest_however_its_slug_is_written() {
    let node = Node::start().await;
    let rest = node.get(&format!("/v1/project/{HAUS}")).await.json();
    for slug in [
        HAUS,
        " HAUS-AM-SEE ",
        "https://catalog.example.org/projects/haus-am-see?x=1",
        "https://catalog.example.org/cite/haus-am-see/1?format=csl",
        "project://haus-am-see",
    ] {
        assert_eq!(node.tool("get_project", json!({"slug": slug})).await, rest, "{slug}");
    }
    let moved = node.tool("get_project", json!({"slug": "old-mill"})).await;
    assert_eq!(moved["slug"], "new-mill");
    assert_eq!(
        node.tool_refusal("get_project", json!({"slug": "gone-house"})).await,
        "The project gone-house was withdrawn from the catalog: The owners \"asked\" for it. What was published of it can still be \
         cited as https://catalog.example.org/cite/gone-house/1."
    );
    assert_eq!(
        node.tool_refusal("get_project", json!({"slug": "haus-am-sea"})).await,
        "No project has the slug “haus-am-sea”. Slugs that are near: haus-am-see. Take the slug of a result of search_projects, for \
         example {\"query\":\"brick library\"}."
    );
    assert!(
        node.tool_refusal("get_project", json!({"slug": "../../etc/passwd"}))
            .await
            .starts_with("No project has the slug ")
    );
    assert_eq!(
        node.tool_refusal("get_project", json!({})).await,
        "These arguments cannot be used: slug is missing. A call of get_project that works: {\"slug\":\"new-mill\"}"
    );
}

#[tokio::test]
async fn several_records_are_those_of_rest() {
    let node = Node::start().await;
    let slugs = ["old-mill", "street-house-1", "gone-house", "no-such"];
    let rest = node.get(&format!("/v1/projects?slugs={}", slugs.join(","))).await.json();
    assert_eq!(rest["count"], 2);
    let as_text = json!(slugs).to_string();
    for given in [json!(slugs), json!(slugs.join(", ")), json!(as_text)] {
        assert_eq!(node.tool("get_project", json!({"slugs": given})).await, rest, "{given}");
    }
    let upper = node.tool("get_project", json!({"slugs": slugs[..3].join(", ").to_uppercase()})).await;
    assert_eq!(upper["results"], rest["results"]);
    let many = vec!["a"; 21];
    for (arguments, fault) in [
        (json!({"slugs": "[]"}), "slug is missing"),
        (
            json!({"slugs": "[[\"a\"]]"}),
            "slugs holds a value that is a list, one value is taken; slug is missing",
        ),
        (json!({"slugs": many}), "slugs has 21 slugs, at most 20 are taken"),
        (json!({"slugs": []}), "slug is missing"),
        (json!({"slugs": ["a"], "slug": "b"}), "slug and slugs are both given, give one of them"),
        (
            json!({"slugs": ["a"], "revision": 1}),
            "revision cannot be used with slugs, which gives the present records",
        ),
    ] {
        let refused = node.tool_refusal("get_project", arguments).await;
        assert!(refused.starts_with(&format!("These arguments cannot be used: {fault}. ")), "{refused}");
    }
}

#[tokio::test]
async fn the_newest_come_page_by_page() {
    let node = Node::start().await;
    let (mut seen, mut cursor) = (Vec::new(), json!(null));
    loop {
        let page = node.tool("browse", json!({"limit": 2, "cursor": cursor})).await;
        assert_eq!(page["total"], 5);
        seen.extend(slugs(&page).into_iter().map(str::to_owned));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["new-mill", "street-house-3", "street-house-2", "street-house-1", HAUS]);
    let summary = &node.tool("browse", json!({"category": "Architecture"})).await["results"][0];
    let mut rest = node.get("/v1/search?q=haus").await.json()["results"][0].take();
    rest.as_object_mut().unwrap().remove("score");
    assert_eq!(*summary, rest);
    let none = node.tool("browse", json!({"category": "art"})).await;
    assert_eq!(none["note"], "No project is in the category art; there are design (4), architecture (1).");
    assert!(
        node.tool_refusal("browse", json!({"cursor": "x"}))
            .await
            .contains("cursor is “x”, it must be next_cursor of the page before")
    );
    let first = node.tool("browse", json!({"limit": 2})).await;
    let foreign = json!({"cursor": first["next_cursor"], "category": "design"});
    assert_eq!(
        node.tool_refusal("browse", foreign).await,
        "The cursor does not belong to this query: it was given with the results of other arguments. Leave it out to start from \
         the first page."
    );
}

#[tokio::test]
async fn search_by_taste_reports_matches_and_advice_without_matches() {
    let node = Node::start().await;
    let found = node.tool("search_by_taste", json!({"material": "LARCH", "light": "dusk"})).await;
    assert_eq!((slugs(&found), &found["results"][0]["matched"]), (vec![HAUS], &json!(["material"])));
    assert_eq!(found["total"], 1);
    assert_eq!(
        found["note"],
        "No project has both; the nearest is one that has one. No project matches light “dusk”; list_taste_terms shows the \
         words in use."
    );
    let near = node.tool("search_by_taste", json!({"material": "lerch"})).await;
    assert_eq!(
        (near["count"].clone(), near["note"].clone()),
        (
            json!(0),
            json!(
                "No project matches material “lerch”; words in use that are near, with their projects: larch (1)."
            )
        )
    );
    assert_eq!(
        node.tool_refusal("search_by_taste", json!({"category": "art"})).await,
        "These arguments cannot be used: at least one of material, light, color, mood, composition, subject is needed. A call of \
         search_by_taste that works: {\"material\":\"oak\",\"mood\":\"calm\",\"limit\":5}"
    );
    let terms = node.tool("list_taste_terms", json!({"dimension": "Material"})).await;
    let expected = json!({"dimensions": [{"dimension": "material", "distinct": 1, "terms": [{"term": "larch", "projects": 1}]}], "next_cursor": null});
    assert_eq!(terms, expected);
    assert_eq!(node.tool("list_taste_terms", json!({})).await["dimensions"].as_array().unwrap().len(), 6);
    let none = node.tool("list_taste_terms", json!({"category": "photography"})).await;
    assert_eq!(none["note"], "No project says anything here yet. Leave category or dimension out.");
    assert!(node.tool_refusal("list_taste_terms", json!({"dimension": "smell"})).await.contains(
        "dimension is “smell”, it must be one of material, light, color, mood, composition, subject"
    ));
}

#[tokio::test]
async fn random_projects_cover_all_but_withdrawn_ones() {
    let node = Node::start().await;
    let mut seen = std::collections::BTreeSet::new();
    // That one of five is never drawn in 200 has a chance of 1 in 10^19.
    for _ in 0..200 {
        let drawn = node.tool("discover", json!({})).await;
        assert_eq!((drawn["count"].clone(), drawn["total"].clone()), (json!(1), json!(5)));
        seen.insert(slugs(&drawn)[0].to_owned());
    }
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        [HAUS, "new-mill", "street-house-1", "street-house-2", "street-house-3"]
    );
    assert_eq!(slugs(&node.tool("discover", json!({"category": "architecture"})).await), [HAUS]);
    let none = node.tool("discover", json!({"category": "art"})).await;
    assert_eq!((none["count"].clone(), none["results"].clone()), (json!(0), json!([])));
}

#[tokio::test]
async fn connectors_search_and_fetch() {
    let node = Node::start().await;
    let found = node.tool("search", json!({"query": "haus"})).await;
    let url = "https://catalog.example.org/projects/haus-am-see";
    let haus = json!({"id": HAUS, "title": "Haus am See — Atelier Łoś", "url": url});
    assert_eq!(found, json!({"results": [haus], "next_cursor": null}));
    let reply = node.post("", call("fetch", json!({"id": HAUS}))).await;
    let record = content(&reply);
    let text = "Haus am See, Atelier Łoś, Zürich, Switzerland, 2019 (Architecture)\n\nA \"quiet\" house.\n\nLong.\n\nArea: 120 m²\n\n\
                Taste: material: larch.\n\nSelected by Ada on 2024-04-01. Seen.\n\nCite as https://catalog.example.org/cite/haus-am-see/1";
    assert_eq!(record["text"], text);
    assert_eq!(
        (&record["id"], &record["title"], &record["url"]),
        (&json!(HAUS), &json!("Haus am See — Atelier Łoś"), &json!(url))
    );
    assert_eq!(record["metadata"]["citation_url"], "https://catalog.example.org/cite/haus-am-see/1");
    assert_eq!(record["note"], "No picture of this project is recorded.");
    assert_eq!(
        reply.json()["result"]["content"].as_array().unwrap().len(),
        1,
        "a missing picture is not an error"
    );
    assert!(
        node.tool_refusal("fetch", json!({"id": "nothing"}))
            .await
            .starts_with("No project has the slug “nothing”.")
    );
}

#[tokio::test]
async fn a_picture_is_embedded_as_stored_or_smaller() {
    let node = Node::start_with_picture(PictureId([7; 32])).await;
    let keep = |form: Form, bytes: &[u8]| {
        let file = node.folder.path().join("media").join(form.path(PictureId([7; 32])));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    };
    let images = async || {
        let answer = node.post("", call("fetch", json!({"id": HAUS}))).await.json();
        let items = answer["result"]["content"].as_array().unwrap()[1..].to_vec();
        (items, answer["result"]["structuredContent"]["note"].clone())
    };
    let away = json!("The picture cannot be embedded at present; its address is metadata.image_url.");
    assert_eq!(images().await, (vec![], away.clone()));
    keep(Form::Webp(320), b"webp");
    let webp = json!({"type": "image", "mimeType": "image/webp", "data": "d2VicA=="});
    assert_eq!(images().await, (vec![webp.clone()], json!(null)));
    keep(Form::Jpeg(640), b"jpeg");
    assert_eq!(images().await.0, [json!({"type": "image", "mimeType": "image/jpeg", "data": "anBlZw=="})]);
    keep(Form::Jpeg(640), &vec![0; 2 << 20]);
    assert_eq!(images().await, (vec![webp], json!(null)), "2 MB as Base64 are the most");
    keep(Form::Webp(320), &vec![0; 2 << 20]);
    assert_eq!(images().await, (vec![], away));
}

#[tokio::test]
async fn a_node_without_keys_issues_none() {
    let node = Node::start().await;
    assert_eq!(
        node.tool_refusal("get_api_key", json!({"email": "a@example.org"})).await,
        "This service runs without keys: every tool answers in full without one. Nothing was created."
    );
    assert!(
        node.tool_refusal("get_api_key", json!({"email": "a"}))
            .await
            .contains("email is “a”, it must be an address such as you@example.org")
    );
    assert!(node.tool_refusal("get_api_key", json!({})).await.contains("email is missing"));
}

#[tokio::test]
async fn a_node_that_is_catching_up_reports_it() {
    let node = Node::start_empty().await;
    for (tool, arguments, expected) in [
        ("search_projects", json!({"query": "a"}), "The search index is still being filled."),
        ("search_by_taste", json!({"mood": "a"}), "The archive is still being filled."),
        ("browse", json!({}), "The archive is still being filled."),
        ("discover", json!({}), "The archive is still being filled."),
        ("list_taste_terms", json!({}), "The archive is still being filled."),
        ("get_project", json!({"slug": "a"}), "The catalog is still being filled."),
        ("similar_projects", json!({"slug": "a"}), "The search index is still being filled."),
        ("fetch", json!({"id": "a"}), "The catalog is still being filled."),
        ("search", json!({"query": "a"}), "The search index is still being filled."),
    ] {
        assert_eq!(node.tool_refusal(tool, arguments).await, expected, "{tool}");
    }
}

#[tokio::test]
async fn a_tool_accepts_the_arguments_that_its_schema_names() {
    let node = Node::start().await;
    let answer = node.post("", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.json();
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        let name = tool["name"].as_str().unwrap();
        let mut arguments =
            json!({"slug": "haus-am-see", "id": "haus-am-see", "query": "haus", "material": "larch"});
        arguments.as_object_mut().unwrap().retain(|key, _| names.contains(&key.as_str()));
        arguments["odd"] = json!(1);
        if name == "get_api_key" {
            continue;
        }
        let said = content(&node.post("", call(name, arguments)).await);
        let takes = match names[..] {
            [] => "takes no arguments".to_owned(),
            _ => format!("takes {}", names.join(", ")),
        };
        let note = said["note"].as_str().unwrap_or_else(|| panic!("{name}: {said}"));
        assert!(note.contains(&format!("Not used: “odd”. {name} {takes}.")), "{name}: {note}");
    }
}
