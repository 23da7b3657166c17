//! A project's full record on the pages of projects and citations.

mod picture;

use answers::site::Site;
use answers::state::ApiState;
use citation::{CitedImage, CitedRecord};
use read::archive::phrases;
use schemas::api::summary::ThumbnailState;
use schemas::record::Year;
use schemas::taste::Dimension;

use super::card::byline;
use super::home::Landing;
use super::layout::Layout;
pub(super) use picture::Rights;

/// A name with more characters is shown smaller.
const LONG_NAME_CHARS: usize = 60;

/// A record and the base URL of this site.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) record: CitedRecord,
    /// The widths of the widest stored renditions of its pictures, in pixels.
    largest: Vec<u32>,
    /// Whether no picture is stored yet, and one is being fetched or drawn.
    pub(super) awaits_picture: bool,
    site: Site,
}

/// The recorded text of a dimension.
pub(super) struct Tasted<'a> {
    pub(super) name: &'static str,
    /// Its phrases, each with a link to the projects that share it, and after each what stands before the next.
    pub(super) parts: Vec<(Option<Linked>, &'a str)>,
}

/// A recorded value, with a link to the projects that share it where they can be listed.
pub(super) struct Linked {
    pub(super) text: String,
    pub(super) href: Option<String>,
}

impl Recorded {
    /// Only pictures stored here are shown: pages load nothing from other hosts.
    pub(super) async fn of(mut record: CitedRecord, state: &ApiState) -> Recorded {
        let site = state.site().clone();
        let own = format!("{site}/media/");
        record.images.retain(|image| image.url.starts_with(&own));
        let mut largest = Vec::with_capacity(record.images.len());
        for image in &record.images {
            let id = image.url[own.len()..].split('/').next().and_then(|id| id.parse().ok());
            // Without its folder the picture is not there in any width.
            let stored = match id {
                Some(id) => state.media().largest_width(id).await.ok().flatten(),
                None => None,
            };
            largest.push(stored.unwrap_or_default().max(image.width));
        }
        let awaits_picture = record.images.is_empty() && awaits_picture(&record, state).await;
        Recorded { record, largest, awaits_picture, site }
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

    /// Returns studio, city and year, as far as recorded, with links to the projects that share them.
    pub(super) fn linked_byline(&self) -> Vec<Linked> {
        let year = self.record.year.as_ref().map(|text| Linked {
            text: text.clone(),
            href: text
                .parse::<Year>()
                .is_ok()
                .then(|| self.listing(&[("year_from", text), ("year_to", text)])),
        });
        let named = |name, text: &Option<String>| text.as_ref().map(|text| self.linked(name, text));
        let parts = [named("studio", &self.record.studio), named("city", &self.record.city), year];
        parts.into_iter().flatten().collect()
    }

    /// Returns the curator, with a link to the projects that they selected.
    pub(super) fn curator(&self) -> Option<Linked> {
        self.record.provenance.curated_by.as_ref().map(|name| self.linked("curator", name))
    }

    fn linked(&self, parameter: &str, text: &str) -> Linked {
        Linked { text: text.to_owned(), href: Some(self.listing(&[(parameter, text)])) }
    }

    /// Returns the path of the list of projects with these parameters.
    fn listing(&self, pairs: &[(&str, &str)]) -> String {
        if let [(parameter, value)] = pairs
            && let Some(landing) = Landing::of(parameter, value)
        {
            return format!("{}{}", self.site.path(), landing.path());
        }
        let pairs = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        format!("{}/?{pairs}", self.site.path())
    }

    /// Returns whether the name would fill many lines in the size of other names.
    pub(super) fn has_long_name(&self) -> bool {
        self.record.name.chars().count() > LONG_NAME_CHARS
    }

    /// Returns the first picture.
    pub(super) fn hero(&self) -> Option<&CitedImage> {
        self.record.images.first()
    }

    /// Returns whether the first picture is higher than wide, and thus shown beside the text.
    pub(super) fn is_portrait(&self) -> bool {
        self.hero().is_some_and(|hero| hero.height > hero.width)
    }

    /// Returns the dimensions with recorded words.
    pub(super) fn tastes(&self) -> Vec<Tasted<'_>> {
        self.record.taste.iter().map(|(dimension, text)| self.tasted(dimension, text)).collect()
    }

    fn tasted<'a>(&self, dimension: Dimension, text: &'a str) -> Tasted<'a> {
        let name = dimension.as_str();
        let phrases = phrases(text);
        let starts = phrases.iter().map(|phrase| phrase.start).chain([text.len()]);
        let starts: Vec<usize> = starts.collect();
        let before = text.get(..starts[0]).filter(|before| !before.is_empty());
        let linked = phrases.iter().zip(&starts[1..]).map(|(phrase, next)| {
            let own = &text[phrase.clone()];
            let link =
                Linked { text: own.to_owned(), href: Some(self.listing(&[(name, &format!("\"{own}\""))])) };
            (Some(link), &text[phrase.end..*next])
        });
        Tasted { name, parts: before.map(|before| (None, before)).into_iter().chain(linked).collect() }
    }

    /// Adds to the frame of a page what other sites show of its picture: as JPEG, because not every service shows WebP.
    pub(super) fn pictured(&self, layout: Layout) -> Layout {
        let Some(hero) = self.hero() else { return layout.card(false) };
        let (url, width, height) = match hero.jpeg(self.site.as_str()) {
            Some(jpeg) => (jpeg.url, jpeg.width, jpeg.height),
            None => (hero.url.clone(), hero.width, hero.height),
        };
        let layout = layout
            .card(true)
            .property("og:image", url)
            .property("og:image:width", width.to_string())
            .property("og:image:height", height.to_string());
        match &hero.alt {
            Some(alt) => layout.property("og:image:alt", alt.clone()),
            None => layout,
        }
    }
}

/// Returns whether a picture of the project is being fetched or drawn. Of a picture of another host, which the record names as its thumbnail,
/// the catalog knows it.
async fn awaits_picture(record: &CitedRecord, state: &ApiState) -> bool {
    if record.thumbnail.is_none() {
        return record.thumbnail_state == Some(ThumbnailState::Waiting);
    }
    let Ok(catalog) = state.catalog() else { return false };
    match catalog.reader.pictures(std::iter::once(record.slug.as_str())).await {
        Ok(pictures) => pictures.iter().any(|picture| picture.url.is_none()),
        Err(error) => {
            tracing::warn!(%error, "the stored picture of a project cannot be looked up");
            false
        }
    }
}

/// Splits a text into its paragraphs.
pub(super) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;

    pub(super) fn recorded(sizes: &[(u32, u32)]) -> Recorded {
        let images = sizes.iter().map(|(width, height)| {
            let url = format!("http://h.org/media/5e/{width}.webp");
            json!({"url": url, "width": width, "height": height, "alt": null, "credit": null, "rights": null, "color_palette": []})
        });
        let record = json!({
            "slug": "a", "name": "A", "category": "art", "images": images.collect::<Vec<_>>(), "details": [], "taste": {},
            "provenance": {}, "revision": 1, "updated_at": "2026-01-02T00:00:00Z", "url": "http://h.org/projects/a",
            "citation_url": "http://h.org/cite/a/1", "revision_url": "http://h.org/cite/a/1",
        });
        let site: Site = "http://h.org".parse().unwrap();
        let record = CitedRecord::read(&Bytes::from(record.to_string()), site.as_str()).unwrap();
        let largest = record.images.iter().map(|image| image.width).collect();
        Recorded { largest, awaits_picture: false, record, site }
    }
}
