//! The summary of a project: an element of search results.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use memchr::{memchr, memmem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::site;
use crate::ids::Revision;
use crate::picture::Picture;
use crate::record::{Provenance, Record, Year};
use crate::slug::Slug;

/// A project at one revision, from which its answers are rendered.
#[derive(Debug, Clone, Copy)]
pub struct Edition<'a> {
    /// The current slug.
    pub slug: &'a Slug,
    /// The revision.
    pub revision: Revision,
    /// The slug at the time of the revision, which its permanent URL contains.
    pub recorded_slug: &'a Slug,
    /// The record of the revision.
    pub record: &'a Record,
    /// The stored pictures by their sources in the record.
    pub pictures: &'a BTreeMap<String, Picture>,
    /// The sources of pictures that are being fetched or drawn.
    pub awaited: &'a BTreeSet<String>,
    /// The time of the project's first event.
    pub added_at: Timestamp,
}

/// A project summary, without what lists add to it. A member without a recorded value is null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary<'a> {
    /// The project's identifier in URLs.
    pub slug: &'a str,
    /// The project's name.
    pub name: &'a str,
    /// The maker.
    pub studio: Option<&'a str>,
    /// The place, which may include the country.
    pub city: Option<&'a str>,
    /// The year of completion, four digits.
    pub year: Option<Year>,
    /// The capitalised category, for example `Architecture`.
    pub category: &'static str,
    /// A short introduction.
    pub intro: Option<&'a str>,
    /// The day of publication in the catalog.
    pub published: Option<Date>,
    /// The URL of an image: WebP, unless the record has the URL of its own.
    pub thumbnail: Option<String>,
    /// `waiting` while the thumbnail is null because the picture is still being fetched or drawn; null otherwise.
    pub thumbnail_state: Option<ThumbnailState>,
    /// The URL of the project's public page.
    pub url: String,
    /// The URL that the record brings to be cited, which another site answers for, or else that of `revision_url`, which stays.
    pub citation_url: String,
    /// Who selected it, when, and why.
    pub provenance: ProvenanceAnswer<'a>,
    /// When the project was added to this catalog.
    pub added_at: Timestamp,
}

/// Why a project has no thumbnail yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThumbnailState {
    /// Its picture is being fetched or drawn.
    Waiting,
}

/// A project summary. A member without a recorded value is null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Summary")]
pub struct ListedSummary<'a> {
    /// The project's summary.
    #[serde(flatten)]
    pub summary: Summary<'a>,
    /// The address to cite: this catalog's page of the revision, whose content never changes.
    pub revision_url: String,
}

/// A project in a list with `detail=concise`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConciseSummary<'a> {
    /// The project's identifier in URLs.
    pub slug: &'a str,
    /// The project's name.
    pub name: &'a str,
    /// The maker.
    pub studio: Option<&'a str>,
    /// The place, which may include the country.
    pub city: Option<&'a str>,
    /// The year of completion, four digits.
    pub year: Option<Year>,
    /// The URL that the record brings to be cited, which another site answers for, or else that of `revision_url`, which stays.
    pub citation_url: String,
    /// The address to cite: this catalog's page of the revision, whose content never changes.
    pub revision_url: String,
    /// The citation in the style or format that `cite` names. Absent without `cite`, which lists take with `slugs` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
}

/// The provenance of a project; a member without a recorded value is null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Provenance")]
pub struct ProvenanceAnswer<'a> {
    /// The curator's name.
    pub curated_by: Option<&'a str>,
    /// The day it was selected.
    pub selected: Option<Date>,
    /// The year since which it has been in the archive.
    pub in_archive_since: Option<i16>,
    /// The curator's note.
    pub note: Option<&'a str>,
}

