//! What a revision of a project is cited as, in the formats that readers' tools take.
//!
//! Everything is taken from the record of that revision, so a citation says the same for ever. A value that is not recorded
//! is left out of every format, never guessed.

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

/// One revision of a project, as it is cited. Texts are as recorded and may hold line breaks: each format makes them its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Citation {
    /// Where the project was found when the revision was recorded.
    pub(crate) slug: String,
    pub(crate) title: String,
    /// The studio.
    pub(crate) creator: Option<String>,
    pub(crate) city: Option<String>,
    /// Of the work itself, four digits.
    pub(crate) year: Option<String>,
    pub(crate) category: Category,
    pub(crate) intro: Option<String>,
    pub(crate) curated_by: Option<String>,
    pub(crate) selected: Option<Date>,
    pub(crate) published: Option<Date>,
    /// The address to cite: this catalog's permanent page of the revision.
    pub(crate) url: String,
    /// The address of the project's page here, which shows the newest revision.
    pub(crate) project_url: String,
    /// Where the record comes from, if it brought an address of its own.
    pub(crate) source: Option<String>,
    pub(crate) revision: u32,
    /// The UTC day on which the revision was recorded.
    pub(crate) recorded: Date,
    /// The address of a picture.
    pub(crate) image: Option<String>,
    /// The name of the catalog.
    pub(crate) publisher: String,
    /// The address of the catalog.
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

    /// The citation in a format; the page is made elsewhere.
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

    /// Names the citation within a reader's library.
    fn key(&self) -> String {
        format!("{}-{}", self.slug, self.revision)
    }

    /// Which revision it is, and who selected the project: what citing tools have no field for.
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

/// A text without line breaks and tabs, blanks single.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An address in which nothing stands that could end it where addresses are written between braces or angles.
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
