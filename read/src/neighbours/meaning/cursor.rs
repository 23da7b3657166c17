//! The opaque cursor between two pages of a list by meaning.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Near;
use lexical::Fnv;

const VERSION: u8 = 1;
/// The length of checksum, version, list, ordinal and score, in bytes.
const LENGTH: usize = 25;
/// The length of the text, in characters.
const CHARACTERS: usize = 34;

/// The end of a page: the list and its last project, after which the next page begins even if projects were added or removed
/// meanwhile. As text it is URL-safe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cursor {
    /// The hash of what the list was asked for.
    pub list: u64,
    ordinal: u64,
    score: f32,
}

/// The text is no cursor of a list by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCursor;

impl Cursor {
    /// Returns the cursor after a project.
    pub fn after(list: u64, last: Near) -> Cursor {
        Cursor { list, ordinal: last.ordinal, score: last.score }
    }

    /// Returns the cursor before the first project.
    pub fn begin(list: u64) -> Cursor {
        Cursor { list, ordinal: 0, score: f32::INFINITY }
    }

    /// Returns whether a project is on a later page.
    pub fn is_before(&self, near: &Near) -> bool {
        near.score < self.score || near.score == self.score && near.ordinal > self.ordinal
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; LENGTH];
        bytes[4] = VERSION;
        bytes[5..13].copy_from_slice(&self.list.to_be_bytes());
        bytes[13..21].copy_from_slice(&self.ordinal.to_be_bytes());
        bytes[21..].copy_from_slice(&self.score.to_be_bytes());
        let sum = Fnv::checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum);
        // Of the length of the cursors of neighbours, but inverted, so that neither is taken for the other.
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes.map(|byte| !byte)))
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Cursor, InvalidCursor> {
        if text.len() != CHARACTERS {
            return Err(InvalidCursor);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let bytes = <[u8; LENGTH]>::try_from(bytes).map_err(|_| InvalidCursor)?.map(|byte| !byte);
        if bytes[..4] != Fnv::checksum(&bytes[4..]) || bytes[4] != VERSION {
            return Err(InvalidCursor);
        }
        let number = |from: usize| bytes[from..from + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let score = f32::from_be_bytes([bytes[21], bytes[22], bytes[23], bytes[24]]);
        Ok(Cursor { list: number(5), ordinal: number(13), score })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_round_trips_as_text_and_other_texts_are_rejected() {
        let last = Near { ordinal: 1 << 39, score: 0.25 };
        for cursor in [Cursor::after(u64::MAX, last), Cursor::begin(7)] {
            let text = cursor.to_string();
            assert_eq!((text.len(), text.parse()), (CHARACTERS, Ok(cursor)));
            let altered = text.replace(&text[9..10], if &text[9..10] == "A" { "B" } else { "A" });
            for wrong in ["", &text[1..], &altered, &format!("{text}A"), &"!".repeat(CHARACTERS)] {
                assert_eq!(wrong.parse::<Cursor>(), Err(InvalidCursor), "{wrong}");
            }
            assert!(text.parse::<crate::neighbours::Cursor>().is_err());
        }
    }

    #[test]
    fn a_page_begins_after_the_last_project_in_the_order_of_scores_and_then_of_ordinals() {
        let near = |ordinal, score| Near { ordinal, score };
        let cursor = Cursor::after(1, near(5, 0.5));
        let all = [near(9, 0.6), near(4, 0.5), near(5, 0.5), near(6, 0.5), near(1, 0.4)];
        assert_eq!(all.map(|near| cursor.is_before(&near)), [false, false, false, true, true]);
        assert!(all.iter().all(|near| Cursor::begin(1).is_before(near)));
    }
}
