//! The data of a citation's page.

use bytes::Bytes;
use jiff::Timestamp;
use read::catalog::{History, Withdrawal};

use super::{Citation, CitedRecord, Format};
use crate::error::ApiError;
use crate::site::Site;

/// A cited revision, and the later state of its project.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CitationPage {
    /// The record of the revision.
    pub(crate) record: CitedRecord,
    /// Its citation.
    pub(crate) citation: Citation,
    /// The newest revision, possibly this one.
    pub(crate) newest: Newest,
    /// The time and reason of a withdrawal.
    pub(crate) withdrawn: Option<Withdrawal>,
}

/// The newest revision of a project.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Newest {
    pub(crate) revision: u32,
    /// The time of recording.
    pub(crate) at: Timestamp,
    /// Its permanent URL.
    pub(crate) citation: String,
    /// The URL of the project's page, with the present slug.
    pub(crate) page: String,
}

impl CitationPage {
    /// Returns the page of a revision from the catalog's rendered form.
    pub(crate) fn of(history: History, rendered: &Bytes, site: &Site) -> Result<CitationPage, ApiError> {
        let record = CitedRecord::read(rendered, site)?;
        let citation = Citation::of(&record, site);
        let (newest, slug) = (history.newest(), &history.slug);
        let newest = Newest {
            revision: newest.revision.0,
            at: newest.at,
            citation: format!("{site}/cite/{}/{}", newest.slug, newest.revision),
            page: format!("{site}/projects/{slug}"),
        };
        Ok(CitationPage { record, citation, newest, withdrawn: history.withdrawn })
    }

    /// Returns whether this is the newest revision.
    pub(crate) fn is_newest(&self) -> bool {
        self.newest.revision == self.record.revision
    }

    /// Returns the URL of this citation in a format.
    pub(crate) fn address_in(&self, format: Format) -> String {
        format!("{}?format={}", self.citation.url, format.name())
    }
}
