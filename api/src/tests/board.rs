//! A board: a list of projects in an address.

use super::past::later;
use super::{Node, Reply};

fn cards(page: &Reply) -> Vec<&str> {
    page.text()
        .split("<li class=\"card\"><a href=\"/projects/")
        .skip(1)
        .map(|card| card.split('"').next().unwrap())
        .collect()
}

#[tokio::test]
async fn a_board_has_the_projects_of_its_address_in_their_order() {
    let node = Node::start_after(&later()).await;
    // A former slug, a repeated one, a withdrawn project and one that never was.
    let page = node.get("/board?slugs=street-house-2,haus-am-see,Street-House-2,gone-house,nowhere").await;
    assert_eq!((page.status, cards(&page)), (200, vec!["street-house-2", "lake-house"]));
    let accessed = ::pages::today(&node.state);
    for text in [
        "<meta name=\"robots\" content=\"noindex\">",
        "<p class=\"lead\">2 projects. ",
        "Not in the catalog: gone-house, nowhere.",
        "<a href=\"/board?slugs=lake-house\" rel=\"nofollow\">Remove<span class=\"visually-hidden\">: street house 2</span></a>",
        "<a href=\"/board?slugs=street-house-2\" rel=\"nofollow\">Remove",
        "<input type=\"hidden\" name=\"slugs\" value=\"street-house-2,lake-house\">",
        &format!("Accessed {accessed}. https://catalog.example.org/cite/lake-house/3</li>"),
    ] {
        assert!(page.text().contains(text), "{text}: {}", page.text());
    }
    for (path, location) in [
        ("/board?slugs=&add=haus-am-see", "/board?slugs=haus-am-see"),
        ("/board?slugs=a,b&add=https://catalog.example.org/projects/c?from=q", "/board?slugs=a,b,c"),
        ("/board?slugs=a,b&add=a", "/board?slugs=a,b"),
    ] {
        let reply = node.get(path).await;
        assert_eq!((reply.status, reply.header("location")), (303, Some(location)), "{path}");
    }
}

#[tokio::test]
async fn the_citations_of_a_board_are_one_file() {
    let node = Node::start().await;
    for (format, kind, file, entry) in [
        ("bibtex", "application/x-bibtex; charset=utf-8", "board.bib", "@misc{"),
        ("ris", "application/x-research-info-systems; charset=utf-8", "board.ris", "TY  - "),
    ] {
        let reply = node.get(&format!("/board?slugs=haus-am-see,street-house-1&format={format}")).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)));
        let disposition = format!("attachment; filename=\"{file}\"");
        assert_eq!(reply.header("content-disposition"), Some(disposition.as_str()));
        assert_eq!(reply.text().matches(entry).count(), 2, "{}", reply.text());
    }
}

#[tokio::test]
async fn an_empty_board_says_what_it_is_and_a_large_one_is_refused() {
    let node = Node::start().await;
    let empty = node.get("/board").await;
    assert!(empty.status == 200 && empty.text().contains("A board is a list of projects"), "{empty:?}");
    let many: Vec<String> = (0..51).map(|at| format!("p{at}")).collect();
    let refused = node.ask("GET", &format!("/board?slugs={}", many.join(",")), "Accept: text/html\r\n").await;
    assert!(refused.status == 400 && refused.text().contains("It has 51 slugs."), "{refused:?}");
    let full = node.get(&format!("/board?slugs={}", many[..50].join(","))).await;
    assert!(full.status == 200 && full.text().contains("Not in the catalog: p0, p1, "), "{full:?}");
    assert_eq!(node.get("/board?slugs=a&format=xml").await.status, 400);
}