impl Edition<'_> {
    /// Returns the URL to cite: the record's own, or else this site's page of the revision. URLs of this site begin
    /// with [`site::SITE`].
    pub fn citation_url(&self) -> String {
        self.record.citation_url.clone().unwrap_or_else(|| self.revision_url())
    }

    /// Returns the URL of this site's page of the revision, which renames do not change. It begins with [`site::SITE`].
    pub fn revision_url(&self) -> String {
        site::citation_page(self.recorded_slug.as_str(), self.revision)
    }

    /// Returns the first stored picture.
    pub fn first_picture(&self) -> Option<&Picture> {
        self.record.picture_sources().find_map(|source| self.pictures.get(source))
    }

    /// Returns the URL of the first stored picture, in the width for lists.
    pub fn kept_picture(&self) -> Option<String> {
        self.first_picture().map(|picture| site::picture(picture.id, picture.list_width()))
    }

    /// Returns the record's own image URL, or else the URL of its first stored picture.
    fn thumbnail(&self) -> Option<String> {
        self.record.thumbnail.clone().or_else(|| self.kept_picture())
    }

    /// Returns whether one of the pictures that the record names is being fetched or drawn.
    fn awaits_picture(&self) -> bool {
        self.record.picture_sources().any(|source| self.awaited.contains(source))
    }
}

impl<'a> Summary<'a> {
    /// Returns the summary of a project. URLs of this site begin with [`site::SITE`].
    pub fn of(edition: &Edition<'a>) -> Summary<'a> {
        let Edition { slug, record, .. } = *edition;
        let thumbnail = edition.thumbnail();
        let is_waiting = thumbnail.is_none() && edition.awaits_picture();
        Summary {
            slug: slug.as_str(),
            name: &record.name,
            studio: record.studio.as_deref(),
            city: record.city.as_deref(),
            year: record.year,
            category: record.category.title(),
            intro: record.intro.as_deref(),
            published: record.published,
            thumbnail,
            thumbnail_state: is_waiting.then_some(ThumbnailState::Waiting),
            url: record.url.clone().unwrap_or_else(|| site::project_page(slug.as_str())),
            citation_url: edition.citation_url(),
            provenance: ProvenanceAnswer::of(&record.provenance),
            added_at: edition.added_at,
        }
    }
}

impl<'a> ListedSummary<'a> {
    /// Returns the summary of a project in a list. URLs of this site begin with [`site::SITE`].
    pub fn of(edition: &Edition<'a>) -> ListedSummary<'a> {
        ListedSummary { summary: Summary::of(edition), revision_url: edition.revision_url() }
    }
}

/// Returns a rendered summary of a list, or the rendered record that begins with a summary, with the members alone that name, place and
/// cite the project: those of [`ConciseSummary`]. The brace after the last member is absent. `None` if the text is neither.
pub fn concise(rendered: &[u8]) -> Option<Vec<u8>> {
    // Quotes within texts are escaped, so these names occur nowhere else before the members in lists.
    let named = memmem::find(rendered, br#","category":""#)?;
    let from = named + memmem::find(&rendered[named..], br#","citation_url":""#)?;
    let to = from + memmem::find(&rendered[from..], br#","provenance":{"#)?;
    Some([&rendered[..named], &rendered[from..to], pinned(&rendered[to..])?].concat())
}

/// Returns the summary of lists in a rendered record, without the brace after its last member. `None` if the text is no record.
pub fn listed(record: &[u8]) -> Option<Vec<u8>> {
    // Quotes within texts are escaped, so this name occurs nowhere else before the members of the record alone.
    let to = memmem::find(record, br#","description":"#)?;
    Some([&record[..to], pinned(&record[to..])?].concat())
}

/// The name of the member with the address of the revision, up to its value.
const PINNED: &[u8] = br#","revision_url":""#;

/// Returns the address of the revision in a rendered summary of a list, or in a rendered record. URLs of this site begin with
/// [`site::MARK`].
pub fn revision_url(rendered: &[u8]) -> Option<&[u8]> {
    pinned(rendered)?.get(PINNED.len()..)?.strip_suffix(b"\"")
}

/// Returns the member `revision_url` with a comma before it. The address has no characters that JSON escapes.
fn pinned(rendered: &[u8]) -> Option<&[u8]> {
    let from = memmem::rfind(rendered, PINNED)?;
    let value = from + PINNED.len();
    let to = value + memchr(b'"', &rendered[value..])? + 1;
    Some(&rendered[from..to])
}

/// Returns the member `taste` of a rendered record, with a comma before it; `None` of a summary, which has none.
pub fn taste(rendered: &[u8]) -> Option<&[u8]> {
    // Quotes within texts are escaped, so these names occur nowhere else before the pictures.
    let from = memmem::find(rendered, br#","taste":{"#)?;
    let to = from + memmem::find(&rendered[from..], br#","images":["#)?;
    Some(&rendered[from..to])
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
