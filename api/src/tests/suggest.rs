//! Suggestions while a text is typed: `GET /v1/suggest` and the search box of the site.

use serde_json::{Value, json};

use super::Node;

fn records() -> [(&'static str, Value, &'static [[u8; 3]]); 6] {
    let record = |name: &str, studio: &str, city: &str, material: &str| json!({"name": name, "category": "art", "studio": studio, "city": city, "taste": {"material": material}});
    [
        ("larch-room", record("Lärch Room", "Larchmont & Co", "Ulm, Germany", "larch, oak"), &[]),
        ("larch", record("Larch", "Studio Larch", "Köln, Germany", "oak"), &[]),
        ("larchwood", record("Larchwood", "studio larch", "Larchfield", "larch"), &[]),
        ("oak-room", record("Oak Room", "Studio B", "Ulm, Germany", "oak"), &[]),
        ("proof", record("House for a Proofreader", "Oxenham and Wardlaw", "Nantes", "oak"), &[]),
        ("braced", record("Tied and Braced, Nantes", "Oxenham & Wardlaw", "Nantes", "oak"), &[]),
    ]
}

fn one(text: &str, kind: &str, slug: Option<&str>) -> Value {
    json!({"text": text, "kind": kind, "slug": slug})
}

#[tokio::test]
async fn projects_come_first_then_studios_cities_and_terms() {
    let node = Node::start_with_records(&records()).await;
    let answer = node.get("/v1/suggest?q=L%C3%84rch&page=2").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let [first, second, third] = [
        one("Larch", "project", Some("larch")),
        one("Lärch Room", "project", Some("larch-room")),
        one("Larchwood", "project", Some("larchwood")),
    ];
    let [studio, other_studio] = ["Larchmont & Co", "Studio Larch"].map(|text| one(text, "studio", None));
    let (city, term) = (one("Larchfield", "city", None), one("larch", "term", None));
    let expected = json!({"query": "LÄrch", "ignored_parameters": ["page"],
        "suggestions": [first, second, third, studio, other_studio, city, term]});
    assert_eq!(answer.json(), expected);
    let suggestions = async |path: &str| node.get(path).await.json()["suggestions"].take();
    assert_eq!(suggestions("/v1/suggest?q=larch&limit=5").await, json!([first, second, third, studio, city]));
    assert_eq!(suggestions("/v1/suggest?q=larch&limit=1").await, json!([first]));
    assert_eq!(suggestions("/v1/suggest?q=larch+r").await, json!([second]));
    let cities = ["Ulm, Germany", "Köln, Germany"].map(|text| one(text, "city", None));
    assert_eq!(suggestions("/v1/suggest?q=germ").await, json!(cities));
    assert_eq!(suggestions("/v1/suggest?q=***").await, json!([]));
    let proofreader = one("House for a Proofreader", "project", Some("proof"));
    assert_eq!(suggestions("/v1/suggest?q=proofr").await, json!([proofreader]));
    let braced = one("Tied and Braced, Nantes", "project", Some("braced"));
    assert_eq!(suggestions("/v1/suggest?q=brace").await, json!([braced]));
    for typed in ["tied", "tied+a", "tied+an", "tied+and", "tied+%26+bra", "tied+and+braced+n"] {
        assert_eq!(suggestions(&format!("/v1/suggest?q={typed}")).await, json!([braced]), "{typed}");
    }
    let nantes = json!([braced, one("Nantes", "city", None)]);
    assert_eq!(suggestions("/v1/suggest?q=nante").await, nantes);
    // Both spellings are one studio.
    let oxenham = json!([one("Oxenham & Wardlaw", "studio", None)]);
    assert_eq!(suggestions("/v1/suggest?q=Oxenham+and+W").await, oxenham);
    assert_eq!(suggestions("/v1/suggest?q=wardl").await, oxenham);
    assert_eq!(suggestions("/v1/suggest?q=zzz").await, json!([]));
}

#[tokio::test]
async fn all_faults_are_reported_at_once() {
    let node = Node::start().await;
    let (text, number) = ("1 to 200 characters of any text", "an integer from 1 to 20");
    let long = "x".repeat(201);
    for (query, detail) in [
        ("limit=0".to_owned(), "It is missing."),
        ("q=+&limit=21".to_owned(), "It is empty."),
        (format!("q={long}&limit=x"), "It has 201 characters."),
    ] {
        let answer = node.get(&format!("/v1/suggest?{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        let expected = json!([
            {"parameter": "q", "detail": detail, "allowed": text},
            {"parameter": "limit", "detail": format!("It is not {number}."), "allowed": number},
        ]);
        assert_eq!(answer.json()["errors"], expected, "{query}");
    }
}

#[tokio::test]
async fn the_search_box_gets_the_links_to_follow_without_a_key() {
    let node = Node::start_with_records(&records()).await;
    let page = node.get("/").await;
    assert!(page.text().contains(" data-suggest=\"/suggest\">"), "{}", page.text());
    let answer = node.get("/suggest?q=larch").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let one = |text: &str, kind: &str, href: &str| json!({"text": text, "kind": kind, "href": href});
    let expected = json!({"suggestions": [
        one("Larch", "Project", "/projects/larch"),
        one("Lärch Room", "Project", "/projects/larch-room"),
        one("Larchwood", "Project", "/projects/larchwood"),
        one("Larchmont & Co", "Studio", "/studios/larchmont-co"),
        one("Studio Larch", "Studio", "/studios/studio-larch"),
        one("Larchfield", "City", "/?city=Larchfield"),
        one("larch", "Material", "/?material=larch"),
    ]});
    assert_eq!(answer.json(), expected);
    let answer = node.get("/suggest?q=Oxenham+and+W").await;
    let studio = one("Oxenham & Wardlaw", "Studio", "/studios/oxenham-wardlaw");
    assert_eq!(answer.json(), json!({"suggestions": [studio]}));
    assert_eq!(node.get("/suggest?q=+").await.status, 400);
}
