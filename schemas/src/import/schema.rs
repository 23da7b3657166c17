//! The JSON Schema of the import record, for authors of import files.

use serde_json::{Map, Value, json};

use crate::taste::{self, Dimension};

/// Returns the JSON Schema (2020-12) of one line of an import file.
pub fn import_record_schema() -> Value {
    let text = |limit: usize, about: &str| json!({"type": ["string", "number", "null"], "maxLength": limit, "description": about});
    let date = |about: &str| json!({"type": ["string", "null"], "format": "date", "description": about});
    let address = |about: &str| json!({"type": ["string", "null"], "format": "uri", "maxLength": 2000, "description": about});
    let dimension = |of: Dimension| (of.as_str().to_owned(), text(taste::MAX_TEXT, of.about()));
    let taste: Map<String, Value> = Dimension::ALL.into_iter().map(dimension).collect();
    let vector = json!({"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 4096});
    let mut properties = json!({
        "slug": {"type": ["string", "null"], "pattern": "^[a-z0-9-]{1,120}$", "description": "Made from the id or the name when absent."},
        "id": {"type": ["string", "integer", "null"], "maxLength": 100, "description": "An external id, of which the slug is made where none is given: everything else may change then. It is compared exactly, with case and accents."},
        "source": {"type": ["string", "null"], "maxLength": 60, "pattern": "^[a-z0-9_-]+$", "description": "The list in which the id is unique: the name of its mapping. The same id in two sources is two projects."},
        "name": {"type": ["string", "number"], "minLength": 1, "maxLength": super::MAX_NAME},
        "studio": text(300, "Who made it."),
        "city": text(300, "Where it stands; may include the country."),
        "year": {"type": ["string", "integer", "null"], "pattern": "^[0-9]{4}$", "minimum": 1000, "maximum": 9999},
        "category": {"type": "string", "description": "architecture, interiors, design, photography or art, in any case."},
        "intro": text(2000, "A short introduction."),
        "description": text(50_000, "The long text."),
        "design_language": text(5000, "How the design speaks."),
        "details": {"type": ["array", "null"], "maxItems": 100, "items": {
            "type": "object", "required": ["label", "value"], "additionalProperties": false,
            "properties": {"label": {"type": ["string", "number"], "maxLength": 200}, "value": {"type": ["string", "number"], "maxLength": 5000}}}},
        "published": date("The day the catalog published it."),
        "thumbnail": address("An image of the record's own."),
        "url": address("A public page of the record's own."),
        "citation_url": address("The address to cite, of the record's own."),
        "provenance": {"type": ["object", "null"], "additionalProperties": false, "properties": {
            "curated_by": text(300, "The curator."), "selected": date("The day it was selected."),
            "in_archive_since": {"type": ["integer", "string", "null"]}, "note": text(super::MAX_NOTE, "What the curator noted.")}},
        "taste": {"type": ["object", "null"], "additionalProperties": false, "properties": taste,
            "description": "The six dimensions; they may also stand at the top level."},
        "pictures": {"type": ["array", "null"], "maxItems": 100, "items": {
            "description": "A path relative to the file, or an https URL.",
            "type": ["string", "object"], "additionalProperties": false,
            "properties": {"source": {"type": "string"}, "path": {"type": "string"}, "url": {"type": "string"}, "alt": text(1000, "What readers who do not see it are told."),
                "credit": text(1000, "Whom to name with it."), "rights": text(1000, "What others may do with it: a text, or the URL of a licence.")}}},
        "vectors": {"type": ["object", "null"], "additionalProperties": false, "properties": {"visual": vector, "semantic": vector}},
        "vector_model": text(200, "The model that made the vectors; wanted where there are any."),
    });
    if let Some(all) = properties.as_object_mut() {
        all.extend(taste);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Import record",
        "description": "One project, one JSON object a line. Absent, null and blank all mean that nothing is recorded.",
        "type": "object",
        "required": ["name", "category"],
        "additionalProperties": false,
        "properties": properties,
    })
}
