//! Lists with an address of their own: of a category, a studio, a curator.

use serde_json::{Value, json};

use super::{Node, Reply};

async fn node() -> Node {
    let record = |name: &str, studio: &str, curator: &str| json!({"name": name, "category": "art", "studio": studio, "provenance": {"curated_by": curator}});
    let many =
        (0..14).map(|at| (format!("room-{at:02}"), record(&format!("Room {at:02}"), "Many & Co", "Ada")));
    let few = [("larch", "Büro Łoś", "Bo"), ("pine", "BÜRO ŁOŚ", "Bo"), ("oak", "Büro Łoś", "***")];
    let few = few.map(|(slug, studio, curator)| (slug.to_owned(), record(slug, studio, curator)));
    let records: Vec<(String, Value)> = many.chain(few).collect();
    let records: Vec<(&str, Value, &[[u8; 3]])> =
        records.iter().map(|(slug, record)| (slug.as_str(), record.clone(), &[][..])).collect();
    Node::start_with_records(&records).await
}

fn assert_has(page: &Reply, texts: &[&str]) {
    assert_eq!(page.status, 200);
    for text in texts {
        assert!(page.text().contains(text), "{text}: {}", page.text());
    }
}

#[tokio::test]
async fn the_first_page_of_a_list_is_for_search_engines_and_says_what_it_is() {
    let node = node().await;
    for (path, title, total) in [
        ("/art", "Art", "17 projects"),
        ("/studios/buro-los", "Büro Łoś", "3 projects"),
        ("/curators/bo", "Selected by Bo", "2 projects"),
    ] {
        let page = node.get(path).await;
        let about = format!("{title} in catalog.example.org: {total}, each with an address to cite.");
        assert_has(
            &page,
            &[
                &format!("<title>{title} · catalog.example.org</title>"),
                &format!("<h1 dir=\"auto\">{title}</h1>"),
                &format!("<meta name=\"description\" content=\"{about}\">"),
                &format!("<link rel=\"canonical\" href=\"https://catalog.example.org{path}\">"),
                &format!("<meta property=\"og:title\" content=\"{title}\">"),
            ],
        );
        assert!(!page.text().contains("noindex"), "{path}");
        let json = page.text().split_once("<script type=\"application/ld+json\">").unwrap().1;
        let json: Value = serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap();
        let url = format!("https://catalog.example.org{path}");
        let item = |position: u32, name: &str, url: &str| json!({"@type": "ListItem", "position": position, "name": name, "item": url});
        let front = "https://catalog.example.org/";
        assert_eq!(
            json,
            json!({
                "@context": "https://schema.org", "@type": "CollectionPage",
                "name": title, "description": about, "url": url,
                "isPartOf": {"@type": "WebSite", "name": "catalog.example.org", "url": front},
                "breadcrumb": {
                    "@type": "BreadcrumbList",
                    "itemListElement": [item(1, "All projects", front), item(2, title, &url)],
                },
            })
        );
    }
    let sitemap = node.get("/sitemap-0.xml").await;
    for category in ["architecture", "interiors", "design", "photography", "art"] {
        assert_has(&sitemap, &[&format!("<loc>https://catalog.example.org/{category}</loc>")]);
    }
}

