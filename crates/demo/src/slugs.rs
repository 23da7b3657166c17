//! Slugs and the uniqueness of slugs and names, at eight bytes a name.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::dice::mix;

/// The longest slug made from a name alone, in characters; what keeps it unique comes on top.
const LONGEST: usize = 72;

/// `text` in a-z, 0-9 and single hyphens. Letters without a Latin form are left out.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for letter in text.chars() {
        let plain = plain(letter);
        if plain.is_empty() {
            if !slug.is_empty() && !slug.ends_with('-') && letter != '\'' && letter != '’' {
                slug.push('-');
            }
        } else {
            slug.push_str(plain);
        }
    }
    if slug.len() > LONGEST {
        slug.truncate(slug.get(..LONGEST).and_then(|head| head.rfind('-')).unwrap_or(LONGEST));
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

const ASCII: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// The letter without its marks, or nothing for what is not a Latin letter or a digit.
fn plain(letter: char) -> &'static str {
    if letter.is_ascii() {
        let lower = letter.to_ascii_lowercase();
        return ASCII.find(lower).and_then(|at| ASCII.get(at..=at)).unwrap_or_default();
    }
    let lower = letter.to_lowercase().next().unwrap_or(letter);
    let marked = [
        ("a", "àáâãäåāăąạảấầẩẫậắằẳẵặ"),
        ("ae", "æ"),
        ("c", "çćčĉċ"),
        ("d", "ďđð"),
        ("e", "èéêëēĕėęěẹẻẽếềểễệ"),
        ("g", "ğģĝġ"),
        ("h", "ĥħ"),
        ("i", "ìíîïĩīĭįıịỉ"),
        ("j", "ĵ"),
        ("k", "ķ"),
        ("l", "ĺļľł"),
        ("n", "ñńņňŋ"),
        ("o", "òóôõöøōŏőơọỏốồổỗộớờởỡợ"),
        ("oe", "œ"),
        ("r", "ŕŗř"),
        ("s", "śŝşšș"),
        ("ss", "ß"),
        ("t", "ţťțŧ"),
        ("th", "þ"),
        ("u", "ùúûüũūŭůűųưụủứừửữự"),
        ("w", "ŵ"),
        ("y", "ýÿŷỳỵỷỹ"),
        ("z", "źżž"),
    ];
    marked.iter().find(|(_, letters)| letters.contains(lower)).map_or("", |(plain, _)| plain)
}

/// Hashes the catalog's own words and digests: quick, and no defence against chosen input, of which there is none here.
#[derive(Default)]
pub(super) struct Quick(u64);

impl Hasher for Quick {
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

/// Remembers texts by a 64-bit digest each: it may take a new text for a known one (which then only gets a longer slug or
/// another name), never a known one for new.
#[derive(Default)]
pub(super) struct Known(HashSet<u64, BuildHasherDefault<Quick>>);

impl Known {
    /// Remembers `parts` as one text; false when it was known.
    pub(super) fn add(&mut self, parts: &[&str]) -> bool {
        self.0.insert(digest(parts))
    }

    pub(super) fn holds(&self, parts: &[&str]) -> bool {
        self.0.contains(&digest(parts))
    }
}

/// A well mixed 64-bit digest of a sequence of texts.
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
        assert!(long.len() <= LONGEST && long.ends_with("very"), "{long}");
    }

    #[test]
    fn what_was_added_is_known() {
        let mut known = Known::default();
        assert!(known.add(&["Stair House", "Atelier"]));
        assert!(!known.add(&["Stair House", "Atelier"]));
        assert!(known.add(&["Stair Hous", "eAtelier"]), "parts are kept apart");
        assert!(known.holds(&["Stair House", "Atelier"]) && !known.holds(&["Atelier", "Stair House"]));
    }
}
