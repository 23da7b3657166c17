//! Generates the committed contract documents from the types: JSON Schemas, OpenAPI and AsyncAPI.

mod asyncapi;
mod examples;
mod list_options;
mod meaning;
mod openapi;
mod openapi_3_0;
mod responses;

use serde_json::Value;

/// Returns every generated document with its path below `schemas/`.
pub fn documents() -> Vec<(String, String)> {
    let mut documents = vec![
        ("openapi.json".to_owned(), openapi::document()),
        ("openapi-3.0.json".to_owned(), openapi_3_0::lowered(openapi::document())),
        ("asyncapi.json".to_owned(), asyncapi::document()),
        ("import-record.schema.json".to_owned(), crate::import::import_record_schema()),
    ];
    for (kind, schema) in crate::versioned::schemas() {
        documents.push((format!("events/{kind}.schema.json"), schema));
    }
    documents.into_iter().map(|(path, document)| (path, pretty(&document))).collect()
}

/// Returns the OpenAPI 3.1 document. Its servers are `/v1`, and `/` for paths outside of it.
pub fn openapi() -> Value {
    openapi::document()
}

/// Returns the same document as OpenAPI 3.0.
pub fn openapi_3_0() -> Value {
    openapi_3_0::lowered(openapi::document())
}

fn pretty(document: &Value) -> String {
    format!("{document:#}\n")
}
