//! The journal of erased pictures: a file in every media folder with the id and time of each permanent erasure. Backups
//! contain it, so restoring an older backup does not restore an erased picture.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::picture::PictureId;

/// The file name of the journal: one JSON object per line.
pub const ERASED_PICTURES: &str = "pictures-erased.ndjson";

/// An erased picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErasedPicture {
    /// The picture's id.
    pub picture: PictureId,
    /// When it was first erased.
    pub erased_at: Timestamp,
}

/// Parses a journal.
///
/// # Errors
///
/// Returns the number, from 1, of the first invalid line.
pub fn parse(text: &str) -> Result<Vec<ErasedPicture>, usize> {
    let read = |(index, line)| serde_json::from_str(line).map_err(|_| index + 1);
    text.lines().enumerate().map(read).collect()
}

/// Returns the text of a journal of these pictures, each once with its earliest time, and their number.
pub fn text(erased: impl IntoIterator<Item = ErasedPicture>) -> (usize, String) {
    let mut first: BTreeMap<PictureId, Timestamp> = BTreeMap::new();
    for ErasedPicture { picture, erased_at } in erased {
        first.entry(picture).and_modify(|at| *at = erased_at.min(*at)).or_insert(erased_at);
    }
    let line = |(picture, erased_at): (&PictureId, &Timestamp)| {
        format!("{}\n", serde_json::json!({"picture": picture, "erased_at": erased_at}))
    };
    (first.len(), first.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn erased(byte: u8, second: i64) -> ErasedPicture {
        let erased_at = Timestamp::from_second(second).unwrap();
        ErasedPicture { picture: PictureId([byte; 32]), erased_at }
    }

    #[test]
    fn a_picture_is_listed_once_with_its_earliest_time() {
        let (count, text) = text([erased(2, 20), erased(1, 30), erased(2, 10)]);
        assert_eq!(count, 2);
        assert_eq!(parse(&text), Ok(vec![erased(1, 30), erased(2, 10)]));
        let first = format!(r#"{{"picture":"{}","erased_at":"1970-01-01T00:00:30Z"}}"#, "01".repeat(32));
        assert_eq!(text.lines().next(), Some(first.as_str()));
        assert_eq!(parse(""), Ok(vec![]));
        assert_eq!(parse(&format!("{text}{{\"account\":\"x\"}}\n")), Err(3));
    }
}
