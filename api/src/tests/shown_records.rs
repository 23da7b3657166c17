//! What pages show of a record: its links, its pictures with what belongs to them, and texts in every script.

use schemas::event::{Event, PictureAttached};
use schemas::picture::{Colour, Picture, PictureFormat, PictureId};
use serde_json::{Value, json};

use super::*;

const LICENCE: &str = "https://creativecommons.org/licenses/by/4.0/";

/// A house with two pictures, the second of which has another owner, and a poster in Arabic without any.
async fn node() -> Node {
    let house = json!({
        "name": "Glass House", "studio": "Atelier Łoś", "city": "Ulm, Germany", "year": "2019", "category": "architecture",
        "provenance": {"curated_by": "Ada Pelt"},
        "taste": {"material": "pale brick, larch; glass.", "light": "it is lit by one long window in the north and by nothing else at all"},
        "pictures": [
            {"source": "a.png", "alt": "From the <lake>", "credit": "Photo: Ada", "rights": LICENCE},
            {"source": "b.png", "credit": "Photo: Ben", "rights": "On request"},
        ],
    });
    let poster = json!({
        "name": "ملصق", "studio": "ورشة", "city": "إيران", "year": "1619", "category": "art", "intro": "ملصق.",
        "details": [{"label": "تقنية", "value": "حبر"}], "taste": {"color": "pale grey, moss green"},
    });
    let attached = |source: &str, byte: u8, palette: &[[u8; 3]]| {
        let palette = palette.iter().map(|rgb| Colour(*rgb)).collect();
        let id = PictureId([byte; 32]);
        let picture = Picture { id, format: PictureFormat::Png, width: 1_000, height: 500, palette };
        Event::PictureAttached(PictureAttached { source: source.into(), picture })
    };
    Node::start_listing(&[
        ("2026-11-24T10:00:00Z", 6, node::selected("glass-house", house)),
        ("2026-11-24T10:00:00Z", 6, attached("a.png", 0x5e, &[[0xa0, 0x52, 0x2d], [0; 3]])),
        ("2026-11-24T10:00:00Z", 6, attached("b.png", 0x5f, &[])),
        ("2026-11-24T10:00:01Z", 7, node::selected("poster", poster)),
    ])
    .await
}

/// The lines of a page that begin so.
fn lines<'a>(page: &'a Reply, begins: &str) -> Vec<&'a str> {
    page.text().lines().filter(|line| line.starts_with(begins)).collect()
}

/// What stands in a page from a text to another.
fn between<'a>(page: &'a Reply, start: &str, end: &str) -> Vec<&'a str> {
    page.text().split(start).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

