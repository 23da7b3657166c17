//! Columns of tables.

use record_files::Table;

use super::*;

fn columns<'t>(text: &'t str, map: &str) -> Result<(Table<&'t [u8]>, Columns), String> {
    let pairs = serde_json::from_str(map).map_err(|error| error.to_string())?;
    let table = Table::new(text.as_bytes()).unwrap();
    let columns = ColumnMap::new(pairs).and_then(|map| Columns::new("works.csv", table.headings(), &map));
    columns.map(|columns| (table, columns)).map_err(|error| error.to_string())
}

/// Returns the members of each row, with the headings renamed as in this map.
fn read(text: &str, map: &str) -> Vec<String> {
    let (table, columns) = columns(text, map).unwrap();
    table.map(|row| Value::Object(columns.members(&row.unwrap().record.unwrap())).to_string()).collect()
}

#[test]
fn headings_become_members_and_empty_cells_null() {
    let text = "Name,category,Design language,taste.material,details.Site area\n\
                \"Stair, \"\"House\"\"\",art,plain,oak,240 m²\n , ,,,\nB,art,,,\n";
    assert_eq!(
        read(text, "{}"),
        [
            r#"{"name":"Stair, \"House\"","category":"art","design_language":"plain","taste":{"material":"oak"},"details":{"Site area":"240 m²"}}"#,
            r#"{"name":"B","category":"art","design_language":null,"taste":{"material":null},"details":{"Site area":null}}"#,
        ]
    );
}

