//! A mapping: what its file says, checked before a record is read.

use std::collections::BTreeMap;

use record_files::{Encoding, RecordPath, SourceFormat, SourceOptions};
use toml::de::DeTable;

use crate::document::{Faults, MappingError, Node, in_order};
use crate::member::{CATEGORIES, Member, nearest};
use crate::path::{Path, column_name};
use crate::source::{Purpose, Source, ValueTable, lower_keys};

/// The sections of a mapping.
const SECTIONS: [&str; 7] = ["name", "file", "record", "details", "pictures", "ignore", "tables"];

/// The maximum length of a mapping's name, in bytes.
const MAX_NAME: usize = 60;

/// From the columns of a file to the members of import records.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// The name of the file that it was read from, as sentences name it.
    pub(crate) source: String,
    /// Its own name.
    pub name: Option<String>,
    /// How the file is read where it does not show it itself.
    pub file: SourceOptions,
    /// In the order of the import record.
    pub(crate) members: Vec<(Member, Source)>,
    /// Labels and sources, in the order of the file.
    pub(crate) details: Vec<(String, Source)>,
    pub(crate) pictures: Vec<PictureRule>,
    ignored: Vec<String>,
}

/// Where pictures come from, and what is said about them.
#[derive(Debug, Clone)]
pub(crate) struct PictureRule {
    pub(crate) source: Source,
    /// `alt`, `credit` and `rights`.
    pub(crate) texts: Vec<(&'static str, Source)>,
}

impl Mapping {
    /// Reads the TOML of a mapping. `file` is its name, as the errors name it.
    ///
    /// # Errors
    ///
    /// Returns every fault with its line: unknown sections, members and keys with the nearest known word, `from` and `value` together,
    /// one member twice, a category that the catalog does not have, and a mapping without `name` or `category`.
    pub fn parse(file: &str, text: &str) -> Result<Mapping, MappingError> {
        let mut faults = Faults::new(text);
        let Some(document) = faults.document() else { return Err(faults.of(file)) };
        let mut mapping = Mapping {
            source: file.to_owned(),
            name: None,
            file: SourceOptions::default(),
            members: Vec::new(),
            details: Vec::new(),
            pictures: Vec::new(),
            ignored: Vec::new(),
        };
        let tables = value_tables(&document, &mut faults);
        for (key, node) in in_order(&document) {
            match key.get_ref().as_ref() {
                "name" => mapping.name = name(node, &mut faults),
                "file" => mapping.file = file_options(node, &mut faults),
                "record" => mapping.read_members(node, "", &tables, &mut faults),
                "details" => mapping.read_details(node, &tables, &mut faults),
                "pictures" => mapping.read_pictures(node, &tables, &mut faults),
                "ignore" => mapping.ignored = ignored(node, &mut faults),
                "tables" => {}
                other => faults.add_unknown(key.span(), other, "a section of a mapping", SECTIONS),
            }
        }
        for wanted in ["name", Member::CATEGORY] {
            if !mapping.members.iter().any(|(member, _)| member.name() == wanted) {
                let example = match wanted {
                    "name" => "name = \"COLUMN\"".to_owned(),
                    _ => format!("category = {{ value = \"{}\" }}", CATEGORIES[4]),
                };
                faults.add_missing(format!(
                    "no column is for {wanted}, which every record has; add {example} to [record]"
                ));
            }
        }
        mapping.members.sort_by_key(|(member, _)| Member::names().position(|name| name == member.name()));
        if faults.is_empty() { Ok(mapping) } else { Err(faults.of(file)) }
    }

    fn read_members<'t>(
        &mut self,
        node: &Node<'t>,
        group: &str,
        tables: &BTreeMap<String, ValueTable>,
        faults: &mut Faults<'t>,
    ) {
        let Some(section) = faults.table(node) else { return };
        for (key, node) in in_order(section) {
            let name = format!("{group}{}", key.get_ref());
            if group.is_empty() && Member::is_group(&name) {
                self.read_members(node, &format!("{name}."), tables, faults);
                continue;
            }
            let Some(member) = Member::named(&name) else {
                match name.as_str() {
                    "pictures" => faults.add(
                        key.span(),
                        "pictures have sections of their own; write [[pictures]] with source = \"COLUMN\"",
                    ),
                    "details" => faults.add(
                        key.span(),
                        "details have a section of their own; write [details] with LABEL = \"COLUMN\"",
                    ),
                    _ => faults.add_unknown(key.span(), &name, "a member", Member::names()),
                }
                continue;
            };
            if self.members.iter().any(|(other, _)| *other == member) {
                faults.add(key.span(), format!("{member} is there twice; keep one line"));
                continue;
            }
            let source = Source::read(node, Purpose::Member(member), tables, faults);
            self.members.extend(source.map(|source| (member, source)));
        }
    }

