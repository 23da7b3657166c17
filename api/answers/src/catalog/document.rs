//! A JSON document as an answer; that of a page of a list links to the next page.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, LINK};

use crate::query;
use crate::site::Site;

/// A JSON document.
#[derive(Debug)]
pub struct JsonDocument {
    /// The rendered document.
    pub body: Bytes,
    /// The header `Link` with `rel="next"`; `None` for anything but a page that another follows.
    pub next: Option<HeaderValue>,
    /// Whether the call is charged for it.
    pub is_charged: bool,
}

/// Marks a response that its call is not charged for, as an extension.
#[derive(Debug, Clone, Copy)]
pub struct Uncharged;

impl JsonDocument {
    /// Returns a document that is no page of a list, or all of it.
    pub fn of(body: impl Into<Bytes>) -> JsonDocument {
        JsonDocument { body: body.into(), next: None, is_charged: true }
    }

    /// Returns a page of a list. `path` and `query` are those of its request; the link has all parameters but the key.
    pub fn page(body: Vec<u8>, site: &Site, path: &str, query: &str, cursor: Option<&str>) -> JsonDocument {
        let next = cursor.and_then(|cursor| {
            let kept = query::without(&query::without(query, "cursor"), "key");
            let joined = if kept.is_empty() { "" } else { "&" };
            next_link(site, path, &format!("{kept}{joined}cursor={cursor}"))
        });
        JsonDocument { body: body.into(), next, is_charged: true }
    }

    /// Returns a page after which `query` continues, with all parameters but the key.
    pub fn following(body: Vec<u8>, site: &Site, path: &str, query: &str) -> JsonDocument {
        let next = next_link(site, path, &query::without(query, "key"));
        JsonDocument { body: body.into(), next, is_charged: true }
    }

    /// Returns the document of a list with `total` projects on all pages: the call is not charged for an empty one.
    #[must_use]
    pub fn of_total(self, total: u64) -> JsonDocument {
        JsonDocument { is_charged: total > 0, ..self }
    }
}

fn next_link(site: &Site, path: &str, query: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("<{site}{path}?{query}>; rel=\"next\"")).ok()
}

impl IntoResponse for JsonDocument {
    fn into_response(self) -> Response {
        let mut response = self.body.into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(next) = self.next {
            headers.insert(LINK, next);
        }
        if !self.is_charged {
            response.extensions_mut().insert(Uncharged);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_has_the_same_parameters_without_the_key() {
        let site: Site = "https://a.org/catalog".parse().unwrap();
        let page = |query, cursor| JsonDocument::page(Vec::new(), &site, "/v1/search", query, cursor).next;
        let next = |query| page(query, Some("abc")).unwrap();
        assert_eq!(
            next("q=Z%C3%BCrich&cursor=x&key=k&limit=2"),
            "<https://a.org/catalog/v1/search?q=Z%C3%BCrich&limit=2&cursor=abc>; rel=\"next\""
        );
        assert_eq!(next(""), "<https://a.org/catalog/v1/search?cursor=abc>; rel=\"next\"");
        assert!(page("q=a", None).is_none());
    }
}
