//! Each format, exactly, and read back by an independent parser where there is one.

use biblatex::{Bibliography, ChunksExt};
use serde_json::{Value, json};

use super::*;

const SCRIPT: &str = "</script><img onerror=\"alert('1')\">";

/// A citation with everything that can be recorded.
pub(super) fn full() -> Citation {
    Citation {
        slug: "haus-am-see".into(),
        title: "Haus am See".into(),
        creator: Some("Atelier Łoś & Co".into()),
        city: Some("Zürich, Switzerland".into()),
        year: Some("2019".into()),
        category: Category::Architecture,
        intro: Some("A \"quiet\" house.\nOn the lake.".into()),
        curated_by: Some("Ada Pelt".into()),
        selected: Some("2024-04-01".parse().unwrap()),
        published: Some("2024-05-01".parse().unwrap()),
        url: "https://catalog.example.org/cite/haus-am-see/2".into(),
        project_url: "https://catalog.example.org/projects/haus-am-see".into(),
        source: Some("https://museum.example/object/7?a=1&b=2".into()),
        revision: 2,
        recorded: "2026-11-20".parse().unwrap(),
        accessed: None,
        image: Some("https://catalog.example.org/media/5e/1920.webp".into()),
        publisher: "Casa & Co".into(),
        site: "https://catalog.example.org".into(),
    }
}

/// One with nothing but a name and a category.
pub(super) fn bare(title: &str, category: Category) -> Citation {
    let none = || None;
    Citation {
        title: title.into(),
        category,
        creator: none(),
        city: none(),
        year: none(),
        intro: none(),
        curated_by: none(),
        image: none(),
        source: none(),
        selected: None,
        published: None,
        ..full()
    }
}

#[test]
fn bibtex_has_only_recorded_fields() {
    assert_eq!(
        full().bibtex(),
        concat!(
            "@misc{haus-am-see-2,\n",
            "  title = {{Haus am See}},\n",
            "  author = {{Atelier Łoś \\& Co}},\n",
            "  year = {2019},\n",
            "  howpublished = {Casa \\& Co},\n",
            "  url = {https://catalog.example.org/cite/haus-am-see/2},\n",
            "  note = {Revision 2 of 2026-11-20. Selected by Ada Pelt on 2024-04-01.},\n",
            "}\n"
        )
    );
    assert_eq!(
        bare("A", Category::Art).bibtex(),
        concat!(
            "@misc{haus-am-see-2,\n  title = {{A}},\n  howpublished = {Casa \\& Co},\n",
            "  url = {https://catalog.example.org/cite/haus-am-see/2},\n  note = {Revision 2 of 2026-11-20.},\n}\n"
        )
    );
    let bibliography = Bibliography::parse(&full().bibtex()).unwrap();
    let entry = bibliography.get("haus-am-see-2").unwrap();
    assert_eq!(entry.entry_type.to_string(), "misc");
    assert_eq!(entry.author().unwrap()[0].name, "Atelier Łoś & Co");
    assert_eq!(entry.url().unwrap(), "https://catalog.example.org/cite/haus-am-see/2");
}

#[test]
fn ris_has_only_recorded_fields() {
    assert_eq!(
        full().ris(),
        concat!(
            "TY  - GEN\r\nTI  - Haus am See\r\nAU  - Atelier Łoś & Co\r\nPY  - 2019\r\nCY  - Zürich, Switzerland\r\n",
            "PB  - Casa & Co\r\nET  - 2\r\nKW  - Architecture\r\nAB  - A \"quiet\" house. On the lake.\r\n",
            "N1  - Revision 2 of 2026-11-20. Selected by Ada Pelt on 2024-04-01.\r\nID  - haus-am-see-2\r\n",
            "UR  - https://catalog.example.org/cite/haus-am-see/2\r\n",
            "L4  - https://catalog.example.org/media/5e/1920.webp\r\nER  - \r\n"
        )
    );
    assert_eq!(
        bare("A", Category::Art).ris(),
        concat!(
            "TY  - ART\r\nTI  - A\r\nPB  - Casa & Co\r\nET  - 2\r\nKW  - Art\r\nN1  - Revision 2 of 2026-11-20.\r\n",
            "ID  - haus-am-see-2\r\nUR  - https://catalog.example.org/cite/haus-am-see/2\r\nER  - \r\n"
        )
    );
}