    fn read_details<'t>(
        &mut self,
        node: &Node<'t>,
        tables: &BTreeMap<String, ValueTable>,
        faults: &mut Faults<'t>,
    ) {
        let Some(section) = faults.table(node) else { return };
        for (key, node) in in_order(section) {
            let label = column_name(key.get_ref());
            if self.details.iter().any(|(other, _)| *other == label) {
                faults.add(key.span(), format!("the detail “{label}” is there twice, perhaps in two spellings that look the same; keep one line"));
                continue;
            }
            let source = Source::read(node, Purpose::Detail, tables, faults);
            self.details.extend(source.map(|source| (label, source)));
        }
    }

    fn read_pictures<'t>(
        &mut self,
        node: &Node<'t>,
        tables: &BTreeMap<String, ValueTable>,
        faults: &mut Faults<'t>,
    ) {
        let Some(rules) = node.get_ref().as_array() else {
            faults.add(node.span(), "pictures are a list; write [[pictures]] with two brackets");
            return;
        };
        for rule in rules {
            let Some(rule_table) = faults.table(rule) else { continue };
            let (mut source, mut texts) = (None, Vec::new());
            for (key, node) in in_order(rule_table) {
                match key.get_ref().as_ref() {
                    "source" => source = Source::read(node, Purpose::Picture, tables, faults),
                    name => match ["alt", "credit", "rights"].into_iter().find(|known| *known == name) {
                        Some(known) => {
                            let source = Source::read(node, Purpose::AboutPicture, tables, faults);
                            texts.extend(source.map(|source| (known, source)));
                        }
                        None => {
                            let known = ["source", "alt", "credit", "rights"];
                            faults.add_unknown(key.span(), name, "a member of a picture", known);
                        }
                    },
                }
            }
            if !rule_table.iter().any(|(key, _)| key.get_ref() == "source") {
                faults.add(rule.span(), "a picture has no source; add source = \"COLUMN\"");
            }
            self.pictures.extend(source.map(|source| PictureRule { source, texts }));
        }
    }

    /// Returns every source.
    fn sources(&self) -> impl Iterator<Item = &Source> {
        let members = self.members.iter().map(|(_, source)| source);
        let details = self.details.iter().map(|(_, source)| source);
        let pictures = self.pictures.iter().flat_map(|rule| {
            std::iter::once(&rule.source).chain(rule.texts.iter().map(|(_, source)| source))
        });
        members.chain(details).chain(pictures)
    }

    /// Returns every column that it reads, without repetitions.
    pub(crate) fn columns(&self) -> Vec<&Path> {
        let mut columns: Vec<&Path> = Vec::new();
        for column in self.sources().flat_map(Source::columns) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    /// Returns a sentence for each column that it reads and a table of these headings does not have, with the nearest, or has twice.
    /// `file` is the name of the table. With any of them nothing is imported.
    pub fn faulty_columns(&self, file: &str, headings: &[String]) -> Vec<String> {
        let headings: Vec<String> = headings.iter().map(|heading| column_name(heading)).collect();
        let columns = self.columns().into_iter().map(Path::as_str);
        let numbers = |name: &str| -> Vec<usize> {
            (1..).zip(&headings).filter(|(_, heading)| *heading == name).map(|(number, _)| number).collect()
        };
        let sentence = |column: &str| match numbers(column)[..] {
            [] => Some(no_column(file, column, &headings)),
            [_] => None,
            [first, second, ..] => Some(format!(
                "{file} has the column “{column}” twice (columns {first} and {second}); rename one of them."
            )),
        };
        columns.filter_map(sentence).collect()
    }

    /// Returns the columns or paths that are neither read nor in `[ignore]`, in their order.
    pub fn unused_columns<'h>(&self, headings: &'h [String]) -> Vec<&'h str> {
        let used: Vec<String> = self.columns().into_iter().map(Path::of_every_element).collect();
        let is_unused = |heading: &&str| {
            let name = column_name(heading);
            !name.is_empty()
                && !used.contains(&name)
                && !self.columns().iter().any(|column| column.as_str() == name)
                && !self.ignored.iter().any(|pattern| matches_pattern(pattern, &name))
        };
        headings.iter().map(String::as_str).filter(is_unused).collect()
    }
}

