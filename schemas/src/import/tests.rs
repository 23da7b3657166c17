use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::record::PictureSource;

fn faults(line: &str) -> Vec<(String, String)> {
    parse_line(line, false).unwrap_err().into_iter().map(|f| (f.field, f.reason)).collect()
}

fn fields(line: &str) -> Vec<String> {
    faults(line).into_iter().map(|(field, _)| field).collect()
}

fn full() -> serde_json::Value {
    json!({
        "slug": "stair-house", "name": "Stair House", "studio": "Atelier Nord", "city": "Zürich, Switzerland",
        "year": "2019", "category": "architecture", "intro": "A house on a stair.", "description": "Long.\nText.",
        "design_language": "Plain", "details": [{"label": "Site area", "value": "240 m²"}],
        "published": "2020-02-29", "thumbnail": "https://example.org/a.webp", "url": "http://example.org/a",
        "citation_url": "https://example.org/c",
        "provenance": {"curated_by": "Ada", "selected": "2020-03-01", "in_archive_since": 2020, "note": "seen"},
        "taste": {"material": "oak", "light": "dusk", "color": "ochre", "mood": "calm", "composition": "axial", "subject": "house"},
        "pictures": [{"source": "pictures/a.webp", "alt": "A stair"}],
        "vectors": {"visual": [0.1, -2.5], "semantic": [1.0, 0.0]}, "vector_model": "m1"
    })
}

#[test]
fn a_full_record_survives_import_and_export() {
    let line = full().to_string();
    let record = parse_line(&line, false).unwrap();
    assert_eq!(
        record.to_line().unwrap().parse::<serde_json::Value>().unwrap()["provenance"],
        full()["provenance"]
    );
    let exported = record.to_line().unwrap();
    assert_eq!(parse_line(&exported, false).unwrap(), record);
    assert_eq!(parse_line(&exported, false).unwrap().to_line().unwrap(), exported);
}

