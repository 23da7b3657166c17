//! A project's full record on the pages of projects and citations.

use answers::site::Site;
use citation::{CitedImage, CitedRecord};
use schemas::taste::Dimension;

use super::card::byline;

/// A record and the base URL of this site.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) record: CitedRecord,
    site: Site,
}

/// The recorded words of a dimension, with links to projects that share them.
pub(super) struct Tasted {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) href: String,
}

impl Recorded {
    /// Only pictures stored here are shown: pages load nothing from other hosts.
    pub(super) fn of(mut record: CitedRecord, site: &Site) -> Recorded {
        let own = format!("{site}/media/");
        record.images.retain(|image| image.url.starts_with(&own));
        Recorded { record, site: site.clone() }
    }

    /// Returns a URL of this site as a path, so that pages work under every host name; other URLs are unchanged.
    pub(super) fn local<'a>(&'a self, address: &'a str) -> &'a str {
        let Some(path) = address.strip_prefix(self.site.as_str()) else { return address };
        &address[address.len() - path.len() - self.site.path().len()..]
    }

    /// Returns the source URL of the record and its host, unless it is this catalog.
    pub(super) fn source(&self) -> Option<(&str, &str)> {
        let address = self.record.source(self.site.as_str())?;
        let (_, rest) = address.split_once("://")?;
        Some((address, rest.split(['/', '?', '#']).next().unwrap_or(rest)))
    }

    pub(super) fn byline(&self) -> String {
        byline([&self.record.studio, &self.record.city, &self.record.year])
    }

    /// Returns the first picture.
    pub(super) fn hero(&self) -> Option<&CitedImage> {
        self.record.images.first()
    }

    /// Returns the other pictures.
    pub(super) fn gallery(&self) -> &[CitedImage] {
        self.record.images.get(1..).unwrap_or_default()
    }

    /// Returns the dimensions with recorded words.
    pub(super) fn tastes(&self) -> Vec<Tasted> {
        let tasted = |(dimension, text): (Dimension, &str)| {
            let name = dimension.as_str();
            let mut pairs = form_urlencoded::Serializer::new(String::new());
            let pairs = pairs.append_pair(name, text).finish();
            Tasted { name, text: text.to_owned(), href: format!("{}/?{pairs}", self.site.path()) }
        };
        self.record.taste.iter().map(tasted).collect()
    }
}

/// Splits a text into its paragraphs.
pub(super) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty())
}
