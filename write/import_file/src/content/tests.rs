//! What an import file contains.

use schemas::record::PictureSource;
use serde_json::json;

use super::*;

fn repaired(text: &str) -> (String, u64) {
    let Prepared { text, repaired, .. } = Content::Text(text.into()).prepare(true);
    (text, repaired)
}

#[test]
fn control_characters_are_replaced_as_in_windows_1252() {
    assert_eq!(
        repaired(
            "{\"name\":\"Dealer\u{92}s \u{80} 5\",\"details\":[{\"label\":\"a\",\"value\":\"1\\u00962\"}]}"
        ),
        ("{\"name\":\"Dealer’s € 5\",\"details\":[{\"label\":\"a\",\"value\":\"1–2\"}]}".into(), 3)
    );
    // A number that stands for a text keeps its digits.
    let text = "{\"name\":1e3,\"year\":1984,\"intro\":\"\u{96}\"}";
    assert_eq!(repaired(text), ("{\"name\":\"1e3\",\"year\":1984,\"intro\":\"–\"}".into(), 1));
}

#[test]
fn other_texts_are_unchanged() {
    for text in [
        "{ \"name\" : \"caf\u{e9} \u{81}\", \"year\": 1.50 }",
        "{\"name\":\"\\u00e9 \\\\u0092\"}",
        "{\"name\":\"\u{92}",
        "",
    ] {
        assert_eq!(repaired(text), (text.into(), 0), "{text:?}");
    }
}

#[test]
fn picture_files_are_found_in_texts_and_in_members() {
    let record =
        json!({"pictures": ["a.jpg", {"source": "Tu\u{308}r.jpg", "alt": "B"}, "https://x.example/c.jpg"]});
    let file = |source: &str, written: &str, alt: Option<&str>| WrittenPicture {
        picture: PictureSource { alt: alt.map(str::to_owned), ..PictureSource::of(source) },
        written: written.to_owned(),
    };
    let files = vec![file("a.jpg", "a.jpg", None), file("T\u{fc}r.jpg", "Tu\u{308}r.jpg", Some("B"))];
    let lacks = Lacks { picture: false, city: true, year: true, text: true };
    let expected = Prepared { text: record.to_string(), files, repaired: 0, refused: Vec::new(), lacks };
    assert_eq!(Content::Text(record.to_string()).prepare(false), expected);
    let Value::Object(members) = record else { unreachable!() };
    assert_eq!(Content::Members(members).prepare(true), expected);
    let broken = "{\"pictures\": [";
    let lacks = Lacks { picture: true, ..lacks };
    let expected =
        Prepared { text: broken.into(), files: Vec::new(), repaired: 0, refused: Vec::new(), lacks };
    assert_eq!(Content::Text(broken.into()).prepare(true), expected);
}

#[test]
fn a_picture_that_cannot_be_used_leaves_its_record() {
    let text = r#"{"name":"A","year":1e3,"pictures":["http://a.example/a.jpg","/b.jpg"]}"#;
    let prepared = Content::Text(text.into()).prepare(false);
    assert_eq!(prepared.text, r#"{"name":"A","year":"1e3","pictures":["https://a.example/a.jpg"]}"#);
    let refused: Vec<&str> = prepared.refused.iter().map(|picture| picture.source.as_str()).collect();
    assert_eq!((refused, prepared.files), (vec!["/b.jpg"], Vec::new()));
}
