//! `GET /openapi.json`: the interface for machines, with this node's address.

use axum::response::IntoResponse;
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::site::Site;

/// The document, rendered once and answered again and again.
pub(crate) fn answer(site: &Site) -> impl IntoResponse + Clone + Send + Sync + use<> {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], Bytes::from(document(site)))
}

fn document(site: &Site) -> String {
    let text = schemas::contract::openapi();
    match serde_json::from_str::<Value>(&text) {
        Ok(mut document) => {
            document["servers"] = json!([{"url": format!("{site}/v1")}]);
            format!("{document:#}\n")
        }
        Err(_) => text,
    }
}
