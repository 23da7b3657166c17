//! The grammar of the catalog's texts: its types and the text format. `parse` reads it, `expansion` generates text.
//!
//! A text file holds rule sets; a rule set is a heading `== name` followed by rules, one per line. A rule is
//!
//! ```text
//! [brick !old] %3 The {hue} {material} was (laid|bonded) by {~mason}. ;; list=brickwork ;; +masonry
//! ```
//!
//! - `[…]`: conditions, which must all hold: a tag, `!` for its absence, `a/b` for one of several.
//! - `%3`: the weight; the rule is chosen three times as often.
//! - `{slot}`: a fact of the record, expanded once from the rule set of that name and then kept; `{slot.attribute}`: an attribute of
//!   the rule chosen for it; `{~name}`: a new expansion; `{a slot}`: with its article; `{t slot}`: in title case.
//! - `{#12-40}`, `{#120-400/5}`, `{w2-9}`: random numbers, with a step, in words (from 1700 to 2030: years); `{year+2}`: relative to the
//!   year of the work.
//! - `(one|two)`: a choice. `;; name=…`: an attribute. `;; +tag`: a tag that holds for the record from then on.
//!
//! A rule with a slot that has no value fails, and another is chosen: a text never names a city that the record lacks.

pub(super) mod expansion;
mod parse;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::slugs::FastHasher;

/// The number of a slot: a rule set, an attribute of a rule, or a fact set by the caller.
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

    pub(super) fn extend(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    pub(super) fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Returns the tags that are in both sets, in ascending order.
    pub(super) fn intersection(&self, other: &Self) -> impl Iterator<Item = u16> {
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

/// A condition of a rule: one of the tags `any` holds (`required`), or none does.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    any: TagSet,
    required: bool,
}

/// How the value of a slot is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotFormat {
    article: bool,
    title: bool,
    /// Expanded again instead of kept as a fact.
    fresh: bool,
}

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Segment {
    Text(&'static str),
    Slot {
        slot: Slot,
        format: SlotFormat,
    },
    Number {
        low: i32,
        high: i32,
        step: i32,
        format: NumberFormat,
    },
    /// The year of the work plus this offset.
    Year(i32),
    Choice(Vec<Vec<Segment>>),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberFormat {
    Words,
    /// Digits with thousands separators.
    Grouped,
    /// Digits without separators.
    Year,
}

/// One rule of a rule set.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// The digest of its source text, which is the same in every run.
    key: u64,
    conditions: Vec<Condition>,
    template: Vec<Segment>,
    attributes: Vec<(Slot, Vec<Segment>)>,
    /// The tags that hold once the rule was used.
    sets: TagSet,
}

/// The rules under one heading. They are indexed by the first tag that they require: of hundreds of rules, most are for one material
/// or one kind of building, and choosing one does not try them all.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSet {
    rules: Vec<Rule>,
    /// Rules without a required tag, each repeated by its weight.
    unconditional: Vec<u16>,
    /// The keys of `by_tag`.
    index_tags: TagSet,
    /// Rules by their first required tag, each repeated by its weight.
    by_tag: HashMap<u16, Vec<u16>, BuildHasherDefault<FastHasher>>,
}

impl RuleSet {
    /// Returns the rules that may apply while `tags` hold: those whose index tag holds, and those without one.
    pub(super) fn candidates(&self, tags: &TagSet) -> impl Iterator<Item = &[u16]> {
        let tagged = self.index_tags.intersection(tags).filter_map(|tag| self.by_tag.get(&tag));
        std::iter::once(&self.unconditional).chain(tagged).map(Vec::as_slice)
    }

    /// Returns the rule of candidate `at`, which is below the number of all.
    pub(super) fn candidate(&self, tags: &TagSet, at: usize) -> Option<&Rule> {
        let mut rest = at;
        for part in self.candidates(tags) {
            if let Some(rule) = part.get(rest) {
                return self.rules.get(usize::from(*rule));
            }
            rest -= part.len();
        }
        None
    }
}

/// All rule sets of one category.
#[derive(Debug, Default)]
pub(super) struct Grammar {
    slots: HashMap<&'static str, Slot, BuildHasherDefault<FastHasher>>,
    tags: HashMap<&'static str, u16, BuildHasherDefault<FastHasher>>,
    /// By slot: the rule set of that name, if there is one.
    rule_sets: Vec<Option<RuleSet>>,
    /// By slot: for `material.hue` the slot of `material`.
    parents: Vec<Option<Slot>>,
    /// Errors in the text files, one sentence each; a test checks that there are none.
    pub(super) faults: Vec<String>,
    /// Tags that a rule of this grammar or the caller sets.
    set: Vec<&'static str>,
    /// Tags that rules require and none of this grammar sets; in shared texts, another category may set them.
    unset: Vec<&'static str>,
}

impl Grammar {
    /// Returns the slot with this name, if any text mentions it.
    pub(super) fn slot(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// Returns the tag with this name, if any text mentions it.
    pub(super) fn tag(&self, name: &str) -> Option<u16> {
        self.tags.get(name).copied()
    }

    /// Returns the tags that are set, and those that are only required.
    #[cfg(test)]
    pub(super) fn tags(&self) -> (&[&'static str], &[&'static str]) {
        (&self.set, &self.unset)
    }

    fn rule_set(&self, slot: Slot) -> Option<&RuleSet> {
        self.rule_sets.get(usize::from(slot)).and_then(Option::as_ref)
    }

    fn parent(&self, slot: Slot) -> Option<Slot> {
        self.parents.get(usize::from(slot)).copied().flatten()
    }
}
