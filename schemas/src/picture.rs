//! Stored pictures: named by the hash of their bytes, with the format, size and colours found on arrival.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::ids::{Actor, InvalidId};
use crate::text_form::string_conversions;

/// The widths of the renditions, in pixels; a picture is never enlarged.
pub const WIDTHS: [u32; 3] = [320, 640, 1280];
/// The width of the rendition for looking at details, in pixels, of pictures that are wider than all of [`WIDTHS`].
pub const DETAIL_WIDTH: u32 = 1920;
/// The largest width in lists of projects, in pixels; the only one that is also stored as JPEG.
pub const LIST_WIDTH: u32 = 640;
/// The maximum size of an uploaded picture: 10 MiB.
pub const MAX_PICTURE_BYTES: usize = 10 << 20;
/// The maximum width and height of a picture, in pixels.
pub const MAX_SIDE: u32 = 8_000;

/// The actor whose records have pictures that are drawn from them: the import of the demo catalog.
pub const DRAWN_FOR: &str = "demo";
/// The prefix of the sources of drawn pictures.
pub const DRAWN: &str = "demo/";

/// Returns whether the service itself gets the picture of a source in a record of this actor: it fetches URLs and draws the pictures of
/// its demo catalog. The bytes of other files come with their import, or never.
pub fn is_fetched_or_drawn(source: &str, actor: &Actor) -> bool {
    let is_url = ["https://", "http://"].iter().any(|scheme| source.starts_with(scheme));
    is_url || (actor.as_str() == DRAWN_FOR && source.starts_with(DRAWN))
}

/// The permanent id of a picture: SHA-256 of the uploaded bytes, displayed as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PictureId(pub [u8; 32]);

/// The format of a picture, detected from its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PictureFormat {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

/// An opaque sRGB colour, written `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Colour(pub [u8; 3]);

/// A stored picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// The picture's id.
    #[schemars(with = "String")]
    pub id: PictureId,
    /// The format of the uploaded bytes.
    pub format: PictureFormat,
    /// The width in pixels, after applying the EXIF orientation.
    pub width: u32,
    /// The height in pixels, after applying the EXIF orientation.
    pub height: u32,
    /// Up to six main colours as `#rrggbb`, by falling share of the area.
    #[schemars(with = "Vec<String>")]
    pub palette: Vec<Colour>,
}

impl Picture {
    /// Returns the widths of the renditions in pixels, ascending: the fixed widths up to the picture's own, and its own
    /// if that is below the largest.
    pub fn widths(&self) -> impl Iterator<Item = u32> + use<> {
        let own = self.width.min(WIDTHS[WIDTHS.len() - 1]);
        WIDTHS.into_iter().filter(move |width| *width < own).chain([own])
    }

    /// Returns the smaller forms in which the picture is stored, without the one for details.
    pub fn forms(&self) -> impl Iterator<Item = Form> + use<> {
        self.widths().map(Form::Webp).chain([Form::Jpeg(self.list_width())])
    }

    /// Returns the form for looking at details, at most [`DETAIL_WIDTH`] wide, if the picture is wider than all other renditions.
    /// Pictures that were stored by versions before 0.3 may lack it.
    pub fn detail_form(&self) -> Option<Form> {
        (self.width > WIDTHS[WIDTHS.len() - 1]).then(|| Form::Webp(self.width.min(DETAIL_WIDTH)))
    }

    /// Returns the width in pixels of the rendition for lists.
    pub fn list_width(&self) -> u32 {
        self.width.min(LIST_WIDTH)
    }

    /// Returns the height in pixels of a rendition of this width, at least 1.
    pub fn height_at(&self, width: u32) -> u32 {
        let (width, own, height) = (u64::from(width), u64::from(self.width.max(1)), u64::from(self.height));
        u32::try_from((width * height + own / 2) / own).unwrap_or(u32::MAX).max(1)
    }
}

/// One of the files in which a picture is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// The uploaded bytes.
    Original,
    /// A WebP rendition of this width in pixels.
    Webp(u32),
    /// A JPEG rendition of this width in pixels.
    Jpeg(u32),
}

impl Form {
    /// Parses the name of a file.
    pub fn of(name: &str) -> Option<Form> {
        let width = |digits: &str| digits.parse().ok();
        let form = match name.split_once('.') {
            None => Form::Original,
            Some((digits, "webp")) => Form::Webp(width(digits)?),
            Some((digits, "jpg")) => Form::Jpeg(width(digits)?),
            Some(_) => return None,
        };
        // Another spelling of the same number, such as 0640.webp, is not a name.
        (form.to_string() == name).then_some(form)
    }

