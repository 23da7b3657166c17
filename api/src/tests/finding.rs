//! The head of the results page: what was asked for, what was found in its place, and what to try where nothing was.

use serde_json::{Value, json};

use super::filtered_pages::{expected, links};
use super::{Node, Reply};

fn record(name: &str, taste: &Value) -> Value {
    json!({"name": name, "category": "art", "city": "Ulm, Germany", "taste": taste})
}

async fn node_of(records: &[(String, Value)]) -> Node {
    let records: Vec<(&str, Value, &[[u8; 3]])> =
        records.iter().map(|(slug, record)| (slug.as_str(), record.clone(), &[][..])).collect();
    Node::start_with_records(&records).await
}

/// Returns the text between the tags of the first element with this beginning.
fn element<'p>(page: &'p Reply, begin: &str, end: &str) -> &'p str {
    let (_, rest) = page.text().split_once(begin).unwrap_or_else(|| panic!("{begin}: {}", page.text()));
    rest.split_once(end).unwrap().0
}

fn has(page: &Reply, text: &str) {
    assert!(page.text().contains(text), "{text}: {}", page.text());
}

#[tokio::test]
async fn the_words_are_removed_like_taste_and_filters() {
    let room = record("Larch Room", &json!({"material": "larch"}));
    let node = node_of(&[("larch-room".to_owned(), room)]).await;
    let page = node.get("/?q=room&material=larch&category=art").await;
    assert_eq!(
        links(&page, "<ul class=\"chips applied\"", "</ul>"),
        expected(&[
            ("/?material=larch&category=art", "Remove Words: “room” ×"),
            ("/?q=room&category=art", "Remove Material: larch ×"),
            ("/?q=room&material=larch", "Remove Category: Art ×"),
            ("/", "Clear all"),
        ])
    );
    assert_eq!(element(&page, "<h1 dir=\"auto\">", "</h1>"), "“room”, larch");
    assert_eq!(element(&page, "<title>", "</title>"), "“room”, larch · catalog.example.org");
    let page = node.get("/?q=room").await;
    let only = expected(&[("/", "Remove Words: “room” ×")]);
    assert_eq!(links(&page, "<ul class=\"chips applied\"", "</ul>"), only);
}

#[tokio::test]
async fn a_misspelt_search_says_whose_results_are_shown() {
    let node = Node::start().await;
    let page = node.get("/?q=strete").await;
    assert_eq!(element(&page, "<h2 id=\"results\">", "</h2>"), "Results for “street”: 3");
    has(&page, "<p class=\"soft\">Shown are projects with “street” instead of “strete”.</p>");
    let page = node.get("/?q=street").await;
    assert_eq!(element(&page, "<h2 id=\"results\">", "</h2>"), "3 projects");
    assert!(!page.text().contains("Search instead"), "{}", page.text());
}

#[tokio::test]
async fn a_misspelt_search_leads_to_one_that_corrects_nothing() {
    let node = Node::start().await;
    let page = node.get("/?q=strete&sort=name").await;
    let href = "/?q=%22strete%22&#38;sort=name";
    has(
        &page,
        &format!("<p>Search instead for <a href=\"{href}\" rel=\"nofollow\"><bdi>strete</bdi></a></p>"),
    );
    let page = node.get("/?q=%22strete%22").await;
    assert_eq!(element(&page, "<h2 id=\"results\">", "</h2>"), "No projects found");
    has(&page, "Did you mean <a href=\"/?q=street\" rel=\"nofollow\">street</a>? It finds 3 projects.</p>");
    let answer = node.get("/v1/search?q=%22strete%22").await.json();
    assert_eq!(answer["results"], json!([]));
    assert_eq!(answer["did_you_mean"], "street");
}

