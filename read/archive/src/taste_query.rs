//! Queries by taste. The projects that match a dimension are a bitmap; the number of matching dimensions of 64 projects at a
//! time is the sum of these bitmaps, in binary digits with carry.

use std::hash::Hasher;

use lexical::OrdinalSet;
use schemas::record::Category;
use schemas::taste::{Dimension, DimensionSet, Taste};

use super::MAX_PAGE_SIZE;
use super::blocks::{Block, BlockList, bitmap};
use super::browse::NewestPage;
use super::cursor::{Cursor, InvalidCursor, query_hash};
use super::dictionary::{Dictionary, StemKey, TermKind};
use super::snapshot::Snapshot;
use super::sorting::{self, Order, Selection};
use super::stemming::{WordStemmer, phrase_form};

/// The maximum number of words in a query of one dimension. Further words are ignored, which the answer says.
pub const MAX_QUERY_WORDS: usize = 16;

/// A request for a page of projects by taste.
#[derive(Clone, Debug, Default)]
pub struct TasteRequest<'a> {
    /// The requested texts of each dimension, by [`Dimension::index`]; several are alternatives. Any text is valid; one without words
    /// matches nothing.
    pub taste: [Vec<&'a str>; Dimension::COUNT],
    /// The category to search, or all.
    pub category: Option<Category>,
    /// The projects to search, or all.
    pub within: Option<Selection<'a>>,
    /// The size of the page, clamped to 1 to [`MAX_PAGE_SIZE`].
    pub limit: usize,
    /// The cursor of the previous page.
    pub after: Option<Cursor>,
}

impl<'a> TasteRequest<'a> {
    /// Returns a request for the first project with the texts of a taste, in any category.
    pub fn of(taste: &'a Taste) -> TasteRequest<'a> {
        TasteRequest {
            taste: Dimension::ALL.map(|dimension| taste.get(dimension).into_iter().collect()),
            ..TasteRequest::default()
        }
    }

    /// Returns the request with one more alternative in a dimension.
    #[must_use]
    pub fn with(mut self, dimension: Dimension, text: &'a str) -> TasteRequest<'a> {
        self.taste[dimension.index()].push(text);
        self
    }
}

/// A page of projects: those that match the most dimensions first, the newest of them first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TastePage {
    /// The projects of this page, in order.
    pub hits: Vec<Hit>,
    /// The number of projects that match at least one dimension, over all pages.
    pub total: u64,
    /// The cursor of the next page, if there is one.
    pub next: Option<Cursor>,
    /// The requested dimensions, in the order of [`Dimension::ALL`].
    pub dimensions: Vec<DimensionMatches>,
}

/// A project that matches at least one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of the event that selected the project; other models use the same number.
    pub ordinal: u64,
    /// The dimensions that match.
    pub matched: DimensionSet,
}

/// The matches of one requested dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimensionMatches {
    /// The requested dimension.
    pub dimension: Dimension,
    /// The number of distinct words in the query, of alternatives the greatest; without any, nothing matches. Of adjacent characters of a script without
    /// spaces each pair counts.
    pub words: usize,
    /// Whether words beyond [`MAX_QUERY_WORDS`] were ignored.
    pub is_truncated: bool,
    /// The number of projects of the requested category that match in this dimension.
    pub projects: u64,
}

/// A parsed request.
#[derive(Debug)]
pub(super) struct TasteQuery<'a> {
    dimensions: Vec<DimensionQuery>,
    category: Option<Category>,
    within: Option<Selection<'a>>,
}

/// The stems that a text must contain to match a dimension.
#[derive(Debug)]
struct DimensionQuery {
    dimension: Dimension,
    alternatives: Vec<Alternative>,
    is_truncated: bool,
}

/// One of several texts of a dimension.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alternative {
    kind: TermKind,
    /// Of words the distinct stems, all of which are required; of a phrase its form, which may be that of a word, and its stem.
    stems: Vec<String>,
}

impl Alternative {
    /// Reads a text, and whether it has more words than count. In quotes it is a phrase.
    fn of(text: &str, stemmer: &WordStemmer) -> (Alternative, bool) {
        if let Some(phrase) = quoted(text) {
            let stem = stemmer.phrase_stem(phrase);
            let stems = if stem.is_empty() { Vec::new() } else { vec![phrase_form(phrase), stem] };
            return (Alternative { kind: TermKind::Phrase, stems }, false);
        }
        let (stems, is_truncated) = stemmer.query_stems(text, MAX_QUERY_WORDS);
        (Alternative { kind: TermKind::Word, stems }, is_truncated)
    }

    /// Returns the number of words; a phrase counts as one.
    fn words(&self) -> usize {
        match self.kind {
            TermKind::Word => self.stems.len(),
            TermKind::Phrase => self.stems.len().min(1),
        }
    }

