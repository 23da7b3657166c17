//! Projects by the beginning of their name, without a search: for suggestions while a name is typed.

use tantivy::DocId;

use crate::index::rows::NameRange;
use crate::index::segment::Segment;
use crate::index::snapshot::Snapshot;

/// What names are ordered by: whole words before a last word that goes on, then the shorter name, then the alphabet, then the
/// tie-breaker.
type Key<'s> = (bool, usize, &'s [u8], u64);

struct Named<'s> {
    key: Key<'s>,
    segment: &'s Segment,
    document: DocId,
}

/// Returns the summaries of at most `limit` live projects whose folded name begins with `typed`, and whose ordinal is shown. Only the
/// lengths of the other names are read.
pub(crate) fn summaries_by_beginning<'s>(
    snapshot: &'s Snapshot,
    typed: &str,
    limit: usize,
    is_shown: impl Fn(u64) -> bool,
) -> Vec<&'s [u8]> {
    let mut best: Vec<Named<'s>> = Vec::with_capacity(limit + 1);
    if typed.is_empty() || limit == 0 {
        return Vec::new();
    }
    for segment in &snapshot.segments {
        let names = segment.rows.names();
        let NameRange { whole, unfinished } = names.beginning_with(typed.as_bytes());
        for (is_unfinished, range) in [(false, whole), (true, unfinished)] {
            for rank in range {
                let name = names.name(rank);
                let is_late = best.len() == limit
                    && best.last().is_some_and(|last| (last.key.0, last.key.1) < (is_unfinished, name.len()));
                if is_late {
                    continue;
                }
                let document = names.document(rank);
                let key = (is_unfinished, name.len(), name, segment.rows.tie_breaker(document));
                let at = best.partition_point(|other| other.key < key);
                if at < limit && segment.is_live(document) && is_shown(segment.ordinal(document)) {
                    best.insert(at, Named { key, segment, document });
                    best.truncate(limit);
                }
            }
        }
    }
    best.iter().map(|named| named.segment.rows.summary(named.document)).collect()
}
