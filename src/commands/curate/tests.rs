//! The arguments of curation.

use super::*;

#[test]
fn assignments_become_a_merge_patch() {
    let set = [
        "city=Zürich = West",
        "taste.material=oak",
        r#"details=[{"label":"a","value":"b"}]"#,
        "year=2019",
        r#"provenance={"note":1e3}"#,
    ];
    let set = set.map(String::from);
    let patch = changes(&set, &["taste.light".into(), "intro".into()]).unwrap();
    assert_eq!(
        Value::Object(patch),
        serde_json::json!({
            "city": "Zürich = West", "taste": {"material": "oak", "light": null},
            "details": [{"label": "a", "value": "b"}], "year": "2019", "provenance": {"note": "1e3"}, "intro": null
        })
    );
}

#[test]
fn a_member_may_be_written_in_every_unicode_form_and_with_blanks() {
    let (composed, decomposed) = ("details.Fl\u{e4}che", "details.Fla\u{308}che");
    for member in [composed, decomposed, "details. Fl\u{e4}che ", " details .Fla\u{308}che"] {
        let set = |first: &str, second: &str| [format!("{first}=1"), format!("{second}=2")];
        for set in [set(member, composed), set(composed, member)] {
            let expected = serde_json::json!({"details": {"Fl\u{e4}che": "2"}});
            assert_eq!(Value::Object(changes(&set, &[]).unwrap()), expected, "{set:?}");
        }
        let expected = serde_json::json!({"details": {"Fl\u{e4}che": null}});
        let unset = changes(&[format!("{composed}=1")], &[member.to_owned()]).unwrap();
        assert_eq!(Value::Object(unset), expected, "{member:?}");
    }
}

#[test]
fn an_edit_without_a_change_is_wrong_usage() {
    assert_eq!(
        changes(&[], &[]).unwrap_err().to_string(),
        "nothing to change; give --set MEMBER=VALUE or --unset MEMBER"
    );
    assert_eq!(
        changes(&["city".into()], &[]).unwrap_err().to_string(),
        "--set takes MEMBER=VALUE; “city” has no ="
    );
}