    /// Returns the stems of a dimension that are required; `None` if one of them is not used anywhere.
    fn keys(&self, dimension: Dimension, dictionary: &Dictionary) -> Option<Vec<StemKey>> {
        let key = |stem| StemKey::new(self.kind, dimension, stem);
        match (self.kind, self.stems.as_slice()) {
            (TermKind::Phrase, [form, stem]) => {
                let of_form = dictionary.number_of(form).map(|form| dictionary.stem_of(form));
                Some(vec![key(of_form.or_else(|| dictionary.stem(stem))?)])
            }
            (_, stems) => stems.iter().map(|stem| dictionary.stem(stem).map(key)).collect(),
        }
    }
}

/// Returns what is in the quotes of a text that is quoted as a whole.
fn quoted(text: &str) -> Option<&str> {
    let inner = |open, close| text.trim().strip_prefix(open)?.strip_suffix(close);
    inner('"', '"').or_else(|| inner('“', '”'))
}

impl<'a> TasteQuery<'a> {
    pub(super) fn of(request: &TasteRequest<'a>, stemmer: &WordStemmer) -> TasteQuery<'a> {
        let requested = Dimension::ALL.into_iter().zip(&request.taste).filter(|(_, texts)| !texts.is_empty());
        let dimensions = requested.map(|(dimension, texts)| {
            let mut query = DimensionQuery { dimension, alternatives: Vec::new(), is_truncated: false };
            for text in texts {
                let (alternative, is_truncated) = Alternative::of(text, stemmer);
                query.alternatives.push(alternative);
                query.is_truncated |= is_truncated;
            }
            query
        });
        TasteQuery { dimensions: dimensions.collect(), category: request.category, within: request.within }
    }

    /// Returns the hash that identifies the query in cursors: equal in all processes and for any order of the words and alternatives.
    fn fingerprint(&self) -> u64 {
        let mut hash = query_hash(b"taste", self.category);
        for query in &self.dimensions {
            hash.write(query.dimension.as_str().as_bytes());
            for (at, (kind, stems)) in query.sorted().iter().enumerate() {
                if at > 0 {
                    hash.write(&[1]);
                }
                if *kind == TermKind::Phrase {
                    hash.write(&[2]);
                }
                for stem in stems {
                    hash.write(stem.as_bytes());
                    hash.write(&[0]);
                }
            }
        }
        if let Some(within) = self.within {
            hash.write(&within.fingerprint.to_be_bytes());
        }
        hash.finish()
    }
}

impl DimensionQuery {
    /// Returns the distinct alternatives with their stems, each in alphabetical order.
    fn sorted(&self) -> Vec<(TermKind, Vec<&str>)> {
        let mut all = Vec::with_capacity(self.alternatives.len());
        for Alternative { kind, stems } in &self.alternatives {
            let mut stems: Vec<&str> = stems.iter().map(String::as_str).collect();
            if *kind == TermKind::Word {
                stems.sort_unstable();
            }
            all.push((*kind, stems));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the number of words of the alternative that has most.
    fn words(&self) -> usize {
        self.alternatives.iter().map(Alternative::words).max().unwrap_or_default()
    }
}

/// Returns a page of the projects that match a query.
pub(super) fn page(
    snapshot: &Snapshot,
    query: &TasteQuery<'_>,
    limit: usize,
    after: Option<Cursor>,
) -> Result<TastePage, InvalidCursor> {
    let fingerprint = query.fingerprint();
    let after = Cursor::check(after, fingerprint)?;
    let limit = limit.clamp(1, MAX_PAGE_SIZE);
    let counts = MatchCounts::of(snapshot, query);
    let mut found = counts.collect(query.dimensions.len(), after.as_ref(), limit + 1);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|last| {
        let key = snapshot.block_list.blocks[last.block].sort_key(last.at);
        Cursor::new(fingerprint, last.matches, key)
    });
    let hits = found.iter().map(|found| counts.hit(query, found)).collect();
    Ok(TastePage { hits, total: counts.total(), next, dimensions: counts.dimensions(query) })
}

/// Returns a page of the projects that match a query in an order.
pub(super) fn page_in_order(
    snapshot: &Snapshot,
    query: &TasteQuery<'_>,
    order: &Order,
    limit: usize,
    after: Option<Cursor>,
) -> Result<TastePage, InvalidCursor> {
    let counts = MatchCounts::of(snapshot, query);
    let set = counts.set();
    let selection = Selection { set: &set, fingerprint: query.fingerprint() };
    let NewestPage { ordinals, total, next } = sorting::page(snapshot, selection, order, limit, after)?;
    let hits = counts.find(&ordinals).iter().map(|found| counts.hit(query, found)).collect();
    Ok(TastePage { hits, total, next, dimensions: counts.dimensions(query) })
}

/// Returns the projects that match at least one dimension of a query.
pub(super) fn matches(snapshot: &Snapshot, query: &TasteQuery<'_>) -> OrdinalSet {
    MatchCounts::of(snapshot, query).set()
}

/// A matching project: the index of its block, its number there, and the number of matching dimensions.
struct Match {
    block: usize,
    at: usize,
    matches: u8,
}

/// Bitmaps over all projects, in which each block begins with a new word.
struct MatchCounts<'a> {
    block_list: &'a BlockList,
    /// The index of the first word of each block, and the number of words at the end.
    starts: Vec<usize>,
    /// The projects that match, for each requested dimension.
    matching: Vec<Vec<u64>>,
    /// The number of matching dimensions of each project in three binary digits: ones, twos, fours.
    digits: [Vec<u64>; 3],
}

impl<'a> MatchCounts<'a> {
    fn of(snapshot: &'a Snapshot, query: &TasteQuery<'_>) -> MatchCounts<'a> {
        let block_list = &snapshot.block_list;
        let mut starts = vec![0];
        let mut end = 0;
        for block in &block_list.blocks {
            end += bitmap::word_count(block.len());
            starts.push(end);
        }
        let category = query.category;
        let matching = |query: &DimensionQuery| matching(block_list, &snapshot.dictionary, query, category);
        let mut matching: Vec<Vec<u64>> = query.dimensions.iter().map(matching).collect();
        if let Some(within) = query.within {
            retain_within(block_list, &starts, within.set, &mut matching);
        }
        let digits = sum(&matching, end);
        MatchCounts { block_list, starts, matching, digits }
    }

