//! `GET /robots.txt`: what crawlers may read.

use axum::response::IntoResponse;
use http::HeaderValue;
use http::header::CONTENT_TYPE;

use answers::route::SITEMAP;
use answers::site::Site;

/// Returns the document, rendered once.
pub(crate) fn answer(site: &Site) -> impl IntoResponse + Clone + Send + Sync + use<> {
    // Rules contain paths, and the site may be below one.
    let below = site.path();
    let text = format!(
        "User-agent: *\nDisallow: {below}/v1/\nDisallow: {below}/claim\nAllow: {below}/\n\nSitemap: {site}{}\n",
        SITEMAP
    );
    ([(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))], text)
}
