//! A project's full record on the pages of projects and citations.

use answers::site::Site;
use answers::state::ApiState;
use citation::{CitedImage, CitedRecord};
use schemas::api::summary::ThumbnailState;
use schemas::picture::WIDTHS;
use schemas::record::Year;
use schemas::taste::Dimension;

use super::card::byline;
use super::home::Landing;

/// The largest size of the main picture on a page, in CSS pixels.
const HERO: (u32, u32) = (1280, 860);
/// The largest size of a further picture, in CSS pixels: the height of a row.
const GALLERY: (u32, u32) = (1280, 440);

/// How wide a row of pictures is, at least, as a multiple of its height. The sum of their proportions exceeds it, so that pictures
/// are reduced to fill the row, all to one height.
const ROW: f64 = 3.3;

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

/// The recorded words of a dimension, with links to projects that share them.
pub(super) struct Tasted {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) href: String,
}

/// A recorded value, with a link to the projects that share it where they can be listed.
pub(super) struct Linked {
    pub(super) text: String,
    pub(super) href: Option<String>,
}

/// A picture at its own proportions and at most its own size.
pub(super) struct Shown<'a> {
    /// The path of the rendition that the record names.
    pub(super) src: &'a str,
    /// The path of the widest rendition.
    pub(super) largest: String,
    /// The paths of all renditions with their widths, as `srcset`.
    pub(super) srcset: String,
    /// The displayed width in CSS pixels.
    pub(super) width: u32,
    /// The displayed height in CSS pixels.
    pub(super) height: u32,
    pub(super) alt: &'a str,
    pub(super) credit: Option<&'a str>,
    pub(super) rights: Option<Rights<'a>>,
    pub(super) palette: &'a [String],
}

/// What others may do with a picture.
pub(super) enum Rights<'a> {
    /// The URL of a licence, and the same without its scheme.
    Licence(&'a str, &'a str),
    Text(&'a str),
}

impl<'a> Rights<'a> {
    fn of(text: &'a str) -> Rights<'a> {
        let rest = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        match rest {
            Some(rest) if !text.contains(char::is_whitespace) => {
                Rights::Licence(text, rest.trim_start_matches("www.").trim_end_matches('/'))
            }
            _ => Rights::Text(text),
        }
    }
}

impl Shown<'_> {
    /// Returns whether anything is written below the picture.
    pub(super) fn has_caption(&self) -> bool {
        !self.alt.is_empty() || self.credit.is_some() || self.rights.is_some()
    }

    fn proportion(&self) -> f64 {
        f64::from(self.width) / f64::from(self.height)
    }
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

    /// Returns the path of the projects whose pictures have a colour like this one.
    pub(super) fn of_colour(&self, colour: &str) -> String {
        self.listing(&[("color", colour)])
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

    /// Returns the first picture as it is shown.
    pub(super) fn shown_hero(&self) -> Option<Shown<'_>> {
        self.hero().map(|image| self.shown(image, self.largest[0], HERO))
    }

    /// Returns whether the first picture is higher than wide, and thus shown beside the text.
    pub(super) fn is_portrait(&self) -> bool {
        self.hero().is_some_and(|hero| hero.height > hero.width)
    }

