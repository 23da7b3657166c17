//! What crawlers and feed readers get.

use roxmltree::Document;
use schemas::event::Event;
use schemas::picture::PictureId;

use super::citations::hostile;
use super::past::later;
use super::*;

const ATOM: &str = "http://www.w3.org/2005/Atom";

fn everything() -> Vec<(&'static str, usize, Event)> {
    let mut events = later();
    events.push(hostile());
    events
}

/// The texts of all elements of a name, in their order.
fn texts(document: &Document<'_>, name: &str) -> Vec<String> {
    let named = document.descendants().filter(|node| node.has_tag_name(name));
    named.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_site_map_has_the_listed_projects() {
    let node = Node::start_after(&everything()).await;
    let index = node.get("/sitemap.xml").await;
    assert_eq!((index.status, index.header("content-type")), (200, Some("application/xml")));
    assert_eq!(index.header("cache-control"), Some("public, max-age=600"));
    let tag = index.header("etag").unwrap();
    assert_eq!(node.ask("GET", "/sitemap.xml", &format!("If-None-Match: {tag}\r\n")).await.status, 304);
    let document = Document::parse(index.text()).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "sitemapindex");
    assert_eq!(
        texts(&document, "loc"),
        ["https://catalog.example.org/sitemap-0.xml", "https://catalog.example.org/sitemap-1.xml"]
    );
    assert_eq!(texts(&document, "lastmod"), ["2026-11-24"]);

    let part = node.get("/sitemap-1.xml").await;
    assert_eq!((part.status, part.header("content-type")), (200, Some("application/xml")));
    let document = Document::parse(part.text()).unwrap();
    assert_eq!(
        document.root_element().tag_name().namespace(),
        Some("http://www.sitemaps.org/schemas/sitemap/0.9")
    );
    let pages = ["lake-house", "street-house-1", "street-house-2", "street-house-3", "new-mill", "script"];
    assert_eq!(
        texts(&document, "loc"),
        pages.map(|slug| format!("https://catalog.example.org/projects/{slug}")),
        "what was withdrawn is not there, nor is the address that a record brings"
    );
    assert_eq!(texts(&document, "lastmod")[0], "2026-11-23T10:00:00.5Z");

    assert_eq!(node.get("/sitemap-1.xml").await.text(), part.text(), "however often it is asked for");

    let pages = node.get("/sitemap-0.xml").await;
    let document = Document::parse(pages.text()).unwrap();
    assert_eq!(texts(&document, "loc")[0], "https://catalog.example.org/");
    for path in
        ["/sitemap-2.xml", "/sitemap-01.xml", "/sitemap-x.xml", "/sitemap-1", "/sitemap-4294967296.xml"]
    {
        assert_eq!(node.get(path).await.status, 404, "{path}");
    }
    for (path, status) in [("/sitemap-0.xml", 405), ("/sitemap.xml", 405), ("/nothing", 404)] {
        assert_eq!(node.ask("POST", path, "Content-Length: 0\r\n").await.status, status, "{path}");
    }
}

#[tokio::test]
async fn robots_txt_names_what_crawlers_may_read() {
    let node = Node::start().await;
    let reply = node.get("/robots.txt").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!(
        reply.text(),
        "User-agent: *\nDisallow: /v1/\nDisallow: /claim\nAllow: /\n\nSitemap: https://catalog.example.org/sitemap.xml\n"
    );
}

