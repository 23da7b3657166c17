//! The opaque cursor between two pages of a project's neighbours.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Neighbour;
use lexical::Fnv;

const VERSION: u8 = 1;
/// The length of checksum, version, two ordinals and a score, in bytes.
const LENGTH: usize = 25;
/// The length of the text, in characters.
const CHARACTERS: usize = 34;

/// The end of a page of neighbours: the project and the last neighbour on the page. As text it is URL-safe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cursor {
    /// The project.
    pub project: u64,
    last: u64,
    score: f32,
}

/// The text is not a cursor of a list of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a cursor of a list of neighbours")]
pub struct InvalidCursor;

impl Cursor {
    /// Returns the cursor of the page that ends with a neighbour.
    pub fn after(project: u64, last: Neighbour) -> Cursor {
        Cursor { project, last: last.ordinal, score: last.score }
    }

    /// Returns the number of neighbours before the next page: those up to the last one that was shown, or, if the list was computed
    /// again without it, those that are as near.
    pub fn skipped(&self, list: impl Iterator<Item = Neighbour>) -> usize {
        let mut nearer = 0;
        for (index, neighbour) in list.enumerate() {
            if neighbour.ordinal == self.last {
                return index + 1;
            }
            let is_before = neighbour.score > self.score
                || neighbour.score == self.score && neighbour.ordinal < self.last;
            if is_before {
                nearer = index + 1;
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

    /// Parses the text of a cursor.
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
    fn a_cursor_round_trips_as_text_and_other_texts_are_rejected() {
        let cursor = Cursor::after(7, neighbour(1 << 40, 0.25));
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
    fn the_next_page_begins_after_the_last_neighbour_even_if_it_left_the_list() {
        let list =
            || [neighbour(5, 0.9), neighbour(2, 0.5), neighbour(8, 0.5), neighbour(1, 0.1)].into_iter();
        let skipped = |last, score| Cursor::after(7, neighbour(last, score)).skipped(list());
        assert_eq!([skipped(5, 0.9), skipped(2, 0.5), skipped(8, 0.5), skipped(1, 0.1)], [1, 2, 3, 4]);
        assert_eq!(
            [skipped(6, 0.95), skipped(6, 0.7), skipped(6, 0.5), skipped(9, 0.5), skipped(6, 0.0)],
            [0, 1, 2, 3, 4]
        );
        assert_eq!(skipped(8, 0.95), 3, "one that moved within the list is found by its ordinal");
    }
}
