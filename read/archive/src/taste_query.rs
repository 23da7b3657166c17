//! Queries by taste: projects by the number of requested dimensions that they match.

mod match_counts;

use std::hash::Hasher;

use lexical::OrdinalSet;
use schemas::record::Category;
use schemas::taste::{Dimension, DimensionSet, Taste};

use super::MAX_PAGE_SIZE;
use super::browse::NewestPage;
use super::cursor::{Cursor, InvalidCursor, query_hash};
use super::dictionary::{Dictionary, StemKey, TermKind};
use super::snapshot::Snapshot;
use super::sorting::{self, Order, Selection};
use super::stemming::{WordStemmer, phrase_form};
use match_counts::MatchCounts;

/// The maximum number of words in a query of one dimension. Further words are ignored, which the answer says.
pub const MAX_QUERY_WORDS: usize = 16;

/// How many of the requested dimensions a project must match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchMode {
    /// At least one.
    #[default]
    Any,
    /// All of them.
    All,
}

impl MatchMode {
    /// The names, as requests contain them, the usual one first.
    pub const NAMES: [&str; 2] = ["any", "all"];

    /// Parses a name, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<MatchMode> {
        let all = MatchMode::NAMES.into_iter().zip([MatchMode::Any, MatchMode::All]);
        all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())).map(|(_, mode)| mode)
    }
}

/// A request for a page of projects by taste.
#[derive(Clone, Debug, Default)]
pub struct TasteRequest<'a> {
    /// The requested texts of each dimension, by [`Dimension::index`]; several are alternatives. Any text is valid; one without words
    /// matches nothing.
    pub taste: [Vec<&'a str>; Dimension::COUNT],
    /// How many of these dimensions a project must match.
    pub matching: MatchMode,
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
    /// The number of projects on all pages.
    pub total: u64,
    /// How many projects match exactly one dimension, two, and so on up to the number of requested ones, whether pages have them or not.
    pub by_matched: Vec<u64>,
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
    matching: MatchMode,
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
        let dimensions = dimensions.collect();
        let TasteRequest { matching, category, within, .. } = *request;
        TasteQuery { dimensions, matching, category, within }
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
        if self.matching == MatchMode::All {
            hash.write(&[3]);
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
    let mut found = counts.collect(after.as_ref(), limit + 1);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|last| {
        let key = snapshot.block_list.blocks[last.block].sort_key(last.at);
        Cursor::new(fingerprint, last.matches, key)
    });
    let hits = found.iter().map(|found| counts.hit(query, found)).collect();
    let by_matched = counts.by_matched();
    let (total, dimensions) = (counts.total(&by_matched), counts.dimensions(query));
    Ok(TastePage { hits, total, by_matched, next, dimensions })
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
    let (by_matched, dimensions) = (counts.by_matched(), counts.dimensions(query));
    Ok(TastePage { hits, total, by_matched, next, dimensions })
}

/// Returns the projects that match at least one dimension of a query, or all.
pub(super) fn matches(snapshot: &Snapshot, query: &TasteQuery<'_>) -> OrdinalSet {
    MatchCounts::of(snapshot, query).set()
}
