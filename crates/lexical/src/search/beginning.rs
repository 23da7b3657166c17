//! Projects by the beginning of their name, or of a word in it, without a search: for suggestions while a name is typed.

use tantivy::DocId;

use crate::index::rows::NameRange;
use crate::index::segment::Segment;
use crate::index::snapshot::Snapshot;

/// A name in one segment: its length, then its rank. Names are ranked by the alphabet, and equal ones by the tie-breaker.
type Key = (u32, u32);

/// Where names have what was typed, the best first.
#[derive(Clone, Copy)]
enum Place {
    /// At their beginning, as whole words.
    Beginning,
    /// At their beginning, and the last word goes on.
    UnfinishedBeginning,
    /// From a later word on, as whole words.
    Word,
    /// From a later word on, and the last word goes on.
    UnfinishedWord,
}

impl Place {
    const AT_BEGINNING: [Place; 2] = [Place::Beginning, Place::UnfinishedBeginning];
    const AT_WORD: [Place; 2] = [Place::Word, Place::UnfinishedWord];
}

/// The names of a segment that have what was typed.
struct Found<'s> {
    segment: &'s Segment,
    at_beginning: NameRange,
    /// The indexes of the words from which on names have it.
    at_words: NameRange,
}

/// A name among the best.
struct Named<'s> {
    segment: &'s Segment,
    rank: u32,
}

/// Returns the summaries of at most `limit` live projects whose name begins with `typed` or has it from a word on, and whose ordinal is
/// shown. `typed` is in the form in which names are compared. Those that begin with it come first; then whole words before a last word
/// that goes on, the shorter name, the alphabet, the tie-breaker. A single letter is looked for only at the beginning.
///
/// Of the names that begin with it only the lengths are read, eight bytes for each. If they are fewer than `limit`, then eight bytes are
/// read for each later word from which on a name has it (see [`WordStarts`](crate::index::rows::WordStarts)). Each is one pass over a
/// range of memory, and only names among the best so far are looked at: of 1,000,000 names of four words 32 MB at most, where all words
/// begin alike, which takes less than 20 ms. More than a few names are read only where they are not listed any more.
pub(crate) fn summaries_by_beginning<'s>(
    snapshot: &'s Snapshot,
    typed: &str,
    limit: usize,
    is_shown: impl Fn(u64) -> bool,
) -> Vec<&'s [u8]> {
    if typed.is_empty() || limit == 0 {
        return Vec::new();
    }
    let find = |segment| Found::of(segment, typed);
    let mut found: Vec<Found<'_>> = snapshot.segments.iter().map(find).collect();
    let is_shown =
        |segment: &Segment, document| segment.is_live(document) && is_shown(segment.ordinal(document));
    let mut best: Vec<Named<'s>> = Vec::with_capacity(limit);
    Place::AT_BEGINNING.into_iter().for_each(|place| extend(&mut best, &found, place, limit, &is_shown));
    if best.len() < limit && may_begin_a_word(typed) {
        found.iter_mut().for_each(|found| found.find_words(typed));
        Place::AT_WORD.into_iter().for_each(|place| extend(&mut best, &found, place, limit, &is_shown));
    }
    best.iter().map(Named::summary).collect()
}

/// Returns whether the text is long enough to be looked for inside of names: two letters, or a character that is a word.
fn may_begin_a_word(typed: &str) -> bool {
    typed.chars().filter(|letter| *letter != ' ').nth(1).is_some() || text::is_character(typed)
}

/// Appends the best names that have what was typed at this place and are not among the best yet, up to `limit` in all.
fn extend<'s>(
    best: &mut Vec<Named<'s>>,
    found: &[Found<'s>],
    place: Place,
    limit: usize,
    is_shown: &impl Fn(&Segment, DocId) -> bool,
) {
    let room = limit - best.len();
    if room == 0 {
        return;
    }
    let mut more: Vec<Named<'s>> = Vec::new();
    for one in found {
        let names = one.segment.rows.names();
        // With room left all names of the places before are among the best.
        let is_known = |rank| best.iter().any(|named| named.is(one.segment, rank));
        let is_wanted = |rank| is_shown(one.segment, names.document(rank)) && !is_known(rank);
        let shortest = one.shortest(place, room, is_wanted);
        more.extend(shortest.into_iter().map(|(_, rank)| Named { segment: one.segment, rank }));
    }
    more.sort_by_cached_key(Named::key);
    more.truncate(room);
    best.append(&mut more);
}

impl<'s> Found<'s> {
    fn of(segment: &'s Segment, typed: &str) -> Found<'s> {
        let at_beginning = segment.rows.names().beginning_with(typed.as_bytes());
        Found { segment, at_beginning, at_words: NameRange::default() }
    }

    fn find_words(&mut self, typed: &str) {
        self.at_words = self.segment.rows.word_starts().beginning_with(typed.as_bytes());
    }

    /// Returns the shortest names with what was typed at this place, at most `limit`, of equal length by rank.
    fn shortest(&self, place: Place, limit: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<Key> {
        let names = self.segment.rows.names();
        let key = |rank| (names.name(rank).len() as u32, rank);
        let words = self.segment.rows.word_starts();
        let at_words = |range| words.within(range).map(|word| (u32::from(word.name_length), word.rank));
        let NameRange { whole, unfinished } = self.at_beginning.clone();
        let NameRange { whole: whole_words, unfinished: unfinished_words } = self.at_words.clone();
        match place {
            Place::Beginning => shortest(whole.map(key), limit, is_wanted),
            Place::UnfinishedBeginning => shortest(unfinished.map(key), limit, is_wanted),
            Place::Word => shortest(at_words(whole_words), limit, is_wanted),
            Place::UnfinishedWord => shortest(at_words(unfinished_words), limit, is_wanted),
        }
    }
}

/// Returns the least of the keys whose rank is wanted, at most `limit`, each once.
fn shortest(keys: impl Iterator<Item = Key>, limit: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<Key> {
    let mut best: Vec<Key> = Vec::with_capacity(limit + 1);
    for key in keys {
        if best.len() == limit && best.last().is_none_or(|last| *last <= key) {
            continue;
        }
        if let Err(at) = best.binary_search(&key)
            && is_wanted(key.1)
        {
            best.insert(at, key);
            best.truncate(limit);
        }
    }
    best
}

impl<'s> Named<'s> {
    fn document(&self) -> DocId {
        self.segment.rows.names().document(self.rank)
    }

    fn summary(&self) -> &'s [u8] {
        self.segment.rows.summary(self.document())
    }

    /// Returns what names of several segments are ordered by.
    fn key(&self) -> (usize, &'s [u8], u64) {
        let name = self.segment.rows.names().name(self.rank);
        (name.len(), name, self.segment.rows.tie_breaker(self.document()))
    }

    fn is(&self, segment: &Segment, rank: u32) -> bool {
        std::ptr::eq(self.segment, segment) && self.rank == rank
    }
}
