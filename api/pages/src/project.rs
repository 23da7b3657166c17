//! `GET /projects/{slug}`: the page of a project.

use answers::auth::caller::Caller;
use answers::catalog::list_options::ListOptions;
use answers::catalog::similar::ListedProject;
use answers::catalog::slug::{self, PathSlug, Resolved};
use answers::error::ApiError;
use answers::route;
use answers::site::Site;
use answers::state::ApiState;
use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use citation::{Citation, CitedRecord, script_json};

use super::card::Card;
use super::home::InResults;
use super::layout::{Layout, Meta, breadcrumb_list};
use super::page;
use super::record::Recorded;

const PATH: &str = route::prefix(route::PROJECT_PAGE);

/// The number of similar projects on the page.
const NEIGHBOURS: usize = 6;

#[derive(Template)]
#[template(path = "project.html")]
struct ProjectPage {
    layout: Layout,
    project: Recorded,
    near: Vec<Card>,
    /// The path of the page of its category.
    category: String,
    call: String,
    /// The path of the permanent page of this revision.
    cite: String,
    /// The citation as text with the date of access, for print.
    citation: String,
    json_ld: String,
    breadcrumbs: String,
    /// Its place in the results that linked it.
    in_results: Option<InResults>,
}

pub(super) async fn project(
    State(state): State<ApiState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let slug = match slug::of_path(&state, path.ok(), PATH, "").await? {
        PathSlug::Slug(slug) => slug,
        PathSlug::Redirect(redirect) => return Ok(redirect),
    };
    let site = state.site();
    let record = match slug::resolve_or_redirect(&state, &slug, PATH, "").await? {
        Resolved::Redirect(redirect) => return Ok(redirect),
        Resolved::Found(record) => record,
    };
    let record = CitedRecord::read(&record, site.as_str()).map_err(ApiError::internal)?;
    let project = Recorded::of(record, &state).await;
    let citation =
        Citation { accessed: Some(super::today(&state)), ..Citation::of(&project.record, site.publisher()) };
    page(&ProjectPage {
        layout: layout(&project, &citation, &state),
        json_ld: citation.json_ld_of_page(project.hero()),
        breadcrumbs: breadcrumbs(&project.record, site),
        in_results: in_results((&state, &caller), query.as_deref().unwrap_or_default(), &project.record.slug)
            .await,
        citation: citation.text().trim_end().to_owned(),
        cite: project.local(&citation.url).to_owned(),
        category: format!("{}{}", site.path(), route::of_category(project.record.category)),
        near: Card::with_stored_pictures(similar_projects(&state, &project.record.slug)?, &state).await,
        call: format!(
            "curl -H \"Authorization: Bearer $KEY\" \\\n  {site}/v1/project/{}",
            project.record.slug
        ),
        project,
    })
}

fn layout(project: &Recorded, citation: &Citation, state: &ApiState) -> Layout {
    let record = &project.record;
    let path = format!("{PATH}{}", record.slug);
    let byline = Some(project.byline()).filter(|byline| !byline.is_empty());
    let bare = || format!("{} in {}", record.category.title(), state.site().name());
    let description = record.intro.clone().or(byline).unwrap_or_else(bare);
    let mut layout = Layout::new(state, "", record.name.clone())
        .describing(description, &path)
        .shared_as("article", &record.name);
    layout.meta.extend(cited(citation));
    project.pictured(layout)
}

/// Returns the place in the results that `from` names. Links of other sites may add parameters of their own, which are ignored.
async fn in_results(of: (&ApiState, &Caller), query: &str, slug: &str) -> Option<InResults> {
    let (_, from) = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "from")?;
    InResults::of(of, &from, slug).await
}

/// Returns the place of the project in the catalog as JSON-LD, as the breadcrumb of the page shows it.
fn breadcrumbs(project: &CitedRecord, site: &Site) -> String {
    let category = project.category;
    let mut list = breadcrumb_list(&[
        ("All projects", &format!("{site}/")),
        (category.title(), &format!("{site}{}", route::of_category(category))),
        (&project.name, &format!("{site}{PATH}{}", project.slug)),
    ]);
    list["@context"] = "https://schema.org".into();
    script_json(&list)
}

/// Metadata for reference managers, about the project's page and not its citation.
fn cited(citation: &Citation) -> impl Iterator<Item = Meta> {
    let pairs = citation.metadata().into_iter().filter(|(name, _)| !name.starts_with("og:"));
    pairs.map(|(name, content)| Meta { attribute: "name", name, content })
}

/// Similar projects; empty while they are being computed.
fn similar_projects(state: &ApiState, slug: &str) -> Result<Vec<Card>, ApiError> {
    let Ok(Some(project)) = ListedProject::find(state, slug) else { return Ok(Vec::new()) };
    let Ok(page) = project.neighbours(state, NEIGHBOURS, None, &ListOptions::default()) else {
        return Ok(Vec::new());
    };
    page.shown.iter().map(|(_, summary)| Card::of(summary, state.site())).collect()
}
