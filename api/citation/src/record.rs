//! The record of a revision, parsed from its rendered form.

use bytes::Bytes;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemas::api::site;
use schemas::record::{Category, Detail};
use schemas::taste::Taste;
use serde::{Deserialize, Deserializer};

/// The full record of a project with the site's URLs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CitedRecord {
    /// The slug at the time of recording.
    pub slug: String,
    /// The name of the project.
    pub name: String,
    /// The studio that made it.
    pub studio: Option<String>,
    /// Where it is.
    pub city: Option<String>,
    /// The year of the work, four digits.
    pub year: Option<String>,
    /// The category.
    #[serde(deserialize_with = "category")]
    pub category: Category,
    /// The introduction, one or two sentences.
    pub intro: Option<String>,
    /// The day on which the catalog published it.
    pub published: Option<Date>,
    /// The URL of an image.
    pub thumbnail: Option<String>,
    /// The URL of the project's public page.
    pub url: String,
    /// The URL to cite: the record's own, or else the permanent page of the revision.
    pub citation_url: String,
    /// The permanent URL of the revision.
    pub revision_url: String,
    /// Who selected it, when, and why.
    pub provenance: CitedProvenance,
    /// The long text.
    pub description: Option<String>,
    /// The design language.
    pub design_language: Option<String>,
    /// Further facts in display order.
    pub details: Vec<Detail>,
    /// The recorded text of each taste dimension.
    pub taste: Taste,
    /// The pictures, the main one first.
    pub images: Vec<CitedImage>,
    /// The number of the revision, from 1.
    pub revision: u32,
    /// The time at which the revision was recorded; for the present record, of the last change of record or slug.
    pub updated_at: Timestamp,
}

/// The provenance of a project.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CitedProvenance {
    /// The editor who selected the project.
    pub curated_by: Option<String>,
    /// The day of the selection.
    pub selected: Option<Date>,
    /// The year since which it has been in the archive.
    pub in_archive_since: Option<i16>,
    /// A note of the editor.
    pub note: Option<String>,
}

/// A picture of the record.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CitedImage {
    /// The URL of the project's public page.
    pub url: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// A description for people who do not see it.
    pub alt: Option<String>,
    /// Its main colours, as `#rrggbb`.
    pub color_palette: Vec<String>,
}

impl CitedRecord {
    /// Parses a record that the catalog has rendered; `site` is the URL of the catalog.
    ///
    /// # Errors
    ///
    /// If the rendered form is not a record.
    pub fn read(rendered: &Bytes, site: &str) -> Result<CitedRecord, serde_json::Error> {
        let mut text = Vec::with_capacity(rendered.len() + 512);
        site::fill(rendered, site, &mut text);
        serde_json::from_slice(&text)
    }

    /// Returns the source of the record: its citation URL, or else its page on another host than `site`.
    pub fn source(&self, site: &str) -> Option<&str> {
        let elsewhere = |address: &&str| match address.strip_prefix(site) {
            Some(path) => !path.starts_with('/'),
            None => true,
        };
        [self.citation_url.as_str(), self.url.as_str()].into_iter().find(elsewhere)
    }

    /// Returns the UTC day on which it was recorded.
    pub fn recorded_on(&self) -> Date {
        TimeZone::UTC.to_datetime(self.updated_at).date()
    }
}

fn category<'de, D: Deserializer<'de>>(from: D) -> Result<Category, D::Error> {
    let text = String::deserialize(from)?;
    Category::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text} is not a category")))
}
