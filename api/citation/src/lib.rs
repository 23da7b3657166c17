//! Citations of a project's revision in the formats of reference managers: BibTeX, RIS, CSL-JSON, JSON-LD, a line of text, and
//! the metadata in the head of a page; and in the styles of bibliographies. The API's `/cite` endpoint, feed and pages write them.
//!
//! All values come from the record of that revision, so a citation never changes (ADR 19); only a reader's date of access is
//! added where it is given. A value that is not recorded is left out, never guessed. No recorded text can end the field, line or
//! element that it is written into.
//!
//! [`CitedRecord`] parses what the catalog has rendered, [`Citation`] is derived from it, and [`CitationPage`] adds the later
//! state of the project; [`Format`] negotiates ([`accept`]) and names the formats, each of which has a module of its own.

pub mod accept;
mod bibtex;
mod csl_json;
mod format;
mod json_ld;
mod metadata;
mod page;
mod plain;
mod record;
mod ris;
mod style;

use jiff::civil::Date;
use schemas::record::Category;

pub use format::Format;
pub use json_ld::script_json;
pub use page::{CitationPage, Newest};
pub use record::{CitedImage, CitedJpeg, CitedProvenance, CitedRecord, is_licence};
pub use style::{Span, Style};

/// The catalog that citations name as their publisher.
#[derive(Debug, Clone, Copy)]
pub struct Publisher<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its URL, without a slash at the end.
    pub site: &'a str,
}

/// The citation of one revision. Texts are as recorded and may contain line breaks, which each format handles.
#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    /// The slug of the project when the revision was recorded.
    pub slug: String,
    /// The name of the project.
    pub title: String,
    /// The studio.
    pub creator: Option<String>,
    /// The place of the work.
    pub city: Option<String>,
    /// The year of the work, four digits.
    pub year: Option<String>,
    /// The category.
    pub category: Category,
    /// The introduction.
    pub intro: Option<String>,
    /// The editor who selected the project.
    pub curated_by: Option<String>,
    /// The day of the selection.
    pub selected: Option<Date>,
    /// The day on which the catalog published it.
    pub published: Option<Date>,
    /// The URL to cite: the permanent page of the revision.
    pub url: String,
    /// The URL of the project's page, which shows the newest revision.
    pub project_url: String,
    /// The source of the record, if it has a URL of its own.
    pub source: Option<String>,
    /// The number of the revision, from 1.
    pub revision: u32,
    /// The UTC day on which the revision was recorded.
    pub recorded: Date,
    /// The UTC day on which the reader saw it, if that is part of the citation. JSON-LD and the metadata do not contain it.
    pub accessed: Option<Date>,
    /// The URL of a picture.
    pub image: Option<String>,
    /// The name of the catalog.
    pub publisher: String,
    /// The URL of the catalog.
    pub site: String,
}

impl Citation {
    /// Returns the citation of a recorded revision.
    pub fn of(record: &CitedRecord, publisher: Publisher<'_>) -> Citation {
        let Publisher { name, site } = publisher;
        Citation {
            slug: record.slug.clone(),
            title: record.name.clone(),
            creator: record.studio.clone(),
            city: record.city.clone(),
            year: record.year.clone(),
            category: record.category,
            intro: record.intro.clone(),
            curated_by: record.provenance.curated_by.clone(),
            selected: record.provenance.selected,
            published: record.published,
            url: record.revision_url.clone(),
            project_url: format!("{site}/projects/{}", record.slug),
            source: record.source(site).map(str::to_owned),
            revision: record.revision,
            recorded: record.recorded_on(),
            accessed: None,
            image: record.images.first().map(|image| image.url.clone()).or_else(|| record.thumbnail.clone()),
            publisher: name.to_owned(),
            site: site.to_owned(),
        }
    }

    /// Formats the citation; `None` for [`Format::Html`], which is a page.
    pub fn write(&self, format: Format) -> Option<String> {
        match format {
            Format::Html => None,
            Format::JsonLd => Some(self.json_ld()),
            Format::BibTex => Some(self.bibtex()),
            Format::Ris => Some(self.ris()),
            Format::CslJson => Some(self.csl_json()),
            Format::Text => Some(self.text()),
            Format::Styled(style) => Some(self.in_style(style)),
        }
    }

    /// Returns the citation key.
    fn key(&self) -> String {
        format!("{}-{}", self.slug, self.revision)
    }

    /// Returns the revision and the editor, for which reference managers have no field.
    fn note(&self) -> String {
        let mut note = format!("Revision {} of {}", self.revision, self.recorded);
        match (&self.curated_by, self.selected) {
            (Some(curator), Some(day)) => note += &format!(". Selected by {} on {day}", one_line(curator)),
            (Some(curator), None) => note += &format!(". Selected by {}", one_line(curator)),
            (None, Some(day)) => note += &format!(". Selected on {day}"),
            (None, None) => {}
        }
        note + "."
    }
}

/// Replaces line breaks, tabs and repeated blanks by single blanks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a URL for formats that write URLs between braces or angle brackets.
pub fn bare_address(address: &str) -> String {
    let mut bare = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'{' | b'}' | b'\\' | b'<' | b'>' | b'"' | b'^' | b'`' | b'|' => bare += &format!("%{byte:02X}"),
            _ if byte.is_ascii_graphic() => bare.push(char::from(byte)),
            _ => bare += &format!("%{byte:02X}"),
        }
    }
    bare
}

#[cfg(test)]
mod tests;
