//! `GET /sitemap.xml` and its parts: the pages for search engines. Each part is made on request, once for a position of the catalog, and
//! a project is always in the same part.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Uri};
use read::catalog::ListedProject;
use read::checkpoint::Checkpoint;
use read::model::Model;
use tokio::sync::Semaphore;

use answers::auth::caller::Caller;
use answers::catalog::slug;
use answers::effort::Effort;
use answers::error::ApiError;
use answers::route::{self, Route};
use answers::site::Site;
use answers::state::ApiState;
use answers::turns;
use schemas::record::Category;

/// The maximum number of URLs of a part.
const MOST: u32 = 50_000;
/// Part 0: the pages that do not belong to a project.
const PAGES: [&str; 5] = [route::HOME, route::CONNECT, route::KEYS, route::PRICING, route::STATUS];
/// The prefix of the paths of all parts.
const PARTS: &str = route::prefix(route::SITEMAP_PARTS);
const SCHEMA: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=600");

/// Limits how many are made at once: that reads many URLs and needs no key.
static TURNS: Semaphore = Semaphore::const_new(2);
/// The number of parts that are kept: those of 200,000 projects. A part has up to 8 MB.
const KEPT: usize = 4;

/// The parts that were made last. Nobody needs a key for them, so each is made once for a position of the catalog, and all replies share
/// its bytes, however slowly they are read.
#[derive(Debug, Default)]
pub(crate) struct Parts(Mutex<Vec<Part>>);

#[derive(Debug)]
struct Part {
    number: u32,
    /// How far the catalog was when it was made.
    made_at: Checkpoint,
    xml: Bytes,
}

impl Parts {
    fn get(&self, number: u32, at: &Checkpoint) -> Option<Bytes> {
        // A panic while the lock was held leaves a whole list.
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.iter().find(|part| part.number == number && part.made_at == *at);
        part.map(|part| part.xml.clone())
    }

    /// Keeps a part in place of an earlier one of the same number, or of the one that was made first.
    fn keep(&self, number: u32, made_at: Checkpoint, xml: Bytes) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.retain(|part| part.number != number);
        if parts.len() >= KEPT {
            parts.remove(0);
        }
        parts.push(Part { number, made_at, xml });
    }
}

pub(crate) async fn index(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let _turn = TURNS.acquire().await.map_err(ApiError::internal)?;
    let catalog = state.catalog()?;
    let parts = catalog.reader.listed_parts(MOST).await.map_err(slug::api_error)?;
    let site = state.site();
    let mut xml = begin("sitemapindex");
    xml += &format!("<sitemap><loc>{site}{PARTS}0.xml</loc></sitemap>\n");
    for part in parts {
        let (number, day) = (part.number + 1, part.updated_on);
        xml += &format!("<sitemap><loc>{site}{PARTS}{number}.xml</loc><lastmod>{day}</lastmod></sitemap>\n");
    }
    Ok(document(ended(xml, "sitemapindex")))
}

/// Answers paths without a route: a part, whose number is within a segment of the path, or not found.
pub(crate) async fn part_or_nothing(
    parts: Arc<Parts>,
    State(state): State<ApiState>,
    caller: Caller,
    method: Method,
    uri: Uri,
) -> Result<Response, ApiError> {
    let number = number(uri.path()).ok_or_else(ApiError::not_found)?;
    if method != Method::GET {
        return Err(ApiError::method_not_allowed(Route::Feeds));
    }
    let Some(number) = number.checked_sub(1) else { return Ok(pages(state.site())) };
    let catalog = state.catalog()?;
    caller.weigh_page(&state, Effort { is_sitemap: true, ..Effort::default() });
    // Read before the projects: a commit in between is seen by the next request.
    let at = Model::checkpoint(&catalog.reader).await.map_err(slug::api_error)?;
    if let Some(xml) = parts.get(number, &at) {
        return Ok(document(xml));
    }
    let _turn = TURNS.acquire().await.map_err(ApiError::internal)?;
    // Another request may have made it meanwhile.
    if let Some(xml) = parts.get(number, &at) {
        return Ok(document(xml));
    }
    let listed = catalog.reader.listed_part(MOST, number.into()).await.map_err(slug::api_error)?;
    if listed.is_empty() {
        return Err(ApiError::not_found());
    }
    let xml = turns::apart(|| ended(of_projects(listed, state.site()), "urlset"));
    parts.keep(number, at, xml.clone());
    Ok(document(xml))
}

/// Returns the beginning of a part with these projects.
fn of_projects(listed: Vec<ListedProject>, site: &Site) -> String {
    let mut xml = begin("urlset");
    xml.reserve(listed.len() * 160);
    for project in listed {
        let (slug, changed) = (project.slug, project.updated_at);
        xml += &format!("<url><loc>{site}/projects/{slug}</loc><lastmod>{changed}</lastmod></url>\n");
    }
    xml
}

fn number(path: &str) -> Option<u32> {
    let digits = path.strip_prefix(PARTS)?.strip_suffix(".xml")?;
    digits.parse::<u32>().ok().filter(|number| number.to_string() == digits)
}

fn pages(site: &Site) -> Response {
    let mut xml = begin("urlset");
    let pages = PAGES.into_iter().chain(Category::ALL.map(route::of_category)).map(str::to_owned);
    for page in pages.chain(pages::other_paths()) {
        xml += &format!("<url><loc>{site}{page}</loc></url>\n");
    }
    document(ended(xml, "urlset"))
}

fn begin(element: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{element} xmlns=\"{SCHEMA}\">\n")
}

fn ended(mut xml: String, element: &str) -> Bytes {
    xml += &format!("</{element}>\n");
    xml.into()
}

fn document(xml: Bytes) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/xml")), (CACHE_CONTROL, MINUTES)], xml)
        .into_response()
}

#[cfg(test)]
mod tests {
    use schemas::ids::Position;

    use super::*;

    #[test]
    fn a_part_is_kept_for_a_position_of_the_catalog() {
        let parts = Parts::default();
        let at = |position| Checkpoint { position: Position(position), ..Checkpoint::default() };
        let xml = |text: &'static str| Bytes::from_static(text.as_bytes());
        parts.keep(0, at(7), xml("zero"));
        assert_eq!(
            [parts.get(0, &at(7)), parts.get(0, &at(8)), parts.get(1, &at(7))],
            [Some(xml("zero")), None, None]
        );
        parts.keep(0, at(8), xml("later"));
        assert_eq!([parts.get(0, &at(7)), parts.get(0, &at(8))], [None, Some(xml("later"))]);
        (1..=4).for_each(|number| parts.keep(number, at(8), xml("more")));
        let kept: Vec<u32> = (0..9).filter(|number| parts.get(*number, &at(8)).is_some()).collect();
        assert_eq!(kept, [1, 2, 3, 4], "so many are kept");
    }
}
