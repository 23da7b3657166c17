//! `GET /robots.txt`: what crawlers may read.

use axum::response::IntoResponse;
use http::HeaderValue;
use http::header::CONTENT_TYPE;

use answers::route::SITEMAP;
use answers::site::Site;

/// Renders it once, to be answered again and again.
pub(crate) fn answer(site: &Site) -> impl IntoResponse + Clone + Send + Sync + use<> {
    // Rules speak of paths, and the site may stand below one.
    let below = site.path();
    let text = format!(
        "User-agent: *\nDisallow: {below}/v1/\nDisallow: {below}/claim\nAllow: {below}/\n\nSitemap: {site}{}\n",
        SITEMAP
    );
    ([(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))], text)
}
