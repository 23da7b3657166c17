//! The lines of suggestions for credits, countries and days, as they are written.

use serde_json::{Map, Value};

use super::measure::{parsed, suggestion};
use crate::suggest::Suggestion;
use crate::{Application, row};

/// Returns the suggestion for a table with its records. Cells are separated by semicolons.
fn suggested(text: &str) -> (Suggestion, Vec<Map<String, Value>>) {
    let mut lines = text.trim().lines().map(|line| line.trim().split(';').map(str::to_owned));
    let headings: Vec<String> = lines.next().unwrap().collect();
    let records: Vec<_> = lines.map(|cells| row(&headings, cells.collect())).collect();
    (suggestion("works.csv", &headings, &records), records)
}

/// Returns the lines of a suggestion without their reasons, from the first to before the last. Those to be checked begin with `check: `.
fn between(text: &str, first: &str, last: &str) -> Vec<String> {
    let (suggestion, _) = suggested(text);
    parsed(&suggestion);
    let mut found = Vec::new();
    let mut check = "";
    for line in suggestion.toml.lines().skip_while(|line| *line != first).take_while(|line| *line != last) {
        if line.starts_with("# check: ") {
            check = "check: ";
        } else if !line.is_empty() && (!line.starts_with('#') || line.ends_with("= ?")) {
            found.push(format!("{check}{line}"));
            check = "";
        }
    }
    found
}

/// Returns the lines of details and pictures of works with photos and another column.
fn with_photos(heading: &str, values: [&str; 3]) -> Vec<String> {
    let [a, b, c] = values;
    let text = format!(
        "No;Title;Type;Artist;Photo;{heading}
        1;Quay;chair;Lena Fisk;a.jpg;{a}
        2;Stair;chair;Ike Orr;b.jpg;{b}
        3;Net;lamp;Lena Fisk;c.jpg;{c}"
    );
    between(&text, "[details]", "[tables.kinds]")
}

#[test]
fn a_credit_line_and_rights_are_those_of_the_pictures_too() {
    let found = between(
        "No;Title;Type;Photo;Credit line;Rights
        1;Quay;chair;a.jpg;Gift of Ana Wells, 1971;CC0
        2;Stair;chair;b.jpg;Ferry Club Fund;© Lena Fisk
        3;Net;lamp;c.jpg;Purchase, 1980;CC0",
        "[record]",
        "[ignore]",
    );
    let expected = [
        "[record]",
        "id = \"No\"",
        "name = \"Title\"",
        "category = { from = \"Type\", table = \"kinds\" }",
        "[details]",
        "Type = \"Type\"",
        "\"Credit line\" = \"Credit line\"",
        "Rights = \"Rights\"",
        "[[pictures]]",
        "source = \"Photo\"",
        "check: credit = \"Credit line\"",
        "check: rights = \"Rights\"",
        "[tables.kinds]",
        "\"chair\" = \"design\"  # 2 x",
        "\"lamp\" = \"design\"  # 1 x",
    ];
    assert_eq!(found, expected);
}

#[test]
fn credits_of_pictures_need_no_check() {
    let said = ["Photo: Ana Wells", "© Gil Aron", "Courtesy of the Ferry Club"];
    let names = ["Ana Wells", "Gil Aron", "Ana Wells"];
    for (heading, key, values) in [
        ("Credits", "Credits", said),
        ("Credit", "Credit", said),
        ("Crédit", "\"Crédit\"", said),
        ("Bildnachweis", "Bildnachweis", names),
        ("Fotograf", "Fotograf", names),
        ("Photo credit", "\"Photo credit\"", names),
        ("Crédit photographique", "\"Crédit photographique\"", names),
        ("Courtesy of", "\"Courtesy of\"", names),
    ] {
        let expected = [
            "[details]".to_owned(),
            "Type = \"Type\"".to_owned(),
            format!("{key} = \"{heading}\""),
            "[[pictures]]".to_owned(),
            "source = \"Photo\"".to_owned(),
            format!("credit = \"{heading}\""),
        ];
        assert_eq!(with_photos(heading, values), expected);
    }
}