#[tokio::test]
async fn each_section_counts_its_own_projects() {
    let both = (0..14).map(|at| (format!("both-{at}"), json!({"material": "cork", "mood": "calm"})));
    let one = (0..3).map(|at| (format!("one-{at}"), json!({"material": "cork"})));
    let records: Vec<_> =
        both.chain(one).map(|(slug, taste)| (slug.clone(), record(&slug, &taste))).collect();
    let node = node_of(&records).await;
    let first = node.get("/?material=cork&mood=calm").await;
    has(&first, "<h2 id=\"results\">Cork and calm: 14</h2><p class=\"soft range-shown\">1 to 12 of 14</p>");
    assert!(!first.text().contains("of 17"), "{}", first.text());
    let second = node.get("/?material=cork&mood=calm&page=2").await;
    has(&second, "<h2 id=\"results\">Cork and calm: 14</h2><p class=\"soft range-shown\">13 to 14 of 14</p>");
    has(&second, "<h2 class=\"section-heading\">One of the two: 3</h2>\n");
}

#[tokio::test]
async fn what_could_be_left_out_is_advised_where_nothing_is_found() {
    let node = Node::start().await;
    let everywhere = |path: &str, text: &str| format!("<a href=\"{path}\" rel=\"nofollow\">{text}</a>.</p>");
    for (path, advice) in [
        (
            "/?q=xyzzy&category=art",
            "<p>Try another word, or ".to_owned() + &everywhere("/?q=xyzzy", "search all categories"),
        ),
        (
            "/?q=xyzzy+qwrtz&category=art",
            "<p>Try fewer words, or ".to_owned() + &everywhere("/?q=xyzzy+qwrtz", "search all categories"),
        ),
        ("/?q=xyzzy+qwrtz", "<p>Try fewer words.</p>".to_owned()),
        ("/art", "<p>".to_owned() + &everywhere("/", "Search all categories")),
        ("/?city=Nowhere", "<p>Try fewer filters.</p>".to_owned()),
    ] {
        has(&node.get(path).await, &advice);
    }
    for path in ["/", "/?q=street", "/design"] {
        let page = node.get(path).await;
        assert!(!page.text().contains("<p>Try ") && !page.text().contains("all categories"), "{path}");
    }
}

#[tokio::test]
async fn a_phrase_is_shown_without_its_quotes_and_a_colour_with_a_swatch() {
    let room = record("Room", &json!({"material": "cork floor", "color": "red"}));
    let node = node_of(&[("room".to_owned(), room)]).await;
    let page = node.get("/?material=%22cork+floor%22&color=red").await;
    assert_eq!(
        links(&page, "<ul class=\"chips applied\"", "</ul>"),
        expected(&[
            ("/?color=red", "Remove Material: cork floor ×"),
            ("/?material=%22cork+floor%22", "Remove Color: red ×"),
            ("/", "Clear all"),
        ])
    );
    assert_eq!(element(&page, "<h1 dir=\"auto\">", "</h1>"), "Cork floor, red");
    assert_eq!(element(&page, "<h2 id=\"results\">", "</h2>"), "Cork floor and red: 1");
    let red = "<svg fill=\"#b4332e\"><path d=\"M0 0h9v9H0z\"/></svg> red";
    assert_eq!(page.text().matches(red).count(), 2, "{}", page.text());
    has(
        &page,
        "cork floor <span class=\"soft small\">1</span><span class=\"visually-hidden\">, chosen, remove</span></a>",
    );
    let none = node.get("/?material=%22cork+wool%22").await;
    has(&none, "No project has “cork wool” as its material.");
}

#[tokio::test]
async fn a_place_is_a_field_beside_the_years() {
    let node = node_of(&[("room".to_owned(), record("Room", &json!({})))]).await;
    let page = node.get("/?place=Germany&sort=name").await;
    assert!(page.text().contains("/projects/room?"), "{}", page.text());
    let form = page.text().split("<form").find(|form| form.contains("type=\"text\" name=\"place\"")).unwrap();
    assert!(form.contains("<input type=\"text\" name=\"place\" value=\"Germany\""), "{form}");
    assert_eq!(form.matches("type=\"hidden\"").count(), 1, "{form}");
    assert!(form.contains("<input type=\"hidden\" name=\"sort\" value=\"name\">"), "{form}");
}