    /// Returns the other pictures as they are shown, in rows of one height each.
    pub(super) fn gallery(&self) -> Vec<Vec<Shown<'_>>> {
        let mut rows: Vec<Vec<Shown>> = Vec::new();
        let mut proportions = 0.0;
        for (image, largest) in self.record.images.iter().zip(&self.largest).skip(1) {
            let image = self.shown(image, *largest, GALLERY);
            let proportion = image.proportion();
            match rows.last_mut() {
                Some(row) if proportions < ROW => {
                    row.push(image);
                    proportions += proportion;
                }
                _ => {
                    rows.push(vec![image]);
                    proportions = proportion;
                }
            }
        }
        rows
    }

    /// Fits a picture into a box of CSS pixels without enlarging it.
    fn shown<'a>(
        &'a self,
        image: &'a CitedImage,
        largest: u32,
        (max_width, max_height): (u32, u32),
    ) -> Shown<'a> {
        let src = self.local(&image.url);
        let (own_width, own_height) = (u64::from(image.width.max(1)), u64::from(image.height.max(1)));
        let at_height = own_width * u64::from(max_height) / own_height;
        let width = own_width.min(u64::from(max_width)).min(at_height).max(1);
        let height = (own_height * width).div_ceil(own_width);
        let side = |side: u64| u32::try_from(side).unwrap_or(u32::MAX);
        Shown {
            src,
            largest: rendition(src, image.width, largest),
            srcset: srcset(src, image.width, largest),
            width: side(width),
            height: side(height),
            alt: image.alt.as_deref().unwrap_or_default(),
            credit: image.credit.as_deref(),
            rights: image.rights.as_deref().map(Rights::of),
            palette: &image.color_palette,
        }
    }

    /// Returns the dimensions with recorded words.
    pub(super) fn tastes(&self) -> Vec<Tasted> {
        let tasted = |(dimension, text): (Dimension, &str)| {
            let name = dimension.as_str();
            Tasted { name, text: text.to_owned(), href: self.listing(&[(name, text)]) }
        };
        self.record.taste.iter().map(tasted).collect()
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

/// Returns the path of another rendition of a picture, given the path of the one of `own` width.
fn rendition(src: &str, own: u32, width: u32) -> String {
    match src.strip_suffix(&format!("{own}.webp")) {
        Some(folder) => format!("{folder}{width}.webp"),
        None => src.to_owned(),
    }
}

/// Returns the renditions of a stored picture up to its largest, as `srcset`.
fn srcset(src: &str, own: u32, largest: u32) -> String {
    let mut widths: Vec<u32> =
        WIDTHS.into_iter().filter(|width| *width < own).chain([own, largest]).collect();
    widths.dedup();
    let named = widths.into_iter().map(|width| format!("{} {width}w", rendition(src, own, width)));
    named.collect::<Vec<_>>().join(", ")
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

    fn recorded(sizes: &[(u32, u32)]) -> Recorded {
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

    #[test]
    fn pictures_stand_in_rows_of_one_height_that_are_full() {
        let sizes = |pictures: &[(u32, u32)]| -> Vec<Vec<(u32, u32)>> {
            let recorded = recorded(pictures);
            let size = |image: Shown<'_>| (image.width, image.height);
            recorded.gallery().into_iter().map(|row| row.into_iter().map(size).collect()).collect()
        };
        let (wide, high, small) = ((1280, 640), (440, 880), (300, 200));
        assert_eq!(sizes(&[wide]), [[(0, 0); 0]; 0], "the first stands above");
        assert_eq!(
            sizes(&[wide, wide, high, wide, wide, small]),
            [vec![(880, 440), (220, 440), (880, 440)], vec![(880, 440), small]]
        );
    }

    #[test]
    fn a_picture_is_offered_in_every_width_up_to_the_largest() {
        assert_eq!(srcset("/m/500.webp", 500, 500), "/m/320.webp 320w, /m/500.webp 500w");
        let all = "/m/320.webp 320w, /m/640.webp 640w, /m/1280.webp 1280w, /m/1920.webp 1920w";
        assert_eq!(srcset("/m/1280.webp", 1280, 1920), all);
        assert_eq!(rendition("/m/1280.webp", 1280, 1920), "/m/1920.webp");
    }

    #[test]
    fn rights_that_are_a_url_are_a_link() {
        let shown = |text: &str| match Rights::of(text) {
            Rights::Licence(href, text) => format!("{text} <{href}>"),
            Rights::Text(text) => text.to_owned(),
        };
        let licence = "https://creativecommons.org/licenses/by/4.0/";
        assert_eq!(shown(licence), format!("creativecommons.org/licenses/by/4.0 <{licence}>"));
        assert_eq!(shown("CC BY 4.0"), "CC BY 4.0");
        assert_eq!(shown("https://x.org is asked"), "https://x.org is asked");
        assert_eq!(shown("javascript:alert(1)"), "javascript:alert(1)");
    }
}
