//! The six taste dimensions of a work, from the facts its texts speak of.

use super::grammar::telling::Telling;

/// The dimensions, in the order of the import record.
pub(super) const DIMENSIONS: [&str; 6] = ["material", "light", "color", "mood", "composition", "subject"];

/// For each dimension the pool of its phrase and that of a second one.
const POOLS: [(&str, &str); 6] = [
    ("taste_material", "also_material"),
    ("taste_light", "also_light"),
    ("taste_color", "also_color"),
    ("taste_mood", "also_mood"),
    ("taste_composition", "also_composition"),
    ("taste_subject", "also_subject"),
];

/// Of a hundred dimensions, this many were not written down.
const MISSING: usize = 12;
/// Of a hundred that were, this many have a second phrase.
const SECOND: usize = 34;

/// One text a dimension, `None` where nothing was written down.
pub(super) fn taste(telling: &mut Telling) -> [Option<String>; 6] {
    POOLS.map(|(first, second)| {
        if telling.dice.chance(MISSING) {
            return None;
        }
        let mut text = String::with_capacity(40);
        telling.say(first, &mut text).then_some(())?;
        if telling.dice.chance(SECOND) {
            let alone = text.len();
            text.push_str(", ");
            let told = telling.say(second, &mut text);
            let (one, more) = text.split_at(alone);
            let more = more.trim_start_matches(", ");
            if !told || one.contains(more) || more.contains(one) {
                text.truncate(alone);
            }
        }
        (!text.is_empty()).then_some(text)
    })
}
