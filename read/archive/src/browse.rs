//! Pages of the newest projects, and one project at random.

use std::hash::Hasher;

use schemas::record::Category;

use super::MAX_PAGE_SIZE;
use super::blocks::bitmap;
use super::cursor::{Cursor, InvalidCursor, query_hash};
use super::newest::Entry;
use super::order::SortKey;
use super::snapshot::Snapshot;

/// A page of projects, the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestPage {
    /// The projects of this page by the positions of the events that selected them, in order.
    pub ordinals: Vec<u64>,
    /// The number of projects over all pages.
    pub total: u64,
    /// The cursor of the next page, if there is one.
    pub next: Option<Cursor>,
}

/// Returns a page of the newest projects.
pub(super) fn newest(
    snapshot: &Snapshot,
    category: Option<Category>,
    limit: usize,
    after: Option<Cursor>,
) -> Result<NewestPage, InvalidCursor> {
    // The number changes with the order: cursors of a former order are refused.
    let fingerprint = query_hash(b"newest 2", category).finish();
    let after = Cursor::check(after, fingerprint)?;
    let last = after.as_ref().map(Cursor::sort_key).map(|last| (last.day, last.ordinal));
    let limit = limit.clamp(1, MAX_PAGE_SIZE);
    let is_listed = |entry: &&Entry| category.is_none_or(|category| entry.category == category);
    let mut found: Vec<&Entry> = snapshot.newest.after(last).filter(is_listed).take(limit + 1).collect();
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found
        .last()
        .filter(|_| has_more)
        .map(|last| Cursor::new(fingerprint, 0, SortKey { day: last.day, slug: "", ordinal: last.ordinal }));
    let ordinals = found.iter().map(|entry| entry.ordinal).collect();
    Ok(NewestPage { ordinals, total: listed(snapshot, category), next })
}

/// Returns the number of listed projects, of one category or of all.
pub(super) fn listed(snapshot: &Snapshot, category: Option<Category>) -> u64 {
    snapshot.block_list.blocks.iter().map(|block| block.listed(category)).sum()
}

/// Returns the ordinal of the project to which `draw` maps; every project has an equal share of all 64-bit numbers.
pub(super) fn random(snapshot: &Snapshot, category: Option<Category>, draw: u64) -> Option<u64> {
    let listed = listed(snapshot, category);
    // The numbers are divided into one range per project; the lengths of the ranges differ by at most one.
    let mut left = ((u128::from(draw) * u128::from(listed)) >> 64) as u64;
    for block in &snapshot.block_list.blocks {
        let own = block.listed(category);
        if left >= own {
            left -= own;
            continue;
        }
        let Some(category) = category else { return block.ordinals.get(left as usize).copied() };
        let words = block.category_bits(category).iter().enumerate();
        let at = words.flat_map(|(index, word)| bitmap::ones(index, *word)).nth(left as usize)?;
        return block.ordinals.get(at).copied();
    }
    None
}
