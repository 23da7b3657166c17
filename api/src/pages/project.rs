//! `GET /projects/{slug}`: the page of a project.

use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use schemas::slug::Slug;
use serde::Deserialize;

use super::card::{Card, byline, is_own};
use super::layout::{Layout, with_paths};
use super::page;
use crate::fault::Fault;
use crate::routes::similar::Near;
use crate::routes::standing::{self, Place};
use crate::state::ApiState;

/// How many neighbours the page shows.
const NEIGHBOURS: usize = 6;

#[derive(Template)]
#[template(path = "project.html")]
struct ProjectPage {
    layout: Layout,
    project: FullRecord,
    near: Vec<Card>,
    call: String,
}

/// The full record, as it is kept rendered.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FullRecord {
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) studio: Option<String>,
    pub(crate) city: Option<String>,
    pub(crate) year: Option<String>,
    pub(crate) category: String,
    pub(crate) intro: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) citation_url: String,
    pub(crate) provenance: Provenance,
    description: Option<String>,
    design_language: Option<String>,
    details: Vec<Detail>,
    taste: Taste,
    images: Vec<Image>,
    pub(crate) revision: u64,
    updated_at: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Provenance {
    pub(crate) curated_by: Option<String>,
    pub(crate) selected: Option<String>,
    pub(crate) in_archive_since: Option<i16>,
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Detail {
    label: String,
    value: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Taste {
    material: Option<String>,
    light: Option<String>,
    color: Option<String>,
    mood: Option<String>,
    composition: Option<String>,
    subject: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Image {
    url: String,
    width: u32,
    height: u32,
    alt: Option<String>,
    color_palette: Vec<String>,
}

/// What is recorded in a dimension, and where others of that kind are.
struct Tasted {
    name: &'static str,
    text: String,
    href: String,
}

impl FullRecord {
    /// Reads a record with paths in place of this site's addresses.
    pub(crate) fn read(rendered: &[u8], state: &ApiState) -> Result<FullRecord, Fault> {
        let mut record: FullRecord =
            serde_json::from_slice(&with_paths(rendered, state.site())).map_err(Fault::internal)?;
        record.images.retain(|image| is_own(&image.url));
        Ok(record)
    }

    pub(crate) fn byline(&self) -> String {
        byline([&self.studio, &self.city, &self.year])
    }

    /// The first picture, and the others.
    fn hero(&self) -> Option<&Image> {
        self.images.first()
    }

    fn gallery(&self) -> &[Image] {
        self.images.get(1..).unwrap_or_default()
    }

    fn updated(&self) -> &str {
        self.updated_at.split('T').next().unwrap_or_default()
    }

    /// The dimensions of which something is recorded.
    fn tastes(&self, base: &str) -> Vec<Tasted> {
        let taste = &self.taste;
        [
            ("Material", "material", &taste.material),
            ("Light", "light", &taste.light),
            ("Color", "color", &taste.color),
            ("Mood", "mood", &taste.mood),
            ("Composition", "composition", &taste.composition),
            ("Subject", "subject", &taste.subject),
        ]
        .into_iter()
        .filter_map(|(name, parameter, text)| {
            let text = text.clone()?;
            let mut pairs = form_urlencoded::Serializer::new(String::new());
            let href = format!("{base}/?{}", pairs.append_pair(parameter, &text).finish());
            Some(Tasted { name, text, href })
        })
        .collect()
    }
}

/// A text in paragraphs, as it was written.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty())
}

pub(super) async fn project(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Fault> {
    // What is no slug is nobody's slug.
    let Some(slug) = path.ok().and_then(|Path(text)| Slug::try_from(text).ok()) else {
        return Err(Fault::unknown_slug(Vec::new()));
    };
    let site = state.site();
    let record = match standing::place(&state, &slug, &format!("{}/projects", site.path())).await? {
        Place::There(redirect) => return Ok(redirect),
        Place::Here(record) => record,
    };
    let project = FullRecord::read(&record, &state)?;
    page(&ProjectPage {
        layout: layout(&project, &state),
        near: near(&state, &project.slug)?,
        call: format!("curl -H \"Authorization: Bearer $KEY\" \\\n  {site}/v1/project/{}", project.slug),
        project,
    })
}

fn layout(project: &FullRecord, state: &ApiState) -> Layout {
    let path = format!("/projects/{}", project.slug);
    let description = project.intro.clone().unwrap_or_else(|| project.byline());
    let layout = Layout::new(state.site(), "", project.name.clone())
        .describing(description.clone(), &path)
        .property("og:type", "article")
        .property("og:site_name", "Loggia")
        .property("og:title", project.name.clone())
        .property("og:description", description)
        .property("og:url", format!("{}{path}", state.site()));
    let Some(hero) = project.hero() else { return layout };
    let address =
        format!("{}{}", state.site(), hero.url.strip_prefix(state.site().path()).unwrap_or(&hero.url));
    layout
        .property("og:image", address)
        .property("og:image:width", hero.width.to_string())
        .property("og:image:height", hero.height.to_string())
}

/// Its neighbours; none while they are still being looked for.
fn near(state: &ApiState, slug: &str) -> Result<Vec<Card>, Fault> {
    let Some(near) = Near::find(state, slug) else { return Ok(Vec::new()) };
    let Ok(neighbourhood) = near.neighbours(state, NEIGHBOURS) else { return Ok(Vec::new()) };
    neighbourhood.shown.iter().map(|(_, summary)| Card::of(summary, state.site())).collect()
}
