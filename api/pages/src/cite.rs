//! The page of a citation: the cited revision, and its citation in styles and formats.

use answers::error::ApiError;
use answers::state::ApiState;
use askama::Template;
use citation::{CitationPage, Format, Span, Style};

use super::layout::{Layout, Meta};
use super::record::Recorded;
use super::text_of;

#[derive(Template)]
#[template(path = "cite.html")]
struct CitePage<'a> {
    layout: Layout,
    project: Recorded,
    page: &'a CitationPage,
    citation: String,
    styles: Vec<Styled>,
    /// The formats that are shown and can be copied.
    blocks: Vec<Block>,
    /// The formats that are only downloaded.
    others: Vec<Download>,
    /// The path and media type of each format, without a date of access.
    alternates: Vec<(String, &'static str)>,
    json_ld: String,
    newest: String,
    present: String,
}

/// The citation in a style.
struct Styled {
    style: Style,
    spans: Vec<Span>,
}

/// The citation in a format, as text.
struct Block {
    id: &'static str,
    text: String,
    download: Download,
}

/// A format as a file.
struct Download {
    title: &'static str,
    path: String,
    file: String,
    kind: &'static str,
}

/// Renders the page.
pub async fn cite(page: &CitationPage, state: &ApiState) -> Result<String, ApiError> {
    let (citation, record) = (&page.citation, &page.record);
    let project = Recorded::of(record.clone(), state).await;
    let mut layout = Layout::new(state, "", format!("{}, revision {}", record.name, record.revision));
    layout.description = citation::Citation { accessed: None, ..citation.clone() }.text();
    layout.canonical = Some(citation.url.clone());
    layout.meta = citation.metadata().into_iter().map(meta).collect();
    let layout = project.pictured(layout);
    let download = |format: Format| Download {
        title: format.title(),
        path: project.local(&page.accessed_address_in(format)).to_owned(),
        file: page.file_name(format),
        kind: format.media_type(),
    };
    let block = |format: Format, text| Block { id: format.name(), text, download: download(format) };
    let alternate =
        |format: &Format| (project.local(&page.address_in(*format)).to_owned(), format.media_type());
    let template = CitePage {
        layout,
        page,
        citation: citation.text().trim_end().to_owned(),
        styles: Style::ALL.map(|style| Styled { style, spans: citation.styled(style) }).into(),
        blocks: vec![block(Format::BibTex, citation.bibtex()), block(Format::Ris, citation.ris())],
        others: [Format::CslJson, Format::JsonLd, Format::Text].map(download).into(),
        alternates: Format::ALL[1..].iter().map(alternate).collect(),
        json_ld: citation.json_ld_of_page(project.hero()),
        newest: project.local(&page.newest.citation).to_owned(),
        present: project.local(&page.newest.page).to_owned(),
        project,
    };
    text_of(&template).map_err(ApiError::internal)
}

fn meta((name, content): (&'static str, String)) -> Meta {
    let attribute = if name.starts_with("og:") { "property" } else { "name" };
    Meta { attribute, name, content }
}
