//! `GET /sitemap.xml` and its parts: the pages for search engines. Each part is generated on request, and a project is always in the
//! same part.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Uri};
use tokio::sync::Semaphore;

use answers::catalog::slug;
use answers::error::ApiError;
use answers::route::{self, Route};
use answers::site::Site;
use answers::state::ApiState;
use schemas::record::Category;

/// The maximum number of URLs of a part.
const MOST: u32 = 50_000;
/// Part 0: the pages that do not belong to a project.
const PAGES: [&str; 5] = [route::HOME, route::CONNECT, route::KEYS, route::PRICING, route::STATUS];
/// The prefix of the paths of all parts.
const PARTS: &str = route::prefix(route::SITEMAP_PARTS);
const SCHEMA: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=600");

/// Limits concurrent requests: an answer reads many URLs and needs no key.
static TURNS: Semaphore = Semaphore::const_new(2);

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
    Ok(document(xml, "sitemapindex"))
}

/// Answers paths without a route: a part, whose number is within a segment of the path, or not found.
pub(crate) async fn part_or_nothing(
    State(state): State<ApiState>,
    method: Method,
    uri: Uri,
) -> Result<Response, ApiError> {
    let number = number(uri.path()).ok_or_else(ApiError::not_found)?;
    if method != Method::GET {
        return Err(ApiError::method_not_allowed(Route::Feeds));
    }
    let Some(number) = number.checked_sub(1) else { return Ok(pages(state.site())) };
    let _turn = TURNS.acquire().await.map_err(ApiError::internal)?;
    let catalog = state.catalog()?;
    let listed = catalog.reader.listed_part(MOST, number.into()).await.map_err(slug::api_error)?;
    if listed.is_empty() {
        return Err(ApiError::not_found());
    }
    let site = state.site();
    let mut xml = begin("urlset");
    xml.reserve(listed.len() * 160);
    for project in listed {
        let (slug, changed) = (project.slug, project.updated_at);
        xml += &format!("<url><loc>{site}/projects/{slug}</loc><lastmod>{changed}</lastmod></url>\n");
    }
    Ok(document(xml, "urlset"))
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
    document(xml, "urlset")
}

fn begin(element: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{element} xmlns=\"{SCHEMA}\">\n")
}

fn document(mut xml: String, element: &str) -> Response {
    xml += &format!("</{element}>\n");
    ([(CONTENT_TYPE, HeaderValue::from_static("application/xml")), (CACHE_CONTROL, MINUTES)], xml)
        .into_response()
}
