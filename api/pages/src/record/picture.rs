//! The pictures of a record at the sizes at which a page shows them.

use citation::{CitedImage, is_licence};
use schemas::picture::WIDTHS;

use super::Recorded;
use crate::colours;

/// The largest size of the main picture on a page, in CSS pixels.
const HERO: (u32, u32) = (1280, 860);
/// The largest size of a further picture, in CSS pixels: the height of a row.
const GALLERY: (u32, u32) = (1280, 440);

/// How wide a row of pictures is, at least, as a multiple of its height. The sum of their proportions exceeds it, so that pictures
/// are reduced to fill the row, all to one height.
const ROW: f64 = 3.3;

/// A picture at its own proportions and at most its own size.
pub(crate) struct Shown<'a> {
    /// The path of the rendition that the record names.
    pub(crate) src: &'a str,
    /// The path of the widest rendition.
    pub(crate) largest: String,
    /// The paths of all renditions with their widths, as `srcset`.
    pub(crate) srcset: String,
    /// The displayed width in CSS pixels.
    pub(crate) width: u32,
    /// The displayed height in CSS pixels.
    pub(crate) height: u32,
    pub(crate) alt: &'a str,
    pub(crate) credit: Option<&'a str>,
    pub(crate) rights: Option<Rights<'a>>,
    /// Its main colours.
    pub(crate) palette: Vec<Swatch<'a>>,
}

/// A main colour of a picture.
pub(crate) struct Swatch<'a> {
    /// As `#rrggbb`.
    pub(crate) colour: &'a str,
    /// Its word.
    pub(crate) word: &'a str,
    /// The path of the projects whose pictures have a colour like it.
    pub(crate) href: String,
}

/// What others may do with a picture.
pub(crate) enum Rights<'a> {
    /// The URL of a licence, and the same without its scheme.
    Licence(&'a str, &'a str),
    Text(&'a str),
}

impl<'a> Rights<'a> {
    fn of(text: &'a str) -> Rights<'a> {
        match text.split_once("://") {
            Some((_, rest)) if is_licence(text) => {
                Rights::Licence(text, rest.trim_start_matches("www.").trim_end_matches('/'))
            }
            _ => Rights::Text(text),
        }
    }
}

impl Shown<'_> {
    /// Returns whether anything is written below the picture.
    pub(crate) fn has_caption(&self) -> bool {
        !self.alt.is_empty() || self.credit.is_some() || self.rights.is_some()
    }

    fn proportion(&self) -> f64 {
        f64::from(self.width) / f64::from(self.height)
    }
}

impl Recorded {
    /// Returns the first picture as it is shown.
    pub(crate) fn shown_hero(&self) -> Option<Shown<'_>> {
        self.hero().map(|image| self.shown(image, self.largest[0], HERO))
    }

    /// Returns the other pictures as they are shown, in rows of one height each.
    pub(crate) fn gallery(&self) -> Vec<Vec<Shown<'_>>> {
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
        let swatch = |colour: &'a String| Swatch {
            colour,
            word: colours::word_of(colour),
            href: self.listing(&[("color", colour)]),
        };
        Shown {
            src,
            largest: rendition(src, image.width, largest),
            srcset: srcset(src, image.width, largest),
            width: side(width),
            height: side(height),
            alt: image.alt.as_deref().unwrap_or_default(),
            credit: image.credit.as_deref(),
            rights: image.rights.as_deref().map(Rights::of),
            palette: image.color_palette.iter().map(swatch).collect(),
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

#[cfg(test)]
mod tests {
    use super::super::tests::recorded;
    use super::*;

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
