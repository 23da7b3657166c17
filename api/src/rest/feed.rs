//! `GET /feed.atom`: the newest selections.

use answers::catalog::slug;
use answers::error::ApiError;
use answers::route::FEED;
use answers::site::Site;
use answers::state::ApiState;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use citation::{CitedRecord, one_line};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use jiff::Timestamp;
use read::archive::MAX_PAGE_SIZE;
use read::catalog::ListedRecord;
use uuid::Uuid;

const MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

pub(crate) async fn feed(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let newest = state.listing()?.newest(None, MAX_PAGE_SIZE, None).map_err(ApiError::internal)?;
    let catalog = state.catalog()?;
    let selected = catalog.reader.listed_records(&newest.ordinals).await.map_err(slug::api_error)?;
    let site = state.site();
    let mut updated = Timestamp::UNIX_EPOCH;
    let mut entries = String::new();
    for one in selected {
        let record = CitedRecord::read(&one.record, site.as_str()).map_err(ApiError::internal)?;
        updated = updated.max(record.updated_at);
        entries += &entry(&one, &record);
    }
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/atom+xml; charset=utf-8")),
        (CACHE_CONTROL, MINUTES),
    ];
    Ok((headers, format!("{}{entries}</feed>\n", head(site, updated))).into_response())
}

fn head(site: &Site, updated: Timestamp) -> String {
    let (name, tagline) = (escaped(site.name()), escaped(site.tagline()));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:media=\"http://search.yahoo.com/mrss/\">\n\
         <id>{site}{FEED}</id>\n<title>{name}: latest additions</title>\n<subtitle>{tagline}</subtitle>\n<updated>{updated}</updated>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{site}{FEED}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{site}/\"/>\n\
         <author><name>{name}</name></author>\n"
    )
}

fn entry(selected: &ListedRecord, record: &CitedRecord) -> String {
    // The project's own id: it stays through every rename, and when the site moves.
    let id = Uuid::from_u128(selected.project.0.into()).urn();
    let title = match &record.studio {
        Some(studio) => format!("{}, {}", one_line(&record.name), one_line(studio)),
        None => one_line(&record.name),
    };
    let mut entry = format!(
        "<entry>\n<id>{id}</id>\n<title>{}</title>\n<updated>{}</updated>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<category term=\"{}\" label=\"{}\"/>\n",
        escaped(&title),
        record.updated_at,
        escaped(&record.url),
        record.category.as_str(),
        record.category.title(),
    );
    if let Some(day) = record.published.or(record.provenance.selected) {
        entry += &format!("<published>{day}T00:00:00Z</published>\n");
    }
    if let Some(curator) = &record.provenance.curated_by {
        entry += &format!("<author><name>{}</name></author>\n", escaped(&one_line(curator)));
    }
    if let Some(intro) = &record.intro {
        entry += &format!("<summary>{}</summary>\n", escaped(intro));
    }
    if let Some(picture) = &record.thumbnail {
        entry += &format!("<media:thumbnail url=\"{}\"/>\n", escaped(picture));
    }
    entry + "</entry>\n"
}

/// Escapes a text for content and attributes, and removes characters that XML 1.0 does not allow.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if character.is_control() => {}
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_text_parses_to_itself() {
        for (given, read) in [
            ("a <b> & \"c\" 'd'", "a <b> & \"c\" 'd'"),
            ("]]></title><!--", "]]></title><!--"),
            ("\u{fffe}東\u{ffff}京\u{1}", "東京"),
        ] {
            let xml = format!("<a b=\"{0}\">{0}</a>", escaped(given));
            let document = roxmltree::Document::parse(&xml).unwrap();
            let element = document.root_element();
            assert_eq!((element.text(), element.attribute("b")), (Some(read), Some(read)));
        }
    }
}