    /// Returns the path below a media folder, for example `5e/5e…5e/640.webp`.
    pub fn path(self, id: PictureId) -> String {
        let name = id.to_string();
        format!("{}/{name}/{self}", &name[..2])
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Original => f.write_str("original"),
            Form::Webp(width) => write!(f, "{width}.webp"),
            Form::Jpeg(width) => write!(f, "{width}.jpg"),
        }
    }
}

impl fmt::Display for PictureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hash(self.0).fmt(f)
    }
}

impl FromStr for PictureId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let Hash(bytes) = text
            .parse()
            .map_err(|error| InvalidId { expected: "a picture's name: 64 hexadecimal digits", ..error })?;
        Ok(PictureId(bytes))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl FromStr for Colour {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let digits =
            text.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(number) => {
                let [_, red, green, blue] = number.to_be_bytes();
                Ok(Colour([red, green, blue]))
            }
            None => Err(InvalidId { text: text.to_owned(), expected: "a colour such as #a0522d" }),
        }
    }
}

string_conversions!(PictureId, Colour);

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32) -> Picture {
        Picture { id: PictureId([0xab; 32]), format: PictureFormat::Webp, width, height, palette: Vec::new() }
    }

    #[test]
    fn the_service_gets_urls_and_what_it_draws() {
        let (ada, demo): (Actor, Actor) = ("Ada".parse().unwrap(), DRAWN_FOR.parse().unwrap());
        for (source, of_ada, of_demo) in [
            ("https://m.org/a.jpg", true, true),
            ("http://m.org/a.jpg", true, true),
            ("demo/a.jpg", false, true),
            ("demonstrated/a.jpg", false, false),
            ("a.jpg", false, false),
        ] {
            let awaited = [&ada, &demo].map(|actor| is_fetched_or_drawn(source, actor));
            assert_eq!(awaited, [of_ada, of_demo], "{source}");
        }
    }

    #[test]
    fn a_picture_has_renditions_up_to_its_own_width() {
        let widths = |width| picture(width, 10).widths().collect::<Vec<_>>();
        assert_eq!(widths(100), [100]);
        assert_eq!(widths(320), [320]);
        assert_eq!(widths(500), [320, 500]);
        assert_eq!(widths(1280), [320, 640, 1280]);
        assert_eq!(widths(4000), [320, 640, 1280]);
        assert_eq!((picture(4000, 10).list_width(), picture(128, 10).list_width()), (640, 128));
    }

    #[test]
    fn a_large_picture_has_a_form_for_details() {
        let form = |width| picture(width, 10).detail_form();
        assert_eq!([form(1280), form(1281)], [None, Some(Form::Webp(1281))]);
        assert_eq!([form(1920), form(8000)], [Some(Form::Webp(1920)); 2]);
        let forms = [Form::Webp(320), Form::Webp(640), Form::Webp(1280), Form::Jpeg(640)];
        assert_eq!(picture(1281, 10).forms().collect::<Vec<_>>(), forms);
    }

    #[test]
    fn the_height_keeps_the_aspect_ratio() {
        assert_eq!(picture(4000, 3000).height_at(640), 480);
        assert_eq!(picture(8000, 1).height_at(320), 1);
        assert_eq!(picture(128, 192).height_at(128), 192);
    }

    #[test]
    fn each_file_has_one_name() {
        for form in [Form::Original, Form::Webp(320), Form::Jpeg(640)] {
            assert_eq!(Form::of(&form.to_string()), Some(form));
        }
        for name in ["", "0640.webp", "640.png", "+640.webp", "640", "640.webp.jpg", "../original"] {
            assert_eq!(Form::of(name), None, "{name}");
        }
        assert_eq!(Form::Webp(640).path(PictureId([0x5e; 32])), format!("5e/{}/640.webp", "5e".repeat(32)));
    }

    #[test]
    fn ids_and_colours_round_trip_through_text() {
        let id = PictureId([0xab; 32]);
        assert_eq!(id.to_string(), "ab".repeat(32));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("ab".parse::<PictureId>().is_err());
        assert_eq!(serde_json::to_string(&Colour([160, 82, 45])).unwrap(), r##""#a0522d""##);
        assert_eq!(serde_json::from_str::<Colour>(r##""#A0522D""##).unwrap(), Colour([160, 82, 45]));
        for text in ["a0522d", "#a0522", "#a0522dd", "#+0522d", ""] {
            assert!(text.parse::<Colour>().is_err(), "{text}");
        }
    }
}
