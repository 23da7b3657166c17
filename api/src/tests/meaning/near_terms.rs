//! Recorded words of taste that are near in meaning.

use serde_json::{Value, json};

use super::*;

async fn node() -> Node {
    let record = |name: &str, material: &str| json!({"name": name, "category": "art", "taste": {"material": material, "subject": "temple"}});
    Node::start_with_meanings(&[
        ("a", record("A", "oak, stone"), None),
        ("b", record("B", "larch"), None),
        ("c", record("C", "larch"), None),
    ])
    .await
}

/// Terms with the number of their projects.
type Terms<'a> = Vec<(&'a str, u64)>;

/// The dimension of each list, the number of its words, and the words.
fn terms(answer: &Value) -> Vec<(&str, u64, Terms<'_>)> {
    let lists = answer["dimensions"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let lists = lists.map(|list| {
        let terms = list["terms"].as_array().unwrap().iter();
        let terms = terms.map(|one| (one["term"].as_str().unwrap(), one["projects"].as_u64().unwrap()));
        (list["dimension"].as_str().unwrap(), list["distinct"].as_u64().unwrap(), terms.collect())
    });
    lists.collect()
}

#[tokio::test]
async fn words_that_are_near_are_listed_the_nearest_first() {
    let node = node().await;
    let answer = node.get("/v1/terms?near=wood&dimension=material").await.json();
    assert_eq!(terms(&answer), [("material", 2, vec![("oak", 1), ("larch", 2)])]);
    assert_eq!((&answer["next_cursor"], &answer["note"]), (&Value::Null, &Value::Null));
    assert_eq!(
        node.tool("list_taste_terms", json!({"near": "wood", "dimension": "material"})).await["dimensions"],
        answer["dimensions"]
    );
    let phrases = node.get("/v1/terms?near=Wood+&dimension=material&kind=phrase&limit=1").await.json();
    assert_eq!(terms(&phrases), [("material", 2, vec![("oak", 1)])]);
    let all = node.get("/v1/terms?near=church").await.json();
    let found: Vec<_> = terms(&all).into_iter().filter(|(.., terms)| !terms.is_empty()).collect();
    assert_eq!(found, [("material", 1, vec![("stone", 1)]), ("subject", 1, vec![("temple", 3)])]);
    let none = node.get("/v1/terms?near=boat&dimension=material").await.json();
    assert_eq!(terms(&none), [("material", 0, vec![])]);
    let note = "No word in use is near to “boat” in meaning. Leave near out to see the most used ones.";
    assert_eq!(none["note"], note);
    let unknown = node.get("/v1/terms?near=木").await.json();
    let note =
        "The text model does not know “木”; it knows English. Leave near out to see the most used ones.";
    assert_eq!(unknown["note"], note);
}

#[tokio::test]
async fn near_is_refused_beside_a_beginning_or_a_cursor() {
    let node = node().await;
    for query in ["near=wood&starts_with=o", &format!("near={}", "w".repeat(101))] {
        let reply = node.get(&format!("/v1/terms?{query}")).await;
        assert_eq!((reply.status, &reply.json()["errors"][0]["parameter"]), (400, &json!("near")), "{query}");
    }
    let said = node.tool_refusal("list_taste_terms", json!({"near": "wood", "starts_with": "o"})).await;
    assert!(said.contains("near cannot be combined with starts_with or cursor"), "{said}");
}

#[tokio::test]
async fn a_taste_that_matches_nothing_names_words_that_are_near() {
    let node = node().await;
    let said = "No project matches material “wood”; words in use that are near in meaning, with their projects: oak (1), larch (2).";
    assert_eq!(node.get("/v1/taste?material=wood").await.json()["note"], said);
    assert_eq!(node.tool("search_by_taste", json!({"material": "wood"})).await["note"], said);
    let page = node.get("/?material=wood").await;
    assert!(page.text().contains("Did you mean oak or larch?"), "{}", page.text());
    let unknown = node.get("/v1/taste?material=zzz").await.json();
    assert_eq!(unknown["note"], "No project matches material “zzz”; /v1/terms shows the words in use.");
}
