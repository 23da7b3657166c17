//! `GET /projects/{slug}`: the page of a project.

use answers::catalog::similar::ListedProject;
use answers::catalog::slug::{self, PathSlug, Resolved};
use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use citation::{Citation, CitedRecord};
use read::archive::Filters;

use super::card::Card;
use super::layout::{Layout, Meta};
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
    call: String,
    /// The path of the permanent page of this revision.
    cite: String,
    json_ld: String,
}

pub(super) async fn project(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
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
    let project = Recorded::of(CitedRecord::read(&record, site.as_str()).map_err(ApiError::internal)?, site);
    let citation = Citation::of(&project.record, site.publisher());
    page(&ProjectPage {
        layout: layout(&project, &citation, &state),
        json_ld: citation.json_ld(),
        cite: project.local(&citation.url).to_owned(),
        near: Card::with_kept_pictures(similar_projects(&state, &project.record.slug)?, &state).await,
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
    let description = record.intro.clone().unwrap_or_else(|| project.byline());
    let layout = Layout::new(state, "", record.name.clone())
        .describing(description.clone(), &path)
        .property("og:type", "article")
        .property("og:site_name", state.site().name())
        .property("og:title", record.name.clone())
        .property("og:description", description)
        .property("og:url", format!("{}{path}", state.site()));
    let mut layout = layout;
    layout.meta.extend(cited(citation));
    let Some(hero) = project.hero() else { return layout };
    layout
        .property("og:image", hero.url.clone())
        .property("og:image:width", hero.width.to_string())
        .property("og:image:height", hero.height.to_string())
}

/// Metadata for reference managers, about the project's page and not its citation.
fn cited(citation: &Citation) -> impl Iterator<Item = Meta> {
    let pairs = citation.metadata().into_iter().filter(|(name, _)| !name.starts_with("og:"));
    pairs.map(|(name, content)| Meta { attribute: "name", name, content })
}

/// Similar projects; empty while they are being computed.
fn similar_projects(state: &ApiState, slug: &str) -> Result<Vec<Card>, ApiError> {
    let Ok(Some(project)) = ListedProject::find(state, slug) else { return Ok(Vec::new()) };
    let Ok(page) = project.neighbours(state, NEIGHBOURS, None, &Filters::default()) else {
        return Ok(Vec::new());
    };
    page.shown.iter().map(|(_, summary)| Card::of(summary, state.site())).collect()
}
