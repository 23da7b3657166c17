//! The newest projects, and one by chance.

use schemas::record::Category;

use super::LARGEST_PAGE;
use super::bitmap;
use super::cursor::{Cursor, InvalidCursor};
use super::newest::Entry;
use super::order::Place;
use super::question::fingerprint_of_newest;
use super::snapshot::Snapshot;

/// Projects, the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestPage {
    /// The projects of this page by the positions of the events that selected them, in order.
    pub ordinals: Vec<u64>,
    /// How many there are over all pages.
    pub total: u64,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// The page of the newest after a cursor.
pub(super) fn newest(
    snapshot: &Snapshot,
    category: Option<Category>,
    limit: usize,
    after: Option<Cursor>,
) -> Result<NewestPage, InvalidCursor> {
    let fingerprint = fingerprint_of_newest(category);
    let after = Cursor::belonging_to(after, fingerprint)?;
    let place = after.as_ref().map(Cursor::place).map(|place| (place.day, place.ordinal));
    let limit = limit.clamp(1, LARGEST_PAGE);
    let is_wanted = |entry: &&Entry| category.is_none_or(|category| entry.category == category);
    let mut found: Vec<&Entry> = snapshot.newest.after(place).filter(is_wanted).take(limit + 1).collect();
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found
        .last()
        .filter(|_| has_more)
        .map(|last| Cursor::new(fingerprint, 0, Place { day: last.day, slug: "", ordinal: last.ordinal }));
    let ordinals = found.iter().map(|entry| entry.ordinal).collect();
    Ok(NewestPage { ordinals, total: listed(snapshot, category), next })
}

/// How many projects are listed.
pub(super) fn listed(snapshot: &Snapshot, category: Option<Category>) -> u64 {
    snapshot.shelf.blocks.iter().map(|block| block.listed(category)).sum()
}

/// The project that a number stands for which was drawn from all 64-bit numbers.
pub(super) fn random(snapshot: &Snapshot, category: Option<Category>, draw: u64) -> Option<u64> {
    let listed = listed(snapshot, category);
    // The numbers are cut into as many ranges as there are projects; their lengths differ by one at most.
    let mut left = ((u128::from(draw) * u128::from(listed)) >> 64) as u64;
    for block in &snapshot.shelf.blocks {
        let own = block.listed(category);
        if left >= own {
            left -= own;
            continue;
        }
        let Some(category) = category else { return block.ordinals().get(left as usize).copied() };
        let words = block.of_category(category).iter().enumerate();
        let at = words.flat_map(|(index, word)| bitmap::ones(index, *word)).nth(left as usize)?;
        return block.ordinals().get(at).copied();
    }
    None
}
