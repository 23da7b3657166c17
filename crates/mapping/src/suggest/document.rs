//! Writes a draft as the TOML of a mapping.

use std::fmt::Write;

use record_files::{Encoding, SourceOptions};

use super::column::Column;
use super::draft::{Draft, Line};
use super::sample::{Sample, short};
use super::scores::SURE;

/// The longest list of ignored columns in a line, in characters.
const WIDTH: usize = 100;

/// Returns the TOML of a draft.
pub(crate) fn write(sample: &Sample<'_>, columns: &[Column], draft: &Draft) -> String {
    let mut toml = String::new();
    let records = sample.records.len();
    let _ = writeln!(
        toml,
        "# A first mapping of {}, from {records} of its {} records.",
        comment(sample.file),
        sample.read
    );
    let _ = writeln!(
        toml,
        "# Each line has how many records are filled, the most frequent values, and why. “check:” is not certain."
    );
    for note in sample.notes {
        let _ = writeln!(toml, "# {}", comment(note));
    }
    for sentence in &draft.missing {
        let _ = writeln!(toml, "# Nothing can be imported yet: {}", comment(sentence));
    }
    let _ = writeln!(toml, "name = {}", quoted(&mapping_name(sample.file)));
    write_options(&mut toml, sample.options);
    toml.push_str("\n[record]\n");
    for line in &draft.record {
        write_line(&mut toml, columns, line, source(columns, line));
    }
    if draft.member("category").is_none() {
        toml.push_str("# category = { value = \"art\" }\n");
    }
    if !draft.details.is_empty() {
        toml.push_str("\n[details]\n");
    }
    for line in &draft.details {
        write_line(&mut toml, columns, line, source(columns, line));
    }
    for number in &draft.private {
        let column = &columns[*number];
        let name = quoted(&column.name);
        let _ = writeln!(
            toml,
            "# {}; may be internal or personal; uncomment to import it, and take it out of [ignore]\n# {name} = {name}",
            filled(column)
        );
    }
    for picture in &draft.pictures {
        toml.push_str("\n[[pictures]]\n");
        let written = picture.pattern.as_deref();
        let written =
            written.map_or_else(|| source(columns, &picture.source), |text| pattern(text, &picture.source));
        write_line(&mut toml, columns, &picture.source, written);
        for line in &picture.texts {
            write_line(&mut toml, columns, line, source(columns, line));
        }
    }
    write_kinds(&mut toml, columns, draft);
    write_countries(&mut toml, draft);
    write_ignored(&mut toml, columns, draft);
    toml
}

fn write_options(toml: &mut String, options: &SourceOptions) {
    let encoding = options.encoding.map(|encoding| match encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Utf16 => "utf-16",
        Encoding::Windows1252 => "windows-1252",
        Encoding::Latin1 => "latin1",
    });
    let keys = [
        ("format", options.format.map(|format| quoted(&format.to_string()))),
        ("encoding", encoding.map(quoted)),
        ("delimiter", options.delimiter.map(|delimiter| quoted(&char::from(delimiter).to_string()))),
        ("sheet", options.sheet.as_deref().map(quoted)),
        ("headings", options.headings.map(|row| row.to_string())),
        ("records", options.records.as_ref().map(|path| quoted(&path.to_string()))),
    ];
    if keys.iter().any(|(_, value)| value.is_some()) {
        toml.push_str("\n[file]\n");
    }
    for (key, value) in keys {
        if let Some(value) = value {
            let _ = writeln!(toml, "{key} = {value}");
        }
    }
}

fn write_line(toml: &mut String, columns: &[Column], line: &Line, source: String) {
    let first = line.columns.first().map(|number| filled(&columns[*number])).unwrap_or_default();
    let check = if line.score < SURE { "check: " } else { "" };
    let _ = writeln!(toml, "# {check}{first}; {}", comment(&line.reason));
    let _ = writeln!(toml, "{} = {source}", key(&line.key));
}

