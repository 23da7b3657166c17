//! The six taste dimensions of a work, from the same facts as its texts.

use schemas::taste::Taste;

use super::grammar::expansion::Expansion;

/// The percentage of dimensions that are missing.
const MISSING_PERCENT: usize = 12;
/// The percentage of the others that have a second phrase.
const SECOND_PERCENT: usize = 34;

/// Generates the text of each dimension: the first phrase by the rule set `taste_NAME`, a second one by `also_NAME`.
pub(super) fn taste(expansion: &mut Expansion) -> Taste {
    Taste::from_fn(|dimension| {
        if expansion.rng.chance(MISSING_PERCENT) {
            return None;
        }
        let mut text = String::with_capacity(40);
        expansion.expand(&format!("taste_{dimension}"), &mut text).then_some(())?;
        if expansion.rng.chance(SECOND_PERCENT) {
            let alone = text.len();
            text.push_str(", ");
            let has_second = expansion.expand(&format!("also_{dimension}"), &mut text);
            let (one, more) = text.split_at(alone);
            let more = more.trim_start_matches(", ");
            if !has_second || one.contains(more) || more.contains(one) {
                text.truncate(alone);
            }
        }
        (!text.is_empty()).then_some(text)
    })
}
