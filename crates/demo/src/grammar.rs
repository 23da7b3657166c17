//! The small grammar the catalog's texts are written in, and its parser.
//!
//! A text file holds pools; a pool is a heading `== name` and lines. A line is
//!
//! ```text
//! [brick !old] %3 The {hue} {material} was (laid|bonded) by {~mason}. ;; list=brickwork ;; +masonry
//! ```
//!
//! - `[…]` must hold for the line to be drawn: tags, `!` not, `a/b` either; all of them.
//! - `%3` makes the line three times as likely.
//! - `{slot}` is a fact of the record, drawn once from the pool of that name and then kept; `{slot.attribute}` reads an
//!   attribute of the line drawn for it; `{~pool}` draws afresh; `{a slot}` puts the article, `{t slot}` writes it as a title.
//! - `{#12-40}`, `{#120-400/5}` and `{w2-9}` are numbers, in steps, in words (from 1700 to 2030: years); `{year+2}` counts from the work's year.
//! - `(one|two)` is either. `;; name=…` is an attribute, `;; +tag` a tag the record has from then on.
//!
//! A line with a slot that has no value cannot be told, and another is drawn: so a text never names a city that is absent.

mod open;
mod parse;
pub(super) mod telling;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::slugs::Quick;

/// Names a slot: a pool, an attribute of a pool's line, or a fact given from outside.
pub(super) type Slot = u16;

/// A set of up to 320 tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TagSet([u64; 5]);

impl TagSet {
    pub(super) const CAPACITY: usize = 320;

    pub(super) fn insert(&mut self, tag: u16) {
        if let Some(word) = self.0.get_mut(usize::from(tag / 64)) {
            *word |= 1 << (tag % 64);
        }
    }

    pub(super) fn absorb(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// The tags that are in both sets, in their order.
    pub(super) fn shared(&self, other: &Self) -> impl Iterator<Item = u16> {
        let words = self.0.iter().zip(other.0).map(|(mine, theirs)| mine & theirs);
        words.zip(0u16..).flat_map(|(mut word, at)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.wrapping_sub(1);
                (bit < u64::BITS).then(|| at * 64 + bit as u16)
            })
        })
    }

    pub(super) fn contains(&self, tag: u16) -> bool {
        self.0.get(usize::from(tag / 64)).is_some_and(|word| word & (1 << (tag % 64)) != 0)
    }
}

/// One term of a condition: some tag of `any` is there (`wanted`), or none is.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    any: TagSet,
    wanted: bool,
}

/// How a slot is written into the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    article: bool,
    title: bool,
    fresh: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(&'static str),
    Slot { slot: Slot, manner: Manner },
    Number { low: i32, high: i32, step: i32, style: Figures },
    Year(i32),
    Either(Vec<Vec<Piece>>),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figures {
    Words,
    Grouped,
    /// A year: no comma.
    Year,
}

/// One line of a pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// A digest of the line as it stands in its file: the same in every run.
    key: u64,
    clauses: Vec<Clause>,
    pieces: Vec<Piece>,
    attributes: Vec<(Slot, Vec<Piece>)>,
    adds: TagSet,
}

/// The lines under one heading, with an index by the first tag they ask for: a pool of hundreds of lines, most of them for
/// one material or one kind of building each, is drawn from without trying them all.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    lines: Vec<Line>,
    general: Vec<u16>,
    /// The tags that some lines ask for first, and those lines, by tag.
    asked: TagSet,
    special: HashMap<u16, Vec<u16>, BuildHasherDefault<Quick>>,
}

/// A whole vocabulary, ready to be told from.
#[derive(Debug, Default)]
pub(super) struct Book {
    slots: HashMap<&'static str, Slot, BuildHasherDefault<Quick>>,
    tags: HashMap<&'static str, u16, BuildHasherDefault<Quick>>,
    /// By slot: the pool of that name, if there is one.
    pools: Vec<Option<Pool>>,
    /// By slot: for `material.hue` the slot of `material`.
    parents: Vec<Option<Slot>>,
    /// What is wrong with the text files, one sentence each. Empty in a book that may be used; a test holds it to that.
    faults: Vec<String>,
    /// Tags that some line of this book or the outside sets.
    set: Vec<&'static str>,
    /// Tags that lines ask for and no line of this book sets. Another category's may, where a text is shared.
    unset: Vec<&'static str>,
}

impl Book {
    /// The slot called `name`, if any text mentions it.
    pub(super) fn slot(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// The tag called `name`, if any text mentions it.
    pub(super) fn tag(&self, name: &str) -> Option<u16> {
        self.tags.get(name).copied()
    }

    #[cfg(test)]
    pub(super) fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Tags that are set, and tags that are only asked for.
    #[cfg(test)]
    pub(super) fn tags(&self) -> (&[&'static str], &[&'static str]) {
        (&self.set, &self.unset)
    }

    fn pool(&self, slot: Slot) -> Option<&Pool> {
        self.pools.get(usize::from(slot)).and_then(Option::as_ref)
    }

    fn parent(&self, slot: Slot) -> Option<Slot> {
        self.parents.get(usize::from(slot)).copied().flatten()
    }
}
