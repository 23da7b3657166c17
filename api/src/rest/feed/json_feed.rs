//! JSON Feed, version 1.1.

use answers::route::JSON_FEED;
use citation::one_line;
use serde_json::{Value, json};

use super::{Entry, Feed};

/// Writes a feed as JSON Feed.
pub(super) fn write(feed: &Feed<'_>) -> String {
    let site = feed.site;
    let document = json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title(),
        "description": site.tagline(),
        "home_page_url": feed.page(),
        "feed_url": feed.address(JSON_FEED),
        "authors": [{"name": site.name(), "url": site.as_str()}],
        "items": feed.entries.iter().map(|one| item(one, feed)).collect::<Vec<_>>(),
    });
    format!("{document}\n")
}

/// Members without a recorded value are left out, but for the content, which every item has.
fn item(entry: &Entry, feed: &Feed<'_>) -> Value {
    let record = &entry.record;
    let mut item = json!({
        "id": entry.id,
        "url": record.url,
        "title": entry.title,
        "content_html": entry.html(feed.site).unwrap_or_default(),
        "summary": record.intro,
        "image": entry.picture(feed.site).map(|picture| picture.url),
        "date_published": entry.published().map(|day| format!("{day}T00:00:00Z")),
        "date_modified": record.updated_at,
        "authors": record.provenance.curated_by.as_deref().map(|name| json!([{"name": one_line(name)}])),
        "tags": [record.category.title()],
    });
    if let Value::Object(members) = &mut item {
        members.retain(|_, member| !member.is_null());
    }
    item
}
