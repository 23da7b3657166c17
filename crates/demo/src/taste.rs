//! The six taste dimensions of a work, from the facts its texts speak of.

use schemas::taste::Taste;

use super::grammar::telling::Telling;

/// Of a hundred dimensions, this many were not written down.
const MISSING: usize = 12;
/// Of a hundred that were, this many have a second phrase.
const SECOND: usize = 34;

/// One text a dimension, `None` where nothing was written down. The first phrase comes from the pool `taste_NAME`, a
/// second one from `also_NAME`.
pub(super) fn taste(telling: &mut Telling) -> Taste {
    Taste::from_fn(|dimension| {
        if telling.dice.chance(MISSING) {
            return None;
        }
        let mut text = String::with_capacity(40);
        telling.say(&format!("taste_{dimension}"), &mut text).then_some(())?;
        if telling.dice.chance(SECOND) {
            let alone = text.len();
            text.push_str(", ");
            let told = telling.say(&format!("also_{dimension}"), &mut text);
            let (one, more) = text.split_at(alone);
            let more = more.trim_start_matches(", ");
            if !told || one.contains(more) || more.contains(one) {
                text.truncate(alone);
            }
        }
        (!text.is_empty()).then_some(text)
    })
}