#[test]
fn who_worked_on_it_and_how_it_was_acquired_is_no_credit_of_a_picture() {
    for (heading, values) in [
        ("Credits", ["Structure: Ana Wells", "Garden: Gil Aron", "Light: Ike Orr"]),
        ("Mode d'acquisition", ["Don Perrin", "Achat", "Don Roux"]),
    ] {
        let expected = [
            "[details]".to_owned(),
            "Type = \"Type\"".to_owned(),
            format!("\"Credit line\" = \"{heading}\""),
            "[[pictures]]".to_owned(),
            "source = \"Photo\"".to_owned(),
        ];
        assert_eq!(with_photos(heading, values), expected);
    }
}

#[test]
fn licences_are_rights_whatever_their_column_is_called() {
    for (heading, check, values) in [
        ("Lizenz", "", ["CC0", "CC BY 4.0", "gemeinfrei"]),
        ("Licence", "", ["CC0", "Public domain", "CC0"]),
        ("Droits", "", ["domaine public", "© Lena Fisk", "libre"]),
        ("Nachnutzung", "check: ", ["CC0", "CC BY 4.0", "gemeinfrei"]),
        ("Use", "check: ", ["https://creativecommons.org/licenses/by/4.0/", "© Lena Fisk", "Public domain"]),
    ] {
        let expected = [
            "[details]".to_owned(),
            "Type = \"Type\"".to_owned(),
            format!("{check}Rights = \"{heading}\""),
            "[[pictures]]".to_owned(),
            "source = \"Photo\"".to_owned(),
            format!("check: rights = \"{heading}\""),
        ];
        assert_eq!(with_photos(heading, values), expected);
    }
}

#[test]
fn codes_of_countries_are_named() {
    let found = between(
        "No;Title;Type;Country
        1;Quay;chair;DE
        2;Stair;chair;US
        3;Net;lamp;de",
        "[record]",
        "[ignore]",
    );
    let expected = [
        "[record]",
        "id = \"No\"",
        "name = \"Title\"",
        "city = { from = \"Country\", table = \"countries\" }",
        "category = { from = \"Type\", table = \"kinds\" }",
        "[details]",
        "Type = \"Type\"",
        "[tables.kinds]",
        "\"chair\" = \"design\"  # 2 x",
        "\"lamp\" = \"design\"  # 1 x",
        "[tables.countries]",
        "\"de\" = \"Germany\"  # 2 x",
        "\"us\" = \"United States\"  # 1 x",
    ];
    assert_eq!(found, expected);
    let countries = |codes: [&str; 6], first: &str| {
        let rows: Vec<String> =
            codes.iter().enumerate().map(|(at, code)| format!("{at}1;Work {at};chair;{code}\n")).collect();
        between(&format!("No;Title;Type;Land\n{}", rows.concat()), first, "[ignore]")
    };
    // NO is not the answer to a question.
    let norway = countries(["NO"; 6], "[tables.countries]");
    assert_eq!(norway, ["[tables.countries]", "\"no\" = \"Norway\"  # 6 x"]);
    let codes = ["AT", "CHE", "DE", "FR", "IT", "SUI"];
    let expected = [
        "[tables.countries]",
        "\"at\" = \"Austria\"  # 1 x",
        "\"che\" = \"Switzerland\"  # 1 x",
        "\"de\" = \"Germany\"  # 1 x",
        "\"fr\" = \"France\"  # 1 x",
        "\"it\" = \"Italy\"  # 1 x",
        "# 1 x \"sui\" = ?",
    ];
    assert_eq!(countries(codes, "[tables.countries]"), expected);
    let city = "check: city = { from = \"Land\", table = \"countries\" }".to_owned();
    assert!(countries(codes, "[record]").contains(&city));
}

#[test]
fn a_code_of_a_country_beside_a_place_is_a_detail() {
    let text = "No;Title;Type;Country code;City
        1;Quay;chair;AT;Wien
        2;Stair;chair;BEL;Gent
        3;Net;lamp;ch;Bern";
    let expected = [
        "[record]",
        "id = \"No\"",
        "name = \"Title\"",
        "city = \"City\"",
        "category = { from = \"Type\", table = \"kinds\" }",
        "[details]",
        "Type = \"Type\"",
        "Country = { from = \"Country code\", table = \"countries\" }",
        "[tables.kinds]",
        "\"chair\" = \"design\"  # 2 x",
        "\"lamp\" = \"design\"  # 1 x",
        "[tables.countries]",
        "\"at\" = \"Austria\"  # 1 x",
        "\"bel\" = \"Belgium\"  # 1 x",
        "\"ch\" = \"Switzerland\"  # 1 x",
    ];
    assert_eq!(between(text, "[record]", "[ignore]"), expected);
}

