//! The HTML pages: complete, isolated from other sites, and safe for any content of a record.

use super::node::SITE;
use super::*;
use crate::{Site, SiteTexts};

const HTML: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";

const PAGES: [&str; 8] = [
    "/",
    "/?q=street",
    "/?material=larch",
    "/?category=design",
    "/projects/haus-am-see",
    "/docs",
    "/status",
    "/problems/withdrawn",
];

#[tokio::test]
async fn every_page_is_isolated_from_other_sites_and_loads_nothing_from_them() {
    let node = Node::start().await;
    for path in PAGES {
        let reply = node.ask("GET", path, HTML).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, Some("text/html; charset=utf-8")),
            "{path}"
        );
        assert_eq!(
            reply.header("content-security-policy"),
            Some(
                "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
                 form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            ),
            "{path}"
        );
        assert_eq!(reply.header("access-control-allow-origin"), None, "{path}");
        assert_eq!(reply.header("referrer-policy"), Some("same-origin"), "{path}");
        let text = reply.text();
        assert_eq!(text.matches("<h1").count(), 1, "{path}");
        // This node requires no keys.
        assert!(!text.contains("href=\"/keys"), "{path}");
        assert!(!text.contains("style=") && !text.contains("<script>"), "{path}");
        let loads = text.match_indices("src=\"").chain(text.match_indices("rel=\"stylesheet\" href=\""));
        for (at, what) in loads {
            assert!(text[at + what.len()..].starts_with('/'), "{path} loads from elsewhere");
        }
    }
}

#[tokio::test]
async fn the_configured_texts_of_the_site_are_used() {
    let texts = SiteTexts {
        name: Some("Casa & Co".into()),
        tagline: Some("Houses \"and\" gardens".into()),
        about: Some("Chosen <slowly>.".into()),
    };
    let node = Node::start_at(SITE.parse::<Site>().unwrap().with_texts(texts)).await;
    let home = node.ask("GET", "/", HTML).await;
    for element in [
        "<title>Casa &#38; Co</title>",
        "<meta name=\"description\" content=\"Chosen &#60;slowly&#62;.\">",
        "<a class=\"wordmark\" href=\"/\">Casa &#38; Co</a>",
        "<h1>Houses &#34;and&#34; gardens</h1>",
        "<p class=\"lead\">Chosen &#60;slowly&#62;. 5 projects, each with its source.",
        "placeholder=\"larch, Zürich, Atelier Łoś…\"",
        "<span>Houses &#34;and&#34; gardens</span>",
    ] {
        assert!(home.text().contains(element), "{element} in {}", home.text());
    }
    let project = node.ask("GET", "/projects/haus-am-see", HTML).await;
    for element in ["<title>Haus am See · Casa &#38; Co</title>", "og:site_name\" content=\"Casa &#38; Co\""]
    {
        assert!(project.text().contains(element), "{element} in {}", project.text());
    }
    let feed = node.get("/feed.atom").await;
    let (title, subtitle) = (
        "<title>Casa &amp; Co: latest additions</title>",
        "<subtitle>Houses &quot;and&quot; gardens</subtitle>",
    );
    assert!(feed.text().contains(title) && feed.text().contains(subtitle), "{}", feed.text());
    let cited = node.get("/cite/haus-am-see/1?format=bibtex").await;
    assert!(cited.text().contains("  howpublished = {Casa \\& Co},\n"), "{}", cited.text());
    assert!(node.get("/llms.txt").await.text().starts_with("# Casa & Co\n\n> Chosen <slowly>. Every"));
    assert_eq!(node.get("/server.json").await.json()["title"], "Casa & Co");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    let answer = node.post("Content-Type: application/json\r\n", body).await.json();
    assert_eq!(answer["result"]["serverInfo"]["title"], "Casa & Co");
    let instructions = answer["result"]["instructions"].as_str().unwrap();
    assert!(instructions.starts_with("Casa & Co is a curated catalog"), "{instructions}");
}