#[test]
fn absent_null_empty_and_blank_mean_unrecorded() {
    let bare = parse_line(r#"{"name":"A","category":"art"}"#, false).unwrap();
    let blank = r#"{"name":" A ","category":"ART","studio":null,"city":"","intro":"  ","details":[],"taste":{},
        "provenance":{"note":""},"pictures":null,"year":" ","vectors":null}"#;
    assert_eq!(parse_line(blank, false).unwrap(), bare);
    assert_eq!(bare.to_line().unwrap(), r#"{"slug":"a","name":"A","category":"art"}"#);
}

#[test]
fn numbers_and_digit_strings_are_interchangeable() {
    let record = parse_line(
        r#"{"name":1984,"category":"design","year":1984,"provenance":{"in_archive_since":"2011"}}"#,
        false,
    )
    .unwrap();
    assert_eq!(record.record.name, "1984");
    assert_eq!(record.record.year.unwrap().to_string(), "1984");
    assert_eq!(record.record.provenance.in_archive_since, Some(2011));
}

#[test]
fn a_number_is_its_text() {
    let line = |number: &str| {
        format!(
            r#"{{"name":{number},"category":"art","studio":{number},"details":[{{"label":{number},"value":{number}}}],"material":{number},"slug":"a"}}"#
        )
    };
    for number in
        ["1e3", "1000.0", "7.00", "123456789012345678901234567890", "3.14159265358979323846", "-0", "1E+2"]
    {
        let record = parse_line(&line(number), false).unwrap().record;
        let Record { name, studio, details, taste, .. } = record;
        let texts = [&name, &studio.unwrap(), &details[0].label, &details[0].value];
        assert_eq!(texts, [number; 4]);
        assert_eq!(taste.get(crate::taste::Dimension::Material), Some(number));
    }
    let long = format!("{{\"name\":\"A\",\"category\":\"art\",\"intro\":{}}}", "9".repeat(400));
    let reason = "has a number that is too large, which ends at column ";
    assert!(faults(&long)[0].1.starts_with(reason), "{:?}", faults(&long));
    let patch = parse_part(r#"{"slug":"a","details":{"Area":1e3},"intro":1.50}"#).unwrap().1;
    assert_eq!(patch["details"]["Area"], "1e3");
    assert_eq!(patch["intro"], "1.50");
}

#[test]
fn an_id_is_a_text_or_a_whole_number() {
    let line = |id: &str| format!(r#"{{"id":{id},"name":"A","category":"art"}}"#);
    for (id, text, slug) in [
        ("7", "7", "7"),
        ("-7", "-7", "7"),
        ("18446744073709551615", "18446744073709551615", "18446744073709551615"),
        ("123456789012345678901", "123456789012345678901", "123456789012345678901"),
        ("\"7.0\"", "7.0", "7-0"),
        (r#"" \u00c47""#, "\u{c4}7", "a7"),
        (r#""A\u03087""#, "\u{c4}7", "a7"),
    ] {
        let external = Some(ExternalId { id: text.into(), source: None });
        let record = parse_line(&line(id), false).unwrap();
        assert_eq!((&record.id, record.slug.as_str()), (&external, slug), "{id}");
        let (part, _) = parse_part(&line(id)).unwrap();
        assert_eq!((&part.id, part.slug.as_str()), (&external, slug), "{id}");
    }
    let reason = "is a number with a fraction or an exponent, which programs write in more than one way; write the id as a \
                  text, in quotes";
    for id in ["7.0", "7.00", "1e3", "1.5", "123456789012345678901.5", "1E3"] {
        assert_eq!(faults(&line(id)), [("id".to_owned(), reason.to_owned())], "{id}");
        assert_eq!(parse_part(&line(id)).unwrap_err(), [Fault { field: "id".into(), reason: reason.into() }]);
    }
}

#[test]
fn an_id_belongs_to_its_source_and_may_stand_beside_a_slug() {
    let tate = Some(ExternalId { id: "T 7".into(), source: "tate".parse().ok() });
    let line = |more: &str| format!(r#"{{{more},"name":"A","category":"art"}}"#);
    for (more, slug, origin) in [
        (r#""id":"T 7","source":"tate""#, "t-7", SlugOrigin::Id),
        (r#""slug":"nets","id":"T 7","source":"tate""#, "nets", SlugOrigin::Given),
    ] {
        let record = parse_line(&line(more), false).unwrap();
        assert_eq!((&record.id, record.slug.as_str(), record.origin), (&tate, slug, origin), "{more}");
        let (part, _) = parse_part(&line(more)).unwrap();
        assert_eq!((&part.id, part.slug.as_str(), part.origin), (&tate, slug, origin), "{more}");
        let exported =
            format!(r#"{{"slug":"{slug}","id":"T 7","source":"tate","name":"A","category":"art"}}"#);
        assert_eq!(record.to_line().unwrap(), exported);
    }
    let no_slug = r#""slug":"nets","id":"?","source":null"#;
    let marks = Some(ExternalId { id: "?".into(), source: None });
    assert_eq!(parse_line(&line(no_slug), false).unwrap().id, marks, "no slug is made of it");
    for (more, field, reason) in [
        (
            r#""id":"7","source":"Tate""#,
            "source",
            "is “Tate”; a name of a source is 1 to 60 characters of a-z, 0-9, - and _",
        ),
        (
            r#""source":"tate""#,
            "source",
            "is “tate”, and there is no id, which is unique in a source; give one, or leave the source out",
        ),
        (r#""id":"?","source":"tate""#, "id", "is “?”, of which no slug can be made; give a slug too"),
    ] {
        let fault = Fault { field: field.into(), reason: reason.into() };
        assert_eq!(faults(&line(more)), [(field.to_owned(), reason.to_owned())], "{more}");
        assert_eq!(parse_part(&line(more)).unwrap_err(), [fault], "{more}");
    }
}

#[test]
fn a_whole_year_may_have_a_zero_fraction() {
    let year = |year: &str| {
        let line = format!(r#"{{"name":"A","category":"art","year":{year}}}"#);
        parse_line(&line, false).map(|line| line.record.year.unwrap().to_string())
    };
    for whole in ["1984", "1984.0", "1984.00", "\"1984.0\""] {
        assert_eq!(year(whole), Ok("1984".to_owned()), "{whole}");
    }
    for (other, shown) in [("1984.5", "1984.5"), ("1.984e3", "1.984e3"), ("\"1984.\"", "1984.")] {
        let reason = format!("is “{shown}”; a year is four digits");
        assert_eq!(year(other), Err(vec![Fault { field: "year".into(), reason }]));
    }
}

#[test]
fn texts_with_marks_that_disguise_them_are_rejected() {
    let line = r#"{"name":"a\u202ec","category":"art","studio":"\u2067a","city":"\ufdd0","details":[{"label":"a","value":"\u202d1\u202c"}]}"#;
    assert_eq!(fields(line), ["name", "studio", "city", "details[0].value"]);
    assert!(parse_line(r#"{"name":"\u2067בית\u2069 Ulm","category":"art"}"#, false).is_ok());
}

#[test]
fn taste_dimensions_are_accepted_at_the_top_level() {
    let top = parse_line(r#"{"name":"A","category":"art","material":"oak"}"#, false).unwrap();
    let nested = parse_line(r#"{"name":"A","category":"art","taste":{"material":"oak"}}"#, false).unwrap();
    assert_eq!(top, nested);
    assert_eq!(
        faults(r#"{"name":"A","category":"art","material":"ash","taste":{"material":"oak"}}"#),
        [("material".into(), "differs from taste.material; give it once".into())]
    );
}

#[test]
fn all_faults_of_a_line_are_reported() {
    let line = r#"{"category":"film","year":"19x4","published":"2021-02-30","url":"ftp://a","details":[{"label":"x"}],
        "provenance":{"selected":"2020","who":"me"},"pictures":["/etc/passwd","../a.png","http://a/b"],"intro":"a\u0000b",
        "slug":"A b","vectors":{"visual":[]},"studio":["x"],"colour":"red"}"#;
    let found: Vec<String> = fields(line);
    assert_eq!(
        found,
        [
            "name",
            "slug",
            "studio",
            "year",
            "category",
            "intro",
            "details[0].value",
            "published",
            "url",
            "provenance.selected",
            "provenance.who",
            "pictures[0]",
            "pictures[1]",
            "pictures[2]",
            "vectors.visual",
            "colour"
        ]
    );
}

#[test]
fn a_reason_says_what_is_expected() {
    assert_eq!(
        faults(r#"{"name":"A","category":"film"}"#),
        [(
            "category".into(),
            "is “film”; expected one of architecture, interiors, design, photography, art".into()
        )]
    );
    assert_eq!(
        faults(r#"{"name":"???","category":"art"}"#)[0].1,
        "is absent, and none can be made from this name; give one of a-z, 0-9 and hyphens"
    );
    assert_eq!(
        faults("[1]"),
        [(String::new(), "is JSON but not an object; a record is one JSON object a line".into())]
    );
    assert!(faults("{")[0].1.starts_with("is not JSON: EOF"));
    assert_eq!(
        faults(&format!("{{\"name\":\"{}\"", "x".repeat(MAX_LINE_BYTES)))[0].1,
        "has 1048586 bytes; a line may have 1 MiB"
    );
    assert_eq!(
        faults(r#"{"name":"A","category":"art","vectors":{"visual":[1,2]}}"#),
        [("vector_model".into(), "is absent; name the model that made the vectors".into())]
    );
}

#[test]
fn a_duplicate_member_is_a_fault() {
    for line in [
        r#"{"name":"A","category":"art","name":"B"}"#,
        r#"{"category":"art","details":[{"label":"x","name":1,"name":2}]}"#,
    ] {
        assert_eq!(faults(line), [(String::new(), "has the member “name” twice; leave one out".into())]);
    }
}

#[test]
fn a_replacement_character_is_a_fault() {
    let reason = |at: usize| {
        format!(
            "has U+FFFD at character {at}, which replaces a lost character; export the file again in the right encoding"
        )
    };
    assert_eq!(
        faults(
            "{\"name\":\"Z\u{fffd}rich\",\"category\":\"art\",\"details\":[{\"label\":\"a\",\"value\":\"\\uFFFD\"}]}"
        ),
        [("name".into(), reason(2)), ("details[0].value".into(), reason(1))]
    );
}

#[test]
fn spreadsheet_formats_are_read_or_rejected_with_a_hint() {
    let record = parse_line(
        r#"{"name":"A \n B\tC","category":"art","year":1984.0,"provenance":{"in_archive_since":"2011.0"}}"#,
        false,
    )
    .unwrap();
    assert_eq!(record.record.name, "A B C");
    assert_eq!(record.record.year.unwrap().to_string(), "1984");
    assert_eq!(record.record.provenance.in_archive_since, Some(2011));
    assert_eq!(
        faults(r#"{"name":"A","category":"art","published":"31.12.2020"}"#)[0].1,
        "is “31.12.2020”; expected a date as YYYY-MM-DD, perhaps 2020-12-31"
    );
}

#[test]
fn a_picture_that_is_named_twice_is_recorded_once() {
    let pictures = |text: &str| {
        parse_line(&format!(r#"{{"name":"A","category":"art","pictures":{text}}}"#), false)
            .map(|line| line.record.pictures)
    };
    assert_eq!(
        pictures(
            r#"["a.jpg","b.jpg",{"path":"a.jpg","alt":"A","credit":"C"},{"url":"a.jpg","credit":"C","rights":"R"}]"#
        ),
        Ok(vec![
            PictureSource {
                alt: Some("A".into()),
                credit: Some("C".into()),
                rights: Some("R".into()),
                ..PictureSource::of("a.jpg")
            },
            PictureSource::of("b.jpg"),
        ])
    );
    for text in ["alt", "credit", "rights"] {
        let twice = format!(r#"[{{"path":"a.jpg","{text}":"A"}},{{"path":"a.jpg","{text}":"B"}}]"#);
        let reason = format!("names a.jpg twice, each with another {text}; name it once");
        assert_eq!(pictures(&twice).unwrap_err(), [Fault { field: "pictures".into(), reason }]);
    }
}

#[test]
fn unknown_fields_can_be_ignored() {
    let line = r#"{"name":"A","category":"art","colour":"red"}"#;
    assert_eq!(fields(line), ["colour"]);
    assert_eq!(parse_line(line, true).unwrap().slug.as_str(), "a");
}

#[test]
fn length_limits_are_enforced() {
    for (field, limit) in [("name", 1_000), ("intro", 2_000), ("description", 50_000)] {
        let line = |length: usize| {
            let mut record = json!({"name": "A", "category": "art"});
            record[field] = "é".repeat(length).into();
            record.to_string()
        };
        assert!(parse_line(&line(limit), false).is_ok(), "{field}");
        assert_eq!(fields(&line(limit + 1)), [field]);
    }
    let noted = |length: usize| {
        json!({"name": "A", "category": "art", "provenance": {"note": "é".repeat(length)}}).to_string()
    };
    assert!(parse_line(&noted(10_000), false).is_ok());
    assert_eq!(fields(&noted(10_001)), ["provenance.note"]);
}

#[test]
fn the_schema_lists_exactly_the_fields_that_are_read() {
    let schema = import_record_schema();
    let mut line = serde_json::Map::new();
    for name in schema["properties"].as_object().unwrap().keys() {
        line.insert(name.clone(), serde_json::Value::Null);
    }
    line.insert("name".into(), "A".into());
    line.insert("category".into(), "art".into());
    assert!(parse_members(line, false).is_ok(), "a member of the schema is unknown to the reader");
    for name in full().as_object().unwrap().keys() {
        assert!(schema["properties"].get(name).is_some(), "{name} is not in the schema");
    }
}

proptest! {
    #[test]
    fn no_text_panics_the_parser(line in ".{0,200}") {
        let _ = parse_line(&line, false);
    }

    #[test]
    fn a_record_round_trips_through_export(
        name in "[\\PC]{1,40}", studio in proptest::option::of("[\\PC]{0,40}"), intro in proptest::option::of("[\\PC\n\t]{0,60}"),
        year in proptest::option::of(1000u16..9999), numbers in proptest::collection::vec(any::<f32>(), 0..5),
    ) {
        let mut line = json!({"name": name, "category": "art", "slug": "s", "vector_model": "m"});
        if let Some(studio) = studio { line["studio"] = studio.into(); }
        if let Some(intro) = intro { line["intro"] = intro.into(); }
        if let Some(year) = year { line["year"] = year.into(); }
        line["vectors"] = json!({"visual": numbers});
        if let Ok(record) = parse_line(&line.to_string(), false) {
            let exported = record.to_line().unwrap();
            let again = parse_line(&exported, false).unwrap();
            prop_assert_eq!(&again, &record);
            prop_assert_eq!(again.to_line().unwrap(), exported);
        }
    }
}