#[tokio::test]
async fn the_facts_of_a_project_lead_to_the_projects_that_share_them() {
    let node = node().await;
    let page = node.get("/projects/glass-house").await;
    assert_eq!(
        lines(&page, "<p class=\"byline\">"),
        ["<p class=\"byline\"><bdi><a href=\"/studios/atelier-los\">Atelier Łoś</a></bdi>, \
          <bdi><a href=\"/?city=Ulm%2C+Germany\" rel=\"nofollow\">Ulm, Germany</a></bdi>, \
          <bdi><a href=\"/?year_from=2019&#38;year_to=2019\" rel=\"nofollow\">2019</a></bdi></p>"]
    );
    let facts = between(&page, "<div><dt", "</div>");
    let phrase = |text: &str, value: &str| {
        format!("<bdi><a href=\"/?material=%22{value}%22\" rel=\"nofollow\">{text}</a></bdi>")
    };
    let materials = [phrase("pale brick", "pale+brick"), phrase("larch", "larch"), phrase("glass", "glass")];
    let [brick, larch, glass] = &materials;
    assert_eq!(
        facts,
        [
            format!(">Material</dt><dd dir=\"auto\">{brick}, {larch}; {glass}.</dd>"),
            ">Light</dt><dd dir=\"auto\">it is lit by one long window in the north and by nothing else at all</dd>".into(),
            ">Curated by</dt><dd><bdi><a href=\"/curators/ada-pelt\">Ada Pelt</a></bdi></dd>".into(),
            ">Revision</dt><dd>1, <time datetime=\"2026-11-24\">24 November 2026</time></dd>".into(),
        ]
    );
    for path in between(&page, "<a href=\"/", "\"").into_iter().filter(|path| !path.contains("media/")) {
        let path = format!("/{}", path.replace("&#38;", "&"));
        assert_eq!(node.get(&path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn each_picture_has_its_caption_credit_and_rights() {
    let node = node().await;
    let (project, cited) = (node.get("/projects/glass-house").await, node.get("/cite/glass-house/1").await);
    for page in [&project, &cited] {
        assert_eq!(
            between(page, "<figcaption>", "\n</figcaption>"),
            [
                format!(
                    "<span aria-hidden=\"true\" dir=\"auto\">From the &#60;lake&#62;</span>\n<span dir=\"auto\">Photo: Ada</span>\n\
                     <a href=\"{LICENCE}\" rel=\"license external\">creativecommons.org/licenses/by/4.0</a>"
                ),
                "<span dir=\"auto\">Photo: Ben</span>\n<span dir=\"auto\">On request</span>".to_owned(),
            ]
        );
        let swatch = |colour: &str, word: &str| {
            format!(
                "<li><a href=\"/?color=%23{colour}\" rel=\"nofollow\" title=\"{word}\"><svg role=\"img\" aria-label=\"{word}\" viewBox=\"0 0 4 1\" \
                 preserveAspectRatio=\"none\"><rect width=\"4\" height=\"1\" fill=\"#{colour}\"/></svg></a></li>"
            )
        };
        assert_eq!(
            between(page, "<ul class=\"palette\" aria-label=\"Projects with the main colors\">", "</ul>"),
            [swatch("a0522d", "Brown") + &swatch("000000", "Black")]
        );
        let folder = format!("/media/{}", "5e".repeat(32));
        let srcset = [320, 640, 1000].map(|width| format!("{folder}/{width}.webp {width}w")).join(", ");
        let hero = format!(
            "<a href=\"{folder}/1000.webp\"><svg aria-hidden=\"true\" width=\"1000\" height=\"500\" viewBox=\"0 0 1000 500\">\
             <path fill=\"#a0522d\" d=\"M0 0h1000v500H0\"/></svg><img src=\"{folder}/1000.webp\" srcset=\"{srcset}\" \
             sizes=\"min(100vw, 1000px)\" width=\"1000\" height=\"500\" alt=\"From the &#60;lake&#62;\" fetchpriority=\"high\"></a>"
        );
        assert_eq!(between(page, "<figure class=\"hero\">", "\n"), [hero]);
        let (_, data) = page.text().split_once("<script type=\"application/ld+json\">").unwrap();
        let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
        let picture = format!("https://catalog.example.org/media/{}/1000.webp", "5e".repeat(32));
        assert_eq!(
            data["image"],
            json!({
                "@type": "ImageObject", "contentUrl": picture, "width": 1000, "height": 500, "caption": "From the <lake>",
                "creditText": "Photo: Ada", "license": LICENCE,
            })
        );
        let jpeg = format!("https://catalog.example.org/media/{}/640.jpg", "5e".repeat(32));
        let shared =
            [lines(page, "<meta name=\"twitter:"), lines(page, "<meta property=\"og:image")].concat();
        assert_eq!(
            shared,
            [
                "<meta name=\"twitter:card\" content=\"summary_large_image\">",
                &format!("<meta property=\"og:image\" content=\"{jpeg}\">"),
                "<meta property=\"og:image:width\" content=\"640\">",
                "<meta property=\"og:image:height\" content=\"320\">",
                "<meta property=\"og:image:alt\" content=\"From the &#60;lake&#62;\">",
            ]
        );
    }
    let format = node.get("/cite/glass-house/1?format=jsonld").await.json();
    let recorded = format!("https://catalog.example.org/media/{}/1000.webp", "5e".repeat(32));
    assert_eq!(format["image"], recorded, "the format stays as it was");
}

#[tokio::test]
async fn the_page_of_a_project_names_itself_in_the_breadcrumb_and_has_its_address_to_copy() {
    let node = node().await;
    let page = node.get("/projects/glass-house").await;
    assert_eq!(
        between(&page, "<nav class=\"breadcrumb soft\" aria-label=\"Breadcrumb\">", "</nav>"),
        ["<ol><li><a href=\"/\">All projects</a></li><li><a href=\"/architecture\">Architecture</a></li>\
          <li aria-current=\"page\"><bdi>Glass House</bdi></li></ol>"]
    );
    assert_eq!(
        between(&page, "Cite this</a>\n", "</p>"),
        ["<button class=\"button quiet js-only\" type=\"button\" data-copy=\"address\">Copy link</button>\n\
          <a class=\"button quiet\" href=\"/board?slugs=glass-house\" rel=\"nofollow\" data-add=\"glass-house\">Add to board</a>\
          <span id=\"address\" hidden>https://catalog.example.org/projects/glass-house</span>"]
    );
}

#[tokio::test]
async fn a_record_in_another_script_keeps_its_direction_everywhere() {
    let node = node().await;
    let byline = "<p><bdi>ورشة</bdi>, <bdi>إيران</bdi>, <bdi>1619</bdi></p>";
    let home = node.get("/").await;
    assert_eq!(lines(&home, "<p><bdi>ورشة"), [byline]);
    assert!(home.text().contains("<h3 dir=\"auto\">ملصق</h3>"), "{}", home.text());
    let page = node.get("/projects/poster").await;
    for element in [
        "<h1 dir=\"auto\">ملصق</h1>",
        "<p class=\"intro\" dir=\"auto\">ملصق.</p>",
        "<div><dt dir=\"auto\">تقنية</dt><dd dir=\"auto\">حبر</dd></div>",
        "<p class=\"print-only citation\" dir=\"auto\">ورشة",
    ] {
        assert!(page.text().contains(element), "{element}: {}", page.text());
    }
    let cited = node.get("/cite/poster/1").await;
    for element in
        ["<p class=\"citation\" id=\"citation\" dir=\"auto\">ورشة", "<p id=\"apa\" dir=\"auto\">ورشة"]
    {
        assert!(cited.text().contains(element), "{element}: {}", cited.text());
    }
}

#[tokio::test]
async fn beside_pictures_a_project_without_one_has_its_colour_and_the_sign_of_its_category() {
    let node = node().await;
    let frames = |page: &Reply| -> Vec<String> {
        between(page, "<div class=\"frame\">", "</div>").into_iter().map(str::to_owned).collect()
    };
    let sign = "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\".4\" d=\"M13 9h14v12H13zM15 19l4-5 3 3 2-2 2 4\"/></svg>";
    let tint = "<path fill=\"#cfceca\" fill-opacity=\".5\" d=\"M0 0h40v30H0\"/>";
    let begin = "<svg aria-hidden=\"true\" viewBox=\"0 0 40 30\">";
    let mixed = frames(&node.get("/board?slugs=poster,glass-house").await);
    let [poster, house] = mixed.as_slice() else { panic!("{mixed:?}") };
    assert_eq!(*poster, format!("{begin}{tint}{sign}"));
    let folder = format!("/media/{}", "5e".repeat(32));
    let srcset = format!("srcset=\"{folder}/320.webp 320w, {folder}/640.webp 640w\"");
    assert!(house.contains(&srcset), "{house}");
    let alone = frames(&node.get("/board?slugs=poster").await);
    assert_eq!(alone, [format!("{begin}{sign}")], "without pictures around it the frame is not shown");
}
