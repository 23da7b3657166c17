//! What is answered at the address to cite.

use schemas::event::Event;
use serde_json::{Value, json};

use super::past::later;
use super::*;

const SCRIPT: &str = "</script><img onerror=\"alert('1')\">";
const ADDRESS: &str = "https://catalog.example.org/cite/haus-am-see/1";

/// A project whose every text would like to be more than a text.
pub(super) fn hostile() -> (&'static str, usize, Event) {
    let record = json!({
        "name": SCRIPT, "studio": SCRIPT, "city": SCRIPT, "category": "art", "intro": SCRIPT, "description": SCRIPT,
        "design_language": SCRIPT, "published": "2030-01-01", "details": [{"label": SCRIPT, "value": SCRIPT}],
        "url": "https://elsewhere.example/\"><script>", "provenance": {"curated_by": SCRIPT, "note": SCRIPT},
        "taste": {"mood": SCRIPT},
    });
    ("2026-11-24T10:00:00Z", 6, node::selected("script", record))
}

#[tokio::test]
async fn each_format_is_given_by_its_media_type_and_by_its_name() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    for (name, accept, kind, file, begins) in [
        ("html", "text/html,*/*;q=0.8", "text/html; charset=utf-8", None, "<!doctype html>"),
        ("jsonld", "application/ld+json", "application/ld+json", Some("jsonld"), "{\"@context\":"),
        (
            "bibtex",
            "application/x-bibtex",
            "application/x-bibtex; charset=utf-8",
            Some("bib"),
            "@misc{haus-am-see-1,",
        ),
        (
            "ris",
            "application/x-research-info-systems;q=0.5, text/html;q=0.1",
            "application/x-research-info-systems; charset=utf-8",
            Some("ris"),
            "TY  - GEN\r\n",
        ),
        (
            "csl",
            "application/vnd.citationstyles.csl+json",
            "application/vnd.citationstyles.csl+json",
            Some("json"),
            "[{\"id\":\"haus-am-see-1\"",
        ),
        (
            "text",
            "text/x-bibliography",
            "text/x-bibliography; charset=utf-8",
            None,
            "Atelier Łoś. Haus am See.",
        ),
    ] {
        let negotiated = connection.ask("GET", "/cite/haus-am-see/1", &format!("Accept: {accept}\r\n")).await;
        // The parameter wins over the header.
        let path = format!("/cite/haus-am-see/1?format={name}");
        let named = connection.ask("GET", &path, "Accept: application/x-bibtex, text/html\r\n").await;
        for reply in [&negotiated, &named] {
            assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)), "{name}");
            assert_eq!(reply.header("vary"), Some("Authorization, Accept-Encoding, Accept"));
            assert_eq!(reply.header("cache-control"), Some("private, max-age=60"));
            let file = file.map(|end| format!("inline; filename=\"haus-am-see-1.{end}\""));
            assert_eq!(reply.header("content-disposition"), file.as_deref());
            assert!(reply.text().starts_with(begins), "{}", reply.text());
        }
        assert_eq!(negotiated.body, named.body, "{name}");
        let tag = named.header("etag").unwrap();
        assert_eq!(connection.ask("GET", &path, &format!("If-None-Match: {tag}\r\n")).await.status, 304);
    }
}

#[tokio::test]
async fn a_format_has_other_names_and_a_refused_one_is_not_sent() {
    let node = Node::start().await;
    for (alias, name) in [("csl-json", "csl"), ("json-ld", "jsonld"), ("bib", "bibtex")] {
        let [by_alias, by_name] = [alias, name].map(|format| format!("/cite/haus-am-see/1?format={format}"));
        let (by_alias, by_name) = (node.get(&by_alias).await, node.get(&by_name).await);
        assert_eq!(by_alias.header("content-type"), by_name.header("content-type"), "{alias}");
        assert_eq!((by_alias.status, &by_alias.body), (200, &by_name.body), "{alias}");
    }
    for (accept, kind) in [
        ("text/html;q=0", "application/ld+json"),
        ("application/json, application/ld+json;q=0", "text/html; charset=utf-8"),
        ("text/html;q=0, application/*;q=0", "text/x-bibliography; charset=utf-8"),
    ] {
        let reply = node.ask("GET", "/cite/haus-am-see/1", &format!("Accept: {accept}\r\n")).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)), "{accept}");
    }
}