/// Returns the sentence about a column that a table of these headings does not have, with the nearest. `file` is the name of the table;
/// headings are as [`column_name`] returns them.
pub fn no_column(file: &str, column: &str, headings: &[String]) -> String {
    let near = nearest(column, headings.iter().map(String::as_str));
    match near.and_then(|near| (1..).zip(headings).find(|(_, heading)| *heading == near)) {
        Some((number, near)) => {
            format!("{file} has no column “{column}”; the nearest is “{near}” (column {number}).")
        }
        None => format!("{file} has no column “{column}”; its columns are {}.", headings.join(", ")),
    }
}

/// Returns whether a text is the pattern, in which each `*` stands for any text.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
}

fn value_tables<'t>(document: &DeTable<'t>, faults: &mut Faults<'t>) -> BTreeMap<String, ValueTable> {
    let sections = document.get("tables").and_then(|node| faults.table(node));
    let tables = sections.into_iter().flat_map(in_order).map(|(key, node)| {
        let name = key.get_ref().clone().into_owned();
        (name.clone(), ValueTable { name: Some(name), values: lower_keys(node, faults) })
    });
    tables.collect()
}

fn name(node: &Node<'_>, faults: &mut Faults<'_>) -> Option<String> {
    let name = faults.text(node)?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
        faults.add(
            node.span(),
            format!("“{name}” is not a name of a mapping; use up to {MAX_NAME} of a-z, 0-9, - and _"),
        );
    }
    Some(name)
}

fn file_options<'t>(node: &Node<'t>, faults: &mut Faults<'t>) -> SourceOptions {
    let mut options = SourceOptions::default();
    let Some(section) = faults.table(node) else { return options };
    for (key, node) in in_order(section) {
        match key.get_ref().as_ref() {
            "format" => {
                let formats = ["csv", "json", "ndjson", "xlsx", "folder"];
                let parsed = faults.text(node).map(|text| text.parse::<SourceFormat>().map_err(|_| text));
                match parsed {
                    Some(Ok(format)) => options.format = Some(format),
                    Some(Err(text)) => faults.add_unknown(node.span(), &text, "a format", formats),
                    None => {}
                }
            }
            "encoding" => {
                let encodings = [
                    ("utf-8", Encoding::Utf8),
                    ("utf-16", Encoding::Utf16),
                    ("windows-1252", Encoding::Windows1252),
                    ("latin1", Encoding::Latin1),
                ];
                options.encoding = faults.word(node, "encoding", &encodings);
            }
            "delimiter" => match faults.text(node).unwrap_or_default().as_bytes() {
                [delimiter] => options.delimiter = Some(*delimiter),
                _ => faults.add(node.span(), "a delimiter is one character, such as \";\" or \"\\t\""),
            },
            "sheet" => options.sheet = faults.text(node),
            "records" => {
                let parsed = faults.text(node).map(|text| text.parse::<RecordPath>());
                match parsed {
                    Some(Ok(path)) => options.records = Some(path),
                    Some(Err(error)) => faults.add(node.span(), error.to_string()),
                    None => {}
                }
            }
            "headings" => {
                options.headings = faults.text(node).and_then(|row| row.parse().ok()).filter(|row| *row > 0);
                if options.headings.is_none() {
                    faults.add(node.span(), "headings is the number of a row, from 1");
                }
            }
            other => {
                let known = ["format", "delimiter", "encoding", "sheet", "headings", "records"];
                faults.add_unknown(key.span(), other, "a key of [file]", known);
            }
        }
    }
    options
}

fn ignored<'t>(node: &Node<'t>, faults: &mut Faults<'t>) -> Vec<String> {
    let Some(section) = faults.table(node) else { return Vec::new() };
    let mut patterns = Vec::new();
    for (key, node) in in_order(section) {
        match key.get_ref().as_ref() {
            "columns" => patterns = faults.texts(node).iter().map(|pattern| column_name(pattern)).collect(),
            other => faults.add_unknown(key.span(), other, "a key of [ignore]", ["columns"]),
        }
    }
    patterns
}