#[tokio::test]
async fn assets_are_immutable_and_have_a_versioned_path() {
    let node = Node::start().await;
    let page = node.get("/").await;
    let path = page.text().split('"').find(|part| part.ends_with("site.css")).unwrap().to_owned();
    let style = node.get(&path).await;
    assert_eq!(style.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(style.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let old = node.get("/assets/000000000000/site.css").await;
    assert_eq!((old.status, old.header("cache-control")), (200, Some("no-store")));
    assert_eq!(old.text(), style.text());
    assert_eq!(node.get("/assets/000000000000/../site.css").await.status, 404);
}

#[tokio::test]
async fn the_front_page_shows_what_the_catalog_has() {
    let node = Node::start().await;
    let links = |reply: &Reply| {
        let text = reply.text().to_owned();
        let links: Vec<_> = text
            .match_indices("href=\"/projects/")
            .map(|(at, what)| text[at + what.len()..].split('"').next().unwrap().to_owned())
            .collect();
        links
    };
    let newest = ["new-mill", "street-house-3", "street-house-2", "street-house-1", "haus-am-see"];
    assert_eq!(links(&node.get("/").await), newest);
    let mut found = links(&node.get("/?q=street").await);
    found.sort_unstable();
    assert_eq!(found, ["street-house-1", "street-house-2", "street-house-3"]);
    assert_eq!(links(&node.get("/?material=larch").await), ["haus-am-see"]);
    let nothing = node.get("/?material=larsh").await;
    assert!(
        nothing.text().contains("No project has “larsh” as its material. Did you mean larch?"),
        "{nothing:?}"
    );
    assert!(links(&nothing).is_empty());
}

#[tokio::test]
async fn a_suggested_query_is_a_link() {
    let node = Node::start().await;
    let page = node.get("/?q=street+xyzzy&category=design").await;
    let said = "<p class=\"soft\">No project has “xyzzy”.</p>";
    let link = "<p>Did you mean <a href=\"/?q=street&#38;category=design\" rel=\"nofollow\">street</a>? It finds 3 projects.</p>";
    assert!(page.text().contains(said) && page.text().contains(link), "{}", page.text());
    assert!(page.text().contains("No projects found"));
    assert!(!node.get("/?q=street").await.text().contains("Did you mean"));
}

#[tokio::test]
async fn the_reference_has_an_example_in_javascript() {
    let node = Node::start().await;
    let page = node.get("/docs").await;
    // This node requires no keys.
    let script = "<code id=\"javascript\">const answer = await fetch(\"https://catalog.example.org/v1/search?q=brick+library\");\n\
                  const { results } = await answer.json();</code>";
    assert!(page.text().contains(script), "{}", page.text());
}

#[tokio::test]
async fn errors_are_pages_for_browsers_and_json_for_programs() {
    let node = Node::start().await;
    for (path, status, title) in [
        ("/nothing", 404, "Nothing is here"),
        ("/projects/haus-am-sea", 404, "Project not found"),
        ("/projects/gone-house", 410, "Withdrawn"),
        ("/?category=music", 400, "Invalid parameters"),
        ("/keys", 404, "Nothing is here"),
    ] {
        let reply = node.ask("GET", path, HTML).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (status, Some("text/html; charset=utf-8")),
            "{path}"
        );
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        let heading = reply.text().split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap().to_owned();
        assert_eq!(heading, title, "{path}");
        let reply = node.ask("GET", path, "Accept: */*\r\n").await;
        assert_eq!(reply.status, status, "{path}");
        reply.problem();
    }
    let near = node.ask("GET", "/projects/haus-am-sea", HTML).await;
    assert!(near.text().contains("href=\"/projects/haus-am-see\""));
    // REST answers problem+json to browsers too.
    node.ask("GET", "/v1/project/nothing", HTML).await.problem();
    // Below /v1 it is a problem for every client.
    for path in ["/v1/nothing", "/v1/projects/haus-am-see", "/v1"] {
        let reply = node.ask("GET", path, "Accept: text/html,*/*;q=0.8\r\n").await;
        assert!(reply.problem().contains("/problems/not-found"), "{path}");
    }
}

#[tokio::test]
async fn methods_sizes_and_origins_of_pages_and_forms_are_restricted() {
    let node = Node::start().await;
    let reply = node.ask("POST", "/pricing", "").await;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    let reply = node.ask("DELETE", "/keys", "").await;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD, POST, OPTIONS")));
    let reply = node.ask("POST", "/keys", "Content-Length: 17000\r\n").await;
    assert_eq!(reply.status, 413);
    let reply = node.ask("POST", "/keys", "Origin: https://elsewhere.example\r\nContent-Length: 0\r\n").await;
    assert_eq!(reply.status, 403);
}