#[tokio::test]
async fn the_head_leads_to_the_other_formats_and_to_the_newest() {
    let node = Node::start_after(&later()).await;
    let reply = node.get("/cite/haus-am-see/1?format=ris").await;
    assert_eq!(
        reply.header("link").unwrap().replace(ADDRESS, "A").split(", ").collect::<Vec<_>>(),
        [
            "<A?format=html>; rel=\"alternate\"; type=\"text/html\"",
            "<A?format=jsonld>; rel=\"alternate\"; type=\"application/ld+json\"",
            "<A?format=bibtex>; rel=\"alternate\"; type=\"application/x-bibtex\"",
            "<A?format=csl>; rel=\"alternate\"; type=\"application/vnd.citationstyles.csl+json\"",
            "<A?format=text>; rel=\"alternate\"; type=\"text/x-bibliography\"",
            "<A>; rel=\"canonical\"",
            "<A>; rel=\"cite-as\"",
            "<https://catalog.example.org/cite/lake-house/3>; rel=\"latest-version\"",
        ]
    );
}

#[tokio::test]
async fn a_citation_stays_through_revisions_renames_and_withdrawal() {
    let before = Node::start().await;
    let after = Node::start_after(&later()).await;
    for format in ["jsonld", "bibtex", "ris", "csl", "text"] {
        let expected = before.get(&format!("/cite/haus-am-see/1?format={format}")).await;
        for slug in ["haus-am-see", "lake-house"] {
            let reply = after.get(&format!("/cite/{slug}/1?format={format}")).await;
            assert_eq!((reply.status, reply.text()), (200, expected.text()), "{slug} {format}");
            assert_eq!(reply.header("etag"), expected.header("etag"));
        }
    }
    let page = after.get("/cite/haus-am-see/1").await;
    let newer = "This is revision 1. <a href=\"/cite/lake-house/3\">Revision 3</a> is newer.";
    assert!(page.text().contains(newer), "{page:?}");
    let said = |page: &Reply| {
        let (_, article) = page.text().split_once("<article>").unwrap();
        article.split_once("</article>").unwrap().0.to_owned()
    };
    // On the same date, as the citation has the one of the access.
    let path = "/cite/haus-am-see/1?accessed=2026-11-06";
    assert_eq!(said(&after.get(path).await), said(&before.get(path).await));
    assert!(!after.get("/cite/lake-house/3").await.text().contains("is newer"));
    let gone = after.get("/cite/gone-house/1").await;
    let notice = "Withdrawn on <time datetime=\"2026-11-20T08:00:00Z\">20 November 2026</time>. Reason: \
                  <bdi>The owners &#34;asked&#34; for it.</bdi> The published version is kept so that citations still work.";
    assert_eq!(gone.status, 200);
    assert!(
        gone.text().contains(notice) && gone.text().contains("<h1 dir=\"auto\">gone house</h1>"),
        "{}",
        gone.text()
    );
}

