//! The page of a citation: the cited revision and its citation formats.

use answers::error::ApiError;
use answers::state::ApiState;
use askama::Template;
use citation::{CitationPage, Format};

use super::layout::{Layout, Meta};
use super::record::Recorded;

#[derive(Template)]
#[template(path = "cite.html")]
struct CitePage<'a> {
    layout: Layout,
    project: Recorded,
    page: &'a CitationPage,
    citation: String,
    bibtex: String,
    json_ld: String,
    /// The name and path of each format.
    formats: Vec<(&'static str, String, &'static str)>,
    newest: String,
    present: String,
}

/// Renders the page.
pub(crate) fn cite(page: &CitationPage, state: &ApiState) -> Result<String, ApiError> {
    let (citation, record) = (&page.citation, &page.record);
    let project = Recorded::of(record.clone(), state.site());
    let mut layout = Layout::new(state, "", format!("{}, revision {}", record.name, record.revision));
    layout.description = citation.text();
    layout.canonical = Some(citation.url.clone());
    layout.meta = citation.metadata().into_iter().map(meta).collect();
    let other = |format: &Format| {
        let path = project.local(&page.address_in(*format)).to_owned();
        (format.title(), path, format.media_type())
    };
    let template = CitePage {
        layout,
        page,
        citation: citation.text(),
        bibtex: citation.bibtex(),
        json_ld: citation.json_ld(),
        formats: Format::ALL[1..].iter().map(other).collect(),
        newest: project.local(&page.newest.citation).to_owned(),
        present: project.local(&page.newest.page).to_owned(),
        project,
    };
    template.render().map_err(ApiError::internal)
}

fn meta((name, content): (&'static str, String)) -> Meta {
    let attribute = if name.starts_with("og:") { "property" } else { "name" };
    Meta { attribute, name, content }
}