#[tokio::test]
async fn each_list_has_one_address() {
    let node = node().await;
    for (path, location) in [
        ("/?category=art", "/art"),
        ("/?studio=B%C3%9Cro%20%C5%81o%C5%9B", "/studios/buro-los"),
        ("/studios/B%C3%BCro%20%C5%81o%C5%9B", "/studios/buro-los"),
        ("/?studio=Many+and+Co", "/studios/many-co"),
        ("/studios/many-and-co", "/studios/many-co"),
        ("/curators/BO?page=2", "/curators/bo?page=2"),
        ("/art?q=oak", "/?q=oak&category=art"),
        ("/art?sort=name", "/?category=art&sort=name"),
        ("/art?category=design", "/?category=design&category=art"),
        ("/studios/many-co?category=art", "/?category=art&studio=Many+%26+Co"),
    ] {
        let reply = node.get(path).await;
        assert_eq!((reply.status, reply.header("location")), (308, Some(location)), "{path}");
    }
    for path in ["/studios/nobody", "/curators/many-co", "/studios/", "/music"] {
        assert_eq!(node.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn names_of_symbols_and_punctuation_have_pages_of_their_own() {
    let record = |studio: &str| json!({"name": format!("House of {studio}"), "category": "art", "studio": studio, "provenance": {"curated_by": studio}});
    let names = [("plain", "C"), ("plus", "C++"), ("pluses", "+++"), ("dots", "…"), ("co", "C++ & Co")];
    let records = names.map(|(slug, name)| (slug, record(name), &[][..]));
    let node = Node::start_with_records(&records).await;
    let paths = ["c", "c%2B%2B", "%2B%2B%2B", "%E2%80%A6", "c%2B%2B%20co"];
    for ((slug, name), segment) in names.into_iter().zip(paths) {
        for (list, title) in [("studios", name.to_owned()), ("curators", format!("Selected by {name}"))] {
            let path = format!("/{list}/{segment}");
            let page = node.get(&path).await;
            let canonical = format!("<link rel=\"canonical\" href=\"https://catalog.example.org{path}\">");
            let title = title.replace('&', "&#38;");
            assert_has(&page, &[&format!("<h1 dir=\"auto\">{title}</h1>"), &canonical, ">One project</h2>"]);
            assert!(!page.text().contains("noindex"), "{path}");
            assert_has(&page, &[&format!("<a href=\"/projects/{slug}?from=")]);
            assert_has(&node.get(&format!("/projects/{slug}")).await, &[&format!("<a href=\"{path}\">")]);
        }
    }
    let moved = node.get("/?studio=C%2B%2B").await;
    assert_eq!((moved.status, moved.header("location")), (308, Some("/studios/c%2B%2B")));
    // Two dots are no segment of a path.
    assert_eq!(node.get("/?studio=..").await.status, 200);
}

#[tokio::test]
async fn a_page_that_only_a_cursor_finds_has_no_range() {
    let node = node().await;
    let first = node.get("/studios/many-co").await;
    assert_has(&first, &["rel=\"next nofollow\">Next 2</a>", "<span class=\"soft\">1 to 12 of 14</span>"]);
    let (_, next) = first.text().split_once("href=\"/studios/many-co?cursor=").unwrap();
    let cursor = next.split_once('&').unwrap().0;
    let page = node.get(&format!("/studios/many-co?cursor={cursor}")).await;
    assert_has(&page, &["14 projects, newest first</h2>", "rel=\"nofollow\">First page</a>"]);
    assert!(!page.text().contains(" of 14") && !page.text().contains("Previous"), "{}", page.text());
    // Neither has the one after it, and how many are left is not known.
    let records: Vec<(String, Value)> = (0..40)
        .map(|at| {
            (
                format!("hall-{at:02}"),
                json!({"name": format!("Hall {at}"), "category": "art", "studio": "Halls"}),
            )
        })
        .collect();
    let records: Vec<(&str, Value, &[[u8; 3]])> =
        records.iter().map(|(slug, record)| (slug.as_str(), record.clone(), &[][..])).collect();
    let node = Node::start_with_records(&records).await;
    let first = node.get("/studios/halls").await;
    let (_, next) = first.text().split_once("href=\"/studios/halls?cursor=").unwrap();
    let cursor = next.split_once('&').unwrap().0;
    let page = node.get(&format!("/studios/halls?cursor={cursor}")).await;
    let (_, after) = page.text().split_once("href=\"/studios/halls?cursor=").unwrap();
    let after = after.split_once("</a>").unwrap().0;
    assert!(
        after.ends_with("#results\" rel=\"next nofollow\">Next page") && !after.contains("page="),
        "{after}"
    );
}

#[tokio::test]
async fn the_pages_of_a_list_follow_each_other() {
    let node = node().await;
    let first = node.get("/studios/many-co").await;
    let (_, next) = first.text().split_once("href=\"/studios/many-co?cursor=").unwrap();
    let next = next.split_once("#results\"").unwrap().0.replace("&#38;", "&");
    let second = node.get(&format!("/studios/many-co?cursor={next}")).await;
    assert_has(
        &second,
        &[
            "13 to 14 of 14",
            "Many &#38; Co, page 2",
            "noindex",
            "href=\"/studios/many-co#results\" rel=\"prev nofollow\"",
        ],
    );
}

#[tokio::test]
async fn a_surprise_is_any_project_of_the_category() {
    let node = node().await;
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 17 {
        let reply = node.get("/surprise?category=art").await;
        assert_eq!((reply.status, reply.header("cache-control")), (303, Some("no-store")));
        let slug = reply.header("location").unwrap().strip_prefix("/projects/").unwrap().to_owned();
        assert!(["larch", "pine", "oak"].contains(&slug.as_str()) || slug.starts_with("room-"), "{slug}");
        seen.insert(slug);
    }
    assert_eq!(node.get("/surprise?category=photography").await.header("location"), Some("/"));
    assert_eq!(node.get("/surprise?category=music").await.status, 400);
    assert!(node.get("/art").await.text().contains("<a href=\"/surprise?category=art\" rel=\"nofollow\">"));
}
