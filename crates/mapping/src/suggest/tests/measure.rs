//! Compares a suggestion with what the columns of a file are for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use record_files::SourceOptions;
use serde_json::{Map, Value};

use crate::Mapping;
use crate::suggest::{Sample, Suggestion, suggest};

/// The share of columns that must be right.
const WANTED: f64 = 0.85;

/// The members that must never be wrong.
const NEVER_WRONG: [&str; 3] = ["id", "name", "year"];

/// Returns the suggestion for records.
pub(super) fn suggestion(file: &str, headings: &[String], records: &[Map<String, Value>]) -> Suggestion {
    let read = records.len() as u64;
    let options = SourceOptions::default();
    suggest(&Sample { file, headings, records, read, options: &options, notes: &[], files: None })
}

/// Reads the mapping of a suggestion; one without a category gets one.
pub(super) fn parsed(suggestion: &Suggestion) -> Mapping {
    let toml = match &suggestion.missing[..] {
        [] => suggestion.toml.clone(),
        _ => suggestion.toml.replace("# category = ", "category = "),
    };
    Mapping::parse("suggested.toml", &toml).unwrap_or_else(|error| panic!("{error}\n{toml}"))
}

/// Returns what each column is for.
fn members(mapping: &Mapping) -> BTreeMap<String, BTreeSet<String>> {
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |source: &crate::source::Source, member: String| {
        for column in source.columns() {
            members.entry(column.as_str().to_owned()).or_default().insert(member.clone());
        }
    };
    for (member, source) in &mapping.members {
        add(source, member.name().to_owned());
    }
    for (label, source) in &mapping.details {
        add(source, format!("details.{label}"));
    }
    for picture in &mapping.pictures {
        add(&picture.source, "pictures".into());
        for (name, source) in &picture.texts {
            add(source, format!("pictures.{name}"));
        }
    }
    members
}

/// Returns what each column of a suggestion is for.
pub(super) fn members_of(suggestion: &Suggestion) -> BTreeMap<String, BTreeSet<String>> {
    members(&parsed(suggestion))
}

/// Returns the columns of credits and rights of pictures.
pub(super) fn credits(mapping: &Mapping) -> BTreeSet<(&'static str, String)> {
    let texts = mapping.pictures.iter().flat_map(|picture| &picture.texts).filter(|(name, _)| *name != "alt");
    let columns = |(name, source): &(&'static str, crate::source::Source)| {
        source.columns().map(|column| (*name, column.as_str().to_owned())).collect::<Vec<_>>()
    };
    texts.flat_map(columns).collect()
}

/// Fails unless enough of the columns are right, and `id`, `name` and `year` all are. Each expected line is a column, a tab, and its
/// members, separated by blanks before a member; none for a column that is left out. `path` is put before the columns of the suggestion.
pub(super) fn check(shape: &str, suggestion: &Suggestion, path: &str, expected: &str) {
    let found = members(&parsed(suggestion));
    let (mut right, mut all) = (0_u32, 0_u32);
    let (mut misses, mut grave) = (Vec::new(), Vec::new());
    for line in expected.lines().filter(|line| !line.trim().is_empty()) {
        let (column, wanted) = line.split_once('\t').unwrap_or((line, ""));
        let column = column.trim();
        let wanted = in_members(wanted);
        let bare = column.strip_prefix(path).unwrap_or(column);
        let mut given = found.get(bare).cloned().unwrap_or_default();
        // The credit line and the rights of a work are written below its pictures too; `shapes` compares these.
        for (detail, of_picture) in
            [("details.Credit line", "pictures.credit"), ("details.Rights", "pictures.rights")]
        {
            if wanted.contains(detail) && !wanted.contains(of_picture) {
                given.remove(of_picture);
            }
        }
        all += 1;
        if given == wanted {
            right += 1;
        } else {
            misses.push(format!("{shape}: {column} is for {wanted:?}, and was taken for {given:?}"));
        }
        let is_wrong = |member: &&&str| given.contains(**member) != wanted.contains(**member);
        let wrong = NEVER_WRONG.iter().filter(is_wrong);
        grave.extend(wrong.map(|member| format!("{shape}: {column} and {member}")));
    }
    let share = f64::from(right) / f64::from(all);
    let mut out = std::io::stderr();
    let _ = writeln!(out, "{shape}: {right} of {all}, {share:.2}");
    for miss in &misses {
        let _ = writeln!(out, "  {miss}");
    }
    assert_eq!(grave, Vec::<String>::new(), "{}", suggestion.toml);
    assert!(share >= WANTED, "{}\n{}", misses.join("\n"), suggestion.toml);
}

fn in_members(text: &str) -> BTreeSet<String> {
    let mut members: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_member = crate::Member::named(word).is_some()
            || word.starts_with("pictures")
            || word.starts_with("details.");
        match members.last_mut() {
            Some(last) if !is_member => *last = format!("{last} {word}"),
            _ => members.push(word.to_owned()),
        }
    }
    members.into_iter().collect()
}
