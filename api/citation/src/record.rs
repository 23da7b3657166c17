//! The record of a revision, parsed from its rendered form.

use bytes::Bytes;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemas::api::site;
use schemas::api::summary::ThumbnailState;
use schemas::picture::LIST_WIDTH;
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
    /// Why there is none yet.
    pub thumbnail_state: Option<ThumbnailState>,
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

/// A JPEG rendition of a picture, for readers that may not show WebP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedJpeg {
    /// Its URL.
    pub url: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
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
    /// Whom to name with it.
    pub credit: Option<String>,
    /// What others may do with it: a text, or a URL.
    pub rights: Option<String>,
    /// Its main colours, as `#rrggbb`.
    pub color_palette: Vec<String>,
}

/// Returns whether the rights of a picture are the URL of a licence.
pub fn is_licence(rights: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| rights.starts_with(scheme))
        && !rights.contains(char::is_whitespace)
}

impl CitedImage {
    /// Returns its JPEG rendition, at most [`LIST_WIDTH`] wide; `None` if the picture is not stored at `site`.
    pub fn jpeg(&self, site: &str) -> Option<CitedJpeg> {
        self.url.strip_prefix(site)?.strip_prefix("/media/")?;
        let folder = self.url.strip_suffix(&format!("{}.webp", self.width))?;
        let width = self.width.clamp(1, LIST_WIDTH);
        let (own, height) = (u64::from(self.width.max(1)), u64::from(self.height));
        let height = (u64::from(width) * height + own / 2) / own;
        let height = u32::try_from(height).unwrap_or(u32::MAX).max(1);
        Some(CitedJpeg { url: format!("{folder}{width}.jpg"), width, height })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_picture_has_a_jpeg() {
        let jpeg = |url: &str, width, height| {
            let image = CitedImage {
                url: url.into(),
                width,
                height,
                alt: None,
                credit: None,
                rights: None,
                color_palette: Vec::new(),
            };
            image.jpeg("https://x.org/a").map(|jpeg| (jpeg.url, jpeg.width, jpeg.height))
        };
        let stored = |name: &str| format!("https://x.org/a/media/5e/{name}");
        assert_eq!(jpeg(&stored("1280.webp"), 1280, 853), Some((stored("640.jpg"), 640, 427)));
        assert_eq!(jpeg(&stored("300.webp"), 300, 100), Some((stored("300.jpg"), 300, 100)));
        assert_eq!(jpeg("https://x.org/b/media/5e/1280.webp", 1280, 853), None);
    }
}
