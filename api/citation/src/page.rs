//! The data of a citation's page.

use bytes::Bytes;
use jiff::Timestamp;
use schemas::history::{History, Withdrawal};

use super::{Citation, CitedRecord, Format, Publisher};

/// A cited revision, and the later state of its project.
#[derive(Debug, Clone, PartialEq)]
pub struct CitationPage {
    /// The record of the revision.
    pub record: CitedRecord,
    /// Its citation.
    pub citation: Citation,
    /// The newest revision, possibly this one.
    pub newest: Newest,
    /// The time and reason of a withdrawal.
    pub withdrawn: Option<Withdrawal>,
}

/// The newest revision of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Newest {
    /// Its number, from 1.
    pub revision: u32,
    /// The time of recording.
    pub at: Timestamp,
    /// Its permanent URL.
    pub citation: String,
    /// The URL of the project's page, with the present slug.
    pub page: String,
}

impl CitationPage {
    /// Returns the page of a revision from the catalog's rendered form.
    ///
    /// # Errors
    ///
    /// If the rendered form is not a record.
    pub fn of(
        history: History,
        rendered: &Bytes,
        publisher: Publisher<'_>,
    ) -> Result<CitationPage, serde_json::Error> {
        let site = publisher.site;
        let record = CitedRecord::read(rendered, site)?;
        let citation = Citation::of(&record, publisher);
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
    pub fn is_newest(&self) -> bool {
        self.newest.revision == self.record.revision
    }

    /// Returns the URL of this citation in a format.
    pub fn address_in(&self, format: Format) -> String {
        format!("{}?format={}", self.citation.url, format.name())
    }

    /// Returns the URL of this citation in a format, with the date of access if the citation has one.
    pub fn accessed_address_in(&self, format: Format) -> String {
        let accessed = self.citation.accessed.map(|day| format!("&accessed={day}")).unwrap_or_default();
        self.address_in(format) + &accessed
    }

    /// Returns a name for the file of this citation in a format.
    pub fn file_name(&self, format: Format) -> String {
        let extension = format.extension().unwrap_or("txt");
        format!("{}-{}.{extension}", self.record.slug, self.record.revision)
    }
}
