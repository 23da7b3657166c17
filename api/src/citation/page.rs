//! Everything that the page of a citation shows.

use bytes::Bytes;
use jiff::Timestamp;
use read::catalog::{History, Withdrawal};

use super::{Citation, CitedRecord, Format};
use crate::error::ApiError;
use crate::site::Site;

/// A cited revision, and what became of the project since.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CitationPage {
    /// What the revision said.
    pub(crate) record: CitedRecord,
    /// How it is cited; `text()`, `bibtex()`, `json_ld()` and `metadata()` of it are for the page.
    pub(crate) citation: Citation,
    /// The newest revision, which may be this one.
    pub(crate) newest: Newest,
    /// Why and when the project left the catalog, if it did.
    pub(crate) withdrawn: Option<Withdrawal>,
}

/// The newest revision of a project.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Newest {
    pub(crate) revision: u32,
    /// When it was recorded.
    pub(crate) at: Timestamp,
    /// The permanent address of it.
    pub(crate) citation: String,
    /// The address of the project's page, under the present slug.
    pub(crate) page: String,
}

impl CitationPage {
    /// The page of a revision that the catalog has rendered.
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

    /// Whether nothing newer was recorded.
    pub(crate) fn is_newest(&self) -> bool {
        self.newest.revision == self.record.revision
    }

    /// The address of this citation in a format.
    pub(crate) fn address_in(&self, format: Format) -> String {
        format!("{}?format={}", self.citation.url, format.name())
    }
}
