//! The headers of every reply, whatever layer it comes from.

use std::cell::RefCell;

use answers::auth::allowance::{self, Allowance};
use answers::route::Route;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, HeaderName, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::http::request_id::RequestId;

const EXPOSED: &str = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, ETag, \
                       Link, Deprecation, Sunset, Retry-After, X-Request-Id, X-Call-Id";

/// The star does not include Authorization, and older browsers do not support it.
const ALLOWED: &str =
    "Authorization, If-None-Match, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, *";

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The headers that many replies have in common.
struct Common {
    allowance: Allowance,
    second: i64,
    headers: HeaderMap,
}

thread_local! {
    // Many requests in succession have the same caller and second: most replies copy the headers of the previous one and hash no
    // name. Thread-local, so that processors do not contend for memory.
    static LAST: RefCell<Option<Common>> = const { RefCell::new(None) };
}

/// The values of headers that differ between replies.
#[derive(Debug, Default)]
pub(super) struct ReplyHeaders {
    pub(super) content_type: Option<HeaderValue>,
    pub(super) tag: Option<HeaderValue>,
    /// Whether it may be cached if its status permits.
    pub(super) is_kept: bool,
}

/// Returns the headers of a reply: its own and the common ones.
pub(super) fn complete(
    own: HeaderMap,
    reply_headers: ReplyHeaders,
    status: StatusCode,
    allowance: Allowance,
    id: RequestId,
    second: i64,
) -> HeaderMap {
    let mut headers = LAST.with_borrow_mut(|last| {
        if !matches!(last, Some(common) if common.second == second && common.allowance == allowance) {
            *last = Some(Common::new(allowance, second));
        }
        last.as_ref().map(|common| common.headers.clone()).unwrap_or_default()
    });
    headers.insert(&REQUEST_ID, id.header());
    headers.insert(CACHE_CONTROL, caching(status, reply_headers.is_kept));
    for (name, value) in [(CONTENT_TYPE, reply_headers.content_type), (ETAG, reply_headers.tag)] {
        match value {
            Some(value) => headers.insert(name, value),
            None => headers.remove(name),
        };
    }
    if !own.is_empty() {
        if own.contains_key(CONTENT_SECURITY_POLICY) {
            // Pages are for people, not for scripts of other sites.
            headers.remove(ACCESS_CONTROL_ALLOW_ORIGIN);
            headers.remove(ACCESS_CONTROL_EXPOSE_HEADERS);
        }
        headers.extend(own);
    }
    headers
}

impl Common {
    fn new(allowance: Allowance, second: i64) -> Common {
        let mut headers = HeaderMap::with_capacity(16);
        // Replaced in each reply: a copied map has capacity only for its entries.
        for name in [&CONTENT_TYPE, &ETAG, &CACHE_CONTROL, &REQUEST_ID] {
            headers.insert(name, HeaderValue::from_static(""));
        }
        headers.insert(VARY, HeaderValue::from_static("Authorization, Accept-Encoding"));
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        allowance::insert(&mut headers, allowance, second);
        Common { allowance, second, headers }
    }
}

/// Returns the default `Cache-Control`: without it browsers would cache a redirect permanently and a 404 arbitrarily long.
fn caching(status: StatusCode, is_kept: bool) -> HeaderValue {
    match status {
        StatusCode::OK | StatusCode::NOT_MODIFIED | StatusCode::PERMANENT_REDIRECT if is_kept => {
            HeaderValue::from_static("private, max-age=60")
        }
        _ => HeaderValue::from_static("no-store"),
    }
}

/// Returns the headers that say which requests web pages of other sites may send.
pub(super) fn preflight(route: Route) -> HeaderMap {
    let methods = route.methods();
    HeaderMap::from_iter([
        (ALLOW, methods.clone()),
        (ACCESS_CONTROL_ALLOW_METHODS, methods),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED)),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400")),
    ])
}
