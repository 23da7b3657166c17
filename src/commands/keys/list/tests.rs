use cli_output::table;

use super::*;

#[test]
fn columns_are_as_wide_as_their_widest_cell() {
    let row = |name: Option<&str>, email: Option<&str>| Row {
        key_id: "Ab3dEf9h".parse().unwrap(),
        hint: "0a9Z".into(),
        name: name.map(str::to_owned),
        tier: "free".parse().unwrap(),
        created_at: "2026-11-20T08:30:00.25Z".parse().unwrap(),
        last_used_at: None,
        revoked_at: email.is_none().then(|| "2026-11-21T09:00:00Z".parse().unwrap()),
        proven: email.is_some(),
        email: email.map(str::to_owned),
    };
    let rows = [row(Some("Zürich"), Some("ådá@example.org")), row(None, None)];
    assert_eq!(
        table(HEADINGS, &rows, cells),
        [
            "key       hint   tier  created               revoked               proven  address          name",
            "Ab3dEf9h  …0a9Z  free  2026-11-20T08:30:00Z  -                     yes     ådá@example.org  Zürich",
            "Ab3dEf9h  …0a9Z  free  2026-11-20T08:30:00Z  2026-11-21T09:00:00Z  no      -",
        ]
    );
}
