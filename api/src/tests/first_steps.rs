//! The front page of an empty catalog.

use serde_json::json;

use super::node::Node;

#[tokio::test]
async fn an_empty_catalog_says_how_it_is_filled() {
    let node = Node::start_of(&[]).await;
    let page = node.get("/").await;
    let text = page.text();
    assert!(text.contains("<h2 id=\"first-steps\">Fill this catalog</h2>"), "{text}");
    for (id, command) in [
        ("step-1", "loggia import works.csv --suggest works.toml"),
        ("step-2", "loggia import works.csv --mapping works.toml"),
    ] {
        assert!(text.contains(&format!("<code id=\"{id}\">{command}</code>")), "{text}");
        assert!(text.contains(&format!("data-copy=\"{id}\"")), "{text}");
    }
    assert!(!text.contains("id=\"step-3\""), "this node requires no keys: {text}");
    assert!(text.contains("/services.css\">"), "commands are not wider than a telephone: {text}");
    for path in ["/art", "/?q=house"] {
        let page = node.get(path).await;
        let text = page.text();
        assert!(!text.contains("first-steps") && !text.contains("/services.css"), "{path}: {text}");
    }
}

#[tokio::test]
async fn an_empty_catalog_invites_to_nothing_that_it_cannot_do() {
    let node = Node::start_of(&[]).await;
    let to_the_steps = "There are no projects yet. <a href=\"/\">How the catalog is filled</a>";
    for (path, status) in [
        ("/", 200),
        ("/art", 200),
        ("/?q=house", 200),
        ("/?sort=name", 200),
        ("/nothing", 404),
        ("/?page=0", 400),
    ] {
        let page = node.ask("GET", path, "Accept: text/html\r\n").await;
        let text = page.text();
        assert_eq!(page.status, status, "{path}");
        for invitation in [
            "role=\"search\"",
            ">Search<",
            "Surprise me",
            "Browse here",
            "or search",
            "Skip to the results",
            "id=\"filters\"",
            "Sort by",
            "Get this from the API",
            "Try another word",
            "all categories",
            "class=\"pages\"",
        ] {
            assert!(!text.contains(invitation), "{path}: {invitation}: {text}");
        }
        assert_eq!(text.contains(to_the_steps), path != "/", "{path}: {text}");
    }
    assert!(node.get("/connect").await.text().contains("say that there are no projects yet."));
}

#[tokio::test]
async fn a_catalog_with_one_project_shows_it_instead() {
    let node = Node::start_of(&[("pier", json!({"name": "Pier", "category": "art"}))]).await;
    let page = node.get("/").await;
    assert!(!page.text().contains("first-steps"));
    for invitation in ["role=\"search\"", ">Search</a>", "Surprise me", "Browse here"] {
        assert!(page.text().contains(invitation), "{invitation}: {}", page.text());
    }
    assert!(node.get("/connect").await.text().contains("It should call a tool and name projects."));
}