/// The styles and formats on the page of a citation, with plain line breaks.
const CITED: &str = r#"<section class="cited" aria-label="Citation">
<p class="citation" id="citation" dir="auto">Atelier Łoś. Haus am See. Zürich, Switzerland, 2019. Architecture. catalog.example.org. Revision 1 of 2026-11-20. Selected by Ada on 2024-04-01. Accessed 2026-11-06. https://catalog.example.org/cite/haus-am-see/1</p>
<p><button class="quiet js-only" type="button" data-copy="citation">Copy citation</button></p>
<dl class="facts styles">
<div><dt>APA <span class="small">7th edition</span></dt><dd><p id="apa" dir="auto">Atelier Łoś. (2019). <i>Haus am See</i> (Revision 1) [Architecture]. catalog.example.org. https://catalog.example.org/cite/haus-am-see/1</p><button class="quiet js-only" type="button" data-copy="apa">Copy APA</button></dd></div>
<div><dt>Chicago <span class="small">17th edition</span></dt><dd><p id="chicago" dir="auto">Atelier Łoś. “Haus am See.” 2019. catalog.example.org. Revision 1, November 20, 2026. Accessed November 6, 2026. https://catalog.example.org/cite/haus-am-see/1</p><button class="quiet js-only" type="button" data-copy="chicago">Copy Chicago</button></dd></div>
<div><dt>MLA <span class="small">9th edition</span></dt><dd><p id="mla" dir="auto">Atelier Łoś. <i>Haus am See</i>. 2019. <i>catalog.example.org</i>, revision 1, 20 Nov. 2026, https://catalog.example.org/cite/haus-am-see/1. Accessed 6 Nov. 2026.</p><button class="quiet js-only" type="button" data-copy="mla">Copy MLA</button></dd></div>
<div><dt>BibTeX</dt><dd><p><button class="quiet js-only" type="button" data-copy="bibtex">Copy BibTeX</button>
<a class="button quiet" href="/cite/haus-am-see/1?format=bibtex&#38;accessed=2026-11-06" type="application/x-bibtex" download="haus-am-see-1.bib">Download BibTeX</a></p>
<details><summary>Show BibTeX</summary><pre class="block"><code id="bibtex">@misc{haus-am-see-1,
  title = {{Haus am See}},
  author = {{Atelier Łoś}},
  year = {2019},
  howpublished = {catalog.example.org},
  url = {https://catalog.example.org/cite/haus-am-see/1},
  urldate = {2026-11-06},
  note = {Revision 1 of 2026-11-20. Selected by Ada on 2024-04-01.},
}
</code></pre></details></dd></div>
<div><dt>RIS</dt><dd><p><button class="quiet js-only" type="button" data-copy="ris">Copy RIS</button>
<a class="button quiet" href="/cite/haus-am-see/1?format=ris&#38;accessed=2026-11-06" type="application/x-research-info-systems" download="haus-am-see-1.ris">Download RIS</a></p>
<details><summary>Show RIS</summary><pre class="block"><code id="ris">TY  - GEN
TI  - Haus am See
AU  - Atelier Łoś
PY  - 2019
Y2  - 2026/11/06/
CY  - Zürich, Switzerland
PB  - catalog.example.org
ET  - 1
KW  - Architecture
AB  - A &#34;quiet&#34; house.
N1  - Revision 1 of 2026-11-20. Selected by Ada on 2024-04-01.
ID  - haus-am-see-1
UR  - https://catalog.example.org/cite/haus-am-see/1
ER  - 
</code></pre></details></dd></div>
<div><dt>Other formats</dt><dd><p><a class="button quiet" href="/cite/haus-am-see/1?format=csl&#38;accessed=2026-11-06" type="application/vnd.citationstyles.csl+json" download="haus-am-see-1.json">Download CSL-JSON</a>
<a class="button quiet" href="/cite/haus-am-see/1?format=jsonld&#38;accessed=2026-11-06" type="application/ld+json" download="haus-am-see-1.jsonld">Download JSON-LD</a>
<a class="button quiet" href="/cite/haus-am-see/1?format=text&#38;accessed=2026-11-06" type="text/x-bibliography" download="haus-am-see-1.txt">Download Text</a>
</p></dd></div>
</dl>
</section>"#;

#[tokio::test]
async fn the_page_has_the_citation_in_styles_and_formats() {
    let node = Node::start().await;
    let page = node.get("/cite/haus-am-see/1?accessed=2026-11-06").await;
    let (_, rest) = page.text().split_once("<section class=\"cited\"").unwrap();
    let (section, _) = rest.split_once("</section>").unwrap();
    let section = format!("<section class=\"cited\"{section}</section>");
    assert_eq!(section.replace("\r\n", "\n"), CITED);
}

#[tokio::test]
async fn a_date_of_access_is_in_a_format_only_where_it_is_asked_for() {
    let node = Node::start().await;
    let get = async |query: &str| node.get(&format!("/cite/haus-am-see/1?{query}")).await;
    for (format, field) in [
        ("bibtex", "  urldate = {2026-11-06},\n"),
        ("ris", "Y2  - 2026/11/06/\r\n"),
        ("csl", "\"accessed\":{\"date-parts\":[[2026,11,6]]},"),
        ("text", " Accessed 2026-11-06."),
        ("jsonld", ""),
    ] {
        let without = get(&format!("format={format}")).await;
        let accessed = get(&format!("format={format}&accessed=2026-11-06")).await;
        assert_eq!(accessed.text().replacen(field, "", 1), without.text(), "{format}");
        assert!(accessed.text().contains(field), "{format}");
        assert_eq!(accessed.header("link"), without.header("link"), "the links name the permanent addresses");
    }
    for date in ["20261106", "2026-11-31", "-000001-01-01", "today", ""] {
        let reply = get(&format!("accessed={date}")).await;
        let fault = json!([{"parameter": "accessed", "detail": "It is not a date.", "allowed": "a date such as 2026-11-26"}]);
        assert_eq!((reply.status, &reply.json()["errors"]), (400, &fault), "{date}");
    }
    let today = format!("Accessed {}. https", ::pages::today(&node.state));
    for path in ["/cite/haus-am-see/1", "/projects/haus-am-see"] {
        assert!(node.get(path).await.text().contains(&today), "{path}");
    }
}

/// A record that brings addresses of its own.
fn imported() -> (&'static str, usize, Event) {
    let record = json!({
        "name": "Goblet", "category": "design", "url": "https://museum.example/goblet",
        "citation_url": "https://museum.example/id/7?a=1&b=2",
    });
    ("2026-11-24T10:00:00Z", 6, node::selected("goblet", record))
}

#[tokio::test]
async fn a_record_from_elsewhere_has_a_citation_here_and_names_its_source() {
    let node = Node::start_after(&[imported()]).await;
    let own = "https://catalog.example.org/cite/goblet/1";
    let reply = node.get("/cite/goblet/1?format=bibtex").await;
    assert_eq!(
        reply.text(),
        format!(
            "@misc{{goblet-1,\n  title = {{{{Goblet}}}},\n  howpublished = {{catalog.example.org}},\n  url = {{{own}}},\n  \
             note = {{Revision 1 of 2026-11-24.}},\n}}\n"
        )
    );
    let links = reply.header("link").unwrap();
    assert!(links.contains(&format!("<{own}>; rel=\"cite-as\"")), "{links}");
    let data = node.get("/cite/goblet/1?format=jsonld").await.json();
    assert_eq!(
        (&data["url"], &data["isBasedOn"]),
        (
            &json!("https://catalog.example.org/projects/goblet"),
            &json!("https://museum.example/id/7?a=1&b=2")
        )
    );
    let source = "<a href=\"https://museum.example/id/7?a=1&#38;b=2\" rel=\"external\">museum.example ↗</a>";
    let page = node.get("/projects/goblet").await;
    assert!(
        page.text().contains("<a class=\"button quiet\" href=\"/cite/goblet/1\">Cite this</a>"),
        "{page:?}"
    );
    for page in [page, node.get("/cite/goblet/1").await] {
        assert!(page.text().contains(source), "{page:?}");
    }
    assert!(!node.get("/projects/street-house-1").await.text().contains("rel=\"external\""));
}

#[tokio::test]
async fn citations_that_do_not_exist_are_reported() {
    let node = Node::start_after(&later()).await;
    let reply = node.get("/cite/haus-am-see/1?format=marc").await;
    assert_eq!(reply.status, 400);
    assert_eq!(
        reply.json()["errors"],
        json!([{"parameter": "format", "detail": "It is none of html, jsonld, bibtex, ris, csl, text, apa, chicago, mla.",
            "allowed": "html, jsonld, bibtex, ris, csl, text, apa, chicago, mla"}])
    );
    for path in [
        "/cite/lake-house/4",
        "/cite/lake-house/0",
        "/cite/lake-house/01",
        "/cite/lake-house/+1",
        "/cite/lake-house/x",
    ] {
        let reply = node.get(path).await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.json()["detail"], "The project has no such revision. Its revisions are 1 to 3.");
    }
    let reply = node.get("/cite/street-house-1/2").await;
    assert_eq!(reply.json()["detail"], "The project has no such revision. Its only one is 1.");
    let reply = node.get("/cite/street-hose-1/1").await;
    assert_eq!((reply.status, &reply.json()["suggestions"][0]), (404, &json!("street-house-1")));
    assert_eq!(node.get("/cite/NO/1").await.json()["suggestions"], json!([]));
    for path in ["/cite/lake-house/1/2", "/cite/"] {
        assert!(node.get(path).await.problem().contains("/problems/not-found"), "{path}");
    }
}

