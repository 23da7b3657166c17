//! Applies a mapping to source records, one at a time.

use serde_json::{Map, Value, json};

use crate::address;
use crate::mapping::{Mapping, PictureRule};
use crate::member::{Member, MemberKind};
use crate::source::{Input, Purpose, Source};
use crate::summary::Summary;
use crate::values::{Unread, Values, of_member};

/// The maximum number of pictures of a record.
const MAX_PICTURES: usize = 100;

/// A record as `loggia import` takes it, and what of it was refused.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mapped {
    /// The members of the import record.
    pub members: Map<String, Value>,
    /// The files that come from a pattern, such as `images/{id}.jpg`: those that do not exist are to be left out and counted.
    pub pattern_files: Vec<PatternFile>,
    /// The pictures that cannot be used. The record stays.
    pub refused_pictures: Vec<RefusedPicture>,
}

/// A picture whose file name is made by a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternFile {
    /// The pattern, as the mapping writes it.
    pub pattern: String,
    /// The source, as it stands in `pictures`.
    pub source: String,
}

/// A picture that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPicture {
    /// Its source, as the file has it.
    pub source: String,
    /// What is wrong, to complete “the picture …”.
    pub reason: &'static str,
}

/// A record that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Its id, if it has one.
    pub id: Option<String>,
    /// Every reason.
    pub reasons: Vec<String>,
}

/// The application of a mapping to the records of a file.
#[derive(Debug)]
pub struct Application<'m> {
    mapping: &'m Mapping,
    summary: Summary,
}

impl<'m> Application<'m> {
    /// Begins to apply a mapping.
    pub fn new(mapping: &'m Mapping) -> Application<'m> {
        Application { mapping, summary: Summary::new(mapping) }
    }

    /// Returns the import record of a source record: its columns by heading as [`column_name`](crate::column_name) returns them, or nested
    /// JSON.
    ///
    /// # Errors
    ///
    /// Rejects a record without a name, or without a category of the catalog. Nothing else rejects one: what is not sure is left out, and
    /// counted in the [`Summary`].
    pub fn record(&mut self, record: &Map<String, Value>) -> Result<Mapped, Rejected> {
        self.summary.see(record);
        let mut mapped = Mapped::default();
        let mut reasons = Vec::new();
        for (member, source) in &self.mapping.members {
            let values = Values::read(source, Purpose::Member(*member), record);
            let text = of_member(*member, &values);
            self.summary.member(*member, source, &values, text.as_deref());
            if member.kind() == MemberKind::Category && text.is_none() {
                reasons.push(no_category(source, &values));
            }
            let text = match member.kind() {
                MemberKind::Address => text.and_then(|text| self.address(*member, &text)),
                _ => text,
            };
            if let Some(text) = text {
                put(&mut mapped.members, *member, text);
            }
        }
        let id = mapped.members.get("id").and_then(Value::as_str).map(str::to_owned);
        if !mapped.members.contains_key("name") {
            let has_key =
                id.is_some() || !self.mapping.members.iter().any(|(member, _)| member.name() == "id");
            reasons.insert(0, if has_key { "no name" } else { "no name and no id" }.to_owned());
        }
        if !reasons.is_empty() {
            self.summary.rejected(&reasons);
            return Err(Rejected { id, reasons });
        }
        self.details(record, &mut mapped);
        let mut pictures = Vec::new();
        for rule in &self.mapping.pictures {
            add_pictures(rule, record, &mut mapped, &mut pictures);
        }
        if !pictures.is_empty() {
            mapped.members.insert("pictures".into(), pictures.into());
        }
        for RefusedPicture { source, reason } in &mapped.refused_pictures {
            self.summary.refused_picture(source, reason);
        }
        self.summary.mapped(&mapped.members);
        Ok(mapped)
    }

    /// Returns what was counted so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns an address that can be used.
    fn address(&mut self, member: Member, text: &str) -> Option<String> {
        let address = if member.name() == "thumbnail" { address::picture(text) } else { address::page(text) };
        address.map_err(|reason| self.summary.left_out(member, text, reason)).ok()
    }

    fn details(&mut self, record: &Map<String, Value>, mapped: &mut Mapped) {
        let mut details = Vec::new();
        for (label, source) in &self.mapping.details {
            let values = Values::read(source, Purpose::Detail, record);
            let Some(text) = values.joined() else { continue };
            let says_the_same = source.unless.is_some_and(|member| {
                let other = get(&mapped.members, member);
                other.is_some_and(|other| text == other || text.strip_suffix(".0") == Some(other))
            });
            if !says_the_same {
                details.push(json!({"label": label, "value": text}));
            }
        }
        if !details.is_empty() {
            mapped.members.insert("details".into(), details.into());
        }
    }
}

/// Returns why a record has no category.
fn no_category(source: &Source, values: &Values) -> String {
    match values.unread.first() {
        Some(Unread::NotInTable(Some(text))) if source.table.is_some() => {
            format!("“{text}” is not in the table of category")
        }
        Some(Unread::NotInTable(Some(text))) => format!("“{text}” is not a category"),
        _ => "no category".into(),
    }
}

/// Adds the pictures of one rule.
fn add_pictures(
    rule: &PictureRule,
    record: &Map<String, Value>,
    mapped: &mut Mapped,
    pictures: &mut Vec<Value>,
) {
    let sources = Values::read(&rule.source, Purpose::Picture, record);
    let texts: Vec<(&str, bool, Values)> = rule
        .texts
        .iter()
        .map(|(name, source)| {
            let values = Values::read(source, Purpose::AboutPicture, record);
            let is_each = values.texts.len() == sources.texts.len() && source.is_parallel(&rule.source);
            (*name, is_each, values)
        })
        .collect();
    for (index, written) in sources.texts.iter().enumerate() {
        let Some(written) = written else { continue };
        match address::picture(written) {
            Err(reason) => mapped.refused_pictures.push(RefusedPicture { source: written.clone(), reason }),
            Ok(source) if pictures.iter().any(|picture| picture["source"] == *source) => {}
            Ok(source) if pictures.len() == MAX_PICTURES => {
                let reason = "is the 101st or a later one; a record has at most 100";
                mapped.refused_pictures.push(RefusedPicture { source, reason });
            }
            Ok(source) => {
                let mut picture = Map::from_iter([("source".to_owned(), Value::from(source.clone()))]);
                for (name, is_each, values) in &texts {
                    let text = if *is_each { values.texts[index].clone() } else { values.joined() };
                    picture.extend(text.map(|text| ((*name).to_owned(), text.into())));
                }
                pictures.push(picture.into());
                if let Input::Template(template) = &rule.source.input
                    && !source.contains("://")
                {
                    mapped.pattern_files.push(PatternFile { pattern: template.text.clone(), source });
                }
            }
        }
    }
}

fn put(members: &mut Map<String, Value>, member: Member, text: String) {
    match member.name().split_once('.') {
        None => drop(members.insert(member.name().to_owned(), text.into())),
        Some((group, inner)) => {
            let group = members.entry(group).or_insert_with(|| json!({}));
            if let Value::Object(group) = group {
                group.insert(inner.to_owned(), text.into());
            }
        }
    }
}

fn get(members: &Map<String, Value>, member: Member) -> Option<&str> {
    match member.name().split_once('.') {
        None => members.get(member.name()),
        Some((group, inner)) => members.get(group).and_then(|group| group.get(inner)),
    }
    .and_then(Value::as_str)
}
