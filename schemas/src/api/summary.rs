//! The project summary: an element of search results.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::site;
use crate::ids::Revision;
use crate::picture::Picture;
use crate::record::{Provenance, Record, Year};
use crate::slug::Slug;

/// A project at one of its revisions: what its answers are made of.
#[derive(Debug, Clone, Copy)]
pub struct Edition<'a> {
    /// Where the project is found.
    pub slug: &'a Slug,
    /// Which revision it is.
    pub revision: Revision,
    /// Where the project was found when this revision was recorded. The permanent address of the revision holds it.
    pub recorded_slug: &'a Slug,
    /// What the revision records.
    pub record: &'a Record,
    /// The kept pictures by the source that a record names.
    pub pictures: &'a BTreeMap<String, Picture>,
    /// The time of the project's first event.
    pub added_at: Timestamp,
}

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
    /// When this catalog added the project.
    pub added_at: Timestamp,
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

impl Edition<'_> {
    /// Returns the address to cite: the record's own, or else this site's page of the revision. Addresses of this site
    /// begin with [`site::SITE`].
    pub fn citation_url(&self) -> String {
        self.record.citation_url.clone().unwrap_or_else(|| self.revision_url())
    }

    /// Returns the address of this site's page of the revision, which stays the same through every rename. It begins with
    /// [`site::SITE`].
    pub fn revision_url(&self) -> String {
        site::citation_page(self.recorded_slug.as_str(), self.revision)
    }

    /// Returns this site's address of the first kept picture that stands for the record, in the width for lists.
    pub fn kept_picture(&self) -> Option<String> {
        let picture = self.record.picture_sources().find_map(|source| self.pictures.get(source))?;
        Some(site::picture(picture.id, picture.list_width()))
    }

    /// Returns the image that the record brings itself, or else the first of its pictures that is kept.
    fn thumbnail(&self) -> Option<String> {
        self.record.thumbnail.clone().or_else(|| self.kept_picture())
    }
}

impl<'a> Summary<'a> {
    /// The summary of a project. Addresses of this site begin with [`site::SITE`].
    pub fn of(edition: &Edition<'a>) -> Summary<'a> {
        let Edition { slug, record, .. } = *edition;
        Summary {
            slug: slug.as_str(),
            name: &record.name,
            studio: record.studio.as_deref(),
            city: record.city.as_deref(),
            year: record.year,
            category: record.category.title(),
            intro: record.intro.as_deref(),
            published: record.published,
            thumbnail: edition.thumbnail(),
            url: record.url.clone().unwrap_or_else(|| site::project_page(slug.as_str())),
            citation_url: edition.citation_url(),
            provenance: ProvenanceAnswer::of(&record.provenance),
            added_at: edition.added_at,
        }
    }
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