#[tokio::test]
async fn the_feed_holds_the_newest_selections() {
    let node = Node::start_listing(&everything()).await;
    let feed = node.get("/feed.atom").await;
    assert_eq!(
        (feed.status, feed.header("content-type")),
        (200, Some("application/atom+xml; charset=utf-8"))
    );
    assert_eq!(feed.header("cache-control"), Some("public, max-age=300"));
    let document = Document::parse(feed.text()).unwrap();
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.tag_name().namespace()), ("feed", Some(ATOM)));
    let of = |entry: roxmltree::Node<'_, '_>, name: &str| {
        let found = entry.children().find(|node| node.has_tag_name((ATOM, name)));
        found.and_then(|node| node.text()).map(str::to_owned)
    };
    assert_eq!(of(root, "id").as_deref(), Some("https://catalog.example.org/feed.atom"));
    assert_eq!(of(root, "updated").as_deref(), Some("2026-11-24T10:00:00Z"));
    let entries: Vec<_> = root.children().filter(|node| node.has_tag_name((ATOM, "entry"))).collect();
    assert_eq!(entries.len(), 6);
    let script = "</script><img onerror=\"alert('1')\">";
    let first = entries[0];
    assert_eq!(of(first, "title").unwrap(), format!("{script}, {script}"));
    assert_eq!(of(first, "summary").as_deref(), Some(script));
    assert_eq!(of(first, "published").as_deref(), Some("2030-01-01T00:00:00Z"));
    let link = first.children().find(|node| node.has_tag_name((ATOM, "link"))).unwrap();
    assert_eq!(link.attribute("href"), Some("https://elsewhere.example/\"><script>"));
    let mut ids: Vec<String> = entries.iter().map(|entry| of(*entry, "id").unwrap()).collect();
    let house = entries.iter().find(|entry| of(**entry, "title").as_deref() == Some("Lake House")).unwrap();
    assert_eq!(of(*house, "id").as_deref(), Some("urn:uuid:01563e3a-b5d3-d676-4c61-efb993000000"));
    for entry in &entries {
        assert!(of(*entry, "updated").unwrap().parse::<jiff::Timestamp>().is_ok());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
    let before = Node::start().await.get("/feed.atom").await;
    let document = Document::parse(before.text()).unwrap();
    assert!(texts(&document, "id").contains(&"urn:uuid:01563e3a-b5d3-d676-4c61-efb993000000".to_owned()));
    // Those without a day of publication came later than it was published.
    let titles =
        ["old mill", "street house 3", "street house 2", "street house 1", "Haus am See, Atelier Łoś"];
    assert_eq!(texts(&document, "title")[1..], titles);
}

/// The picture of the project in the feeds below.
const PICTURE: PictureId = PictureId([0x5e; 32]);

/// The Atom feed of architecture, with a picture and without one.
const ATOM_OF_ARCHITECTURE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
<id>https://catalog.example.org/feed.atom?category=architecture</id>
<title>catalog.example.org: latest additions in Architecture</title>
<subtitle>A curated catalog of architecture, interiors, design, photography and art.</subtitle>
<updated>2026-11-20T08:00:00Z</updated>
<link rel="self" type="application/atom+xml" href="https://catalog.example.org/feed.atom?category=architecture"/>
<link rel="alternate" type="text/html" href="https://catalog.example.org/architecture"/>
<author><name>catalog.example.org</name></author>
<entry>
<id>urn:uuid:01563e3a-b5d3-d676-4c61-efb993000000</id>
<title>Haus am See, Atelier Łoś</title>
<updated>2026-11-20T08:00:00Z</updated>
<link rel="alternate" type="text/html" href="https://catalog.example.org/projects/haus-am-see"/>
<category term="architecture" label="Architecture"/>
<published>2024-05-01T00:00:00Z</published>
<author><name>Ada</name></author>
<summary>A &quot;quiet&quot; house.</summary>
<content type="html">&lt;p&gt;A &amp;quot;quiet&amp;quot; house.&lt;/p&gt;</content>
</entry>
</feed>
<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
<id>https://catalog.example.org/feed.atom?category=architecture</id>
<title>catalog.example.org: latest additions in Architecture</title>
<subtitle>A curated catalog of architecture, interiors, design, photography and art.</subtitle>
<updated>2026-11-20T08:00:00Z</updated>
<link rel="self" type="application/atom+xml" href="https://catalog.example.org/feed.atom?category=architecture"/>
<link rel="alternate" type="text/html" href="https://catalog.example.org/architecture"/>
<author><name>catalog.example.org</name></author>
<entry>
<id>urn:uuid:01563e3a-b5d3-d676-4c61-efb993000000</id>
<title>Haus am See</title>
<updated>2026-11-20T08:00:00Z</updated>
<link rel="alternate" type="text/html" href="https://catalog.example.org/projects/haus-am-see"/>
<category term="architecture" label="Architecture"/>
<content type="html">&lt;p&gt;&lt;img src=&quot;https://catalog.example.org/media/5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e/640.jpg&quot; width=&quot;640&quot; height=&quot;320&quot; alt=&quot;&quot;&gt;&lt;/p&gt;</content>
<media:thumbnail url="https://catalog.example.org/media/5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e/640.webp"/>
</entry>
</feed>
"#;

