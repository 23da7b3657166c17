//! `GET /feed.atom` and `GET /feed.json`: the latest additions, of the catalog or of a category.

mod atom;
mod json_feed;

use answers::catalog::slug;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route;
use answers::site::Site;
use answers::state::ApiState;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use citation::{CitedRecord, one_line};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use jiff::Timestamp;
use jiff::civil::Date;
use read::archive::MAX_PAGE_SIZE;
use read::catalog::ListedRecord;
use schemas::record::Category;
use uuid::Uuid;

const MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// The latest additions, the newest first.
struct Feed<'a> {
    site: &'a Site,
    /// The category, if not all are included.
    category: Option<Category>,
    entries: Vec<Entry>,
}

/// A project in a feed.
struct Entry {
    /// The project's own id as a URN: it stays through every rename, and when the site moves.
    id: String,
    /// The name and the studio.
    title: String,
    record: CitedRecord,
}

/// A picture that every reader shows.
struct FeedPicture {
    url: String,
    /// The width and height in pixels, if they are recorded.
    size: Option<(u32, u32)>,
    alt: String,
}

pub(crate) async fn atom(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let feed = Feed::read(&state, query.as_deref().unwrap_or_default()).await?;
    Ok(response("application/atom+xml; charset=utf-8", atom::write(&feed)))
}

pub(crate) async fn json(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let feed = Feed::read(&state, query.as_deref().unwrap_or_default()).await?;
    Ok(response("application/feed+json; charset=utf-8", json_feed::write(&feed)))
}

fn response(kind: &'static str, text: String) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(kind)), (CACHE_CONTROL, MINUTES)], text).into_response()
}

impl Feed<'_> {
    async fn read<'a>(state: &'a ApiState, query: &str) -> Result<Feed<'a>, ApiError> {
        let mut sent = QueryParams::parse(query, ["category"]);
        let category = sent.category();
        sent.finish()?;
        let newest = state.listing()?.newest(category, MAX_PAGE_SIZE, None).map_err(ApiError::internal)?;
        let catalog = state.catalog()?;
        let selected = catalog.reader.listed_records(&newest.ordinals).await.map_err(slug::api_error)?;
        let site = state.site();
        let entries = selected.iter().map(|one| Entry::of(one, site)).collect::<Result<_, _>>()?;
        Ok(Feed { site, category, entries })
    }

    fn title(&self) -> String {
        let name = self.site.name();
        match self.category {
            Some(category) => format!("{name}: latest additions in {}", category.title()),
            None => format!("{name}: latest additions"),
        }
    }

    /// Returns the URL of this feed at a path.
    fn address(&self, path: &str) -> String {
        let query = self.category.map(|category| format!("?category={}", category.as_str()));
        format!("{}{path}{}", self.site, query.unwrap_or_default())
    }

    /// Returns the URL of the page with the same projects.
    fn page(&self) -> String {
        format!("{}{}", self.site, self.category.map_or(route::HOME, route::of_category))
    }

    /// Returns the time of the last change of an entry.
    fn updated(&self) -> Timestamp {
        let changes = self.entries.iter().map(|entry| entry.record.updated_at);
        changes.max().unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl Entry {
    fn of(selected: &ListedRecord, site: &Site) -> Result<Entry, ApiError> {
        let record = CitedRecord::read(&selected.record, site.as_str()).map_err(ApiError::internal)?;
        let title = match &record.studio {
            Some(studio) => format!("{}, {}", one_line(&record.name), one_line(studio)),
            None => one_line(&record.name),
        };
        Ok(Entry { id: Uuid::from_u128(selected.project.0.into()).urn().to_string(), title, record })
    }

    fn published(&self) -> Option<Date> {
        self.record.published.or(self.record.provenance.selected)
    }

    /// Returns the main picture: as JPEG if it is stored here, or else as the record names it.
    fn picture(&self, site: &Site) -> Option<FeedPicture> {
        let stored = self.record.images.first().and_then(|image| Some((image, image.jpeg(site.as_str())?)));
        if let Some((image, jpeg)) = stored {
            let alt = image.alt.clone().unwrap_or_default();
            return Some(FeedPicture { url: jpeg.url, size: Some((jpeg.width, jpeg.height)), alt });
        }
        let url = self.record.thumbnail.clone()?;
        Some(FeedPicture { url, size: None, alt: String::new() })
    }

    /// Returns the picture and the introduction as HTML; `None` if neither is recorded.
    fn html(&self, site: &Site) -> Option<String> {
        let mut html = String::new();
        if let Some(FeedPicture { url, size, alt }) = self.picture(site) {
            let size = size.map(|(width, height)| format!(" width=\"{width}\" height=\"{height}\""));
            html += &format!(
                "<p><img src=\"{}\"{} alt=\"{}\"></p>",
                escaped(&url),
                size.unwrap_or_default(),
                escaped(&alt)
            );
        }
        if let Some(intro) = &self.record.intro {
            html += &format!("<p>{}</p>", escaped(intro));
        }
        (!html.is_empty()).then_some(html)
    }
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