#[test]
fn headings_can_be_mapped_and_left_out() {
    assert_eq!(
        read("Titel,Ort,intern\nA,Zürich,x\n", r#"{"Titel": "name", "Ort": "city", "intern": ""}"#),
        [r#"{"name":"A","city":"Zürich"}"#]
    );
}

#[test]
fn pictures_are_in_one_column_or_in_several() {
    assert_eq!(
        read("slug,pictures,pictures.2.alt\na,a.jpg | b.jpg|,A door\nb,,\n", "{}"),
        [
            r#"{"slug":"a","pictures":{"1":{"source":"a.jpg"},"2":{"source":"b.jpg","alt":"A door"},"all":true}}"#,
            r#"{"slug":"b","pictures":{"all":true,"2":{"alt":null}}}"#,
        ]
    );
    assert_eq!(
        read(
            "slug,pictures.1,pictures.1.alt,Pictures.1.Credit,pictures.1.rights\na,a.jpg,,Ann B,CC0\n",
            "{}"
        ),
        [r#"{"slug":"a","pictures":{"1":{"source":"a.jpg","alt":null,"credit":"Ann B","rights":"CC0"}}}"#]
    );
}

#[test]
fn a_heading_is_the_same_in_every_unicode_form() {
    let expected = ["{\"slug\":\"a\",\"details\":{\"Fl\u{e4}che\":\"1\"}}"];
    for heading in [
        "details.Fl\u{e4}che",
        "Details.Fla\u{308}che",
        " details . Fla\u{308}che ",
        "\"details.Fl\u{e4}che \"",
    ] {
        assert_eq!(read(&format!("slug,{heading}\na,1\n"), "{}"), expected, "{heading:?}");
    }
    for (heading, key) in
        [("Fl\u{e4}che", "Fla\u{308}che"), ("Fla\u{308}che", "Fl\u{e4}che"), ("Fl\u{e4}che ", " Fl\u{e4}che")]
    {
        for member in ["details.Fl\u{e4}che", "details.Fla\u{308}che", " details. Fla\u{308}che "] {
            let map = json!({ key: member }).to_string();
            assert_eq!(read(&format!("slug,{heading}\na,1\n"), &map), expected, "{heading:?} {map}");
        }
    }
}

#[test]
fn blanks_in_headings_are_no_part_of_the_member() {
    let text = "slug, taste . Material,Design\u{a0}language,pictures. 1 . Alt\na,oak,plain,A door\n";
    assert_eq!(
        read(text, "{}"),
        [
            r#"{"slug":"a","taste":{"material":"oak"},"design_language":"plain","pictures":{"1":{"alt":"A door"}}}"#
        ]
    );
}

#[test]
fn text_without_a_heading_becomes_a_member_that_no_record_has() {
    let text = "slug,,name, \na,x,A,\nb,,B,y\nc,,C,\n";
    assert_eq!(
        read(text, "{}"),
        [
            r#"{"slug":"a","column 2 without a heading":"x","name":"A"}"#,
            r#"{"slug":"b","name":"B","column 4 without a heading":"y"}"#,
            r#"{"slug":"c","name":"C"}"#,
        ]
    );
    assert_eq!(read("slug,\na,x\n", r#"{"": "intro"}"#), [r#"{"slug":"a","intro":"x"}"#]);
    assert_eq!(read("slug,,\na,x,y\n", r#"{"": ""}"#), [r#"{"slug":"a"}"#]);
}

#[test]
fn two_columns_for_one_member_are_rejected() {
    let error = |text: &str, map: &str| columns(text, map).map(|_| ()).unwrap_err();
    for (text, map, member) in [
        ("name,Name", "{}", "name"),
        ("details.Fl\u{e4}che,Details.Fla\u{308}che", "{}", "details.Fl\u{e4}che"),
        ("Fl\u{e4}che,Fla\u{308}che", "{}", "fl\u{e4}che"),
        ("city,Ort", r#"{"Ort": " city "}"#, "city"),
        ("pictures.1,pictures. 01 .source", "{}", "pictures.01.source"),
    ] {
        let reason = format!("two columns are “{member}”; leave one out, or map them with --columns");
        assert_eq!(error(text, map), reason, "{text:?}");
    }
    for (text, object) in [
        ("taste.material,taste", "taste"),
        ("taste,taste.material", "taste"),
        ("details,details.Area", "details"),
    ] {
        let reason = format!(
            "one column is “{object}” and another a part of it; leave one out, or map them with --columns"
        );
        assert_eq!(error(text, "{}"), reason, "{text:?}");
    }
    assert_eq!(columns("pictures,pictures.1.alt", "{}").map(|_| ()), Ok(()));
    for map in [
        r#"{"Ort": "city", "Ort": "studio"}"#.to_owned(),
        "{\"Fl\u{e4}che\": \"city\", \"Fla\u{308}che\": \"\"}".to_owned(),
    ] {
        let heading = if map.contains("Ort") { "Ort" } else { "Fl\u{e4}che" };
        let reason = format!(
            "the column map names the heading “{heading}” twice, perhaps in two spellings that look the same; leave one out"
        );
        assert_eq!(error("name", &map), reason);
    }
}

#[test]
fn a_heading_of_the_map_that_the_file_does_not_have_is_an_error() {
    let error = |map: &str| columns("Titel,Ort", map).map(|_| ()).unwrap_err();
    assert_eq!(
        error(r#"{"Title": "name", "Ort": "city"}"#),
        "works.csv has no column “Title”; the nearest is “Titel” (column 1). Correct the keys of --columns."
    );
    assert_eq!(
        error(r#"{"Jahr": "year"}"#),
        "works.csv has no column “Jahr”; its columns are Titel, Ort. Correct the keys of --columns."
    );
    // What may be in some files only is left out in all.
    assert_eq!(columns("Titel,Ort", r#"{"": ""}"#).map(|_| ()), Ok(()));
}

#[test]
fn a_row_is_found_by_slug_id_or_name() {
    let have_key = |text: &str, map: &str| columns(text, map).unwrap().1.have_key();
    assert!(have_key("Slug,city", "{}") && have_key("Titel,city", r#"{"Titel": "name"}"#));
    assert!(!have_key("Titel,city", "{}"));
}
