//! A picture as the catalog keeps it: named by the hash of its bytes, with what was seen when it came.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::ids::InvalidId;

/// The widths that pictures are shown at, in pixels; none is ever enlarged.
pub const WIDTHS: [u32; 3] = [320, 640, 1280];
/// The widest form that a list of projects shows, and the only one that is also there as JPEG.
pub const LIST_WIDTH: u32 = 640;
/// The most bytes a picture may have when it comes.
pub const MAX_PICTURE_BYTES: usize = 10 << 20;
/// The most pixels on a side.
pub const MAX_SIDE: u32 = 8_000;

/// Names a picture for ever: the SHA-256 of the bytes that came, shown as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PictureId(pub [u8; 32]);

/// What the bytes are, as they tell it themselves.
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

/// An opaque colour of the sRGB space, written `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Colour(pub [u8; 3]);

/// A kept picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// Its name.
    #[schemars(with = "String")]
    pub id: PictureId,
    /// What came.
    pub format: PictureFormat,
    /// In pixels, as it is seen: a turned photograph counts as turned.
    pub width: u32,
    /// In pixels, as it is seen.
    pub height: u32,
    /// Its main colours as `#rrggbb`, the largest share first; at most six.
    #[schemars(with = "Vec<String>")]
    pub palette: Vec<Colour>,
}

impl Picture {
    /// The widths that it is kept at, the smallest first: those it reaches, and its own where it is smaller than the
    /// widest.
    pub fn widths(&self) -> impl Iterator<Item = u32> + use<> {
        let own = self.width.min(WIDTHS[WIDTHS.len() - 1]);
        WIDTHS.into_iter().filter(move |width| *width < own).chain([own])
    }

    /// The width at which lists show it.
    pub fn list_width(&self) -> u32 {
        self.width.min(LIST_WIDTH)
    }

    /// Its height when it is shown at a width, at least 1.
    pub fn height_at(&self, width: u32) -> u32 {
        let (width, own, height) = (u64::from(width), u64::from(self.width.max(1)), u64::from(self.height));
        u32::try_from((width * height + own / 2) / own).unwrap_or(u32::MAX).max(1)
    }
}

/// One of the files that a picture is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// The bytes that came.
    Original,
    /// As WebP, so many pixels wide.
    Webp(u32),
    /// As JPEG, so many pixels wide.
    Jpeg(u32),
}

impl Form {
    /// The form that a file's name names.
    pub fn of(name: &str) -> Option<Form> {
        let width = |digits: &str| digits.parse().ok();
        let form = match name.split_once('.') {
            None => Form::Original,
            Some((digits, "webp")) => Form::Webp(width(digits)?),
            Some((digits, "jpg")) => Form::Jpeg(width(digits)?),
            Some(_) => return None,
        };
        // A name that says the same otherwise, such as 0640.webp, is no name.
        (form.to_string() == name).then_some(form)
    }

    /// Where the file stands below a media folder, for example `5e/5e…5e/640.webp`.
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

impl TryFrom<String> for PictureId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<PictureId> for String {
    fn from(id: PictureId) -> String {
        id.to_string()
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl TryFrom<String> for Colour {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        let digits =
            text.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(number) => {
                let [_, red, green, blue] = number.to_be_bytes();
                Ok(Colour([red, green, blue]))
            }
            None => Err(InvalidId { text, expected: "a colour such as #a0522d" }),
        }
    }
}

impl From<Colour> for String {
    fn from(colour: Colour) -> String {
        colour.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32) -> Picture {
        Picture { id: PictureId([0xab; 32]), format: PictureFormat::Webp, width, height, palette: Vec::new() }
    }

    #[test]
    fn a_picture_is_kept_at_the_widths_it_reaches() {
        let widths = |width| picture(width, 10).widths().collect::<Vec<_>>();
        assert_eq!(widths(100), [100]);
        assert_eq!(widths(320), [320]);
        assert_eq!(widths(500), [320, 500]);
        assert_eq!(widths(1280), [320, 640, 1280]);
        assert_eq!(widths(4000), [320, 640, 1280]);
        assert_eq!((picture(4000, 10).list_width(), picture(128, 10).list_width()), (640, 128));
    }

    #[test]
    fn the_height_keeps_the_shape() {
        assert_eq!(picture(4000, 3000).height_at(640), 480);
        assert_eq!(picture(8000, 1).height_at(320), 1);
        assert_eq!(picture(128, 192).height_at(128), 192);
    }

    #[test]
    fn each_form_has_one_name() {
        for form in [Form::Original, Form::Webp(320), Form::Jpeg(640)] {
            assert_eq!(Form::of(&form.to_string()), Some(form));
        }
        for name in ["", "0640.webp", "640.png", "+640.webp", "640", "640.webp.jpg", "../original"] {
            assert_eq!(Form::of(name), None, "{name}");
        }
        assert_eq!(Form::Webp(640).path(PictureId([0x5e; 32])), format!("5e/{}/640.webp", "5e".repeat(32)));
    }

    #[test]
    fn names_and_colours_survive_their_text() {
        let id = PictureId([0xab; 32]);
        assert_eq!(id.to_string(), "ab".repeat(32));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("ab".parse::<PictureId>().is_err());
        assert_eq!(serde_json::to_string(&Colour([160, 82, 45])).unwrap(), r##""#a0522d""##);
        assert_eq!(serde_json::from_str::<Colour>(r##""#A0522D""##).unwrap(), Colour([160, 82, 45]));
        for text in ["a0522d", "#a0522", "#a0522dd", "#+0522d", ""] {
            assert!(Colour::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