    /// Returns the bits of the projects that match at least one dimension.
    fn any(&self) -> impl Iterator<Item = u64> {
        let [ones, twos, fours] = &self.digits;
        ones.iter().zip(twos).zip(fours).map(|((ones, twos), fours)| ones | twos | fours)
    }

    /// Returns the number of projects that match at least one dimension.
    fn total(&self) -> u64 {
        self.any().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the projects that match at least one dimension.
    fn set(&self) -> OrdinalSet {
        let any: Vec<u64> = self.any().collect();
        let blocks = self.block_list.blocks.iter().zip(self.starts.windows(2));
        let ordinals = blocks.flat_map(|(block, words)| {
            let own = any[words[0]..words[1]].iter().enumerate();
            own.flat_map(|(index, word)| bitmap::ones(index, *word)).map(|at| block.ordinals[at])
        });
        ordinals.collect()
    }

    /// Returns where projects are, in the order of these ordinals.
    fn find(&self, ordinals: &[u64]) -> Vec<Match> {
        let mut found: Vec<Option<Match>> = ordinals.iter().map(|_| None).collect();
        for (block, projects) in self.block_list.blocks.iter().enumerate() {
            for (at, ordinal) in projects.ordinals.iter().enumerate() {
                if let Some(place) = ordinals.iter().position(|wanted| wanted == ordinal) {
                    found[place] = Some(Match { block, at, matches: 0 });
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    fn dimensions(&self, query: &TasteQuery<'_>) -> Vec<DimensionMatches> {
        let dimensions = query.dimensions.iter().zip(&self.matching);
        let matches = dimensions.map(|(query, bits)| DimensionMatches {
            dimension: query.dimension,
            words: query.words(),
            is_truncated: query.is_truncated,
            projects: bitmap::count(bits),
        });
        matches.collect()
    }

    /// Returns the first `limit` matches after a cursor. `requested` is the number of dimensions of the query.
    fn collect(&self, requested: usize, after: Option<&Cursor>, limit: usize) -> Vec<Match> {
        let mut found = Vec::with_capacity(limit);
        let max = self.max_matches(requested as u8);
        let from = after.map_or(max, |cursor| cursor.matches.min(max));
        for matches in (1..=from).rev() {
            let last = after.filter(|cursor| cursor.matches == matches).map(Cursor::sort_key);
            let (first, at) = self.block_list.first_after(last);
            for index in first..self.block_list.blocks.len() {
                let start = if index == first { at } else { 0 };
                self.collect_in(index, start, matches, limit, &mut found);
                if found.len() == limit {
                    return found;
                }
            }
        }
        found
    }

    /// Returns an upper bound of the number of dimensions that a project matches.
    fn max_matches(&self, requested: u8) -> u8 {
        let [_, twos, fours] = &self.digits;
        let is_empty = |bits: &[u64]| bits.iter().fold(0, |any, word| any | word) == 0;
        match (is_empty(fours), is_empty(twos)) {
            (false, _) => requested,
            (true, false) => requested.min(3),
            (true, true) => requested.min(1),
        }
    }

    fn collect_in(&self, block: usize, start: usize, matches: u8, limit: usize, found: &mut Vec<Match>) {
        let words = self.starts[block]..self.starts[block + 1];
        for (index, word) in words.enumerate().skip(start / 64) {
            let exactly = self.exactly(word, matches) & bitmap::mask_from(index, start);
            for at in bitmap::ones(index, exactly) {
                if found.len() == limit {
                    return;
                }
                found.push(Match { block, at, matches });
            }
        }
    }

    /// Returns the bits of the projects that match exactly `matches` dimensions, at least one.
    fn exactly(&self, word: usize, matches: u8) -> u64 {
        let digit = |at: usize| {
            let bits = self.digits[at][word];
            if matches >> at & 1 == 1 { bits } else { !bits }
        };
        digit(0) & digit(1) & digit(2)
    }

    fn hit(&self, query: &TasteQuery<'_>, found: &Match) -> Hit {
        let at = self.starts[found.block] * 64 + found.at;
        let dimensions = query.dimensions.iter().zip(&self.matching);
        let matched = dimensions.filter(|(_, bits)| bitmap::contains(bits, at));
        Hit {
            ordinal: self.block_list.blocks[found.block].ordinals[found.at],
            matched: matched.map(|(query, _)| query.dimension).collect(),
        }
    }
}

/// Clears the bits of projects that a set does not contain. Only matching projects are looked up.
fn retain_within(block_list: &BlockList, starts: &[usize], set: &OrdinalSet, bitmaps: &mut [Vec<u64>]) {
    for (block, &start) in block_list.blocks.iter().zip(starts) {
        for index in 0..bitmap::word_count(block.len()) {
            let any = bitmaps.iter().fold(0, |any, bits| any | bits[start + index]);
            let allowed = bitmap::ones(index, any).filter(|at| set.contains(block.ordinals[*at]));
            let allowed = allowed.fold(0, |bits, at| bits | 1 << (at % 64));
            bitmaps.iter_mut().for_each(|bits| bits[start + index] &= allowed);
        }
    }
}

/// Returns the bitmap of the projects that match one dimension, over all blocks.
fn matching(
    block_list: &BlockList,
    dictionary: &Dictionary,
    query: &DimensionQuery,
    category: Option<Category>,
) -> Vec<u64> {
    let words: usize = block_list.blocks.iter().map(|block| bitmap::word_count(block.len())).sum();
    let mut bits = vec![0; words];
    // An alternative with a word that is not used anywhere, or without words, matches nothing.
    let keys = |one: &Alternative| one.keys(query.dimension, dictionary);
    let mut alternatives: Vec<Vec<StemKey>> = query.alternatives.iter().filter_map(keys).collect();
    alternatives.retain(|keys| !keys.is_empty());
    let (mut whole, mut other) = (Vec::new(), Vec::new());
    let mut rest = bits.as_mut_slice();
    for block in &block_list.blocks {
        let (own, remaining) = rest.split_at_mut(bitmap::word_count(block.len()));
        rest = remaining;
        match alternatives.as_slice() {
            [alone] => add_alternative(block, alone, own, &mut other),
            several => {
                for keys in several {
                    whole.clear();
                    whole.resize(own.len(), 0);
                    add_alternative(block, keys, &mut whole, &mut other);
                    own.iter_mut().zip(&whole).for_each(|(own, whole)| *own |= whole);
                }
            }
        }
        if let Some(category) = category {
            bitmap::intersect(own, block.category_bits(category));
        }
    }
    bits
}

/// Sets the bits of the projects of a block that contain all stems; all bits are clear before. `other` is spare room.
fn add_alternative(block: &Block, keys: &[StemKey], bits: &mut [u64], other: &mut Vec<u64>) {
    let Some((first, others)) = keys.split_first() else { return };
    add_projects(block, *first, bits);
    for key in others {
        other.clear();
        other.resize(bits.len(), 0);
        add_projects(block, *key, other);
        bitmap::intersect(bits, other);
    }
}

/// Sets the bits of the projects of a block that contain a stem.
fn add_projects(block: &Block, key: StemKey, bits: &mut [u64]) {
    block.find(key).iter().for_each(|term| block.posting_list(*term).add_to(bits));
}

const _: () = assert!(Dimension::COUNT < 8, "three binary digits count to seven");

/// Returns how many of the bitmaps have each bit set, in three binary digits. Each bitmap has `words` words.
fn sum(bitmaps: &[Vec<u64>], words: usize) -> [Vec<u64>; 3] {
    let [mut ones, mut twos, mut fours] = [(); 3].map(|()| vec![0_u64; words]);
    for bits in bitmaps {
        let digits = ones.iter_mut().zip(&mut twos).zip(&mut fours);
        for (bits, ((one, two), four)) in bits.iter().zip(digits) {
            let carry = *one & bits;
            *one ^= bits;
            *four |= *two & carry;
            *two ^= carry;
        }
    }
    [ones, twos, fours]
}
