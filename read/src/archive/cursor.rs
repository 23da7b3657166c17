//! The opaque text between two pages.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::order::{Day, Place};
use lexical::Fnv;

const VERSION: u8 = 1;
/// Everything before the slug.
const HEAD: usize = 26;
/// The longest text that can be one.
const LONGEST: usize = 200;

/// Where a page ended: the question it belongs to, and the place of its last project. A page begins behind that place,
/// whatever came or left meanwhile, so none is repeated or passed over. As text it is URL-safe, of at most 190 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(super) question: u64,
    /// How many dimensions the last project matched; 0 where none were asked.
    pub(super) matches: u8,
    day: Day,
    ordinal: u64,
    slug: String,
}

/// The cursor was not made for this question, or is no cursor: start again without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The cursor does not belong to this question: {0}. Leave it out to start from the first page.")]
pub struct InvalidCursor(pub(super) &'static str);

impl Cursor {
    pub(super) fn new(question: u64, matches: u8, last: Place<'_>) -> Cursor {
        let Place { day, slug, ordinal } = last;
        Cursor { question, matches, day, ordinal, slug: slug.to_owned() }
    }

    /// The place of the last project.
    pub(super) fn place(&self) -> Place<'_> {
        Place { day: self.day, slug: &self.slug, ordinal: self.ordinal }
    }

    /// Refuses one that was made for another question.
    pub(super) fn belonging_to(
        cursor: Option<Cursor>,
        question: u64,
    ) -> Result<Option<Cursor>, InvalidCursor> {
        match cursor {
            Some(cursor) if cursor.question != question => {
                Err(InvalidCursor("it was given with the results of other arguments"))
            }
            cursor => Ok(cursor),
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(HEAD + self.slug.len());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&[VERSION, self.matches]);
        bytes.extend_from_slice(&self.question.to_be_bytes());
        bytes.extend_from_slice(&self.day.to_bytes());
        bytes.extend_from_slice(&self.ordinal.to_be_bytes());
        bytes.extend_from_slice(self.slug.as_bytes());
        let sum = Fnv::checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    /// Reads the text of a cursor; fails on anything that was not written by one.
    fn from_str(text: &str) -> Result<Cursor, InvalidCursor> {
        let garbled = InvalidCursor("it was cut or altered on its way");
        if text.len() > LONGEST {
            return Err(garbled);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| garbled)?;
        let (head, slug) = bytes.split_first_chunk::<HEAD>().ok_or(garbled)?;
        let slug = std::str::from_utf8(slug).map_err(|_| garbled)?;
        let number = |from: usize| head[from..from + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let [version, matches] = [head[4], head[5]];
        if head[..4] != Fnv::checksum(&bytes[4..]) || version != VERSION {
            return Err(garbled);
        }
        let day = Day::from_bytes([head[14], head[15], head[16], head[17]]);
        Ok(Cursor { question: number(6), matches, day, ordinal: number(18), slug: slug.to_owned() })
    }
}
