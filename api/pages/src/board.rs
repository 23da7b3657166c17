//! `GET /board`: a list of projects that is kept in its address, to share, print and cite. Nothing is stored.

use std::collections::HashSet;

use answers::catalog::several;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use citation::{Citation, CitedRecord, Format};
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use super::card::Card;
use super::layout::Layout;
use super::words::{capitalised, projects};
use super::{page, today};

/// The maximum number of projects of a board.
const MAX_PROJECTS: usize = 50;

/// The formats in which all citations can be downloaded.
const FORMATS: [Format; 2] = [Format::BibTex, Format::Ris];

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage {
    layout: Layout,
    /// The slugs, separated by commas.
    slugs: String,
    entries: Vec<Entry>,
    /// The number of projects, in words.
    count: String,
    missing: String,
    downloads: Vec<Download>,
    is_full: bool,
}

/// A project of the board.
struct Entry {
    card: Card,
    citation: String,
    /// The path of the board without it.
    without: String,
}

/// The citations of all projects as a file.
struct Download {
    title: &'static str,
    path: String,
}

/// What a query string asks for.
struct BoardQuery {
    /// The slugs in their order, each once.
    slugs: Vec<String>,
    /// The slug of a project to add.
    add: Option<String>,
    format: Option<Format>,
}

pub(super) async fn board(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let BoardQuery { mut slugs, add, format } = BoardQuery::read(query.as_deref().unwrap_or_default())?;
    let base = state.site().path();
    if let Some(added) = add {
        if !slugs.contains(&added) {
            slugs.push(added);
        }
        return Ok(Redirect::to(&path(base, &slugs)).into_response());
    }
    let found = several::find(&state, &slugs).await?;
    let site = state.site();
    let records = found.records.iter().map(|record| CitedRecord::read(record, site.as_str()));
    let records = records.collect::<Result<Vec<_>, _>>().map_err(ApiError::internal)?;
    let accessed = Some(today(&state));
    let citations: Vec<Citation> = records
        .iter()
        .map(|record| Citation { accessed, ..Citation::of(record, site.publisher()) })
        .collect();
    if let Some(format) = format {
        return Ok(file(&citations, format));
    }
    let slugs: Vec<String> = records.iter().map(|record| record.slug.clone()).collect();
    let cards = records.into_iter().map(|record| Card::of_record(record, site)).collect();
    let cards = Card::with_stored_pictures(cards, &state).await;
    let entries = cards.into_iter().zip(&citations).map(|(card, citation)| {
        let others: Vec<String> = slugs.iter().filter(|slug| **slug != card.slug).cloned().collect();
        Entry { citation: citation.text().trim_end().to_owned(), without: path(base, &others), card }
    });
    page(&BoardPage {
        layout: Layout::new(&state, route::BOARD, "Board").private(),
        count: capitalised(&projects(slugs.len() as u64)),
        entries: entries.collect(),
        missing: found.missing.join(", "),
        downloads: FORMATS
            .map(|format| Download {
                title: format.title(),
                path: format!("{base}{}?slugs={}&format={}", route::BOARD, slugs.join(","), format.name()),
            })
            .into(),
        is_full: slugs.len() >= MAX_PROJECTS,
        slugs: slugs.join(","),
    })
}

impl BoardQuery {
    fn read(query: &str) -> Result<BoardQuery, ApiError> {
        let mut sent = QueryParams::parse(query, ["slugs", "add", "format"]);
        let mut seen = HashSet::new();
        let slugs: Vec<String> = sent
            .single("slugs")
            .unwrap_or_default()
            .split(',')
            .filter_map(slug_of)
            .filter(|slug| seen.insert(slug.clone()))
            .collect();
        if slugs.len() > MAX_PROJECTS {
            let allowed = format!("at most {MAX_PROJECTS} slugs, separated by commas");
            sent.refuse("slugs", format!("It has {} slugs.", slugs.len()), allowed);
        }
        let add = sent.single("add").and_then(|text| slug_of(&text));
        let format = sent.single("format").and_then(|name| {
            let format = Format::named(&name).filter(|format| FORMATS.contains(format));
            if format.is_none() {
                sent.refuse("format", "Boards have no such format.", FORMATS.map(Format::name).join(", "));
            }
            format
        });
        sent.finish()?;
        Ok(BoardQuery { slugs, add, format })
    }
}

/// Returns the slug in a text: a slug, or the address of a project.
fn slug_of(text: &str) -> Option<String> {
    let path = text.trim().split(['?', '#']).next()?.trim_end_matches('/');
    let slug = path.rsplit('/').next()?.to_lowercase();
    let is_slug = !slug.is_empty() && slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_slug.then_some(slug)
}

fn path(base: &str, slugs: &[String]) -> String {
    match slugs {
        [] => format!("{base}{}", route::BOARD),
        slugs => format!("{base}{}?slugs={}", route::BOARD, slugs.join(",")),
    }
}

/// Returns all citations as a file.
fn file(citations: &[Citation], format: Format) -> Response {
    let texts: Vec<String> = citations.iter().filter_map(|citation| citation.write(format)).collect();
    let disposition = format!("attachment; filename=\"board.{}\"", format.extension().unwrap_or("txt"));
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(format.content_type())),
        (
            CONTENT_DISPOSITION,
            HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment")),
        ),
    ];
    (headers, texts.join("\n")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_by_its_slug_or_its_address() {
        for text in [
            "haus-am-see",
            " Haus-am-See ",
            "https://catalog.example.org/projects/haus-am-see/?from=q%3Da#top",
            "/projects/haus-am-see",
        ] {
            assert_eq!(slug_of(text).as_deref(), Some("haus-am-see"), "{text}");
        }
        for text in ["", "/", "Haus am See", "https://catalog.example.org/?q=haus"] {
            assert_eq!(slug_of(text), None, "{text}");
        }
    }
}
