//! The record of a revision, parsed from its rendered form.

use bytes::Bytes;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemas::api::site;
use schemas::record::{Category, Detail};
use serde::{Deserialize, Deserializer};

use crate::error::ApiError;
use crate::site::Site;

/// The full record of a project with this site's URLs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct CitedRecord {
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) studio: Option<String>,
    pub(crate) city: Option<String>,
    pub(crate) year: Option<String>,
    #[serde(deserialize_with = "category")]
    pub(crate) category: Category,
    pub(crate) intro: Option<String>,
    pub(crate) published: Option<Date>,
    pub(crate) thumbnail: Option<String>,
    pub(crate) url: String,
    pub(crate) citation_url: String,
    /// The permanent URL of the revision.
    pub(crate) revision_url: String,
    pub(crate) provenance: CitedProvenance,
    pub(crate) description: Option<String>,
    pub(crate) design_language: Option<String>,
    pub(crate) details: Vec<Detail>,
    pub(crate) taste: CitedTaste,
    pub(crate) images: Vec<CitedImage>,
    pub(crate) revision: u32,
    /// The time at which the revision was recorded; for the present record, of the last change of record or slug.
    pub(crate) updated_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct CitedProvenance {
    pub(crate) curated_by: Option<String>,
    pub(crate) selected: Option<Date>,
    pub(crate) in_archive_since: Option<i16>,
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct CitedTaste {
    pub(crate) material: Option<String>,
    pub(crate) light: Option<String>,
    pub(crate) color: Option<String>,
    pub(crate) mood: Option<String>,
    pub(crate) composition: Option<String>,
    pub(crate) subject: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct CitedImage {
    pub(crate) url: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) alt: Option<String>,
    pub(crate) color_palette: Vec<String>,
}

impl CitedRecord {
    /// Parses a record that the catalog has rendered.
    pub(crate) fn read(rendered: &Bytes, site: &Site) -> Result<CitedRecord, ApiError> {
        let mut text = Vec::with_capacity(rendered.len() + 512);
        site::fill(rendered, site.as_str(), &mut text);
        serde_json::from_slice(&text).map_err(ApiError::internal)
    }

    /// Returns the source of the record: its citation URL, or else its page on another host.
    pub(crate) fn source(&self, site: &Site) -> Option<&str> {
        let elsewhere = |address: &&str| match address.strip_prefix(site.as_str()) {
            Some(path) => !path.starts_with('/'),
            None => true,
        };
        [self.citation_url.as_str(), self.url.as_str()].into_iter().find(elsewhere)
    }

    /// Returns the UTC day on which it was recorded.
    pub(crate) fn recorded_on(&self) -> Date {
        TimeZone::UTC.to_datetime(self.updated_at).date()
    }
}

impl CitedTaste {
    /// Returns the recorded dimensions by name.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let dimensions = [
            ("material", &self.material),
            ("light", &self.light),
            ("color", &self.color),
            ("mood", &self.mood),
            ("composition", &self.composition),
            ("subject", &self.subject),
        ];
        dimensions.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)))
    }
}

fn category<'de, D: Deserializer<'de>>(from: D) -> Result<Category, D::Error> {
    let text = String::deserialize(from)?;
    Category::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text} is no category")))
}
