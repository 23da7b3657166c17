//! The results page with filters, facets and orders: every one a link or a form of the page.

use serde_json::{Value, json};

use super::{Node, Reply, slugs};

fn records() -> Vec<(&'static str, Value, &'static [[u8; 3]])> {
    let record = |name: &str, studio: &str, city: &str, year: &str| {
        json!({"name": name, "category": "art", "studio": studio, "city": city, "year": year,
            "taste": {"material": "larch"}})
    };
    let mut pictured = record("Larch Room", "Larchmont & Co", "ULM, Germany", "1998");
    pictured["pictures"] = json!([{"source": "a.png"}]);
    vec![
        ("oak-room", record("Oak Room", "Studio B", "Ulm, Germany", "2001"), &[]),
        ("larch-room", pictured, &[[200, 30, 30]]),
        ("larch", record("Larch", "Studio Larch", "Köln, Germany", "1998"), &[]),
        ("larchwood", record("Larchwood", "Studio Larch", "Larchfield", "1998"), &[]),
    ]
}

/// Returns the links between two texts of a page: the path and the text of each.
pub(super) fn links(page: &Reply, from: &str, to: &str) -> Vec<(String, String)> {
    let start = page.text().split_once(from).unwrap().1;
    let part = start.split_once(to).unwrap().0;
    let plain = |text: &str| text.replace("&#38;", "&").replace("&#34;", "\"").replace("&#39;", "'");
    part.split("<a ")
        .skip(1)
        .map(|link| {
            let (link, _) = link.split_once("</a>").unwrap();
            let href = link.split_once("href=\"").unwrap().1.split('"').next().unwrap();
            let text: String = link.split('>').skip(1).map(|part| part.split('<').next().unwrap()).collect();
            (plain(href), plain(&text.split_whitespace().collect::<Vec<_>>().join(" ")))
        })
        .collect()
}

fn facets(page: &Reply) -> Vec<(String, String)> {
    links(page, "<aside", "</aside>")
}

/// The slugs of the cards.
fn cards(page: &Reply) -> Vec<String> {
    let cards = links(page, "<ul class=\"grid\">", "<nav class=\"pages\"");
    cards
        .into_iter()
        .map(|(href, _)| href.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned())
        .collect()
}

