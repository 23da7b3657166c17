//! Slugs, and sets of texts that take eight bytes per text.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use schemas::slug::Slug;

use super::rng::mix;

/// The longest slug of a name, in characters, before a suffix that makes it unique.
const MAX_LENGTH: usize = 72;

/// Converts a text to a-z, 0-9 and single hyphens. Letters without a Latin form are left out.
pub(super) fn slug(text: &str) -> String {
    // Latin letters with their diacritics come before these characters, other scripts after them.
    let latin: String = text.chars().map(|c| if c < '\u{2000}' || c == '’' { c } else { ' ' }).collect();
    let mut slug = Slug::from_name(&latin).map(String::from).unwrap_or_default();
    if slug.len() > MAX_LENGTH {
        slug.truncate(slug[..MAX_LENGTH].rfind('-').unwrap_or(MAX_LENGTH));
    }
    slug
}

/// A fast hasher for trusted keys; it has no protection against chosen input.
#[derive(Default)]
pub(super) struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.0 ^= self.0 >> 29;
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn write_u16(&mut self, number: u16) {
        self.0 = mix(u64::from(number) + 1);
    }
}

/// A set of 64-bit digests of texts. A collision makes a new text look known, which only leads to a longer slug or another name.
#[derive(Default)]
pub(super) struct TextSet(HashSet<u64, BuildHasherDefault<FastHasher>>);

impl TextSet {
    /// Inserts `parts` as one text; returns whether it is new.
    pub(super) fn insert(&mut self, parts: &[&str]) -> bool {
        self.0.insert(digest(parts))
    }

    pub(super) fn contains(&self, parts: &[&str]) -> bool {
        self.0.contains(&digest(parts))
    }
}

/// Returns a well-mixed 64-bit digest of a sequence of texts.
pub(super) fn digest(parts: &[&str]) -> u64 {
    let mut state = 0x6c6f_6767_6961;
    for part in parts {
        for chunk in part.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            state = mix(state ^ u64::from_le_bytes(word)).wrapping_add(chunk.len() as u64);
        }
        state = mix(state.wrapping_add(1));
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_plain_letters_and_hyphens() {
        let slugs = [
            "Gap House, Köie 19",
            "Dom na Skarpie: Łódź",
            "Weaver's Yard",
            "House of the Court 院宅",
            "Þing & Æsir — №",
            "  ",
        ]
        .map(slug);
        assert_eq!(
            slugs,
            [
                "gap-house-koie-19",
                "dom-na-skarpie-lodz",
                "weavers-yard",
                "house-of-the-court",
                "thing-aesir",
                ""
            ]
        );
        let long = slug(&"very ".repeat(40));
        assert!(long.len() <= MAX_LENGTH && long.ends_with("very"), "{long}");
    }

    #[test]
    fn inserted_texts_are_contained() {
        let mut set = TextSet::default();
        assert!(set.insert(&["Stair House", "Atelier"]));
        assert!(!set.insert(&["Stair House", "Atelier"]));
        assert!(set.insert(&["Stair Hous", "eAtelier"]), "boundaries of parts matter");
        assert!(set.contains(&["Stair House", "Atelier"]) && !set.contains(&["Atelier", "Stair House"]));
    }
}
