//! Faults of mappings, each with its line and what to do.

use std::path::Path;

use crate::Mapping;
use crate::source::KEYS;

/// Returns the faults of a mapping, which has a name and a category above these lines.
fn faults(lines: &str) -> String {
    let text = format!("[record]\nname = \"Title\"\ncategory = {{ value = \"art\" }}\n{lines}");
    Mapping::parse("m.toml", &text).map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn unknown_words_are_named_with_the_nearest() {
    assert_eq!(
        faults("studoi = \"Artist\""),
        "m.toml line 4: “studoi” is not a member; the nearest is studio."
    );
    assert_eq!(
        faults("material = \"Medium\""),
        "m.toml line 4: “material” is not a member; the nearest is taste.material."
    );
    assert_eq!(
        faults("city = { form = \"Ort\", from = \"Ort\" }"),
        "m.toml line 4: “form” is not a key of a source; the nearest is from."
    );
    assert_eq!(
        faults("[ignored]\ncolumns = []"),
        "m.toml line 4: “ignored” is not a section of a mapping; the nearest is ignore."
    );
    assert_eq!(
        faults("[[pictures]]\nsource = \"a\"\ncredits = \"b\""),
        "m.toml line 6: “credits” is not a member of a picture; the nearest is credit."
    );
    assert_eq!(
        faults("[file]\nformat = \"xls\"\nhead = 3"),
        "m.toml line 5: “xls” is not a format; the nearest is xlsx.\n\
         m.toml line 6: “head” is not a key of [file]; the nearest is headings."
    );
    assert_eq!(
        faults("year = { from = \"Date\", year = \"surely\" }"),
        "m.toml line 4: “surely” is not a value of year; the nearest is sure."
    );
    assert_eq!(
        faults("[details]\nDate = { from = \"Date\", unless = \"yaer\" }"),
        "m.toml line 5: “yaer” is not a member; the nearest is year."
    );
}

#[test]
fn a_source_has_one_input() {
    assert_eq!(
        faults("city = { from = \"Ort\", value = \"Ulm\" }"),
        "m.toml line 4: from and value together; keep one."
    );
    assert_eq!(
        faults("city = { first = [\"A\"], template = \"{A}\", from = \"B\" }"),
        "m.toml line 4: from and first and template together; keep one."
    );
    assert_eq!(
        faults("city = { join = \", \" }"),
        "m.toml line 4: one of from, first, template and value is missing."
    );
    assert_eq!(faults("city = { from = [] }"), "m.toml line 4: at least one column is expected here.");
    assert_eq!(
        faults("city = true"),
        "m.toml line 4: a source is a column in quotes, or a table such as { from = \"COLUMN\" }."
    );
    assert_eq!(
        faults("studio = { from = \"A\", before = [\"after\"] }"),
        "m.toml line 4: before needs qualifier, the column of what stands before a name."
    );
    assert_eq!(
        faults("published = { from = \"A\", date = \"iso\", year = \"sure\" }"),
        "m.toml line 4: year and date together; keep one."
    );
    assert_eq!(
        faults("city = { from = \"A\", html = \"yes\" }"),
        "m.toml line 4: true or false is expected here."
    );
    assert_eq!(
        faults("city = { from = \"A\", split = \"\" }"),
        "m.toml line 4: an empty text cuts nothing; leave split out."
    );
    assert_eq!(
        faults("url = { template = \"https://a.example/\" }"),
        "m.toml line 4: the template “https://a.example/” has no column in braces; for a constant say value."
    );
    assert_eq!(
        faults("city = { from = \"A\", cut = \"(\" }"),
        "m.toml line 4: “(” is not a regular expression: unclosed group."
    );
}

#[test]
fn a_member_has_one_line() {
    assert_eq!(
        faults("name = \"Name\""),
        "m.toml line 4: “name” is there twice; keep one line, and name several columns with from = [\"A\", \"B\"] or first = [\"A\", \"B\"]."
    );
    assert_eq!(
        faults("\"taste.light\" = \"A\"\n[record.taste]\nlight = \"B\"\nmood = \"C\""),
        "m.toml line 6: taste.light is there twice; keep one line."
    );
    assert_eq!(
        faults("[details]\n\"Größe\" = \"A\"\n\"Gro\u{308}ße\" = \"B\""),
        "m.toml line 6: the detail “Größe” is there twice, perhaps in two spellings that look the same; keep one line."
    );
    assert_eq!(
        faults("pictures = \"Photo\"\ndetails = \"A\""),
        "m.toml line 4: pictures have sections of their own; write [[pictures]] with source = \"COLUMN\".\n\
         m.toml line 5: details have a section of their own; write [details] with LABEL = \"COLUMN\"."
    );
    assert_eq!(
        faults("[pictures]\nsource = \"A\""),
        "m.toml line 4: pictures are a list; write [[pictures]] with two brackets."
    );
    assert_eq!(
        faults("[[pictures]]\nalt = \"A\""),
        "m.toml line 4: a picture has no source; add source = \"COLUMN\"."
    );
}

#[test]
fn tables_lead_to_categories_of_the_catalog() {
    let category = |category: &str| {
        let text =
            format!("[tables.kinds]\nchair = \"desing\"\n[record]\nname = \"A\"\ncategory = {category}");
        Mapping::parse("m.toml", &text).map_or_else(|error| error.to_string(), |_| String::new())
    };
    let fault = "m.toml line 5: “desing” is not a category; the nearest is design.";
    assert_eq!(category("{ from = \"B\", table = \"kinds\" }"), fault);
    assert_eq!(category("{ from = \"B\", default = \"desing\" }"), fault);
    assert_eq!(category("{ value = \"desing\" }"), fault);
    assert_eq!(category("{ from = \"B\", table = { plan = \"Architecture\" } }"), "");
    assert_eq!(
        category("{ from = \"B\", table = \"kind\" }"),
        "m.toml line 5: “kind” is not a table below [tables]; the nearest is kinds."
    );
    assert_eq!(
        category("{ from = \"B\", table = { plan = \"art\", Plan = \"design\" } }"),
        "m.toml line 5: “Plan” is in the table twice, in another case; keep one."
    );
    assert_eq!(
        faults("city = { from = \"A\", table = \"towns\" }"),
        "m.toml line 4: there is no [tables.towns]; add it."
    );
}

#[test]
fn a_mapping_without_name_or_category_is_refused() {
    let error = Mapping::parse("m.toml", "# Nothing yet\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "m.toml: no column is for name, which every record has; add name = \"COLUMN\" to [record].\n\
         m.toml: no column is for category, which every record has; add category = { value = \"art\" } to [record]."
    );
    assert_eq!(error.faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [None, None]);
    let error = Mapping::parse("m.toml", "name = \"My Works\"\n[record]\nname = \n").unwrap_err();
    assert_eq!(error.to_string().lines().count(), 1);
    assert!(error.to_string().starts_with("m.toml line 3: this is not TOML: "), "{error}");
}

#[test]
fn the_options_of_the_file_are_checked() {
    let text = "name = \"My Works\"\n[file]\nheadings = 0\ndelimiter = \"ab\"\nrecords = \"data[0]\"\n[record]\nname = \"A\"\ncategory = \"B\"";
    assert_eq!(
        Mapping::parse("m.toml", text).unwrap_err().to_string(),
        "m.toml line 1: “My Works” is not a name of a mapping; use up to 60 of a-z, 0-9, - and _.\n\
         m.toml line 3: headings is the number of a row, from 1.\n\
         m.toml line 4: a delimiter is one character, such as \";\" or \"\\t\".\n\
         m.toml line 5: “data[0]” is not a path of records; write members with points between them and [] for each element of a list, such as data, [].object or response.docs."
    );
}

#[test]
fn columns_are_compared_with_the_headings() {
    let text = "[record]\nname = \"Titel\"\nstudio = \"Wer\"\ncategory = \"Kind\"\n[ignore]\ncolumns = [\"* (cm)\", \"o:*\"]";
    let mapping = Mapping::parse("m.toml", text).unwrap();
    let headings = ["No.", " Kind", "Title", "Höhe (cm)", "o:id", "", "Kind"].map(str::to_owned);
    assert_eq!(
        mapping.faulty_columns("works.csv", &headings),
        [
            "works.csv has no column “Titel”; the nearest is “Title” (column 3).",
            "works.csv has no column “Wer”; its columns are No., Kind, Title, Höhe (cm), o:id, , Kind.",
            "works.csv has the column “Kind” twice (columns 2 and 7); rename one of them.",
        ]
    );
    assert_eq!(mapping.unused_columns(&headings), ["No.", "Title"]);
}

#[test]
fn the_documented_mappings_are_mappings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/importing");
    let page = std::fs::read_to_string(folder.join("mappings.md")).unwrap();
    let example = page.split("```").nth(1).unwrap().strip_prefix("toml").unwrap();
    let mapping = Mapping::parse("the example", example).unwrap_or_else(|error| panic!("{error}"));
    let headings = ["No.", "Title", "Object name", "Artist", "City", "Country", "Date", "Kind", "Medium"];
    let others = ["Credit", "Caption", "Photographer", "Copyright", "Price", "Height (cm)", "Notes"];
    let headings: Vec<String> = headings.iter().chain(&others).map(|heading| (*heading).to_owned()).collect();
    assert_eq!(mapping.faulty_columns("works.xlsx", &headings), Vec::<String>::new());
    assert_eq!(mapping.unused_columns(&headings), ["Notes"]);
    for key in KEYS {
        assert!(
            page.contains(&format!("`{key}`")) || page.contains(&format!("`{key} = ")),
            "{key} is not documented"
        );
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if let Some(own) = name.strip_suffix(".toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let mapping = Mapping::parse(name, &text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(mapping.name.as_deref(), Some(own));
            names.push(own.to_owned());
        }
    }
    assert!(names.len() >= 10, "{names:?}");
}
