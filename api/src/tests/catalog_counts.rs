//! What the catalog records, over REST and MCP, and what its texts for agents say of it.

use ::answers::catalog::about::NEVER_RECORDED;
use read::archive::Member;
use schemas::event::{Event, ProjectWithdrawn};
use serde_json::{Map, Value, json};

use super::node::revised;
use super::*;
use crate::{Limits, RateLimits};

/// Returns the member `catalog`, in which members that are not named have no project.
fn catalog(projects: u64, years: Value, distinct: [u64; 3], recorded: &[(&str, u64)]) -> Value {
    let mut members: Map<String, Value> =
        Member::ALL.into_iter().map(|member| (member.as_str().to_owned(), json!(0))).collect();
    for (name, count) in recorded {
        *members.get_mut(*name).unwrap() = json!(count);
    }
    let [studios, cities, curators] = distinct;
    json!({
        "projects": projects, "recorded": members, "years": years,
        "studios": studios, "cities": cities, "curators": curators,
    })
}

/// Returns the answer of `/v1/terms`, once the tool answers the same.
async fn answered(node: &Node) -> Value {
    let reply = node.get("/v1/terms").await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.text().starts_with(r#"{"catalog":{"projects":"#), "{}", reply.text());
    assert_eq!(node.tool("list_taste_terms", json!({})).await, reply.json());
    reply.json()
}

/// Returns the words of the dimensions where only a material is recorded, or nothing.
fn dimensions(materials: Value) -> Value {
    let of = |dimension, terms: Value| {
        let distinct = terms.as_array().unwrap().len();
        json!({"dimension": dimension, "distinct": distinct, "terms": terms})
    };
    let others = ["light", "color", "mood", "composition", "subject"].map(|other| of(other, json!([])));
    let mut all = vec![of("material", materials)];
    all.extend(others);
    all.into()
}

#[tokio::test]
async fn terms_begin_with_what_the_catalog_records() {
    let node = Node::start().await;
    let whole = [
        ("studio", 1),
        ("city", 1),
        ("year", 1),
        ("intro", 1),
        ("description", 1),
        ("details", 1),
        ("taste", 1),
        ("material", 1),
        ("published", 1),
        ("curated_by", 1),
        ("selected", 1),
        ("in_archive_since", 1),
        ("note", 1),
    ];
    let expected = catalog(5, json!([2019, 2019]), [1, 1, 1], &whole);
    assert_eq!(
        answered(&node).await,
        json!({
            "catalog": expected, "dimensions": dimensions(json!([{"term": "larch", "projects": 1}])),
            "next_cursor": null, "note": NEVER_RECORDED,
        })
    );
    for (query, arguments) in [("limit=1", json!({"limit": 1})), ("page=2", json!({"page": 2}))] {
        let answer = node.get(&format!("/v1/terms?{query}")).await.json();
        assert_eq!(answer["catalog"], expected, "{query}");
        assert_eq!(node.tool("list_taste_terms", arguments).await["catalog"], expected, "{query}");
    }
    for (query, arguments) in [
        ("dimension=material", json!({"dimension": "material"})),
        ("category=architecture", json!({"category": "architecture"})),
        ("kind=phrase", json!({"kind": "phrase"})),
        ("starts_with=l", json!({"starts_with": "l"})),
    ] {
        let answer = node.get(&format!("/v1/terms?{query}")).await.json();
        assert_eq!((answer.get("catalog"), &answer["note"]), (None, &Value::Null), "{query}");
        let answer = node.tool("list_taste_terms", arguments).await;
        assert_eq!((answer.get("catalog"), answer.get("note")), (None, None), "{query}");
    }
}

#[tokio::test]
async fn an_empty_catalog_and_one_of_a_single_project_say_so() {
    let node = Node::start_of(&[]).await;
    assert_eq!(
        answered(&node).await,
        json!({
            "catalog": catalog(0, json!([]), [0; 3], &[]), "dimensions": dimensions(json!([])), "next_cursor": null,
            "note": format!("{NEVER_RECORDED} No project says anything here yet."),
        })
    );
    assert_llms(&node, "> A curated catalog. It has no projects yet. Each").await;
    assert_instructions(&node, "catalog.example.org is a curated catalog. Find projects").await;
    assert!(node.get("/").await.text().contains("<p class=\"lead\">There are no projects yet.</p>"));

    let record =
        json!({"name": "Pier", "category": "photography", "year": "0987", "citation_url": "https://m.org/1"});
    let node = Node::start_of(&[("pier", record)]).await;
    let expected = catalog(1, json!([987, 987]), [0; 3], &[("year", 1), ("citation_url", 1)]);
    assert_eq!(answered(&node).await["catalog"], expected);
    assert_llms(
        &node,
        "> A curated catalog of photography. It has one project, which names no curator. Each record has \
         `revision_url`, its address to cite.\n\n## What is recorded\n\n- Of one project so many have: year 1, citation_url 1\n\
         - None has: studio, city, intro, description, design_language, details, taste, material, light, color, mood, composition, \
         subject, thumbnail, images, alt, credit, rights, published, curated_by, selected, in_archive_since, note, url\n\
         - Distinct: studios 0, cities 0, curators 0; years from 0987 to 0987\n- Never recorded as such: gender, ",
    )
    .await;
    assert_instructions(&node, "catalog.example.org is a curated catalog of photography. Find projects")
        .await;
    let lead = "<p class=\"lead\">One project, with an address to cite. Browse";
    assert!(node.get("/").await.text().contains(lead));
}

#[tokio::test]
async fn withdrawn_and_revised_projects_count_as_they_are_now() {
    let withdrawn = Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() });
    let record = json!({"name": "Haus am See", "category": "architecture", "year": "1999", "taste": {"light": "dusk"}});
    let at = "2026-11-21T08:00:00Z";
    let node = Node::start_after(&[(at, 1, withdrawn.clone()), (at, 0, revised(record))]).await;
    let recorded = [("year", 1), ("taste", 1), ("light", 1)];
    assert_eq!(answered(&node).await["catalog"], catalog(4, json!([1999, 1999]), [0; 3], &recorded));
    assert_llms(
        &node,
        "> A curated catalog of architecture and design. It has 4 projects, none of which names its curator. ",
    )
    .await;

    let node = Node::start_after(&[(at, 0, withdrawn)]).await;
    assert_eq!(answered(&node).await["catalog"], catalog(4, json!([]), [0; 3], &[]));
    assert_instructions(&node, "catalog.example.org is a curated catalog of design. Find projects").await;
}