#[test]
fn csl_json_has_only_recorded_fields() {
    let read = |citation: &Citation| serde_json::from_str::<Value>(&citation.csl_json()).unwrap();
    assert_eq!(
        read(&full()),
        json!([{
            "id": "haus-am-see-2", "type": "document", "title": "Haus am See",
            "author": [{"literal": "Atelier Łoś & Co"}], "curator": [{"literal": "Ada Pelt"}],
            "issued": {"date-parts": [[2019]]}, "available-date": {"date-parts": [[2024, 5, 1]]},
            "event-place": "Zürich, Switzerland", "genre": "Architecture",
            "abstract": "A \"quiet\" house. On the lake.", "publisher": "Casa & Co", "version": "2",
            "URL": "https://catalog.example.org/cite/haus-am-see/2",
            "note": "Revision 2 of 2026-11-20. Selected by Ada Pelt on 2024-04-01.",
        }])
    );
    assert_eq!(
        read(&bare("A", Category::Photography)),
        json!([{
            "id": "haus-am-see-2", "type": "graphic", "title": "A", "genre": "Photography", "publisher": "Casa & Co",
            "version": "2", "URL": "https://catalog.example.org/cite/haus-am-see/2", "note": "Revision 2 of 2026-11-20.",
        }])
    );
}

#[test]
fn json_ld_has_only_recorded_fields() {
    let read = |citation: &Citation| serde_json::from_str::<Value>(&citation.json_ld()).unwrap();
    let organization =
        json!({"@type": "Organization", "name": "Casa & Co", "url": "https://catalog.example.org"});
    let url = "https://catalog.example.org/cite/haus-am-see/2";
    assert_eq!(
        read(&full()),
        json!({
            "@context": "https://schema.org", "@type": "CreativeWork", "@id": url,
            "url": "https://catalog.example.org/projects/haus-am-see", "name": "Haus am See",
            "creator": {"@type": "Organization", "name": "Atelier Łoś & Co"}, "dateCreated": "2019",
            "locationCreated": {"@type": "Place", "name": "Zürich, Switzerland"}, "genre": "Architecture",
            "abstract": "A \"quiet\" house.\nOn the lake.",
            "image": "https://catalog.example.org/media/5e/1920.webp",
            "isBasedOn": "https://museum.example/object/7?a=1&b=2", "version": 2,
            "isPartOf": {"@type": "Collection", "name": "Casa & Co", "url": "https://catalog.example.org"},
            "subjectOf": {"@type": "WebPage", "url": url, "version": 2,
                "author": {"@type": "Person", "name": "Ada Pelt"}, "datePublished": "2024-05-01", "publisher": organization},
            "sdPublisher": organization, "sdDatePublished": "2026-11-20",
        })
    );
    for (category, kind) in [(Category::Art, "VisualArtwork"), (Category::Photography, "Photograph")] {
        let bare = read(&bare("A", category));
        assert_eq!((&bare["@type"], bare.get("creator")), (&json!(kind), None));
        let members: Vec<&String> = bare.as_object().unwrap().keys().collect();
        assert_eq!(
            members,
            [
                "@context",
                "@type",
                "@id",
                "url",
                "name",
                "genre",
                "version",
                "isPartOf",
                "subjectOf",
                "sdPublisher",
                "sdDatePublished"
            ]
        );
    }
}