#[tokio::test]
async fn projects_of_the_kind_of_material_that_is_missing_come_first() {
    let made_of =
        |slug: &str, material: &str| (slug.to_owned(), record("Pavilion", &json!({"material": material})));
    let node = node_of(&[made_of("pine", "pine cladding"), made_of("brick", "brick")]).await;
    let page = node.get("/?q=timber+pavilion").await;
    assert_eq!(element(&page, "<h2 id=\"results\">", "</h2>"), "Without “timber”, but of pine: 1");
    assert_eq!(element(&page, "<h2 class=\"section-heading\">", "</h2>"), "Without “timber”: 1");
    let (first, others) = page.text().split_once("<h2 class=\"section-heading\">").unwrap();
    assert!(first.contains("href=\"/projects/pine?from=q%3Dtimber%2Bpavilion\""), "{first}");
    assert!(others.contains("/projects/brick?") && !others.contains("/projects/pine?"), "{others}");
    let material = "<p class=\"intro\">Material: <bdi><mark>pine</mark> cladding</bdi></p>";
    assert!(first_card(&page).contains(material), "{}", page.text());
    let page = node.get("/?q=velvet+pavilion").await;
    assert_eq!(element(&page, "<h2 id=\"results\">", "</h2>"), "Without “velvet”: 2");
}

#[tokio::test]
async fn projects_of_the_kind_of_material_come_first_across_all_pages() {
    let made_of = |at: usize| (format!("p{at:02}"), if at.is_multiple_of(2) { "larch" } else { "brick" });
    let records = (0..27).map(made_of).map(|(slug, material)| {
        (slug.clone(), record(&format!("Pavilion {slug}"), &json!({"material": material})))
    });
    let node = node_of(&records.collect::<Vec<_>>()).await;
    let sections = |page: &Reply| -> Vec<(String, usize)> {
        let parts: Vec<&str> = page.text().split("<h2 class=\"section-heading\">").collect();
        let title =
            |part: &str| part.split("</nav>").next().unwrap().split("<ul").next().unwrap().replace('\n', "");
        let cards = |part: &str| part.matches("<li class=\"card\">").count();
        let rest = parts[1..].iter().map(|part| (title(part), cards(part)));
        std::iter::once((String::new(), cards(parts[0]))).chain(rest).collect()
    };
    let rest = "Without “timber”: 13</h2>";
    let range = |range: &str| format!("<p class=\"soft section-range\">{range}</p>");
    let path = "/?q=timber+pavilion";
    let first = node.get(path).await;
    has(
        &first,
        "<h2 id=\"results\">Without “timber”, but of larch: 14</h2><p class=\"soft range-shown\">1 to 12 of 14</p>",
    );
    assert_eq!(sections(&first), [(String::new(), 12)]);
    let next = "<a class=\"button\" href=\"/?q=timber+pavilion&#38;page=2#results\" rel=\"next nofollow\">Next 12</a>";
    has(&first, next);
    let pager = element(&first, "<nav class=\"pages\" aria-label=\"Pages\">", "<a");
    assert_eq!(pager.trim(), "", "it does not count what lacks the word");
    let second = node.get(&format!("{path}&page=2")).await;
    has(
        &second,
        "<h2 id=\"results\">Without “timber”, but of larch: 14</h2><p class=\"soft range-shown\">13 to 14 of 14</p>",
    );
    assert_eq!(sections(&second), [(String::new(), 2), (format!("{rest}{}", range("1 to 10 of 13")), 10)]);
    let third = node.get(&format!("{path}&page=3")).await;
    assert_eq!(sections(&third), [(String::new(), 0), (format!("{rest}{}", range("11 to 13 of 13")), 3)]);
    assert!(!third.text().contains("page=4"), "{}", third.text());
    let mut shown: Vec<String> = [&first, &second, &third].into_iter().flat_map(slugs_of_cards).collect();
    assert!(shown[..14].iter().all(|slug| slug[1..].parse::<usize>().unwrap() % 2 == 0), "{shown:?}");
    shown.sort_unstable();
    assert_eq!(shown, (0..27).map(|at| format!("p{at:02}")).collect::<Vec<_>>(), "each once");
    assert_eq!(
        node.get(&format!("{path}&page=4")).await.faults(),
        ["page: The list ends before this page. Start again from the first page."]
    );
    // A project of the second page leads to those beside it in the same order.
    let last = slugs_of_cards(&first).pop().unwrap();
    let beside = node.get(&format!("/projects/{last}?from=q%3Dtimber%2Bpavilion")).await;
    has(&beside, "12 of 27");
    let following = slugs_of_cards(&second).remove(0);
    has(&beside, &format!("href=\"/projects/{following}?from=q%3Dtimber%2Bpavilion%26page%3D2\""));
}

