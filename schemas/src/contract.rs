//! The documents that are generated from these types and committed: JSON Schemas, OpenAPI and AsyncAPI.

mod asyncapi;
mod events;
mod openapi;

use serde_json::Value;

/// Every generated document by its path below `schemas/`, as the committed file must read.
pub fn documents() -> Vec<(String, String)> {
    let mut documents = vec![
        ("openapi.json".to_owned(), openapi::document()),
        ("asyncapi.json".to_owned(), asyncapi::document()),
        ("import-record.schema.json".to_owned(), crate::import::import_record_schema()),
    ];
    for (kind, schema) in events::schemas() {
        documents.push((format!("events/{kind}.schema.json"), schema));
    }
    documents.into_iter().map(|(path, document)| (path, pretty(&document))).collect()
}

/// The OpenAPI document as it is served.
pub fn openapi() -> String {
    pretty(&openapi::document())
}

fn pretty(document: &Value) -> String {
    format!("{document:#}\n")
}