pub(super) fn expected(links: &[(&str, &str)]) -> Vec<(String, String)> {
    links.iter().map(|(href, text)| ((*href).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn filters_facets_and_orders_are_links() {
    let node = Node::start_with_records(&records()).await;
    let page = node.get("/?category=art&city=Ulm,+Germany&sort=name").await;
    assert_eq!((page.status, cards(&page)), (200, vec!["larch-room".to_owned(), "oak-room".to_owned()]));
    assert!(
        page.text().contains("<h1 dir=\"auto\">Art, Ulm, Germany</h1>")
            && page.text().contains(">2 projects</h2>")
    );
    assert_eq!(
        links(&page, "<ul class=\"chips applied\"", "</ul>"),
        expected(&[
            ("/?city=Ulm%2C+Germany&sort=name", "Remove Category: Art ×"),
            ("/?category=art&sort=name", "Remove City: Ulm, Germany ×"),
            ("/?sort=name", "Clear all"),
        ])
    );
    assert_eq!(
        links(&page, "<nav class=\"orders\"", "</nav>"),
        expected(&[
            ("#filters", "Filters"),
            ("/?category=art&city=Ulm%2C+Germany", "Newest"),
            ("/?category=art&city=Ulm%2C+Germany&sort=oldest", "Oldest"),
            ("/?category=art&city=Ulm%2C+Germany&sort=name", "Name"),
            ("/?category=art&city=Ulm%2C+Germany&sort=year_asc", "Earliest year"),
            ("/?category=art&city=Ulm%2C+Germany&sort=year_desc", "Latest year"),
        ])
    );
    let ulm = "/?category=art&city=Ulm%2C+Germany";
    assert_eq!(
        facets(&page),
        expected(&[
            ("/?city=Ulm%2C+Germany&sort=name", "Art 2, chosen, remove"),
            ("/?category=art&sort=name", "ULM, Germany 2, chosen, remove"),
            (&format!("{ulm}&city=K%C3%B6ln%2C+Germany&sort=name"), "Köln, Germany 1"),
            (&format!("{ulm}&city=Larchfield&sort=name"), "Larchfield 1"),
            (&format!("{ulm}&studio=Larchmont+%26+Co&sort=name"), "Larchmont & Co 1"),
            (&format!("{ulm}&studio=Studio+B&sort=name"), "Studio B 1"),
            (&format!("{ulm}&year_from=1998&year_to=1998&sort=name"), "1998 1"),
            (&format!("{ulm}&year_from=2001&year_to=2001&sort=name"), "2001 1"),
            (&format!("{ulm}&has_picture=true&sort=name"), "With pictures"),
        ])
    );
    // The forms keep all else.
    let text = page.text();
    for (name, kept) in [
        (
            "q",
            "<input type=\"hidden\" name=\"category\" value=\"art\"><input type=\"hidden\" name=\"city\" value=\"Ulm, Germany\">",
        ),
        ("year_from", "<input type=\"hidden\" name=\"sort\" value=\"name\">"),
        ("color", "<input type=\"hidden\" name=\"sort\" value=\"name\">"),
    ] {
        let form = text.split("<form").find(|form| form.contains(&format!(" name=\"{name}\""))).unwrap();
        assert!(form.contains(kept), "{name}: {form}");
    }
}

#[tokio::test]
async fn words_taste_and_lists_are_counted_as_over_rest() {
    let node = Node::start_with_records(&records()).await;
    for (page, rest) in [
        ("/", "/v1/projects?"),
        ("/?studio=studio+larch&category=art", "/v1/projects?studio=studio+larch&category=art&"),
        ("/?q=larch&year_from=1998&year_to=1998", "/v1/search?q=larch&year_from=1998&year_to=1998&"),
        ("/?q=larch&color=c81e1e", "/v1/search?q=larch&color=c81e1e&"),
        ("/?material=larch&city=ulm+germany", "/v1/taste?material=larch&city=ulm+germany&"),
    ] {
        let answer = node.get(&format!("{rest}facets=category,city,studio,year")).await.json();
        let mut counted = Vec::new();
        for facet in ["category", "city", "studio", "year"] {
            let values = answer["facets"][facet].as_array().unwrap();
            let is_chosen = page.contains(&format!("{facet}=")) || facet == "year" && page.contains("year_");
            let is_shown = values.len() > 1 || !values.is_empty() && is_chosen;
            counted.extend(values.iter().filter(|_| is_shown).map(|one| {
                let value = one["value"].as_str().unwrap();
                let value = if facet == "category" {
                    value[..1].to_uppercase() + &value[1..]
                } else {
                    value.to_owned()
                };
                format!("{value} {}", one["count"])
            }));
        }
        counted.push("With pictures".to_owned());
        let reply = node.get(page).await;
        let shown: Vec<String> =
            facets(&reply).into_iter().map(|(_, text)| text.replace(", chosen, remove", "")).collect();
        assert_eq!(shown, counted, "{page}");
        assert_eq!(cards(&reply), slugs(&answer), "{page}");
    }
}

#[tokio::test]
async fn pages_are_ordered_by_year_and_filtered_by_the_day_of_selection() {
    let record = |name: &str, year: Option<&str>, day: &str| json!({"name": name, "category": "art", "year": year, "provenance": {"selected": day}});
    let node = Node::start_with_records(&[
        ("late", record("Room late", Some("2003"), "2021-01-01"), &[]),
        ("undated", record("Room undated", None, "2021-12-31"), &[]),
        ("early", record("Room early", Some("1998"), "2022-01-01"), &[]),
    ])
    .await;
    for start in ["/?category=art&", "/?q=room&"] {
        for (sort, expected) in
            [("year_asc", ["early", "late", "undated"]), ("year_desc", ["late", "early", "undated"])]
        {
            assert_eq!(cards(&node.get(&format!("{start}sort={sort}")).await), expected, "{start}{sort}");
        }
    }
    let page = node.get("/?selected_from=2021-01-01&selected_to=2021-12-31&sort=year_asc").await;
    assert_eq!(cards(&page), ["late", "undated"]);
    assert_eq!(
        links(&page, "<ul class=\"chips applied\"", "</ul>"),
        expected(&[
            ("/?selected_to=2021-12-31&sort=year_asc", "Remove Selected: Selected since 2021-01-01 ×"),
            ("/?selected_from=2021-01-01&sort=year_asc", "Remove Selected: Selected until 2021-12-31 ×"),
            ("/?sort=year_asc", "Clear all"),
        ])
    );
    let refused =
        node.ask("GET", "/?selected_from=2021-01-02&selected_to=2021-01-01", "Accept: text/html\r\n").await;
    assert_eq!(refused.status, 400);
    let said = "selected_from</code>: It is after selected_to, which is 2021-01-01. Allowed: a date up to 2021-01-01.";
    assert!(refused.text().contains(said), "{refused:?}");
}

#[tokio::test]
async fn a_link_of_a_facet_leads_to_as_many_projects_as_it_says() {
    let node = Node::start_with_records(&records()).await;
    for (href, text) in facets(&node.get("/?q=larch").await) {
        let Some((_, count)) = text.rsplit_once(' ').filter(|_| text != "With pictures") else { continue };
        assert_eq!(cards(&node.get(&href).await).len().to_string(), count, "{href}");
    }
    let page = node.get("/?q=larch&has_picture=true").await;
    assert_eq!(cards(&page), ["larch-room"]);
    assert_eq!(
        facets(&page).last().unwrap(),
        &("/?q=larch".to_owned(), "With pictures, chosen, remove".to_owned())
    );
}

#[tokio::test]
async fn the_next_page_keeps_filters_and_order() {
    let record =
        |at: usize| json!({"name": format!("Room {at:02}"), "category": "art", "studio": "Many & Co"});
    let slugs: Vec<String> = (0..14).map(|at| format!("room-{at:02}")).collect();
    let records: Vec<(&str, Value, &[[u8; 3]])> =
        slugs.iter().enumerate().map(|(at, slug)| (slug.as_str(), record(at), &[][..])).collect();
    let node = Node::start_with_records(&records).await;
    for path in ["/?studio=Many+%26+Co&sort=name", "/?q=room&category=art&sort=name"] {
        let first = node.get(path).await;
        assert_eq!(cards(&first), slugs[..12], "{path}");
        let (next, text) = links(&first, "<nav class=\"pages\"", "</nav>").pop().unwrap();
        assert!(next.starts_with(&format!("{path}&cursor=")) && next.ends_with("&page=2#results"), "{next}");
        assert_eq!(text, "Next 2");
        assert!(first.text().contains("<span class=\"soft\">1 to 12 of 14</span>"), "{first:?}");
        assert!(first.text().contains("<p class=\"soft range-shown\">1 to 12 of 14</p>"), "{first:?}");
        let next = next.trim_end_matches("#results").to_owned();
        let second = node.get(&next).await;
        let back = format!("{path}#results");
        assert_eq!(cards(&second), slugs[12..], "{path}");
        assert_eq!(links(&second, "<nav class=\"pages\"", "</nav>"), expected(&[(&back, "Previous 12")]));
        assert!(
            second.text().contains(", page 2 · ") && second.text().contains(">13 to 14 of 14</p>"),
            "{second:?}"
        );
        let (by_number, _) = next.split_once("&cursor=").unwrap();
        assert_eq!(cards(&node.get(&format!("{by_number}&page=2")).await), slugs[12..], "{path}");
        let beyond = node.get(&format!("{by_number}&page=3")).await;
        assert!(
            beyond.status == 400 && beyond.text().contains("The list ends before this page."),
            "{beyond:?}"
        );
        let other = node.get(&next.replace("sort=name", "sort=oldest")).await;
        assert_eq!(other.status, 400, "a cursor belongs to its order");
    }
}

#[tokio::test]
async fn all_invalid_filters_are_on_the_page_of_the_error() {
    let node = Node::start().await;
    let path = "/?category=music&year_from=20x5&color=%23teal&has_picture=yes&sort=best";
    let page = node.ask("GET", path, "Accept: text/html\r\n").await;
    assert_eq!(page.status, 400);
    let faults = page.text().split("<ul>").nth(1).unwrap().split("</ul>").next().unwrap();
    let faults: Vec<&str> =
        faults.split("<code>").skip(1).map(|fault| fault.split("</li>").next().unwrap()).collect();
    assert_eq!(
        faults,
        [
            "category</code>: It is not one of the catalog&#39;s five. Allowed: architecture, interiors, design, photography, art.",
            "year_from</code>: It is not a year. Allowed: four digits, such as 1998.",
            "has_picture</code>: It is not true. Allowed: true, or leave it out.",
            "color</code>: It is not a color of six hexadecimal digits. Allowed: #rrggbb or rrggbb, such as #a0522d.",
            "sort</code>: It is not an order of this list. Allowed: newest, oldest, name, year_asc, year_desc.",
        ]
    );
    let none = node.get("/?q=street&city=Nowhere").await;
    assert!(none.text().contains("No projects found"), "{}", none.text());
    assert!(
        none.text().contains("No city is “Nowhere”.</p><p class=\"soft\">Without city 3 projects remain."),
        "{}",
        none.text()
    );
    let none = node.get("/?city=Nowhere").await;
    assert!(none.text().contains("No city is “Nowhere”."), "{}", none.text());
}

#[tokio::test]
async fn a_project_opened_from_results_leads_back_and_to_those_beside_it() {
    let record = |at: usize| json!({"name": format!("Room {at:02}"), "category": "art", "city": "Ulm"});
    let slugs: Vec<String> = (0..14).map(|at| format!("room-{at:02}")).collect();
    let records: Vec<(&str, Value, &[[u8; 3]])> =
        slugs.iter().enumerate().map(|(at, slug)| (slug.as_str(), record(at), &[][..])).collect();
    let node = Node::start_with_records(&records).await;
    for path in ["/?city=Ulm&sort=name", "/?q=room&sort=name"] {
        let first = node.get(path).await;
        let cards = links(&first, "<ul class=\"grid\">", "<nav class=\"pages\"");
        // Each link leads to the next one, over the end of a page, and back.
        let (mut here, mut before) = (cards[0].0.clone(), None);
        for at in 0..14 {
            let page = node.get(&here).await;
            let back = if at < 12 { format!("{path}#results") } else { format!("{path}&page=2#results") };
            let shown = links(&page, "<nav class=\"in-results\"", "</nav>");
            assert_eq!(shown[0], (back, "Back to results".to_owned()), "{here}");
            assert!(page.text().contains(&format!("<span class=\"soft\">{} of 14</span>", at + 1)), "{here}");
            let previous = before.map(|before| (before, format!("Previous: Room {:02}", at.max(1) - 1)));
            assert_eq!(shown.get(1).filter(|(_, text)| text.starts_with("Previous")), previous.as_ref());
            before = Some(here);
            match shown.last().filter(|(_, text)| text.starts_with("Next")) {
                Some((next, text)) => {
                    assert_eq!(*text, format!("Next: Room {:02}", at + 1));
                    here = next.clone();
                }
                None => {
                    assert_eq!(at, 13);
                    here = String::new();
                }
            }
        }
    }
    // The front page is no search; results that a link names may be others by now, or none at all.
    assert!(node.get("/").await.text().contains("href=\"/projects/room-13\""));
    let gone = node.get("/projects/room-03?from=q%3Droom%26city%3DBerlin").await;
    assert_eq!(
        links(&gone, "<nav class=\"in-results\"", "</nav>"),
        expected(&[("/?q=room&city=Berlin#results", "Back to results")])
    );
    for from in ["", "?from=sort%3Dbest", "?from=", "?utm_source=a", "?from=page%3D9999"] {
        let page = node.get(&format!("/projects/room-03{from}")).await;
        assert!(page.status == 200 && !page.text().contains("in-results"), "{from}");
    }
}

#[tokio::test]
async fn a_long_search_is_not_repeated_in_every_link() {
    let node = Node::start_with_records(&records()).await;
    let cities: String = (0..18).map(|at| format!("&city={}{at:02}", "x".repeat(40))).collect();
    let long = node.get(&format!("/?q={}{cities}&city=Ulm,+Germany", "%F0%9F%8F%A0".repeat(200))).await;
    assert_eq!(long.status, 200, "{long:?}");
    assert!(
        long.text().contains("This search is too long for more filters to be offered"),
        "{}",
        long.text()
    );
    // 35 links repeat 3.4 KB: those that remove a filter, change the order or the category, and turn the page.
    assert!(long.body.len() < 160 << 10, "{} bytes", long.body.len());
    assert!(!long.text().contains("<details class=\"taste\">"), "no words are offered");
    let wanted = node.get("/?city=Ulm,+Germany").await;
    assert!(wanted.text().contains("<details class=\"taste\">") && wanted.text().contains("?from=city"));

    // The longest address that is read.
    let cities: String = (0..20).map(|at| format!("&city={}{at:02}", "x".repeat(298))).collect();
    let refused = node.get(&format!("/?sort=name{cities}")).await;
    assert_eq!(refused.faults(), ["city: With it the filters of the page are longer than 1000 bytes."]);
}
