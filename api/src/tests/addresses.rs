//! By which addresses a project is found, and by which it is cited.

use schemas::event::Event;
use schemas::picture::PictureId;
use serde_json::json;

use super::*;

/// A record of a museum, which brings its own addresses.
pub(super) fn brought() -> (&'static str, usize, Event) {
    let record = json!({
        "name": "Vase", "category": "design", "url": "https://museum.example/Art/1?lang=en",
        "citation_url": "https://museum.example/id/1", "thumbnail": "http://museum.example/1.jpg",
    });
    ("2026-11-24T10:00:00Z", 6, node::selected("vase", record))
}

/// The address after `before` and until `end`.
fn between<'t>(text: &'t str, before: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before} is missing in {text}"));
    rest.split(end).next().unwrap()
}

#[tokio::test]
async fn a_revision_has_one_permanent_address_whatever_the_slug_is() {
    let node = Node::start_after(&[brought()]).await;
    let former = "https://catalog.example.org/cite/old-mill/1";
    for (slug, permanent, citation) in [
        ("new-mill", former, former),
        ("vase", "https://catalog.example.org/cite/vase/1", "https://museum.example/id/1"),
    ] {
        for query in ["", "?revision=1"] {
            let record = node.get(&format!("/v1/project/{slug}{query}")).await.json();
            assert_eq!(
                (&record["revision_url"], &record["citation_url"]),
                (&json!(permanent), &json!(citation))
            );
        }
        let path = permanent.strip_prefix(node::SITE).unwrap();
        let page = node.get(path).await;
        let link = page.header("link").unwrap();
        assert!(link.contains(&format!("<{permanent}>; rel=\"cite-as\"")), "{link}");
        assert!(link.contains(&format!("<{permanent}>; rel=\"latest-version\"")), "{link}");
        let bibtex = node.get(&format!("{path}?format=bibtex")).await;
        assert_eq!(between(bibtex.text(), "url = {", "}"), permanent);
    }
    let summary = node.get("/v1/search?q=mill").await.json()["results"][0].clone();
    assert_eq!((&summary["slug"], &summary["citation_url"]), (&json!("new-mill"), &json!(former)));
    assert_eq!(summary["added_at"], "2026-11-20T08:00:00Z");
}

#[tokio::test]
async fn a_project_is_found_by_the_addresses_that_it_brings() {
    let node = Node::start_after(&[brought()]).await;
    for address in ["https%3A%2F%2Fmuseum.example%2FArt%2F1%3Flang=en", "https:%2F%2Fmuseum.example%2Fid%2F1"]
    {
        for (path, to) in [
            ("/v1/project", "/v1/project/vase"),
            ("/v1/similar", "/v1/similar/vase"),
            ("/cite", "/cite/vase"),
        ] {
            let reply = node.get(&format!("{path}/{address}")).await;
            assert_eq!((reply.status, reply.header("location")), (308, Some(to)), "{path} {address}");
        }
    }
    let other = node.get("/v1/project/https:%2F%2Fmuseum.example%2Fid%2F2").await;
    assert!(other.problem().contains("/problems/unknown-slug"), "{other:?}");
}

#[tokio::test]
async fn a_slug_in_another_case_leads_to_its_own_address() {
    let node = Node::start().await;
    for (path, to) in [
        ("/v1/project/HAUS-AM-SEE", "/v1/project/haus-am-see"),
        ("/v1/project/Haus-Am-See?revision=1&key=k", "/v1/project/haus-am-see?revision=1"),
        ("/v1/project/OLD-MILL", "/v1/project/old-mill"),
        ("/v1/project/GONE-house", "/v1/project/gone-house"),
        ("/v1/similar/Haus-am-See?limit=2", "/v1/similar/haus-am-see?limit=2"),
        ("/cite/HAUS-AM-SEE?format=bib", "/cite/haus-am-see?format=bib"),
        ("/cite/HAUS-AM-SEE/1?format=csl-json", "/cite/haus-am-see/1?format=csl-json"),
        ("/cite/OLD-MILL/1", "/cite/old-mill/1"),
        ("/projects/HAUS-AM-SEE", "/projects/haus-am-see"),
    ] {
        let reply = node.get(path).await;
        assert_eq!((reply.status, reply.header("location")), (308, Some(to)), "{path}");
    }
    for path in ["/v1/project/NO-SUCH", "/v1/similar/NO-SUCH", "/cite/NO-SUCH", "/cite/NO-SUCH/1"] {
        assert!(node.get(path).await.problem().contains("/problems/unknown-slug"), "{path}");
    }
    for path in ["/cite/HAUS-AM-SEE/2", "/cite/HAUS-AM-SEE/01", "/cite/HAUS-AM-SEE/x"] {
        assert_eq!(node.get(path).await.status, 404, "{path}");
    }
    let several = node.get("/v1/projects?slugs=HAUS-am-see,haus-am-see,No-Such").await.json();
    assert_eq!((slugs(&several), &several["missing"]), (vec!["haus-am-see"], &json!(["No-Such"])));
}

