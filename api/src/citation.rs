//! Citations of a project's revision in the formats of reference managers.
//!
//! All values come from the record of that revision, so a citation never changes (ADR 19). A value that is not recorded is left out,
//! never guessed.

mod bibtex;
mod csl_json;
mod format;
mod json_ld;
mod metadata;
mod page;
mod plain;
mod record;
mod ris;

use jiff::civil::Date;
use schemas::record::Category;

use crate::site::Site;

pub(crate) use format::Format;
pub(crate) use page::CitationPage;
pub(crate) use record::{CitedImage, CitedRecord};

/// The citation of one revision. Texts are as recorded and may contain line breaks, which each format handles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Citation {
    /// The slug of the project when the revision was recorded.
    pub(crate) slug: String,
    pub(crate) title: String,
    /// The studio.
    pub(crate) creator: Option<String>,
    pub(crate) city: Option<String>,
    /// The year of the work, four digits.
    pub(crate) year: Option<String>,
    pub(crate) category: Category,
    pub(crate) intro: Option<String>,
    pub(crate) curated_by: Option<String>,
    pub(crate) selected: Option<Date>,
    pub(crate) published: Option<Date>,
    /// The URL to cite: the permanent page of the revision.
    pub(crate) url: String,
    /// The URL of the project's page, which shows the newest revision.
    pub(crate) project_url: String,
    /// The source of the record, if it has a URL of its own.
    pub(crate) source: Option<String>,
    pub(crate) revision: u32,
    /// The UTC day on which the revision was recorded.
    pub(crate) recorded: Date,
    /// The URL of a picture.
    pub(crate) image: Option<String>,
    /// The name of the catalog.
    pub(crate) publisher: String,
    /// The URL of the catalog.
    pub(crate) site: String,
}

impl Citation {
    pub(crate) fn of(record: &CitedRecord, site: &Site) -> Citation {
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
            image: record.images.first().map(|image| image.url.clone()).or_else(|| record.thumbnail.clone()),
            publisher: site.name().to_owned(),
            site: site.as_str().to_owned(),
        }
    }

    /// Formats the citation; `None` for [`Format::Html`], which is a page.
    pub(crate) fn write(&self, format: Format) -> Option<String> {
        match format {
            Format::Html => None,
            Format::JsonLd => Some(self.json_ld()),
            Format::BibTex => Some(self.bibtex()),
            Format::Ris => Some(self.ris()),
            Format::CslJson => Some(self.csl_json()),
            Format::Text => Some(self.text()),
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
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a URL for formats that write URLs between braces or angle brackets.
pub(crate) fn bare_address(address: &str) -> String {
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
