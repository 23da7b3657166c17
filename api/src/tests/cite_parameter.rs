//! Citations in answers, which `cite` asks for, and the pinned address, over REST and MCP.

use serde_json::{Value, json};

use super::addresses::brought;
use super::past::later;
use super::*;

const HAUS: &str = "haus-am-see";
const CITE: &str = "https://catalog.example.org/cite";
const STYLES: [&str; 6] = ["apa", "chicago", "mla", "bibtex", "ris", "csl"];

/// What is said of any other style, and which there are.
const KNOWN: &str = "apa, chicago, mla, bibtex, ris, csl";

/// The text at the address of a revision in a format, without the line break at its end.
async fn cited(node: &Node, revision: &str, format: &str) -> String {
    let reply = node.get(&format!("/cite/{revision}?format={format}")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.text().trim_end_matches(['\r', '\n']).to_owned()
}

/// Takes the citation out of an answer or result.
fn without_citation(mut answer: Value) -> (Value, Value) {
    let citation = answer.as_object_mut().unwrap().remove("citation").unwrap_or_default();
    (answer, citation)
}

#[tokio::test]
async fn a_record_has_its_citation_in_every_style_as_its_own_page_gives_it() {
    let node = Node::start().await;
    let record = node.get("/v1/project/haus-am-see").await.json();
    let fetched = node.tool("fetch", json!({"id": HAUS})).await;
    for style in STYLES {
        let expected = (record.clone(), json!(cited(&node, "haus-am-see/1", style).await));
        for name in [style.to_owned(), style.to_uppercase(), format!("+{style}+")] {
            let reply = node.get(&format!("/v1/project/haus-am-see?cite={name}")).await;
            assert_eq!((reply.status, without_citation(reply.json())), (200, expected.clone()), "{name}");
            let name = name.replace('+', " ");
            let answer = node.tool("get_project", json!({"slug": HAUS, "cite": name})).await;
            assert_eq!(without_citation(answer), expected, "{name}");
            let answer = node.tool("fetch", json!({"id": HAUS, "cite": name})).await;
            assert_eq!(without_citation(answer), (fetched.clone(), expected.1.clone()), "{name}");
        }
    }
    let apa = node.get("/v1/project/haus-am-see?cite=apa").await.json()["citation"].clone();
    let expected = format!(
        "Atelier Łoś. (2019). Haus am See (Revision 1) [Architecture]. catalog.example.org. {CITE}/haus-am-see/1"
    );
    assert_eq!(apa, expected);
    let (bib, bibtex) = ("/v1/project/haus-am-see?cite=bib", cited(&node, "haus-am-see/1", "bibtex").await);
    assert_eq!(node.get(bib).await.json()["citation"], bibtex.as_str());
}

#[tokio::test]
async fn a_style_is_a_format_of_the_citation_as_plain_text() {
    let node = Node::start_after(&[brought()]).await;
    for (format, haus, vase) in [
        (
            "apa",
            "Atelier Łoś. (2019). Haus am See (Revision 1) [Architecture]. catalog.example.org. C/haus-am-see/1\n",
            "Vase (Revision 1) [Design]. (n.d.). catalog.example.org. C/vase/1\n",
        ),
        (
            "Chicago",
            "Atelier Łoś. “Haus am See.” 2019. catalog.example.org. Revision 1, November 20, 2026. C/haus-am-see/1\n",
            "“Vase.” n.d. catalog.example.org. Revision 1, November 24, 2026. C/vase/1\n",
        ),
        (
            "MLA",
            "Atelier Łoś. Haus am See. 2019. catalog.example.org, revision 1, 20 Nov. 2026, C/haus-am-see/1.\n",
            "Vase. catalog.example.org, revision 1, 24 Nov. 2026, C/vase/1.\n",
        ),
    ] {
        for (slug, expected) in [(HAUS, haus), ("vase", vase)] {
            // The parameter wins over the header.
            let path = format!("/cite/{slug}/1?format={format}");
            let reply = node.ask("GET", &path, "Accept: application/x-bibtex\r\n").await;
            let text = reply.text().replace(CITE, "C");
            assert_eq!((reply.status, text.as_str()), (200, expected), "{format}");
            assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
            assert_eq!(reply.header("content-disposition"), None);
        }
    }
    let accessed = async |format: &str| {
        let path = format!("/cite/haus-am-see/1?format={format}&accessed=2026-11-26");
        node.get(&path).await.text().contains("Accessed ")
    };
    assert_eq!(
        [accessed("apa").await, accessed("chicago").await, accessed("mla").await],
        [false, true, true]
    );
    let refused = node.get("/cite/haus-am-see/1?format=harvard").await;
    let names = "html, jsonld, bibtex, ris, csl, text, apa, chicago, mla";
    let fault =
        json!([{"parameter": "format", "detail": format!("It is none of {names}."), "allowed": names}]);
    assert_eq!((refused.status, &refused.json()["errors"]), (400, &fault));
}

#[tokio::test]
async fn each_of_several_projects_has_its_citation() {
    let node = Node::start_after(&[brought()]).await;
    for detail in ["full", "concise", "taste"] {
        let path = format!("/v1/projects?slugs=haus-am-see,vase,no-such&detail={detail}");
        let mut expected = node.get(&path).await.json();
        for (index, revision) in ["haus-am-see/1", "vase/1"].into_iter().enumerate() {
            expected["results"][index]["citation"] = cited(&node, revision, "mla").await.into();
        }
        assert_eq!(node.get(&format!("{path}&cite=MLA")).await.json(), expected, "{detail}");
        let arguments = json!({"slugs": [HAUS, "vase", "no-such"], "detail": detail, "cite": "mla"});
        assert_eq!(node.tool("get_project", arguments).await, expected, "{detail}");
        assert_eq!(expected["missing"], json!(["no-such"]));
    }
}

#[tokio::test]
async fn a_former_revision_is_cited_by_its_own_address() {
    let node = Node::start_after(&later()).await;
    for (query, arguments, revision) in [
        ("", json!({}), "lake-house/3"),
        ("&revision=2", json!({"revision": 2}), "haus-am-see/2"),
        ("&as_of=2026-11-20", json!({"as_of": "2026-11-20"}), "haus-am-see/1"),
    ] {
        let expected = cited(&node, revision, "chicago").await;
        assert!(expected.ends_with(&format!(" {CITE}/{revision}")), "{expected}");
        let rest = node.get(&format!("/v1/project/lake-house?cite=chicago{query}")).await.json();
        assert_eq!(rest["citation"], expected.as_str(), "{query}");
        for (tool, name) in [("get_project", "slug"), ("fetch", "id")] {
            let mut arguments = arguments.clone();
            arguments[name] = "lake-house".into();
            arguments["cite"] = "chicago".into();
            assert_eq!(node.tool(tool, arguments).await["citation"], expected.as_str(), "{tool} {query}");
        }
    }
    // It is refused as ever, and what was published of it can be cited.
    let gone = node.get("/v1/project/gone-house?cite=apa").await;
    assert_eq!(
        (gone.status, &gone.json()["revision_url"]),
        (410, &json!("https://catalog.example.org/cite/gone-house/1"))
    );
    let refused = node.tool_refusal("get_project", json!({"slug": "gone-house", "cite": "apa"})).await;
    assert!(refused.ends_with(&format!("can still be cited as {CITE}/gone-house/1.")), "{refused}");
    let expected =
        format!("gone house (Revision 1) [Design]. (n.d.). catalog.example.org. {CITE}/gone-house/1");
    let published = node.get("/v1/project/gone-house?revision=1&cite=apa").await.json();
    assert_eq!(published["citation"], expected.as_str());
}

#[tokio::test]
async fn an_unknown_style_is_refused_with_those_that_are_known() {
    let node = Node::start().await;
    for style in ["harvard", "html", "text", "jsonld", ""] {
        for path in ["/v1/project/haus-am-see?cite=", "/v1/projects?slugs=haus-am-see&cite="] {
            let reply = node.get(&format!("{path}{style}")).await;
            let fault = json!([{
                "parameter": "cite", "detail": "It is no known style or format of citations.", "allowed": KNOWN,
            }]);
            assert_eq!((reply.status, &reply.json()["errors"]), (400, &fault), "{path}{style}");
        }
        for (tool, arguments) in [
            ("get_project", json!({"slug": HAUS, "cite": style})),
            ("get_project", json!({"slugs": [HAUS], "cite": style})),
            ("fetch", json!({"id": HAUS, "cite": style})),
        ] {
            if style.is_empty() {
                // A blank argument is an absent one.
                assert_eq!(node.tool(tool, arguments).await.get("citation"), None);
                continue;
            }
            let refused = node.tool_refusal(tool, arguments).await;
            let fault =
                format!("These arguments cannot be used: cite is “{style}”, it must be one of {KNOWN}.");
            assert!(refused.starts_with(&fault), "{refused}");
        }
    }
    let fault =
        |detail: &str, allowed: &str| json!([{"parameter": "cite", "detail": detail, "allowed": allowed}]);
    let twice = node.get("/v1/project/haus-am-see?cite=apa&cite=mla").await;
    assert_eq!(twice.json()["errors"], fault("It is given more than once.", "one value"));
    let lonely = node.get("/v1/projects?cite=apa").await;
    let allowed = "slugs and cite together; lists have revision_url to cite";
    assert_eq!(lonely.json()["errors"], fault("It is given without slugs.", allowed));
}

#[tokio::test]
async fn what_stays_is_the_pinned_address_also_where_a_record_brings_another() {
    let vase = json!({
        "name": "Vase", "category": "design", "taste": {"material": "clay"}, "citation_url": "https://museum.example/id/1",
    });
    let node = Node::start_with_records(&[("vase", vase, &[])]).await;
    let own = "https://catalog.example.org/cite/vase/1";
    let both = |of: &Value| (of["citation_url"].clone(), of["revision_url"].clone());
    let expected = (json!("https://museum.example/id/1"), json!(own));
    for path in [
        "/v1/search?q=vase",
        "/v1/projects?material=clay",
        "/v1/taste?material=clay",
        "/v1/projects?slugs=vase",
    ] {
        for detail in ["full", "concise", "taste"] {
            let answer = node.get(&format!("{path}&detail={detail}")).await.json();
            assert_eq!(both(&answer["results"][0]), expected, "{path} {detail}");
        }
    }
    for (tool, arguments) in [
        ("search_projects", json!({"query": "vase"})),
        ("search_by_taste", json!({"material": "clay"})),
        ("browse", json!({"limit": 20})),
    ] {
        let mut arguments = arguments;
        arguments["detail"] = "concise".into();
        assert_eq!(both(&node.tool(tool, arguments).await["results"][0]), expected, "{tool}");
    }
    let one = node.tool("get_project", json!({"slug": "vase", "detail": "concise"})).await;
    assert_eq!(both(&one), expected);
    let fetched = node.tool("fetch", json!({"id": "vase"})).await;
    assert!(fetched["text"].as_str().unwrap().ends_with(&format!("\n\nCite as {own}")), "{fetched}");
    let page = node.get("/projects/vase").await;
    let (button, printed) =
        ("<a class=\"button quiet\" href=\"/cite/vase/1\">Cite this</a>", format!("{own}</p>"));
    assert!(page.text().contains(button) && page.text().contains(&printed), "{}", page.text());
}

#[tokio::test]
async fn a_withdrawn_project_from_elsewhere_leads_to_what_was_published_here() {
    let withdrawn = schemas::event::ProjectWithdrawn { reason: "Sold.".into() };
    let gone = ("2026-11-25T10:00:00Z", 6, schemas::event::Event::ProjectWithdrawn(withdrawn));
    let node = Node::start_after(&[brought(), gone]).await;
    let own = "https://catalog.example.org/cite/vase/1";
    let problem = node.get("/v1/project/vase").await.json();
    assert_eq!(
        (&problem["citation_url"], &problem["revision_url"]),
        (&json!("https://museum.example/id/1"), &json!(own))
    );
    let refused = node.tool_refusal("fetch", json!({"id": "vase"})).await;
    let expected = format!(
        "The project vase was withdrawn from the catalog: Sold. What was published of it can still be cited as {own}."
    );
    assert_eq!(refused, expected);
    let page = node.ask("GET", "/projects/vase", "Accept: text/html\r\n").await;
    let link = format!("<a class=\"button quiet\" href=\"{own}\">See the archived version</a>");
    assert!(page.status == 410 && page.text().contains(&link), "{}", page.text());
}