#[test]
fn a_page_says_of_its_picture_what_is_recorded() {
    let read = |picture: Option<&CitedImage>| -> Value {
        serde_json::from_str(&full().json_ld_of_page(picture)).unwrap()
    };
    let of_format: Value = serde_json::from_str(&full().json_ld()).unwrap();
    assert_eq!(read(None), of_format);
    let url = "https://catalog.example.org/media/5e/1280.webp";
    let recorded = |rights: &str| CitedImage {
        url: url.into(),
        width: 1280,
        height: 640,
        alt: Some("The house <from> the lake".into()),
        credit: Some("Photo: Ada".into()),
        rights: Some(rights.into()),
        color_palette: vec!["#000000".into()],
    };
    let licence = "https://creativecommons.org/licenses/by/4.0/";
    let mut expected = json!({
        "@type": "ImageObject", "contentUrl": url, "width": 1280, "height": 640,
        "caption": "The house <from> the lake", "creditText": "Photo: Ada", "license": licence,
    });
    assert_eq!(read(Some(&recorded(licence)))["image"], expected);
    expected.as_object_mut().unwrap().remove("license");
    assert_eq!(read(Some(&recorded("CC BY 4.0")))["image"], expected, "a text is no licence's address");
    let mut rest = read(Some(&recorded(licence)));
    rest["image"] = of_format["image"].clone();
    assert_eq!(rest, of_format);
    let bare = CitedImage { alt: None, credit: None, rights: None, ..recorded("") };
    let expected = json!({"@type": "ImageObject", "contentUrl": url, "width": 1280, "height": 640});
    assert_eq!(read(Some(&bare))["image"], expected);
    assert!(!full().json_ld_of_page(Some(&recorded("<"))).contains('<'));
}

#[test]
fn the_text_has_only_recorded_fields() {
    assert_eq!(
        full().text(),
        "Atelier Łoś & Co. Haus am See. Zürich, Switzerland, 2019. Architecture. Casa & Co. Revision 2 of 2026-11-20. \
         Selected by Ada Pelt on 2024-04-01. https://catalog.example.org/cite/haus-am-see/2\n"
    );
    assert_eq!(
        bare("A\nB", Category::Art).text(),
        "A B. Art. Casa & Co. Revision 2 of 2026-11-20. https://catalog.example.org/cite/haus-am-see/2\n"
    );
}

#[test]
fn the_metadata_has_only_recorded_fields() {
    let url = "https://catalog.example.org/cite/haus-am-see/2";
    let pairs = |citation: &Citation| {
        citation.metadata().into_iter().map(|(name, content)| format!("{name}={content}")).collect::<Vec<_>>()
    };
    assert_eq!(
        pairs(&full()),
        [
            "citation_title=Haus am See",
            "citation_author=Atelier Łoś & Co",
            "citation_publication_date=2019",
            "citation_publisher=Casa & Co",
            &format!("citation_public_url={url}"),
            "DC.title=Haus am See",
            "DC.creator=Atelier Łoś & Co",
            "DC.date=2019",
            "DC.coverage=Zürich, Switzerland",
            "DC.subject=Architecture",
            "DC.description=A \"quiet\" house. On the lake.",
            "DC.publisher=Casa & Co",
            &format!("DC.identifier={url}"),
            "DC.source=https://museum.example/object/7?a=1&b=2",
            "og:title=Haus am See",
            "og:type=article",
            &format!("og:url={url}"),
            "og:site_name=Casa & Co",
            "og:description=A \"quiet\" house. On the lake.",
        ]
    );
    assert_eq!(pairs(&bare("A", Category::Art)).len(), 11);
}

/// The fields of one RIS entry, read strictly: every line a known form, the type first, the end last.
fn read_ris(text: &str) -> Vec<(String, String)> {
    let lines = text.strip_suffix("\r\n").expect("the last line ends").split("\r\n");
    let fields: Vec<(String, String)> = lines
        .map(|line| {
            let (tag, value) = line.split_once("  - ").unwrap_or_else(|| panic!("{line:?}"));
            assert!(
                tag.len() == 2 && tag.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()),
                "{tag}"
            );
            assert!(!value.contains(['\r', '\n', '\u{2028}', '\u{2029}', '\u{85}']), "{value:?}");
            (tag.to_owned(), value.to_owned())
        })
        .collect();
    let ends = fields.iter().filter(|(tag, _)| tag == "ER").count();
    assert_eq!((fields[0].0.as_str(), fields[fields.len() - 1].0.as_str(), ends), ("TY", "ER", 1));
    fields
}