/// Returns the slugs of the projects on the cards of a page.
fn slugs_of_cards(page: &Reply) -> Vec<String> {
    let cards = page.text().split("<li class=\"card\"><a href=\"/projects/").skip(1);
    cards.map(|card| card.split(['?', '"']).next().unwrap().to_owned()).collect()
}

/// Returns what the first card of a page says.
fn first_card(page: &Reply) -> &str {
    element(page, "<li class=\"card\">", "</li>")
}

#[tokio::test]
async fn what_made_a_project_a_result_is_marked_on_its_card() {
    let mut lodge = record("Stone <lodge>", &json!({"material": "pale oak & brass", "mood": "calm"}));
    lodge["studio"] = "Stone & Sons".into();
    lodge["intro"] = format!("{}with a floor of slate.", "A long story, ".repeat(12)).into();
    let node = node_of(&[("lodge".to_owned(), lodge)]).await;
    let marked = async |path: &str, texts: &[&str]| {
        let page = node.get(path).await;
        let card = first_card(&page);
        assert!(texts.iter().all(|text| card.contains(text)), "{path}: {card}");
        assert_eq!(
            card.matches("<mark>").count(),
            texts.concat().matches("<mark>").count(),
            "{path}: {card}"
        );
    };
    let name = "<h3 dir=\"auto\"><mark>Stone</mark> &lt;lodge&gt;</h3>";
    let studio = "<bdi><mark>Stone</mark> &amp; Sons</bdi>";
    marked("/?q=stone", &[name, studio]).await;
    marked("/?q=stnoe", &[name, studio]).await;
    marked("/?q=ulm", &["<bdi><mark>Ulm</mark>, Germany</bdi>"]).await;
    marked("/?q=slate", &["<p class=\"intro\" dir=\"auto\">…", "with a floor of <mark>slate</mark>.</p>"])
        .await;
    marked("/?q=art", &["<p class=\"intro\">Category: <bdi><mark>Art</mark></bdi></p>"]).await;
    let material = "<p class=\"intro\">Material: <bdi>pale <mark>oak</mark> &amp; brass</bdi></p>";
    let mood = "<p class=\"intro\">Mood: <bdi><mark>calm</mark></bdi></p>";
    marked("/?material=oak&mood=calm", &[material, mood]).await;
    marked("/?q=stone&material=oak", &[name, studio, material]).await;
    for path in ["/", "/art", "/?city=Ulm,+Germany"] {
        marked(path, &["<h3 dir=\"auto\">Stone &#60;lodge&#62;</h3>"]).await;
    }
}

#[tokio::test]
async fn a_phrase_is_quoted_once_in_every_note() {
    let room = record("Room", &json!({"material": "cork floor"}));
    let node = node_of(&[("room".to_owned(), room)]).await;
    let here = "city=Ulm,+Germany";
    for (path, tool) in [
        ("taste?material=%22cork+wool%22".to_owned(), Some(json!({"material": "\"cork wool\""}))),
        (
            format!("taste?material=%22cork+wool%22&{here}"),
            Some(json!({"material": "\"cork wool\"", "city": "Ulm, Germany"})),
        ),
        ("search?q=room&material=%22cork+wool%22".to_owned(), None),
        (format!("search?q=room&material=%22cork+wool%22&{here}"), None),
    ] {
        let mut answers = vec![node.get(&format!("/v1/{path}")).await.json()];
        if let Some(arguments) = tool {
            answers.push(node.tool("search_by_taste", arguments).await);
        }
        for answer in answers {
            let note = answer["note"].as_str().unwrap();
            assert!(note.contains("“cork wool”") && !note.contains('"'), "{path}: {note}");
        }
    }
}