#[test]
fn a_country_with_its_name_needs_no_code() {
    let text = "No;Title;Type;Country;ISO
        1;Quay;chair;Germany;DE
        2;Stair;chair;France;FR
        3;Net;lamp;Norway;NO";
    assert_eq!(between(text, "[record]", "[details]")[3], "city = \"Country\"");
    let (suggestion, _) = suggested(text);
    let ignored = "    \"ISO\", # codes of countries; Country names them; 100 % filled: “DE”, “FR”, “NO”\n";
    assert!(suggestion.toml.contains(ignored), "{}", suggestion.toml);
    assert!(!suggestion.toml.contains("[tables.countries]"), "{}", suggestion.toml);
    // These may be states of the USA.
    let text = "No;Title;Type;Location
        1;Quay;chair;CA
        2;Stair;chair;MA
        3;Net;lamp;DE";
    assert_eq!(between(text, "[record]", "[details]")[3], "city = \"Location\"");
}

/// Returns the lines for the date of three works, from `[record]` to before the tables, without those for other columns.
fn dated(heading: &str, values: [&str; 3]) -> Vec<String> {
    let [a, b, c] = values;
    let text = format!("No;Title;Type;{heading}\n1;Quay;chair;{a}\n2;Stair;chair;{b}\n3;Net;lamp;{c}");
    let mut lines = between(&text, "[record]", "[tables.kinds]");
    lines.retain(|line| line.contains(&format!("\"{heading}\"")));
    lines
}

#[test]
fn the_first_days_of_years_are_years() {
    let year = "check: year = { from = \"Year\", date = \"excel\" }";
    assert_eq!(dated("Year", ["43831", "44197", "42370"]), [year]);
    assert_eq!(dated("Year", ["43831", "1975", "42370.0"]), [year]);
    let midnight = dated("Year", ["2020-01-01 00:00:00", "2021-01-01T00:00:00", "1975"]);
    assert_eq!(midnight, ["year = \"Year\""]);
}

#[test]
fn days_of_a_spreadsheet_are_days() {
    let expected = [
        "check: year = { from = \"Date\", date = \"excel\" }",
        "check: Date = { from = \"Date\", date = \"excel\", unless = \"year\" }",
    ];
    assert_eq!(dated("Date", ["43832", "1975", "c. 1890"]), expected);
    let expected =
        ["year = \"Date\"", "Date = { from = \"Date\", cut = '[ T]00:00:00.*$', unless = \"year\" }"];
    assert_eq!(dated("Date", ["2020-03-04 00:00:00", "1975", "c. 1890"]), expected);
    let expected = "check: \"provenance.in_archive_since\" = { from = \"Acquired\", date = \"excel\" }";
    assert_eq!(dated("Acquired", ["43832", "43900", "2019"]), [expected]);
    // A number that is neither a year nor likely a day: then the others need not be days.
    let expected = ["year = \"Year\"", "Date = { from = \"Year\", unless = \"year\" }"];
    assert_eq!(dated("Year", ["43831", "850", "1975"]), expected);
}

#[test]
fn days_of_a_spreadsheet_become_their_years() {
    let (suggestion, records) = suggested(
        "No;Title;Type;Date
        1;Quay;chair;43832
        2;Stair;chair;1975
        3;Net;lamp;c. 1890
        4;Mast;lamp;2020-03-04 00:00:00",
    );
    let said = "; numbers such as 43832 are taken for days of a spreadsheet, that one for 2020-01-02";
    assert!(suggestion.toml.contains(said), "{}", suggestion.toml);
    let mapping = parsed(&suggestion);
    let mut application = Application::new(&mapping);
    let mut dates = Vec::new();
    for record in &records {
        let members = application.record(record).unwrap().members;
        let details = members["details"].as_array().unwrap().iter();
        let date = details.filter(|detail| detail["label"] == "Date").map(|detail| detail["value"].clone());
        dates.push((members.get("year").cloned().unwrap_or_default(), date.collect::<Vec<_>>()));
    }
    let expected: [(Value, Vec<Value>); 4] = [
        ("2020".into(), vec!["2020-01-02".into()]),
        ("1975".into(), Vec::new()),
        (Value::Null, vec!["c. 1890".into()]),
        ("2020".into(), vec!["2020-03-04".into()]),
    ];
    assert_eq!(dates, expected);
}
