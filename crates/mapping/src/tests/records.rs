//! What single records become, and what is said about all of them.

use serde_json::{Value, json};

use crate::{Application, Mapping, PatternFile, RefusedPicture, Rejected};

fn mapping(lines: &str) -> Mapping {
    let text = format!("[record]\nname = \"Title\"\n{lines}");
    Mapping::parse("m.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a mapping of art, so that its records need no column for a category.
fn art(lines: &str) -> Mapping {
    mapping(&format!("category = {{ value = \"art\" }}\n{lines}"))
}

/// Returns what a mapping makes of a record with a title, without its name and category.
fn members(mapping: &Mapping, mut record: Value) -> Value {
    record["Title"] = "A".into();
    let mut members = Application::new(mapping).record(record.as_object().unwrap()).unwrap().members;
    assert_eq!((members.remove("name"), members.remove("category")), (Some("A".into()), Some("art".into())));
    members.into()
}

#[test]
fn a_record_without_name_or_category_is_rejected_with_every_reason() {
    let mapping = mapping("id = \"No\"\ncategory = { from = \"Kind\", table = { Chair = \"design\" } }");
    let mut application = Application::new(&mapping);
    let mut record = |record: Value| application.record(record.as_object().unwrap());
    let rejected = |id: Option<&str>, reasons: &[&str]| {
        let reasons = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        Err(Rejected { id: id.map(str::to_owned), reasons })
    };
    let mapped = record(json!({"Title": "A", "Kind": "CHAIR"})).unwrap().members;
    assert_eq!(Value::from(mapped), json!({"name": "A", "category": "design"}));
    assert_eq!(
        record(json!({"No": 7, "Title": "A", "Kind": "Vessel"})),
        rejected(Some("7"), &["“Vessel” is not in the table of category"])
    );
    assert_eq!(
        record(json!({"No": "007", "Title": " - "})),
        rejected(Some("007"), &["no name", "no category"])
    );
    assert_eq!(record(json!({"Kind": "chair"})), rejected(None, &["no name and no id"]));
    assert_eq!(
        application.summary().rejected.by_frequency(),
        [
            ("no category", 1),
            ("no name", 1),
            ("no name and no id", 1),
            ("“Vessel” is not in the table of category", 1)
        ]
    );
}

#[test]
fn a_category_without_a_table_is_one_of_the_catalog() {
    let mapping = mapping("category = \"Kind\"");
    let mut application = Application::new(&mapping);
    let mut category = |kind: &str| {
        let record = json!({"Title": "A", "Kind": kind});
        application.record(record.as_object().unwrap()).map(|mapped| mapped.members["category"].clone())
    };
    assert_eq!(category("Photography"), Ok("photography".into()));
    assert_eq!(category("chair").unwrap_err().reasons, ["“chair” is not a category"]);
}

#[test]
fn makers_keep_their_order_and_their_qualifiers() {
    let lines = "studio = { from = \"makers[].name\", where = { role = [\"artist\", \"Maker\"] }, qualifier = \"makers[].prefix\", invert = true }";
    let record = json!({"makers": [
        {"name": "Pellow, Agnes", "role": "Artist", "prefix": "after"},
        {"name": "Quill, Edw.", "role": "donor"},
        {"name": "Unknown", "role": "maker", "prefix": "workshop of"},
        {"name": "Korn, GmbH", "role": "maker", "prefix": "-"},
        {"name": "Korn, GmbH", "role": "maker"},
    ]});
    assert_eq!(members(&art(lines), record), json!({"studio": "after Agnes Pellow, Korn, GmbH"}));
    let first = "studio = { from = \"Artist\", split = \"|\", qualifier = \"Prefix\", keep = \"first\" }";
    let record = json!({"Artist": " |B|C", "Prefix": "after|circle of|"});
    assert_eq!(members(&art(first), record), json!({"studio": "circle of B"}));
    let before = "studio = { from = \"Artist\", qualifier = \"Role\", before = [\"After\"] }";
    let studio = |role: &str| members(&art(before), json!({"Artist": "A. Pellow", "Role": role}));
    assert_eq!(studio("after"), json!({"studio": "after A. Pellow"}));
    assert_eq!(studio("artist"), json!({"studio": "A. Pellow"}));
}

#[test]
fn a_year_that_is_not_sure_stays_a_text() {
    let mapping = art(
        "year = { from = \"Date\", split = \"|\" }\n[details]\nDate = { from = \"Date\", unless = \"year\" }",
    );
    let date = |date: &str| members(&mapping, json!({"Date": date}));
    let detail = |text: &str| json!([{"label": "Date", "value": text}]);
    assert_eq!(date("1975"), json!({"year": "1975"}));
    assert_eq!(date("1975.0"), json!({"year": "1975"}));
    assert_eq!(date("June 1975"), json!({"year": "1975", "details": detail("June 1975")}));
    assert_eq!(date("c. 1975"), json!({"details": detail("c. 1975")}));
    assert_eq!(date("1975|1976"), json!({"details": detail("1975|1976")}));
    assert_eq!(date("n/a"), json!({}));
    let cells = art("year = { from = \"Date\", date = \"excel\" }");
    let cell = |text: &str| members(&cells, json!({"Date": text}));
    assert_eq!(
        [cell("41153"), cell("1975"), cell("x")],
        [json!({"year": "2012"}), json!({"year": "1975"}), json!({})]
    );
    let ends = art("year = { from = \"Date\", year = \"last\" }");
    assert_eq!(members(&ends, json!({"Date": "1890-95"})), json!({"year": "1895"}));
}

#[test]
fn texts_are_changed_in_one_order() {
    let lines = r#"
        city = { from = ["Place", "Country"], split = "|", absent = ["k. A."], replace = { "(Stadt)" = "" } }
        intro = { from = "Text", html = false }
        url = { from = "Link", scheme = "https", cut = '\?.*$' }
        published = { from = "Day", date = "d.m.y" }
        "taste.subject" = { template = "{Kind}: {Tags}", split = ";" }
    "#;
    let record = json!({
        "Place": "Ulm (Stadt)|Bern", "Country": "k. A.|Switzerland", "Text": "<b>x</b> &amp;\r\n\r\n\r\ny ",
        "Link": "a.example/x y?z=1", "Day": "1.6.2021", "Kind": "shows", "Tags": "a; b;;c",
    });
    assert_eq!(
        members(&art(lines), record),
        json!({
            "city": "Ulm", "intro": "<b>x</b> &amp;\n\ny", "published": "2021-06-01",
            "url": "https://a.example/x%20y", "taste": {"subject": "shows: a, shows: b, shows: c"},
        })
    );
}

#[test]
fn a_picture_that_cannot_be_used_is_refused_and_the_record_stays() {
    let mapping = art(
        "[[pictures]]\nsource = \"images[].url\"\nalt = \"images[].text\"\ncredit = \"Credit\"\n[[pictures]]\nsource = \"images/{id}.jpg\"",
    );
    let record = json!({
        "Title": "A", "id": "Q 1", "Credit": ["Ann", "Bob"],
        "images": [
            {"url": "http://a.example/1.jpg", "text": "front"},
            {"url": "data:image/png;base64,AA", "text": "none"},
            {"url": null, "text": "lost"},
            {"url": "https://a.example/1.jpg", "text": "again"},
            {"url": "b.jpg"},
        ],
    });
    let mut application = Application::new(&mapping);
    let mapped = application.record(record.as_object().unwrap()).unwrap();
    assert_eq!(
        mapped.members["pictures"],
        json!([
            {"source": "https://a.example/1.jpg", "alt": "front", "credit": "Ann, Bob"},
            {"source": "b.jpg", "credit": "Ann, Bob"},
            {"source": "images/Q 1.jpg"},
        ])
    );
    let reason = "is data within the record; save it as a file, and name that";
    let source = "data:image/png;base64,AA".to_owned();
    assert_eq!(mapped.refused_pictures, [RefusedPicture { source, reason }]);
    let pattern = "images/{id}.jpg".to_owned();
    assert_eq!(mapped.pattern_files, [PatternFile { pattern, source: "images/Q 1.jpg".into() }]);
    assert_eq!(
        application.summary().sentences(),
        [format!("Pictures: 1 refused, for example “data:image/png;base64,AA”, which {reason}.")]
    );
}

#[test]
fn a_record_has_at_most_100_pictures() {
    let mapping = art("[[pictures]]\nsource = { from = \"Photos\", split = \";\" }");
    let photos: Vec<String> = (0..102).map(|number| format!("{number}.jpg")).collect();
    let record = json!({"Title": "A", "Photos": photos.join(";")});
    let mapped = Application::new(&mapping).record(record.as_object().unwrap()).unwrap();
    assert_eq!(mapped.members["pictures"].as_array().unwrap().len(), 100);
    assert_eq!(mapped.refused_pictures.len(), 2);
}

#[test]
fn what_was_not_used_is_said_once_with_its_count() {
    let lines = r#"
        year     = "Date"
        city     = { from = "makers[0].place", table = { 1 = "Ulm" } }
        url      = "Link"
        published = "Day"
        category = { from = "Kind", table = "kinds" }
        [tables.kinds]
        chair = "design"
    "#;
    let mapping = mapping(lines);
    let mut application = Application::new(&mapping);
    let kinds = ["Vessels", "Ring", "Vessels", "chair", "", "chair", "chair"];
    let dates = ["1975", "c. 1976", "c. 1976", "n.d.", "", "1980", "1981"];
    for (kind, date) in kinds.iter().zip(dates) {
        let record = json!({
            "Title": "A", "Kind": kind, "Date": date, "Day": "last week", "makers": [{"town": 2}],
            "Link": if date == "1975" { "a.example" } else { "" },
        });
        let _ = application.record(record.as_object().unwrap());
    }
    let summary = application.summary();
    assert_eq!(
        summary.sentences(),
        [
            "The path makers[0].place is in no record; there is makers[].town.",
            "Category: 2 records have “Vessels”, 1 “Ring”, 1 no value. Add them to [tables.kinds] of m.toml or give it a default.",
            "Year: 3 sure, 3 kept as text (“c. 1976” 2 times, “n.d.” 1), 1 without.",
            "published: left out in 7 records, for example “last week”, which is not a day in the form that date names.",
            "url: left out in 1 record, for example “a.example”, which does not begin with http:// or https://; scheme = \"https\" puts that before it.",
        ]
    );
    assert_eq!((summary.records, summary.mapped, summary.rejected.total()), (7, 3, 4));
    assert_eq!((summary.without_city, summary.without_picture, summary.without_text), (3, 3, 3));
}

#[test]
fn a_path_that_no_record_has_is_said_with_the_nearest() {
    let mapping = art("studio = \"makers[].name\"\ncity = { from = \"place\", table = { 1 = \"Ulm\" } }");
    let mut application = Application::new(&mapping);
    for place in ["1", "2", "2"] {
        let record = json!({"Title": "A", "place": place, "makers": [{"names": "B"}]});
        application.record(record.as_object().unwrap()).unwrap();
    }
    assert_eq!(application.summary().paths(), ["Title", "makers[].names", "place"]);
    assert_eq!(mapping.unused_columns(&application.summary().paths()), ["makers[].names"]);
    assert_eq!(
        application.summary().sentences(),
        [
            "The path makers[].name is in no record; there is makers[].names.",
            "City: 2 records have “2”. Add them to the table of city in m.toml or give it a default.",
        ]
    );
}

#[test]
fn lists_of_objects_and_inverted_names_with_dates_become_texts() {
    let lines = r#"
        studio = { from = "authors", split = "\n", cut = ', (\d{4})?-(\d{4})?$', invert = true }
        city = { from = "places[].displayname", where = { type = "Creation Place" } }
        year = { first = ["notes", "production[].period"] }
        "provenance.note" = "provenance"
        "taste.material" = "techniques"
        "taste.subject" = { from = "subjects", split = "," }
        url = { template = "https://a.example/{number}" }
        [details]
        Dimensions = { template = "{dims[].type}: {dims[].value} {dims[].unit}", join = "; " }
        Rights = { from = "public", table = { true = "Public domain" } }
        Place = { find = '^([^,]+)', from = "location" }
    "#;
    let record = json!({
        "authors": "Sprott, Ellen, 1873-1955\nHart & Co., 1901-\n", "number": "KMS 7",
        "places": [{"type": "Birthplace", "displayname": "A"}, {"type": "Creation Place", "displayname": "B, C"}],
        "notes": [], "production": [{"period": "1888"}], "provenance": "<p>Sold &amp; lost</p>\n1901", "public": true,
        "techniques": ["oil", "canvas"], "subjects": "A , B", "location": "Graz, Austria",
        "dims": [
            {"type": "height", "value": 12.5, "unit": "cm"}, {"type": "weight", "value": null, "unit": "kg"},
            {"type": "width", "value": "20", "unit": "cm"},
        ],
    });
    let expected = json!({
        "studio": "Ellen Sprott, Hart & Co.", "city": "B, C", "year": "1888", "url": "https://a.example/KMS%207",
        "provenance": {"note": "Sold & lost\n\n1901"}, "taste": {"material": "oil, canvas", "subject": "A, B"},
        "details": [
            {"label": "Dimensions", "value": "height: 12.5 cm; width: 20 cm"},
            {"label": "Rights", "value": "Public domain"},
            {"label": "Place", "value": "Graz"},
        ],
    });
    assert_eq!(members(&art(lines), record.clone()), expected);
    let mut unsure = record;
    unsure["notes"] = json!(["ca. 1888"]);
    assert_eq!(members(&art(lines), unsure).get("year"), None);
}
