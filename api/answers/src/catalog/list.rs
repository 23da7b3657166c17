//! A page of a list: its JSON document and the link to the next page.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, LINK};

use crate::query;
use crate::site::Site;

/// A page of a list.
#[derive(Debug)]
pub struct List {
    /// The JSON document.
    pub body: Bytes,
    /// The header `Link` with `rel="next"`; `None` on the last page.
    pub next: Option<HeaderValue>,
}

impl List {
    /// Returns a page with this document. `path` and `query` are those of its request; the link has all parameters but the key.
    pub fn new(body: Vec<u8>, site: &Site, path: &str, query: &str, cursor: Option<&str>) -> List {
        let next = cursor.and_then(|cursor| {
            let kept = query::without(&query::without(query, "cursor"), "key");
            let joined = if kept.is_empty() { "" } else { "&" };
            next_link(site, path, &format!("{kept}{joined}cursor={cursor}"))
        });
        List { body: body.into(), next }
    }

    /// Returns a page after which `query` continues, with all parameters but the key.
    pub fn following(body: Vec<u8>, site: &Site, path: &str, query: &str) -> List {
        let next = next_link(site, path, &query::without(query, "key"));
        List { body: body.into(), next }
    }
}

fn next_link(site: &Site, path: &str, query: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("<{site}{path}?{query}>; rel=\"next\"")).ok()
}

impl IntoResponse for List {
    fn into_response(self) -> Response {
        let mut response = self.body.into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(next) = self.next {
            headers.insert(LINK, next);
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
        let next = |query| List::new(Vec::new(), &site, "/v1/search", query, Some("abc")).next.unwrap();
        assert_eq!(
            next("q=Z%C3%BCrich&cursor=x&key=k&limit=2"),
            "<https://a.org/catalog/v1/search?q=Z%C3%BCrich&limit=2&cursor=abc>; rel=\"next\""
        );
        assert_eq!(next(""), "<https://a.org/catalog/v1/search?cursor=abc>; rel=\"next\"");
        assert!(List::new(Vec::new(), &site, "/v1/search", "q=a", None).next.is_none());
    }
}
