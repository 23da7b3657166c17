//! The pictures of a record at the sizes at which a page shows them.

use citation::{CitedImage, is_licence};
use schemas::picture::WIDTHS;

use super::Recorded;
use crate::colours;

/// The largest size of the main picture on a page, in CSS pixels.
const HERO: (u32, u32) = (1280, 860);
/// The largest height of a row of further pictures, in CSS pixels.
const ROW_HEIGHT: u32 = 440;

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
    /// Its name, which no other colour of the picture has.
    pub(crate) word: String,
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
}

/// Further pictures that stand side by side, each with the width of its widest rendition.
struct Row<'a> {
    pictures: Vec<(&'a CitedImage, u32)>,
    /// The sum of their proportions.
    proportions: f64,
    /// The largest height that all of them have pixels for.
    height: u32,
}

impl Row<'_> {
    /// Returns whether a further picture belongs here. A much smaller one would make all others as small.
    fn takes(&self, height: u32) -> bool {
        self.proportions < ROW
            && height.saturating_mul(2) >= self.height
            && self.height.saturating_mul(2) >= height
    }
}

impl Recorded {
    /// Returns the first picture as it is shown.
    pub(crate) fn shown_hero(&self) -> Option<Shown<'_>> {
        self.hero().map(|image| self.shown(image, self.largest[0], HERO))
    }

    /// Returns the other pictures as they are shown, in rows of one height each.
    pub(crate) fn gallery(&self) -> Vec<Vec<Shown<'_>>> {
        let mut rows: Vec<Row> = Vec::new();
        for (image, largest) in self.record.images.iter().zip(&self.largest).skip(1) {
            let (_, height) = fitted(image, *largest, (u32::MAX, ROW_HEIGHT));
            let proportion = f64::from(image.width.max(1)) / f64::from(image.height.max(1));
            match rows.last_mut() {
                Some(row) if row.takes(height) => {
                    row.pictures.push((image, *largest));
                    row.proportions += proportion;
                    row.height = row.height.min(height);
                }
                _ => rows.push(Row { pictures: vec![(image, *largest)], proportions: proportion, height }),
            }
        }
        rows.into_iter().map(|row| self.shown_row(&row)).collect()
    }

    fn shown_row<'a>(&'a self, row: &Row<'a>) -> Vec<Shown<'a>> {
        let height = row.height;
        let shown = |(image, largest): &(&'a CitedImage, u32)| Shown {
            height,
            ..self.shown(image, *largest, (u32::MAX, height))
        };
        row.pictures.iter().map(shown).collect()
    }

    /// Fits a picture into a box of CSS pixels without enlarging it.
    fn shown<'a>(&'a self, image: &'a CitedImage, largest: u32, bounds: (u32, u32)) -> Shown<'a> {
        let src = self.local(&image.url);
        let (width, height) = fitted(image, largest, bounds);
        let names = colours::names_of(&image.color_palette);
        let swatch = |(colour, word): (&'a String, String)| Swatch {
            colour,
            word,
            href: self.listing(&[("color", colour)]),
        };
        Shown {
            src,
            largest: rendition(src, image.width, largest),
            srcset: srcset(src, image.width, largest),
            width,
            height,
            alt: image.alt.as_deref().unwrap_or_default(),
            credit: image.credit.as_deref(),
            rights: image.rights.as_deref().map(Rights::of),
            palette: image.color_palette.iter().zip(names).map(swatch).collect(),
        }
    }
}

/// Returns the size of a picture in a box of CSS pixels: as large as its widest rendition at most.
fn fitted(image: &CitedImage, largest: u32, (max_width, max_height): (u32, u32)) -> (u32, u32) {
    let (own_width, own_height) = (u64::from(image.width.max(1)), u64::from(image.height.max(1)));
    // The nearest whole width: in a row, what a width lacks makes its picture less high than the others.
    let at_height = (own_width * u64::from(max_height) * 2 + own_height) / (own_height * 2);
    let pixels = u64::from(largest).max(own_width);
    let width = pixels.min(u64::from(max_width)).min(at_height).max(1);
    let height = (own_height * width).div_ceil(own_width).min(u64::from(max_height));
    let side = |side: u64| u32::try_from(side).unwrap_or(u32::MAX);
    (side(width), side(height))
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

    /// The sizes of further pictures in their rows.
    fn rows(recorded: &Recorded) -> Vec<Vec<(u32, u32)>> {
        let size = |image: Shown<'_>| (image.width, image.height);
        recorded.gallery().into_iter().map(|row| row.into_iter().map(size).collect()).collect()
    }

    #[test]
    fn pictures_stand_in_rows_of_one_height_that_are_full() {
        let sizes = |pictures: &[(u32, u32)]| rows(&recorded(pictures));
        let (wide, high) = ((1280, 640), (440, 880));
        assert_eq!(sizes(&[wide]), [[(0, 0); 0]; 0], "the first stands above");
        assert_eq!(
            sizes(&[wide, wide, high, wide, wide, high]),
            [vec![(880, 440), (220, 440), (880, 440)], vec![(880, 440), (220, 440)]]
        );
        // One with fewer pixels makes its row less high, and a much smaller one stands alone.
        let (low, small) = ((900, 300), (300, 200));
        assert_eq!(sizes(&[wide, high, low, small]), [vec![(150, 300), (900, 300)], vec![small]]);
        assert_eq!(sizes(&[wide, high, small, low]), [vec![(220, 440)], vec![small, (600, 200)]]);
    }

    #[test]
    fn a_panorama_is_as_high_as_the_pictures_beside_it() {
        // The record names a rendition of at most 1280 pixels, and a wider one is kept.
        let mut recorded = recorded(&[(960, 720), (960, 720), (600, 800), (1280, 400)]);
        assert_eq!(rows(&recorded), [[(533, 400), (300, 400), (1280, 400)]]);
        recorded.largest[3] = 1600;
        assert_eq!(rows(&recorded), [[(587, 440), (330, 440), (1408, 440)]]);
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
