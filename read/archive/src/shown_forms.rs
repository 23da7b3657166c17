//! The form in which facets show each stem.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use schemas::taste::Dimension;
use text::{fold, is_stop_word};

use super::blocks::Block;
use super::dictionary::{Dictionary, StemKey, TermKind};

/// Not looked for yet.
const UNKNOWN: u32 = 0;
/// A stop word, which is not shown.
const HIDDEN: u32 = 1;
/// What is added to the number of a form.
const FIRST: u32 = 2;

/// For each dimension the form of each stem in one snapshot, looked for when its count is first compared with others: that takes a
/// search in every block, and the frequent words are in nearly every answer.
#[derive(Debug, Default)]
pub(super) struct ShownForms([OnceLock<Box<[AtomicU32]>>; Dimension::COUNT]);

impl ShownForms {
    /// Returns the form that is shown of a stem in a dimension; `None` for a stop word. The blocks and their dictionary are the same at
    /// each call.
    pub(super) fn get<'d>(
        &self,
        (blocks, dictionary): (&[Arc<Block>], &'d Dictionary),
        dimension: Dimension,
        stem: u32,
    ) -> Option<&'d str> {
        let forms = self.0[dimension.index()]
            .get_or_init(|| (0..dictionary.stems()).map(|_| AtomicU32::new(UNKNOWN)).collect());
        // Whoever looks for a form finds the same: nothing else depends on the order of reads and writes.
        let place = &forms[stem as usize];
        let mut known = place.load(Ordering::Relaxed);
        if known == UNKNOWN {
            let key = StemKey::new(TermKind::Word, dimension, stem);
            known = shown_form(blocks, dictionary, key).map_or(HIDDEN, |form| form + FIRST);
            place.store(known, Ordering::Relaxed);
        }
        known.checked_sub(FIRST).map(|form| dictionary.form(form))
    }

    /// Returns the approximate memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().filter_map(OnceLock::get).map(|forms| size_of_val(&**forms)).sum()
    }
}

/// Returns the form of a stem that most projects of the archive have, of several the first in alphabetical order; `None` if it is a stop
/// word.
fn shown_form(blocks: &[Arc<Block>], dictionary: &Dictionary, key: StemKey) -> Option<u32> {
    let mut forms: Vec<(u32, u32)> = Vec::new();
    for term in blocks.iter().flat_map(|block| block.find(key)) {
        match forms.iter_mut().find(|(form, _)| *form == term.form) {
            Some((_, count)) => *count += term.count,
            None => forms.push((term.form, term.count)),
        }
    }
    let best = forms.iter().max_by_key(|(form, count)| (*count, Reverse(dictionary.form(*form))));
    best.map(|(form, _)| *form).filter(|form| !is_stop_word(&fold(dictionary.form(*form))))
}