/// Returns the TOML of a source.
fn source(columns: &[Column], line: &Line) -> String {
    let names: Vec<String> = line.columns.iter().map(|number| quoted(&columns[*number].name)).collect();
    let listed = if names.len() == 1 { names.concat() } else { format!("[{}]", names.join(", ")) };
    // Braces in the name of a column would be a template.
    if names.len() == 1 && line.keys.is_empty() && line.qualifier.is_none() && !listed.contains('{') {
        return listed;
    }
    let input = if line.is_first_of { "first" } else { "from" };
    let qualifier = line.qualifier.map(|number| ("qualifier", quoted(&columns[number].name)));
    let keys = qualifier.iter().chain(&line.keys).map(|(key, value)| format!(", {key} = {value}"));
    format!("{{ {input} = {listed}{} }}", keys.collect::<String>())
}

/// Returns the TOML of a pattern of files.
fn pattern(text: &str, line: &Line) -> String {
    if line.keys.is_empty() {
        return quoted(text);
    }
    let keys = line.keys.iter().map(|(key, value)| format!(", {key} = {value}"));
    format!("{{ template = {}{} }}", quoted(text), keys.collect::<String>())
}

fn write_kinds(toml: &mut String, columns: &[Column], draft: &Draft) {
    if draft.kinds.is_empty() {
        return;
    }
    toml.push_str("\n# A value that is missing here refuses its records, and is listed with its count.\n[tables.kinds]\n");
    let column = draft.member("category").and_then(|line| columns.get(*line.columns.first()?));
    if let Some(without) =
        column.map(|column| column.cells.len() - column.filled).filter(|without| *without > 0)
    {
        let _ = writeln!(
            toml,
            "# {without} x no value: refused too, unless category has a default such as default = \"art\""
        );
    }
    for (kind, count, category) in &draft.kinds {
        write_value(toml, kind, *count, *category);
    }
}

fn write_countries(toml: &mut String, draft: &Draft) {
    if draft.countries.is_empty() {
        return;
    }
    toml.push_str("\n# A code that is missing here is left out.\n[tables.countries]\n");
    for (code, count, name) in &draft.countries {
        write_value(toml, code, *count, name.as_deref());
    }
}

/// Writes a text with what it stands for, or that this is to be written.
fn write_value(toml: &mut String, text: &str, count: usize, value: Option<&str>) {
    let _ = match value {
        Some(value) => writeln!(toml, "{} = {}  # {count} x", quoted(text), quoted(value)),
        None => writeln!(toml, "# {count} x {} = ?", quoted(text)),
    };
}

fn write_ignored(toml: &mut String, columns: &[Column], draft: &Draft) {
    if draft.ignored.is_empty() {
        return;
    }
    toml.push_str("\n[ignore]\ncolumns = [\n");
    let width = draft
        .ignored
        .iter()
        .map(|(number, _)| quoted(&columns[*number].name).chars().count())
        .max()
        .unwrap_or_default();
    for (number, reason) in &draft.ignored {
        let column = &columns[*number];
        let name = format!("{},", quoted(&column.name));
        let about = if column.filled == 0 { String::new() } else { format!("; {}", filled(column)) };
        let _ =
            writeln!(toml, "    {name:<width$} # {}{about}", comment(reason), width = (width + 1).min(WIDTH));
    }
    toml.push_str("]\n");
}

/// Returns how many records have a value, and the most frequent values.
fn filled(column: &Column) -> String {
    let values: Vec<String> = column
        .counts
        .iter()
        .take(3)
        .map(|(value, count)| match count {
            1 => format!("“{}”", short(value)),
            _ => format!("“{}” {count} times", short(value)),
        })
        .collect();
    let share = (column.fill() * 100.0).round();
    format!("{share} % filled: {}", comment(&values.join(", ")))
}

/// Returns a text that can stand in a comment.
fn comment(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// Returns a text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            character if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

fn key(text: &str) -> String {
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_bare { text.to_owned() } else { quoted(text) }
}

/// Returns the name of a mapping for a file.
fn mapping_name(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or(name);
    let plain = super::words::folded(stem)
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
        .collect::<String>();
    let joined: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    let name: String = joined.join("-").chars().take(60).collect();
    if name.is_empty() { "works".to_owned() } else { name }
}
