//! The project summary: an element of search results.

use std::collections::BTreeMap;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::site;
use crate::ids::Revision;
use crate::picture::Picture;
use crate::record::{Provenance, Record, Year};
use crate::slug::Slug;

/// A project in short. A member without a recorded value is null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary<'a> {
    /// The project's identifier in paths.
    pub slug: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Who made it.
    pub studio: Option<&'a str>,
    /// Where it stands; may include the country.
    pub city: Option<&'a str>,
    /// Four digits.
    pub year: Option<Year>,
    /// Capitalised, for example `Architecture`.
    pub category: &'static str,
    /// A short introduction.
    pub intro: Option<&'a str>,
    /// The day the catalog published it.
    pub published: Option<Date>,
    /// The address of an image (WebP, unless the record brings its own).
    pub thumbnail: Option<String>,
    /// The project's public page.
    pub url: String,
    /// The address to cite; what it shows never changes.
    pub citation_url: String,
    /// Who selected it, when, and why.
    pub provenance: ProvenanceAnswer<'a>,
}

/// The provenance of a project; a member without a recorded value is null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Provenance")]
pub struct ProvenanceAnswer<'a> {
    /// The curator's name.
    pub curated_by: Option<&'a str>,
    /// The day it was selected.
    pub selected: Option<Date>,
    /// The year since which the archive holds it.
    pub in_archive_since: Option<i16>,
    /// What the curator noted.
    pub note: Option<&'a str>,
}

impl<'a> Summary<'a> {
    /// The summary of a record under its slug and revision, with the pictures that are kept by their sources. Addresses
    /// of this site begin with [`site::SITE`].
    pub fn of(
        slug: &'a Slug,
        revision: Revision,
        record: &'a Record,
        pictures: &BTreeMap<String, Picture>,
    ) -> Summary<'a> {
        Summary {
            slug: slug.as_str(),
            name: &record.name,
            studio: record.studio.as_deref(),
            city: record.city.as_deref(),
            year: record.year,
            category: record.category.title(),
            intro: record.intro.as_deref(),
            published: record.published,
            thumbnail: thumbnail(record, pictures),
            url: record.url.clone().unwrap_or_else(|| site::project_page(slug.as_str())),
            citation_url: citation_url(slug, revision, record),
            provenance: ProvenanceAnswer::of(&record.provenance),
        }
    }
}

/// The image that the record brings itself, or else the first of its pictures that is kept.
fn thumbnail(record: &Record, pictures: &BTreeMap<String, Picture>) -> Option<String> {
    record.thumbnail.clone().or_else(|| {
        let picture = record.pictures.iter().find_map(|named| pictures.get(&named.source))?;
        Some(site::picture(picture.id, picture.list_width()))
    })
}

/// The address to cite: the record's own, or this site's page of the revision.
pub fn citation_url(slug: &Slug, revision: Revision, record: &Record) -> String {
    record.citation_url.clone().unwrap_or_else(|| site::citation_page(slug.as_str(), revision))
}

impl<'a> ProvenanceAnswer<'a> {
    fn of(provenance: &'a Provenance) -> ProvenanceAnswer<'a> {
        ProvenanceAnswer {
            curated_by: provenance.curated_by.as_deref(),
            selected: provenance.selected,
            in_archive_since: provenance.in_archive_since,
            note: provenance.note.as_deref(),
        }
    }
}