#[tokio::test]
async fn a_citation_without_a_number_leads_to_the_newest() {
    let node = Node::start_after(&past::later()).await;
    for (path, to) in [
        ("/cite/haus-am-see", "/cite/lake-house/3"),
        ("/cite/lake-house?format=bibtex&key=k", "/cite/lake-house/3?format=bibtex"),
        ("/cite/old-mill", "/cite/old-mill/1"),
        ("/cite/gone-house", "/cite/gone-house/1"),
    ] {
        let reply = node.get(path).await;
        assert_eq!((reply.status, reply.header("location")), (302, Some(to)), "{path}");
    }
    assert_eq!(node.get("/cite/nothing").await.status, 404);
}

#[tokio::test]
async fn a_project_that_search_has_before_the_catalog_is_not_reported_as_unknown() {
    let node = Node::start_with_search_ahead("ahead-house").await;
    assert_eq!(node.get("/v1/search?q=ahead").await.json()["results"][0]["slug"], "ahead-house");
    for path in [
        "/v1/project/ahead-house",
        "/v1/project/ahead-house?revision=1",
        "/cite/ahead-house/1",
        "/cite/ahead-house",
    ] {
        let reply = node.get(path).await;
        assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")), "{path}");
        assert!(reply.problem().contains("/problems/unavailable"), "{reply:?}");
    }
    assert_eq!(node.get("/v1/project/ahead-hous").await.status, 404);
}

#[tokio::test]
async fn a_shared_page_shows_its_picture() {
    let node = Node::start_with_picture(PictureId([0x5e; 32])).await;
    node.state.models().refresh().await.unwrap();
    for path in ["/projects/haus-am-see", "/", "/architecture"] {
        let page = node.get(path).await;
        let image = between(page.text(), "<meta property=\"og:image\" content=\"", "\"");
        assert_eq!(image, format!("{}/media/{}/640.jpg", node::SITE, "5e".repeat(32)), "{path}");
    }
    // Its main colour is there before it.
    let front = node.get("/").await;
    assert!(
        front.text().contains("<path fill=\"#a0522d\" d=\"M0 0h4v3H0\"/></svg><img src="),
        "{}",
        front.text()
    );
}

#[tokio::test]
async fn parameters_that_are_not_known_are_answered_and_named() {
    let node = Node::start().await;
    for path in [
        "/v1/search?q=street",
        "/v1/project/haus-am-see",
        "/v1/project/haus-am-see?revision=1",
        "/v1/similar/haus-am-see",
    ] {
        let mark = if path.contains('?') { '&' } else { '?' };
        let mut plain = node.get(path).await.json();
        assert!(plain.get("ignored_parameters").is_none(), "{path}");
        let odd = node.get(&format!("{path}{mark}page=2&categroy=art&page=3&key=k")).await;
        assert_eq!(odd.status, 200, "{path}");
        plain["ignored_parameters"] = json!(["page", "categroy"]);
        assert_eq!(odd.json(), plain, "{path}");
    }
}

#[tokio::test]
async fn below_a_path_redirects_stay_below_it() {
    let node = Node::start_at("https://example.org/catalog".parse().unwrap()).await;
    for (path, to) in [
        ("/v1/project/old-mill", "/catalog/v1/project/new-mill"),
        ("/v1/project/old-mill?revision=1", "/catalog/v1/project/new-mill?revision=1"),
        ("/v1/similar/old-mill", "/catalog/v1/similar/new-mill"),
        ("/projects/old-mill", "/catalog/projects/new-mill"),
        ("/cite/new-mill", "/catalog/cite/old-mill/1"),
    ] {
        assert_eq!(node.get(path).await.header("location"), Some(to), "{path}");
    }
    let problem = node.ask("GET", "/problems/not-found", "Accept: text/html\r\n").await;
    assert!(!problem.text().contains("\"/openapi.json\""), "{}", problem.text());
}
