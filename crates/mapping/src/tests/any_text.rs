//! Whatever stands in a cell or a mapping, nothing fails, and what comes out keeps its promises.

use proptest::prelude::*;
use serde_json::json;

use crate::date::{DayForm, YearOf, day};
use crate::{Application, Mapping};

/// Every step that changes a text.
const MAPPING: &str = r#"
    [record]
    id          = "a"
    name        = { first = ["a", "b"], split = "|" }
    studio      = { from = "a", split = ",", invert = true, qualifier = "b", cut = " \\([^()]*\\)$" }
    city        = { from = ["a", "b"], split = ";", decode = true }
    year        = { from = "a", year = "last" }
    category    = { from = "b", default = "art" }
    description = "a"
    url         = { from = "a", scheme = "https" }
    published   = { from = "b", date = "excel" }
    [details]
    Text        = { from = "a", html = true, find = "(\\w+)", absent = ["x"] }
    [[pictures]]
    source      = { template = "{a}.jpg", split = "|" }
    alt         = "b"
"#;

/// Texts of what the steps look for, and of anything.
fn cell() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[0-9]{1,5}",
        "[-/.,;|&<>%()年月日 \n\u{200b}]{1,3}",
        Just("BCE".to_owned()),
        Just("<p>ü</p><script>".to_owned()),
        Just("&uuml;&#x110000;&#39".to_owned()),
        Just("http://".to_owned()),
        Just("June".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_cell_becomes_a_record_or_is_rejected(a in cell(), b in cell()) {
        let mapping = Mapping::parse("m.toml", MAPPING).unwrap();
        let mut application = Application::new(&mapping);
        let record = json!({"a": a, "b": b});
        if let Ok(mapped) = application.record(record.as_object().unwrap()) {
            for (name, value) in &mapped.members {
                if let Some(text) = value.as_str() {
                    prop_assert!(!text.is_empty() && text.trim() == text, "{name}: {text:?}");
                }
            }
            if let Some(year) = mapped.members.get("year") {
                prop_assert!((1000..=2100).contains(&year.as_str().unwrap().parse::<i32>().unwrap()));
            }
            let studio = mapped.members.get("studio").and_then(|studio| studio.as_str()).unwrap_or_default();
            prop_assert!(!studio.contains(", ") || studio.chars().count() <= 300);
        }
        application.summary().sentences();
    }

    #[test]
    fn a_day_has_its_year_and_comes_back(text in cell()) {
        for form in [DayForm::Iso, DayForm::Points, DayForm::DayFirst, DayForm::MonthFirst, DayForm::Excel] {
            if let Some(found) = day(&text, form) {
                prop_assert_eq!(day(&found, form), Some(found.clone()));
                prop_assert_eq!(YearOf::Sure.find(&found), found[..4].parse().ok());
            }
        }
        if let (Some(first), Some(last)) = (YearOf::First.find(&text), YearOf::Last.find(&text)) {
            prop_assert!((1000..=2100).contains(&first) && (1000..=2100).contains(&last));
        }
    }

    #[test]
    fn any_text_is_a_mapping_or_has_faults(text in "[a-z\\[\\]={}\"', .\n]{0,80}") {
        if let Err(error) = Mapping::parse("m.toml", &text) {
            prop_assert!(error.to_string().starts_with("m.toml"));
        }
    }
}
