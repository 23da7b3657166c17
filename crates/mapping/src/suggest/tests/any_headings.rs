//! Whatever headings and cells are, the suggestion is a mapping that can be read, or says what it lacks.

use proptest::prelude::*;

use super::measure::{parsed, suggestion};
use crate::{Application, column_name, row};

fn heading() -> impl Strategy<Value = String> {
    let known = [
        "Title",
        "Artist",
        "Date",
        "Image",
        "Photo {1}",
        "a.b",
        "x[0].y",
        "Type",
        "Rights",
        "Date (text)",
        "\"Quoted\"",
        "Photo ©",
        "???",
    ];
    prop_oneof![proptest::sample::select(known.to_vec()).prop_map(str::to_owned), ".{1,12}"]
}

fn cell() -> impl Strategy<Value = String> {
    let known = [
        "c. 1890",
        "1890",
        "painting",
        "https://a.example/1.jpg",
        "a.jpg|b.jpg",
        "Quay, Marta",
        "",
        "chair",
        "a\nb",
        "\u{7f}\u{85}",
    ];
    prop_oneof![proptest::sample::select(known.to_vec()).prop_map(str::to_owned), ".{0,12}"]
}

proptest! {
    #[test]
    fn a_suggestion_can_be_read(
        headings in prop::collection::btree_set(heading(), 1..12),
        cells in prop::collection::vec(prop::collection::vec(cell(), 12), 0..8),
    ) {
        let mut headings: Vec<String> = headings.iter().map(|heading| column_name(heading)).filter(|heading| !heading.is_empty()).collect();
        headings.dedup();
        let records: Vec<_> = cells.into_iter().map(|cells| row(&headings, cells)).collect();
        let suggestion = suggestion("any.csv", &headings, &records);
        if suggestion.missing.iter().any(|sentence| sentence.contains("for name")) {
            return Ok(());
        }
        let mapping = parsed(&suggestion);
        let mut application = Application::new(&mapping);
        for record in &records {
            let _ = application.record(record);
        }
        let mut distinct = headings.clone();
        distinct.sort();
        distinct.dedup();
        if distinct.len() == headings.len() {
            prop_assert_eq!(mapping.faulty_columns("any.csv", &headings), Vec::<String>::new(), "{}", &suggestion.toml);
            prop_assert_eq!(mapping.unused_columns(&headings), Vec::<&str>::new(), "{}", &suggestion.toml);
        }
    }
}
