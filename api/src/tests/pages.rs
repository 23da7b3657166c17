//! The pages for people: whole, closed to other sites, and harmless whatever a record says.

use super::*;

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
async fn every_page_is_closed_to_other_sites_and_asks_nothing_of_them() {
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
                "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; \
                 base-uri 'none'; frame-ancestors 'none'"
            ),
            "{path}"
        );
        assert_eq!(reply.header("access-control-allow-origin"), None, "{path}");
        assert_eq!(reply.header("referrer-policy"), Some("same-origin"), "{path}");
        let text = reply.text();
        assert_eq!(text.matches("<h1").count(), 1, "{path}");
        // Nobody needs a key on this node.
        assert!(!text.contains("href=\"/keys"), "{path}");
        assert!(!text.contains("style=") && !text.contains("<script>"), "{path}");
        let loads = text.match_indices("src=\"").chain(text.match_indices("rel=\"stylesheet\" href=\""));
        for (at, what) in loads {
            assert!(text[at + what.len()..].starts_with('/'), "{path} loads from elsewhere");
        }
    }
}

#[tokio::test]
async fn what_pages_need_is_kept_for_ever_and_changes_its_path() {
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
    let newest = ["haus-am-see", "new-mill", "street-house-1", "street-house-2", "street-house-3"];
    assert_eq!(links(&node.get("/").await), newest);
    let mut found = links(&node.get("/?q=street").await);
    found.sort_unstable();
    assert_eq!(found, newest[2..]);
    assert_eq!(links(&node.get("/?material=larch").await), ["haus-am-see"]);
    let nothing = node.get("/?material=larsh").await;
    assert!(
        nothing.text().contains("No project says “larsh” of its material; near are larch."),
        "{nothing:?}"
    );
    assert!(links(&nothing).is_empty());
}

#[tokio::test]
async fn a_browser_is_told_what_went_wrong_on_a_page_and_a_program_in_json() {
    let node = Node::start().await;
    for (path, status, title) in [
        ("/nothing", 404, "Nothing is here"),
        ("/projects/haus-am-sea", 404, "Unknown slug"),
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
    // The interface for programs is one for programs, whoever looks at it.
    node.ask("GET", "/v1/project/nothing", HTML).await.problem();
}

#[tokio::test]
async fn a_moved_project_is_where_it_went() {
    let node = Node::start().await;
    let reply = node.ask("GET", "/projects/old-mill", HTML).await;
    assert_eq!((reply.status, reply.header("location")), (308, Some("/projects/new-mill")));
}

#[tokio::test]
async fn pages_are_read_and_forms_are_small() {
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
