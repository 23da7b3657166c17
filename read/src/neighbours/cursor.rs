//! The opaque text between two pages of a project's neighbours.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Neighbour;
use lexical::Fnv;

const VERSION: u8 = 1;
/// Checksum, version, two ordinals and a score.
const LENGTH: usize = 25;
/// Its length as text.
const CHARACTERS: usize = 34;

/// Where a page of neighbours ended: the project that they belong to, and its last neighbour that was shown. As text it is
/// URL-safe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cursor {
    /// The project.
    pub project: u64,
    last: u64,
    score: f32,
}

/// The text is no cursor of a list of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no cursor of a list of neighbours")]
pub struct InvalidCursor;

impl Cursor {
    /// Returns the cursor of the page that ends with a neighbour.
    pub fn behind(project: u64, last: Neighbour) -> Cursor {
        Cursor { project, last: last.ordinal, score: last.score }
    }

    /// Returns how many neighbours of a list stand before the next page: those up to the last one that was shown, or, where the
    /// list was computed again without it, those as near as it was.
    pub fn passed(&self, list: impl Iterator<Item = Neighbour>) -> usize {
        let mut nearer = 0;
        for (place, neighbour) in list.enumerate() {
            if neighbour.ordinal == self.last {
                return place + 1;
            }
            let is_before = neighbour.score > self.score
                || neighbour.score == self.score && neighbour.ordinal < self.last;
            if is_before {
                nearer = place + 1;
            }
        }
        nearer
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; LENGTH];
        bytes[4] = VERSION;
        bytes[5..13].copy_from_slice(&self.project.to_be_bytes());
        bytes[13..21].copy_from_slice(&self.last.to_be_bytes());
        bytes[21..].copy_from_slice(&self.score.to_be_bytes());
        let sum = Fnv::checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    /// Reads the text of a cursor; fails on anything that was not written by one.
    fn from_str(text: &str) -> Result<Cursor, InvalidCursor> {
        if text.len() != CHARACTERS {
            return Err(InvalidCursor);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let bytes: [u8; LENGTH] = bytes.try_into().map_err(|_| InvalidCursor)?;
        if bytes[..4] != Fnv::checksum(&bytes[4..]) || bytes[4] != VERSION {
            return Err(InvalidCursor);
        }
        let number = |from: usize| bytes[from..from + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let score = f32::from_be_bytes([bytes[21], bytes[22], bytes[23], bytes[24]]);
        Ok(Cursor { project: number(5), last: number(13), score })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour(ordinal: u64, score: f32) -> Neighbour {
        Neighbour { ordinal, score, visual: None, semantic: Some(score) }
    }

    #[test]
    fn a_cursor_survives_as_text_and_nothing_else_is_one() {
        let cursor = Cursor::behind(7, neighbour(1 << 40, 0.25));
        let text = cursor.to_string();
        assert_eq!((text.len(), text.parse()), (CHARACTERS, Ok(cursor)));
        let mut cut = text.clone();
        cut.pop();
        let altered = text.replace(&text[9..10], if &text[9..10] == "A" { "B" } else { "A" });
        for wrong in ["", "x", &cut, &altered, &format!("{text}A"), &"!".repeat(CHARACTERS)] {
            assert_eq!(wrong.parse::<Cursor>(), Err(InvalidCursor), "{wrong}");
        }
    }

    #[test]
    fn the_next_page_begins_behind_the_last_one_also_where_it_left_the_list() {
        let list =
            || [neighbour(5, 0.9), neighbour(2, 0.5), neighbour(8, 0.5), neighbour(1, 0.1)].into_iter();
        let passed = |last, score| Cursor::behind(7, neighbour(last, score)).passed(list());
        assert_eq!([passed(5, 0.9), passed(2, 0.5), passed(8, 0.5), passed(1, 0.1)], [1, 2, 3, 4]);
        assert_eq!(
            [passed(6, 0.95), passed(6, 0.7), passed(6, 0.5), passed(9, 0.5), passed(6, 0.0)],
            [0, 1, 2, 3, 4]
        );
        assert_eq!(passed(8, 0.95), 3, "one that moved within the list is known by itself");
    }
}
