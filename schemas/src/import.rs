//! The import record: one JSON object a line. Reading it finds every fault of a line, not only the first.

mod fields;
mod identity;
mod json;
mod patch;
mod schema;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::VectorsRecorded;
use crate::record::{Category, Record};
use crate::slug::Slug;
use fields::Fields;

pub use identity::{Identity, SlugOrigin, folded_id, made_slugs, unused_slug};
pub use json::lost_characters;
pub use patch::{named_pictures, parse_part, patched};
pub use schema::import_record_schema;

/// The longest line of an import file, in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// The longest name of a project, in characters.
const MAX_NAME: usize = 1_000;

/// The longest note of a provenance, in characters.
const MAX_NOTE: usize = 10_000;

/// Something wrong with one member of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The member, for example `provenance.selected`; empty where it is the line itself.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
}

/// A line that can be imported.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRecord {
    /// The slug, given or made from the id or the name.
    pub slug: Slug,
    /// Which of these.
    pub origin: SlugOrigin,
    /// The external id, where the line gives one.
    pub id: Option<String>,
    /// The facts.
    pub record: Record,
    /// The vectors that the line brings.
    pub vectors: Option<VectorsRecorded>,
}

/// Reads a line of JSON text.
pub fn parse_line(text: &str, ignore_unknown: bool) -> Result<ImportRecord, Vec<Fault>> {
    if text.len() > MAX_LINE_BYTES {
        return Err(vec![length_fault(text)]);
    }
    parse_members(json::members(text)?, ignore_unknown)
}

/// Reads the members of a record.
pub fn parse_members(members: Map<String, Value>, ignore_unknown: bool) -> Result<ImportRecord, Vec<Fault>> {
    let mut fields = Fields::new(members);
    let name = fields.required_text("name", MAX_NAME).map(on_one_line);
    let (slug, id) = (fields.slug("slug"), fields.id("id"));
    let record = Record {
        studio: fields.text("studio", 300),
        city: fields.text("city", 300),
        year: fields.year("year"),
        category: fields.category("category").unwrap_or(Category::Art),
        intro: fields.text("intro", 2_000),
        description: fields.text("description", 50_000),
        design_language: fields.text("design_language", 5_000),
        details: fields.details("details"),
        published: fields.date("published"),
        thumbnail: fields.url("thumbnail"),
        url: fields.url("url"),
        citation_url: fields.url("citation_url"),
        provenance: fields.provenance("provenance"),
        taste: fields.taste("taste"),
        pictures: fields.pictures("pictures"),
        name: name.clone().unwrap_or_default(),
    };
    let vectors = fields.vectors("vectors", "vector_model");
    let slug = match (slug, id) {
        (Some(_), Some(_)) => {
            fields.fault("id", "stands beside a slug; leave one of them out");
            None
        }
        (Some(slug), None) => Some((slug, SlugOrigin::Given, None)),
        (None, Some((slug, id))) => Some((slug, SlugOrigin::Id, Some(id))),
        (None, None) => {
            name.as_deref().and_then(|name| fields.made_slug(name)).map(|slug| (slug, SlugOrigin::Name, None))
        }
    };
    let faults = fields.finish(ignore_unknown);
    match slug {
        Some((slug, origin, id)) if faults.is_empty() => {
            Ok(ImportRecord { slug, origin, id, record, vectors })
        }
        _ => Err(faults),
    }
}

/// A name stands in titles, feeds and citations, which have one line.
fn on_one_line(name: String) -> String {
    if !name.contains(['\n', '\t']) {
        return name;
    }
    name.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

impl ImportRecord {
    /// The line that [`parse_line`] reads as this record, without unrecorded members.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.to_members()?)
    }

    /// The members that [`parse_members`] reads as this record.
    pub fn to_members(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut members = Map::new();
        members.insert("slug".into(), self.slug.as_str().into());
        if let Value::Object(record) = serde_json::to_value(&self.record)? {
            members.extend(record);
        }
        if let Some(vectors) = &self.vectors {
            let mut sides = Map::new();
            for (name, side) in [("visual", &vectors.visual), ("semantic", &vectors.semantic)] {
                if let Some(vector) = side {
                    sides.insert(name.into(), serde_json::to_value(vector.as_slice())?);
                }
            }
            members.insert("vectors".into(), sides.into());
            members.insert("vector_model".into(), vectors.model.as_str().into());
        }
        Ok(members)
    }
}

fn length_fault(text: &str) -> Fault {
    line_fault(format!("has {} bytes; a line may have 1 MiB", text.len()))
}

fn line_fault(reason: impl Into<String>) -> Fault {
    Fault { field: String::new(), reason: reason.into() }
}

#[cfg(test)]
mod tests;