#[tokio::test]
async fn a_text_stays_a_text_on_the_page() {
    let node = Node::start_after(&[hostile()]).await;
    let page = node.get("/cite/script/1").await;
    let html = page.text();
    assert!(!html.contains("<img onerror") && !html.contains("\"><script>"), "{html}");
    assert_eq!(html.matches("</script").count(), 3, "two scripts of the site, and the data: {html}");
    let (_, rest) = html.split_once("<script type=\"application/ld+json\">").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    let json: Value = serde_json::from_str(json).unwrap();
    assert_eq!((&json["name"], &json["locationCreated"]["name"]), (&json!(SCRIPT), &json!(SCRIPT)));
    let title = "&#60;/script&#62;&#60;img onerror=&#34;alert(&#39;1&#39;)&#34;&#62;";
    for element in [
        format!("<title>{title}, revision 1 · catalog.example.org</title>"),
        format!("<meta name=\"citation_title\" content=\"{title}\">"),
        format!("<meta property=\"og:title\" content=\"{title}\">"),
    ] {
        assert!(html.contains(&element), "{element} in {html}");
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && policy.contains("script-src 'self';"), "{policy}");
    let page = node.get("/projects/script").await;
    assert!(page.text().contains(title) && !page.text().contains("<img onerror"), "{page:?}");
}