/// The same as JSON Feed.
const JSON_OF_ARCHITECTURE: &str = r#"{"version":"https://jsonfeed.org/version/1.1","title":"catalog.example.org: latest additions in Architecture","description":"A curated catalog of architecture, interiors, design, photography and art.","home_page_url":"https://catalog.example.org/architecture","feed_url":"https://catalog.example.org/feed.json?category=architecture","authors":[{"name":"catalog.example.org","url":"https://catalog.example.org"}],"items":[{"id":"urn:uuid:01563e3a-b5d3-d676-4c61-efb993000000","url":"https://catalog.example.org/projects/haus-am-see","title":"Haus am See, Atelier Łoś","content_html":"<p>A &quot;quiet&quot; house.</p>","summary":"A \"quiet\" house.","date_published":"2024-05-01T00:00:00Z","date_modified":"2026-11-20T08:00:00Z","authors":[{"name":"Ada"}],"tags":["Architecture"]}]}
{"version":"https://jsonfeed.org/version/1.1","title":"catalog.example.org: latest additions in Architecture","description":"A curated catalog of architecture, interiors, design, photography and art.","home_page_url":"https://catalog.example.org/architecture","feed_url":"https://catalog.example.org/feed.json?category=architecture","authors":[{"name":"catalog.example.org","url":"https://catalog.example.org"}],"items":[{"id":"urn:uuid:01563e3a-b5d3-d676-4c61-efb993000000","url":"https://catalog.example.org/projects/haus-am-see","title":"Haus am See","content_html":"<p><img src=\"https://catalog.example.org/media/5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e/640.jpg\" width=\"640\" height=\"320\" alt=\"\"></p>","image":"https://catalog.example.org/media/5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e/640.jpg","date_modified":"2026-11-20T08:00:00Z","tags":["Architecture"]}]}
"#;

#[tokio::test]
async fn a_category_has_feeds_of_its_own() {
    let (before, after) = (Node::start().await, Node::start_with_picture(PICTURE).await);
    for (path, kind, expected) in [
        ("/feed.atom?category=architecture", "application/atom+xml; charset=utf-8", ATOM_OF_ARCHITECTURE),
        ("/feed.json?category=architecture", "application/feed+json; charset=utf-8", JSON_OF_ARCHITECTURE),
    ] {
        let (plain, pictured) = (before.get(path).await, after.get(path).await);
        for reply in [&plain, &pictured] {
            assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)));
            assert_eq!(reply.header("cache-control"), Some("public, max-age=300"));
        }
        let tag = format!("If-None-Match: {}\r\n", plain.header("etag").unwrap());
        assert_eq!(before.ask("GET", path, &tag).await.status, 304, "{path}");
        assert_eq!(format!("{}{}", plain.text(), pictured.text()), expected);
    }
    assert_eq!(
        Document::parse(before.get("/feed.atom?category=design").await.text())
            .unwrap()
            .descendants()
            .filter(|node| node.has_tag_name("entry"))
            .count(),
        4
    );
    assert_eq!(before.get("/feed.json").await.json()["items"].as_array().unwrap().len(), 5);
    for path in ["/feed.atom?category=music", "/feed.json?category=music"] {
        assert_eq!(before.get(path).await.json()["errors"][0]["parameter"], "category", "{path}");
    }
}

#[tokio::test]
async fn pages_name_the_feeds() {
    let node = Node::start().await;
    for (path, of, query) in [("/", "", ""), ("/?q=a", "", ""), ("/design", ": Design", "?category=design")] {
        let page = node.get(path).await;
        for element in [
            format!(
                "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"catalog.example.org: Atom feed{of}\" href=\"/feed.atom{query}\">"
            ),
            format!(
                "<link rel=\"alternate\" type=\"application/feed+json\" title=\"catalog.example.org: JSON feed{of}\" href=\"/feed.json{query}\">"
            ),
            format!("<a href=\"/feed.atom{query}\" type=\"application/atom+xml\">Atom feed{of}</a>"),
            format!("<a href=\"/feed.json{query}\" type=\"application/feed+json\">JSON feed{of}</a>"),
        ] {
            assert!(page.text().contains(&element), "{element} in {}", page.text());
        }
    }
}
