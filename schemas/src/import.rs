//! The import record: one JSON object per line. Parsing reports all faults of a line, not only the first.

mod fields;
mod identity;
mod json;
mod numbers;
mod patch;
mod schema;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::VectorsRecorded;
use crate::external_id::ExternalId;
use crate::record::{Category, Record};
use crate::slug::Slug;
use fields::Fields;

pub use fields::MAX_PICTURES;
pub use identity::{Identity, SlugOrigin, is_same_name, made_slugs, unused_slug};
pub use json::lost_characters;
pub use numbers::parse_json;
pub use patch::{WrittenPicture, named_pictures, parse_part, patched};
pub use schema::import_record_schema;

/// The maximum length of a line of an import file, in bytes: 1 MiB.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// The maximum length of a project's name, in characters.
const MAX_NAME: usize = 1_000;

/// The maximum length of a provenance's note, in characters.
const MAX_NOTE: usize = 10_000;

/// A fault in one field of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The path of the field, for example `provenance.selected`; empty if the fault is in the line itself.
    pub field: String,
    /// What is wrong and what is expected.
    pub reason: String,
}

/// A valid line of an import file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRecord {
    /// The slug, given or derived from the id or the name.
    pub slug: Slug,
    /// What the slug was derived from.
    pub origin: SlugOrigin,
    /// The external id, if the line gives one.
    pub id: Option<ExternalId>,
    /// The record of the project.
    pub record: Record,
    /// The vectors, if the line gives any.
    pub vectors: Option<VectorsRecorded>,
}

/// Parses a line of JSON.
///
/// # Errors
///
/// Returns all faults of the line; unknown fields are faults unless `ignore_unknown` is set.
pub fn parse_line(text: &str, ignore_unknown: bool) -> Result<ImportRecord, Vec<Fault>> {
    if text.len() > MAX_LINE_BYTES {
        return Err(vec![length_fault(text)]);
    }
    parse_members(json::members(text)?, ignore_unknown)
}

/// Parses the fields of a record, with the same errors as [`parse_line`].
pub fn parse_members(members: Map<String, Value>, ignore_unknown: bool) -> Result<ImportRecord, Vec<Fault>> {
    let mut fields = Fields::new(members);
    let name = fields.required_text("name", MAX_NAME).map(on_one_line);
    let (slug, id) = (fields.slug("slug"), fields.id("id", "source"));
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
        (Some(slug), id) => Some((slug, SlugOrigin::Given, id.map(|(_, id)| id))),
        (None, Some((Some(slug), id))) => Some((slug, SlugOrigin::Id, Some(id))),
        (None, Some((None, id))) => {
            fields.fault("id", format!("is “{}”, of which no slug can be made; give a slug too", id.id));
            None
        }
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

/// Joins the lines of a name: titles, feeds and citations show it on one line.
fn on_one_line(name: String) -> String {
    if !name.contains(['\n', '\t']) {
        return name;
    }
    name.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

impl ImportRecord {
    /// Returns the line from which [`parse_line`] reads this record, without unrecorded fields.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.to_members()?)
    }

    /// Returns the fields from which [`parse_members`] reads this record.
    pub fn to_members(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut members = Map::new();
        members.insert("slug".into(), self.slug.as_str().into());
        if let Some(ExternalId { id, source }) = &self.id {
            members.insert("id".into(), id.as_str().into());
            members.extend(source.iter().map(|source| ("source".to_owned(), source.as_str().into())));
        }
        if let Value::Object(record) = serde_json::to_value(&self.record)? {
            members.extend(record);
        }
        if let Some(vectors) = &self.vectors {
            let mut sides = Map::new();
            for (name, side) in [("visual", &vectors.visual), ("semantic", &vectors.semantic)] {
                if let Some(vector) = side {
                    sides.insert(name.into(), serde_json::to_value(vector.to_floats())?);
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
