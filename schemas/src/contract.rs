//! The documents that are generated from these types and committed: JSON Schemas, OpenAPI and AsyncAPI.

mod asyncapi;
mod events;
mod examples;
mod openapi;
mod openapi_3_0;

use serde_json::Value;

/// Every generated document by its path below `schemas/`, as the committed file must read.
pub fn documents() -> Vec<(String, String)> {
    let mut documents = vec![
        ("openapi.json".to_owned(), openapi::document()),
        ("openapi-3.0.json".to_owned(), openapi_3_0::lowered(openapi::document())),
        ("asyncapi.json".to_owned(), asyncapi::document()),
        ("import-record.schema.json".to_owned(), crate::import::import_record_schema()),
    ];
    for (kind, schema) in events::schemas() {
        documents.push((format!("events/{kind}.schema.json"), schema));
    }
    documents.into_iter().map(|(path, document)| (path, pretty(&document))).collect()
}

/// The OpenAPI document, version 3.1. Its servers are paths: `/v1`, and `/` for what stands outside of it.
pub fn openapi() -> Value {
    openapi::document()
}

/// The same document in the words of version 3.0.
pub fn openapi_3_0() -> Value {
    openapi_3_0::lowered(openapi::document())
}

fn pretty(document: &Value) -> String {
    format!("{document:#}\n")
}
