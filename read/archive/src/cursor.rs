//! The opaque cursor between two pages.

use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemas::record::Category;

use super::order::{Day, SortKey};
use lexical::Fnv;

const VERSION: u8 = 1;
/// The length of everything before the slug, in bytes.
const HEAD: usize = 26;
/// The maximum length of the slug or the name in a sort key, in bytes: a folded name of 1,000 characters of four bytes, with blanks between
/// them.
pub(super) const LONGEST_KEY: usize = 5_000;
/// The maximum length of a cursor that is decoded, in characters.
const MAX_LENGTH: usize = (HEAD + LONGEST_KEY).div_ceil(3) * 4;

/// The end of a page: the query and the sort key of the last project. The next page begins after this key even if projects were
/// added or removed meanwhile, so none is repeated or skipped. So it has the whole name in the order of names, and is equal on every node.
/// As text it is URL-safe and has at most 196 characters with a slug; with a name a third more than the name has bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The hash of the query, see [`query_hash`].
    query: u64,
    /// The number of dimensions that the last project matches; 0 in a page of the newest.
    pub(super) matches: u8,
    day: Day,
    ordinal: u64,
    slug: String,
}

/// The cursor belongs to another query, or is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The cursor does not belong to this query: {0}. Leave it out to start from the first page.")]
pub struct InvalidCursor(&'static str);

impl Cursor {
    pub(super) fn new(query: u64, matches: u8, last: SortKey<'_>) -> Cursor {
        let SortKey { day, slug, ordinal } = last;
        Cursor { query, matches, day, ordinal, slug: slug.to_owned() }
    }

    /// Returns the sort key of the last project.
    pub(super) fn sort_key(&self) -> SortKey<'_> {
        SortKey { day: self.day, slug: &self.slug, ordinal: self.ordinal }
    }

    /// Returns the cursor if it belongs to the query with this hash.
    pub(super) fn check(cursor: Option<Cursor>, query: u64) -> Result<Option<Cursor>, InvalidCursor> {
        match cursor {
            Some(cursor) if cursor.query != query => {
                Err(InvalidCursor("it was given with the results of other arguments"))
            }
            cursor => Ok(cursor),
        }
    }
}

/// Returns a hash of a kind of query and its category, to which the rest of the query is added. It is stored in cursors and is equal
/// in all processes.
pub(super) fn query_hash(kind: &[u8], category: Option<Category>) -> Fnv {
    let mut hash = Fnv::default();
    hash.write(kind);
    hash.write(category.map_or("", Category::as_str).as_bytes());
    hash.write(&[0]);
    hash
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(HEAD + self.slug.len());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&[VERSION, self.matches]);
        bytes.extend_from_slice(&self.query.to_be_bytes());
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

    /// Parses the text of a cursor.
    fn from_str(text: &str) -> Result<Cursor, InvalidCursor> {
        let garbled = InvalidCursor("it was cut or altered on its way");
        if text.len() > MAX_LENGTH {
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
        Ok(Cursor { query: number(6), matches, day, ordinal: number(18), slug: slug.to_owned() })
    }
}
