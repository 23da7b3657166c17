use serde_json::json;

use super::*;

fn of(columns: &[&str]) -> Result<ExportTable, String> {
    let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    ExportTable::of(&columns).map_err(|error| error.to_string())
}

#[test]
fn a_row_has_the_cells_of_its_columns() {
    let table =
        of(&["name", "slug", "taste.light", "details.Area, net", "pictures.1", "pictures.2.alt"]).unwrap();
    assert_eq!(table.head(), "\u{feff}slug,name,taste.light,\"details.Area, net\",pictures.1,pictures.2.alt");
    let record = json!({
        "slug": "a", "name": "=SUM(A1)", "category": "art", "taste": {"light": "north\n\"even\""},
        "details": [{"label": "Area, net", "value": "-8.5"}, {"label": "Floors", "value": "2"}],
        "pictures": ["a.jpg", {"source": "b.jpg", "alt": "A; B"}], "vectors": {"visual": [0.5]},
    });
    let expected = "a,'=SUM(A1),\"north\n\"\"even\"\"\",-8.5,a.jpg,\"A; B\"";
    assert_eq!(table.row(&record.to_string()).unwrap(), expected);
    assert_eq!(table.row("{\"slug\":\"b\",\"name\":\"+\"}").unwrap(), "b,'+,,,,");
}

#[test]
fn a_column_that_no_record_can_fill_is_refused() {
    let refused = |column: &str| of(&[column]).unwrap_err();
    for wrong in [
        "ort",
        "light",
        "taste",
        "taste.smell",
        "details.",
        "pictures",
        "pictures.0",
        "pictures.01",
        "pictures.1.x",
        "vectors",
        "",
    ] {
        assert!(
            refused(wrong).starts_with(&format!("there is no column “{wrong}”; the columns are slug, id, ")),
            "{wrong}"
        );
    }
    assert!(
        refused("ort")
            .ends_with("details.LABEL, pictures.1, pictures.1.alt, pictures.1.credit and pictures.1.rights")
    );
    assert_eq!(of(&["city", "city"]).unwrap_err(), "--columns names city twice; leave one out");
}

#[test]
fn columns_are_in_the_order_of_the_members_of_a_record() {
    let members = Members::default();
    let mut headings = [
        "pictures.10",
        "pictures.2.alt",
        "pictures.2",
        "taste.light",
        "details.B",
        "details.A",
        "city",
        "name",
        "slug",
    ];
    headings.sort_by_key(|heading| members.rank(heading));
    assert_eq!(
        headings,
        [
            "slug",
            "name",
            "city",
            "details.B",
            "details.A",
            "taste.light",
            "pictures.2",
            "pictures.2.alt",
            "pictures.10"
        ]
    );
}

#[test]
fn a_record_that_changed_meanwhile_is_not_cut() {
    let table = ExportTable { headings: vec!["slug".to_owned(), "name".to_owned()], is_part: false };
    let error = table.row("{\"slug\":\"a\",\"name\":\"A\",\"city\":\"Ulm\"}").unwrap_err().to_string();
    assert_eq!(error, "the catalog got the column city during the export; export it again");
}

#[test]
fn the_columns_of_a_table_are_those_that_records_fill() {
    let mut filled = FilledColumns::default();
    for record in [
        json!({"slug": "a", "name": "A", "details": [{"label": "Floors", "value": "2"}], "vectors": {"visual": [0.5]}}),
        json!({"slug": "b", "name": "B", "city": "Ulm", "id": "7", "details": [{"label": "Area", "value": "3"}]}),
    ] {
        filled.add(&record.to_string()).unwrap();
    }
    assert_eq!(filled.into_table().head(), "\u{feff}slug,id,name,city,details.Floors,details.Area");
    assert_eq!(FilledColumns::default().into_table().head(), "\u{feff}slug", "an empty catalog");
}