#[test]
fn no_name_breaks_out_of_its_place() {
    for name in [
        SCRIPT,
        "{\\textbf{x}}",
        "}}, author = {Mallory",
        "100 % @misc{a, b} # $x$ ~ ^ _ & | \\",
        "{{{",
        "}}}",
        "\\\\",
        "'\"`´ ''a`` ---",
        "a\nER  - \nTY  - BOOK",
        "a\u{2028}ER  - \u{2029}b\tc",
        "東京の家 🏠 Łódź",
        "and others and {x",
        "<!--<script>",
    ] {
        let line = one_line(name);
        let citation = Citation {
            creator: Some(name.into()),
            city: Some(name.into()),
            intro: Some(name.into()),
            curated_by: Some(name.into()),
            ..bare(name, Category::Art)
        };

        let bibliography = Bibliography::parse(&citation.bibtex())
            .unwrap_or_else(|error| panic!("{error}: {}", citation.bibtex()));
        assert_eq!(bibliography.len(), 1, "{name}");
        let entry = bibliography.get("haus-am-see-2").unwrap();
        let mut fields: Vec<&String> = entry.fields.keys().collect();
        fields.sort();
        assert_eq!(fields, ["author", "howpublished", "note", "title", "url"], "{name}");
        let read = |field: &str| entry.get(field).unwrap().format_verbatim();
        assert_eq!((read("title"), read("author")), (line.clone(), line.clone()));
        let note = format!("Revision 2 of 2026-11-20. Selected by {line}.");
        assert_eq!(read("note"), note);

        let fields = read_ris(&citation.ris());
        let value = |tag: &str| fields.iter().find(|(own, _)| own == tag).map(|(_, value)| value.as_str());
        for tag in ["TI", "AU", "CY", "AB"] {
            assert_eq!(value(tag), Some(line.as_str()));
        }
        assert_eq!(fields.len(), 12, "{fields:?}");

        let csl: Value = serde_json::from_str(&citation.csl_json()).unwrap();
        assert_eq!((&csl[0]["title"], &csl[0]["author"]), (&json!(line), &json!([{"literal": line}])));

        let text = citation.json_ld();
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\n']), "{text}");
        let json_ld: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&json_ld["name"], &json_ld["creator"]["name"]), (&json!(name), &json!(name)));
        assert_eq!(citation.text().lines().count(), 1);
    }
}

#[test]
fn an_address_ends_where_it_ends() {
    assert_eq!(bare_address("https://x.org/a?b=%20&c=d#e"), "https://x.org/a?b=%20&c=d#e");
    assert_eq!(
        bare_address("https://x.org/{a}\\<b> \"ü\""),
        "https://x.org/%7Ba%7D%5C%3Cb%3E%20%22%C3%BC%22"
    );
    let citation = Citation { url: "https://x.org/}, author = {M".into(), ..full() };
    let bibliography = Bibliography::parse(&citation.bibtex()).unwrap();
    assert_eq!(bibliography.iter().next().unwrap().author().unwrap()[0].name, "Atelier Łoś & Co");
}

#[test]
fn a_date_of_access_is_one_field_more() {
    let citation = Citation { accessed: Some("2026-11-06".parse().unwrap()), ..full() };
    let without = |text: String, added: &str| {
        assert_eq!(text.matches(added).count(), 1, "{added} in {text}");
        text.replace(added, "")
    };
    assert_eq!(without(citation.bibtex(), "  urldate = {2026-11-06},\n"), full().bibtex());
    assert_eq!(without(citation.ris(), "Y2  - 2026/11/06/\r\n"), full().ris());
    assert_eq!(
        without(citation.csl_json(), "\"accessed\":{\"date-parts\":[[2026,11,6]]},"),
        full().csl_json()
    );
    assert_eq!(without(citation.text(), " Accessed 2026-11-06."), full().text());
    assert_eq!((citation.json_ld(), citation.metadata()), (full().json_ld(), full().metadata()));
    let bibliography = Bibliography::parse(&citation.bibtex()).unwrap();
    let entry = bibliography.get("haus-am-see-2").unwrap();
    assert_eq!(entry.get("urldate").unwrap().format_verbatim(), "2026-11-06");
}
