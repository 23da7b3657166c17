//! `GET /openapi.json`, and `/openapi-3.0.json` for generators that support only that version: the OpenAPI document with the site's
//! address.

use axum::response::IntoResponse;
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use schemas::contract;
use serde_json::{Value, json};

use answers::site::Site;

/// Returns the document, rendered once.
pub(crate) fn answer(site: &Site) -> impl IntoResponse + Clone + Send + Sync + use<> {
    rendered(contract::openapi(), site)
}

/// Returns the document in version 3.0, rendered once.
pub(crate) fn answer_older(site: &Site) -> impl IntoResponse + Clone + Send + Sync + use<> {
    rendered(contract::openapi_3_0(), site)
}

fn rendered(mut document: Value, site: &Site) -> impl IntoResponse + Clone + Send + Sync + use<> {
    let server = |path: &str| json!([{"url": format!("{site}{path}")}]);
    document["info"]["title"] = site.name().into();
    document["servers"] = server("/v1");
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (_, path) in paths.filter(|(_, path)| path["servers"].is_array()) {
        path["servers"] = server("");
    }
    let kind = HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, kind)], Bytes::from(format!("{document:#}\n")))
}
