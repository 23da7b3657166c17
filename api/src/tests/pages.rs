//! The HTML pages: complete, isolated from other sites, and safe for any content of a record.

use schemas::picture::PictureId;
use serde_json::{Value, json};

use super::node::SITE;
use super::*;
use crate::{Site, SiteTexts};

const HTML: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";

const PAGES: [&str; 9] = [
    "/",
    "/?q=street",
    "/?material=larch",
    "/design",
    "/projects/haus-am-see",
    "/docs",
    "/docs/search",
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
        contact: Some("casa@example.org".parse().unwrap()),
        imprint_url: None,
        privacy_url: Some("https://example.org/privacy?a&b".into()),
        terms_url: Some("https://example.org/terms".into()),
    };
    let node = Node::start_at(SITE.parse::<Site>().unwrap().with_texts(texts)).await;
    let home = node.ask("GET", "/", HTML).await;
    for element in [
        "<title>Casa &#38; Co</title>",
        "<meta name=\"description\" content=\"Chosen &#60;slowly&#62;.\">",
        "<a class=\"wordmark\" href=\"/\">Casa &#38; Co</a>",
        "<h1>Houses &#34;and&#34; gardens</h1>",
        "<p class=\"lead\">Chosen &#60;slowly&#62;. 5 projects, each with an address to cite.",
        "placeholder=\"larch, Zürich, Atelier Łoś…\"",
        "<span>Houses &#34;and&#34; gardens</span>",
        "<a href=\"mailto:casa@example.org\">Contact</a>\n<a href=\"https://example.org/privacy?a&#38;b\">Privacy</a>\n\
         <a href=\"https://example.org/terms\">Terms</a>\n</nav>\n</footer>",
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
    assert!(
        node.get("/llms.txt")
            .await
            .text()
            .starts_with("# Casa & Co\n\n> Chosen <slowly>. One of its 5 projects names its curator. Each")
    );
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
    for (path, kind) in [("/favicon.ico", "image/vnd.microsoft.icon"), ("/apple-touch-icon.png", "image/png")]
    {
        let icon = node.get(path).await;
        assert_eq!((icon.status, icon.header("content-type")), (200, Some(kind)), "{path}");
        assert_eq!(icon.header("cache-control"), Some("public, max-age=86400"), "{path}");
    }
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
            .map(|(at, what)| text[at + what.len()..].split(['"', '?']).next().unwrap().to_owned())
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
async fn a_search_that_finds_nothing_shows_what_the_suggestion_finds() {
    let node = Node::start().await;
    let page = node.get("/?q=street+xyzzy&category=design").await;
    for text in ["<h2 id=\"results\">Without “xyzzy”: 3</h2>", "No project has all of “street xyzzy”."]
    {
        assert!(page.text().contains(text), "{}", page.text());
    }
    let names = ["<mark>street</mark> house 1", "<mark>street</mark> house 2", "<mark>street</mark> house 3"];
    assert!(names.iter().all(|name| page.text().contains(name)), "{}", page.text());
    assert!(page.text().contains("value=\"street xyzzy\"") && !page.text().contains("Did you mean"));
    assert!(!node.get("/?q=street").await.text().contains("Did you mean"));
}

#[tokio::test]
async fn the_reference_is_in_plain_words() {
    let node = Node::start().await;
    for (path, text) in [
        (
            "/docs",
            "Fields with no recorded value are <code>null</code>, lists <code>[]</code>; nothing is guessed.",
        ),
        ("/docs", "<p>Machine-readable: <a href=\"/openapi.json\">openapi.json</a>"),
        ("/docs/search", "<summary>Responses: 200"),
        // This node requires no keys, so nothing is missing without one.
        ("/docs/mcp", "No handshake. No key needed. <a href=\"/connect\">"),
        ("/?q=street", "<summary>Get this from the API</summary>"),
        ("/projects/haus-am-see", "<summary>Get this from the API</summary>"),
        ("/?sort=name", "<h1 dir=\"auto\">All projects</h1>"),
    ] {
        let page = node.get(path).await;
        assert!(page.text().contains(text), "{path}: {text}: {}", page.text());
    }
}

/// Returns the text of the element with this id, unescaped.
fn code(page: &str, id: &str) -> String {
    let rest = page.split(&format!("<code id=\"{id}\">")).nth(1).unwrap_or_else(|| panic!("no {id}: {page}"));
    let text = rest.split("</code>").next().unwrap();
    text.replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#38;", "&")
}

#[tokio::test]
async fn the_reference_has_examples_from_this_catalog_with_their_answers() {
    let node = Node::start().await;
    let start = node.get("/docs").await.text().to_owned();
    assert!(
        code(&start, "search-javascript").contains("new URL(\"https://catalog.example.org/v1/search\")"),
        "{start}"
    );
    for (topic, operations) in [
        ("search", &["search", "suggest"][..]),
        ("projects", &["project", "projects", "discover"]),
        ("taste", &["taste", "terms", "similar"]),
        ("changes", &["changes", "feed", "json_feed"]),
        ("citations", &["cite"]),
    ] {
        let page = node.get(&format!("/docs/{topic}")).await.text().to_owned();
        for operation in operations {
            let call = code(&page, &format!("{operation}-curl"));
            let path = call.split(SITE).nth(1).unwrap().trim_end_matches('"');
            let reply = node.get(path).await;
            assert_eq!(reply.status, 200, "{call}");
            let answer = code(&page, &format!("{operation}-answer"));
            let mut lines = answer.lines().filter(|line| *line != "…");
            // Each call of discover draws a project of its own, and XML is shown as it is.
            if *operation == "discover" {
                assert!(answer.contains("\"slug\""), "{answer}");
            } else if *operation == "feed" || *operation == "cite" {
                assert!(lines.all(|line| reply.text().contains(line)), "{answer}");
            } else {
                let whole: Value = serde_json::from_str(reply.text()).unwrap();
                let whole = format!("{whole:#}");
                assert_eq!(lines.collect::<Vec<_>>(), whole.lines().take(80).collect::<Vec<_>>(), "{call}");
            }
        }
    }
    for topic in ["pictures", "usage", "mcp", "errors"] {
        assert_eq!(node.get(&format!("/docs/{topic}")).await.status, 200, "{topic}");
    }
    assert_eq!(node.get("/docs/nothing").await.status, 404);
}

#[tokio::test]
async fn the_reference_names_every_bound_and_error() {
    let node = Node::start().await;
    for (topic, shown) in [
        (
            "search",
            [
                "<code>mode</code> <span class=\"soft small\">words, meaning or both, default words</span>",
                "<code>q</code> <span class=\"soft small\">string, 1 to 200 characters, not blank, required</span>",
                "<dt>401 <a href=\"/problems/missing-key\">missing-key</a> <a href=\"/problems/invalid-key\">invalid-key</a></dt>",
            ],
        ),
        (
            "projects",
            [
                "<code>slug</code> <span class=\"soft small\">string, pattern ^[a-z0-9-]{1,120}$, required</span>",
                "<dt>404 <a href=\"/problems/unknown-slug\">unknown-slug</a> <a href=\"/problems/not-found\">not-found</a></dt>\
                 <dd>No project has this slug; near ones are suggested.</dd>\
                 <dd><details><summary>Example of 404</summary><pre class=\"block\"><code>{\n",
                "The capitalised category, for example <code>Architecture</code>.",
            ],
        ),
        (
            "pictures",
            [
                "<dt>404 <a href=\"/problems/not-found\">not-found</a></dt>",
                "<dt>410 <a href=\"/problems/taken-down\">taken-down</a></dt>",
                "&#34;title&#34;: &#34;Taken down&#34;",
            ],
        ),
    ] {
        let page = node.get(&format!("/docs/{topic}")).await;
        for text in shown {
            assert!(page.text().contains(text), "{text}: {}", page.text());
        }
        assert!(!page.text().contains('`'), "{topic}: {}", page.text());
        // What wraps does not scroll, and is no stop of the keyboard.
        let focusable = page.text().lines().filter(|line| line.contains("<pre") && line.contains("tabindex"));
        let strays: Vec<&str> = focusable.filter(|line| !line.contains("class=\"block answer\"")).collect();
        assert!(strays.is_empty(), "{topic}: {strays:?}");
    }
}

#[tokio::test]
async fn a_bare_record_is_described_by_its_category() {
    let node = Node::start().await;
    let page = node.get("/projects/street-house-1").await;
    let about = "<meta name=\"description\" content=\"Design in catalog.example.org\">";
    assert!(page.text().contains(about) && !page.text().contains("byline"), "{}", page.text());
}

#[tokio::test]
async fn errors_are_pages_for_browsers_and_json_for_programs() {
    let node = Node::start().await;
    for (path, status, title) in [
        ("/nothing", 404, "This page does not exist"),
        ("/projects/haus-am-sea", 404, "Project not found"),
        ("/projects/gone-house", 410, "Withdrawn"),
        ("/?category=music", 400, "Part of this link is not valid"),
        ("/keys", 404, "This page does not exist"),
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
    for text in [
        "<h2 class=\"section-heading\">Did you mean</h2>\n<ul class=\"grid\">\n<li class=\"card\"><a href=\"/projects/haus-am-see\">",
        "<h3 dir=\"auto\">Haus am See</h3>",
        "<input type=\"search\" id=\"q\" name=\"q\"",
        "Reference for support: <code>",
    ] {
        assert!(near.text().contains(text), "{text}: {}", near.text());
    }
    assert_eq!(near.header("refresh"), None);
    let missing = node.ask("GET", "/nothing", HTML).await;
    let lead = "<p class=\"lead\">The address may be mistyped, or out of date.</p>\n<form class=\"search\"";
    assert!(missing.text().contains(lead), "{}", missing.text());
    let invalid = node.ask("GET", "/?category=music", HTML).await;
    let lead = "<p class=\"lead\">Correct what is listed here, or search the catalog.</p>\n<ul>\n<li><code>category</code>: ";
    assert!(invalid.text().contains(lead), "{}", invalid.text());
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

/// The metadata of a page that other sites show, in order.
fn shared(page: &Reply) -> Vec<&str> {
    let is_shared =
        |line: &&str| line.contains("og:") || line.contains("twitter:") || line.contains("theme-color");
    page.text().lines().filter(is_shared).collect()
}

/// The JSON-LD documents of a page.
fn json_ld(page: &Reply) -> Vec<Value> {
    let documents = page.text().split("<script type=\"application/ld+json\">").skip(1);
    documents.map(|rest| serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap()).collect()
}

#[tokio::test]
async fn the_front_page_describes_the_site_to_others() {
    let node = Node::start().await;
    let page = node.get("/").await;
    assert_eq!(
        shared(&page),
        [
            "<meta property=\"og:type\" content=\"website\">",
            "<meta property=\"og:site_name\" content=\"catalog.example.org\">",
            "<meta property=\"og:title\" content=\"catalog.example.org\">",
            "<meta property=\"og:description\" content=\"A curated catalog of architecture, interiors, design, photography and art.\">",
            "<meta property=\"og:url\" content=\"https://catalog.example.org/\">",
            "<meta name=\"twitter:card\" content=\"summary\">",
            "<meta name=\"theme-color\" content=\"#fbfaf7\" media=\"(prefers-color-scheme: light)\">",
            "<meta name=\"theme-color\" content=\"#141311\" media=\"(prefers-color-scheme: dark)\">",
        ]
    );
    assert_eq!(
        json_ld(&page),
        [json!({
            "@context": "https://schema.org", "@type": "WebSite", "name": "catalog.example.org",
            "description": "A curated catalog of architecture, interiors, design, photography and art.",
            "url": "https://catalog.example.org/",
            "potentialAction": {
                "@type": "SearchAction",
                "target": {"@type": "EntryPoint", "urlTemplate": "https://catalog.example.org/?q={search_term_string}"},
                "query-input": "required name=search_term_string",
            },
        })]
    );
    assert!(json_ld(&node.get("/?q=street").await).is_empty());
}

#[tokio::test]
async fn the_page_of_a_project_has_a_card_with_a_jpeg_and_a_breadcrumb() {
    let node = Node::start_with_picture(PictureId([0x5e; 32])).await;
    let page = node.get("/projects/haus-am-see").await;
    let picture = format!("https://catalog.example.org/media/{}/640.jpg", "5e".repeat(32));
    let shared = shared(&page);
    for element in [
        "<meta name=\"twitter:card\" content=\"summary_large_image\">",
        &format!("<meta property=\"og:image\" content=\"{picture}\">"),
        "<meta property=\"og:image:width\" content=\"640\">",
        "<meta property=\"og:image:height\" content=\"320\">",
    ] {
        assert!(shared.contains(&element), "{element} in {shared:?}");
    }
    let item = |position: u32, name: &str, path: &str| json!({"@type": "ListItem", "position": position, "name": name, "item": format!("https://catalog.example.org{path}")});
    assert_eq!(
        json_ld(&page)[1],
        json!({"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": [
            item(1, "All projects", "/"),
            item(2, "Architecture", "/architecture"),
            item(3, "Haus am See", "/projects/haus-am-see"),
        ]})
    );
}

#[tokio::test]
async fn the_phrases_of_a_dimension_have_a_page_with_their_counts() {
    let node = Node::start().await;
    let front = node.get("/").await;
    assert!(
        front.text().contains("<a class=\"plain\" href=\"/taste/material\">All 1</a>"),
        "{}",
        front.text()
    );
    // Dimensions without phrases are not offered.
    assert!(!front.text().contains("href=\"/taste/light\""), "{}", front.text());
    let all = node.get("/taste/material").await;
    assert_eq!(all.status, 200);
    let phrase = "<li><a href=\"/?material=%22larch%22\" rel=\"nofollow\" dir=\"auto\">larch</a> \
                  <span class=\"soft\">1</span></li>";
    assert!(
        all.text().contains(phrase) && all.text().contains("<p class=\"lead\">1 phrase, "),
        "{}",
        all.text()
    );
    assert!(!all.text().contains("noindex"), "{}", all.text());
    let begun = node.get("/taste/material?starts_with=L%C3%80&category=architecture").await;
    assert!(
        begun.text().contains("href=\"/?category=architecture&#38;material=%22larch%22\""),
        "{}",
        begun.text()
    );
    assert!(begun.text().contains("noindex"));
    let none = node.get("/taste/material?starts_with=x").await;
    assert!(none.text().contains("No phrase begins so."), "{}", none.text());
    assert_eq!(node.get("/taste/material?cursor=nonsense").await.status, 400);
    for path in ["/taste/nothing", "/taste/Material"] {
        assert_eq!(node.get(path).await.status, 404, "{path}");
    }
}
