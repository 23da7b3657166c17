//! All words as they stand, and the phrases that they form.

use super::super::postings::{Holders, Probe, each_held_by_all};
use super::super::query::{MOST_WORDS, Query};
use super::super::segment::Segment;
use super::super::snapshot::{Damping, Snapshot, saturated};
use super::phrases::Phrases;
use super::{Collect, Filter, Found, Outlet, each_block};

/// Collects every document that holds all words and phrases of the query, scored by these measures: the damping by length, and
/// the rarity of each word.
pub(crate) fn match_exactly(
    snapshot: &Snapshot,
    query: &Query,
    category: Option<&str>,
    (damping, rarities): (&Damping, &[f32]),
    collector: &mut impl Collect,
) -> tantivy::Result<()> {
    for (ordinal, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, category) else { continue };
        let Some(words) = holders_of(segment, &query.words) else { continue };
        match words.as_slice() {
            [] => {}
            [only] if query.phrases.is_empty() => {
                match_one(damping, filter, ordinal, *only, rarities[0], collector);
            }
            several => {
                let mut outlet = Outlet::new(segment, ordinal, collector);
                match_several((damping, rarities), filter, several, query, &mut outlet)?;
                outlet.flush();
            }
        }
    }
    Ok(())
}

/// The holders of each word, unless the segment lacks one of them.
fn holders_of<'s>(segment: &'s Segment, words: &[String]) -> Option<Vec<Holders<'s>>> {
    words.iter().map(|word| segment.find(word)).collect()
}

fn match_one(
    damping: &Damping,
    filter: Filter<'_>,
    ordinal: usize,
    word: Holders<'_>,
    rarity: f32,
    collector: &mut impl Collect,
) {
    let segment = filter.segment;
    if filter.passes_all() {
        return each_block(damping, segment, word, rarity, |documents, scores| {
            collector.collect(Found { segment, ordinal: ordinal as u32, documents, scores });
        });
    }
    let mut outlet = Outlet::new(segment, ordinal, collector);
    each_block(damping, segment, word, rarity, |documents, scores| {
        for (&document, &score) in documents.iter().zip(scores.iter()) {
            if filter.passes(document) {
                outlet.push(document, score);
            }
        }
    });
    outlet.flush();
}

fn match_several(
    (damping, rarities): (&Damping, &[f32]),
    filter: Filter<'_>,
    words: &[Holders<'_>],
    query: &Query,
    outlet: &mut Outlet<'_, impl Collect>,
) -> tantivy::Result<()> {
    let segment = filter.segment;
    // The rarest word leads, the others are asked whether they hold what it holds.
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by_key(|&word| words[word].documents.len());
    let Some((&first, rest)) = order.split_first() else { return Ok(()) };
    let mut phrases = Phrases::open(segment, &query.words, &query.phrases)?;
    let mut take = |document, frequencies: &[u32; MOST_WORDS]| {
        if filter.passes(document) && phrases.hold_in(document) {
            let damping = damping[segment.length(document)];
            let parts = frequencies.iter().zip(rarities).take(words.len());
            let score = parts.fold(0.0, |score, (&frequency, rarity)| {
                score + rarity * saturated(frequency as f32, damping)
            });
            outlet.push(document, score);
        }
    };
    let mut frequencies = [0; MOST_WORDS];
    let mut probes: Vec<Probe<'_>> = words.iter().map(|word| word.probe()).collect();
    let found = each_held_by_all(words, |document| {
        for (frequency, probe) in frequencies.iter_mut().zip(&mut probes) {
            *frequency = probe.frequency(document).unwrap_or_default();
        }
        take(document, &frequencies);
    });
    if found {
        return Ok(());
    }
    'documents: for (&document, &frequency) in words[first].documents.iter().zip(words[first].frequencies) {
        if !rest.iter().all(|&word| words[word].may_hold(document)) {
            continue;
        }
        frequencies[first] = u32::from(frequency);
        for &word in rest {
            match probes[word].frequency(document) {
                Some(frequency) => frequencies[word] = frequency,
                None => continue 'documents,
            }
        }
        take(document, &frequencies);
    }
    Ok(())
}
