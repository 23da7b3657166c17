//! A project's full record, as the pages of a project and of a citation show it.

use super::card::byline;
use crate::citation::{CitedImage, CitedRecord};
use crate::site::Site;

/// A record and the address below which this site is.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) record: CitedRecord,
    site: Site,
}

/// What is recorded in a dimension, and where others of that kind are.
pub(super) struct Tasted {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) href: String,
}

impl Recorded {
    /// Of its pictures those are shown that are kept here: pages show nothing from elsewhere.
    pub(super) fn of(mut record: CitedRecord, site: &Site) -> Recorded {
        let own = format!("{site}/media/");
        record.images.retain(|image| image.url.starts_with(&own));
        Recorded { record, site: site.clone() }
    }

    /// An address as a path, so that a page works by whatever name it is reached; one of elsewhere as it is.
    pub(super) fn local<'a>(&'a self, address: &'a str) -> &'a str {
        let Some(path) = address.strip_prefix(self.site.as_str()) else { return address };
        &address[address.len() - path.len() - self.site.path().len()..]
    }

    /// The address that the record comes from and its host, if that is not this catalog.
    pub(super) fn source(&self) -> Option<(&str, &str)> {
        let address = self.record.source(&self.site)?;
        let (_, rest) = address.split_once("://")?;
        Some((address, rest.split(['/', '?', '#']).next().unwrap_or(rest)))
    }

    pub(super) fn byline(&self) -> String {
        byline([&self.record.studio, &self.record.city, &self.record.year])
    }

    /// The first picture.
    pub(super) fn hero(&self) -> Option<&CitedImage> {
        self.record.images.first()
    }

    /// The other pictures.
    pub(super) fn gallery(&self) -> &[CitedImage] {
        self.record.images.get(1..).unwrap_or_default()
    }

    /// The dimensions of which something is recorded.
    pub(super) fn tastes(&self) -> Vec<Tasted> {
        let tasted = |(name, text): (&'static str, &str)| {
            let mut pairs = form_urlencoded::Serializer::new(String::new());
            let pairs = pairs.append_pair(name, text).finish();
            Tasted { name, text: text.to_owned(), href: format!("{}/?{pairs}", self.site.path()) }
        };
        self.record.taste.recorded().map(tasted).collect()
    }
}

/// A text in paragraphs, as it was written.
pub(super) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty())
}