#[tokio::test]
async fn texts_for_agents_say_only_what_holds_here() {
    // Nothing can be counted before there is an archive.
    let node = Node::start_empty().await;
    assert_llms(
        &node,
        "> A curated catalog. Each record has `revision_url`, its address to cite.\n\n## What is",
    )
    .await;
    assert_instructions(&node, "catalog.example.org is a curated catalog. Find projects").await;

    let node = Node::start().await;
    assert_llms(
        &node,
        "> A curated catalog of architecture and design. One of its 5 projects names its curator. ",
    )
    .await;
    assert_instructions(&node, "catalog.example.org is a curated catalog of architecture and design. Find")
        .await;
    let (llms, told) = (node.get("/llms.txt").await, instructions(&node).await);
    let llms = llms.text();
    assert!(llms.contains("It works without a key.\n\n- `") && !llms.contains("/pricing"), "{llms}");
    assert!(told.ends_with(" No key is needed."), "{told}");

    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let (llms, told) = (node.get("/llms.txt").await, instructions(&node).await);
    let llms = llms.text();
    assert!(
        llms.contains("It works without a key, with at most 5 results a call; ") && llms.contains("/pricing"),
        "{llms}"
    );
    assert!(told.ends_with("when the user offers an email address."), "{told}");
    assert!(told.chars().count() <= 1_000, "{}", told.chars().count());
}

/// Asserts how the text for language models goes on after the name, and what it says is never recorded.
async fn assert_llms(node: &Node, expected: &str) {
    let reply = node.get("/llms.txt").await;
    let text = reply.text();
    assert!(text.starts_with(&format!("# catalog.example.org\n\n{expected}")), "{text}");
    assert!(text.contains(&format!("- {NEVER_RECORDED}\n")), "{text}");
}

/// Returns the instructions for agents, which are the same in both eras of the protocol.
async fn instructions(node: &Node) -> String {
    let of = async |method: &str| {
        let reply = node.post("", format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#)).await;
        reply.json()["result"]["instructions"].as_str().unwrap().to_owned()
    };
    let instructions = of("initialize").await;
    assert_eq!(of("server/discover").await, instructions);
    instructions
}

async fn assert_instructions(node: &Node, expected: &str) {
    let instructions = instructions(node).await;
    assert!(instructions.starts_with(expected) && instructions.contains(NEVER_RECORDED), "{instructions}");
}
