//! The slug, which names a project in URLs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text_form::string_wrapper;

/// The maximum length of a slug, in characters.
pub const MAX_SLUG_LENGTH: usize = 120;

/// A unique name of 1 to 120 characters of a-z, 0-9 and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(#[schemars(length(min = 1, max = 120), regex(pattern = r"^[a-z0-9-]+$"))] String);

/// Why a text is not a slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a slug is 1 to 120 characters of a-z, 0-9 and hyphens")]
pub struct InvalidSlug;

impl Slug {
    /// Derives a slug from a name: transliterated to ASCII, in lowercase, with hyphens between words, cut at the end of
    /// a word if it is too long. Returns `None` if nothing of the name is left.
    pub fn from_name(name: &str) -> Option<Slug> {
        let slug = words(name, MAX_SLUG_LENGTH);
        (!slug.is_empty()).then_some(Slug(slug))
    }

    /// Derives a slug from a name followed by further words, such as a studio and a year. A long name is cut so that
    /// the further words stay. Returns `None` if nothing is left of the name or of the words.
    pub fn from_name_and(name: &str, further: &[&str]) -> Option<Slug> {
        let further = words(&further.join(" "), MAX_SLUG_LENGTH / 2);
        let name = words(name, MAX_SLUG_LENGTH - 1 - further.len());
        (!name.is_empty() && !further.is_empty()).then(|| Slug(format!("{name}-{further}")))
    }
}

/// Returns the words of a text joined by hyphens, in at most `limit` characters.
fn words(text: &str, limit: usize) -> String {
    let mut slug = String::new();
    for word in deunicode::deunicode(text).replace('\'', "").split(|c: char| !c.is_ascii_alphanumeric()) {
        let separator = usize::from(!slug.is_empty());
        if word.is_empty() {
            continue;
        }
        if slug.len() + separator + word.len() > limit {
            if slug.is_empty() {
                slug.extend(word.chars().take(limit).map(|c| c.to_ascii_lowercase()));
            }
            break;
        }
        if separator == 1 {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

impl TryFrom<String> for Slug {
    type Error = InvalidSlug;

    fn try_from(text: String) -> Result<Self, InvalidSlug> {
        let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if (1..=MAX_SLUG_LENGTH).contains(&text.len()) && text.bytes().all(legal) {
            Ok(Slug(text))
        } else {
            Err(InvalidSlug)
        }
    }
}

string_wrapper!(Slug);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn made_from(name: &str) -> Option<String> {
        Slug::from_name(name).map(String::from)
    }

    #[test]
    fn a_slug_is_made_from_a_name() {
        assert_eq!(made_from("Haus am Zürichsee, 2nd stage").as_deref(), Some("haus-am-zurichsee-2nd-stage"));
        assert_eq!(made_from("Łódź  — O'Keeffe's Room").as_deref(), Some("lodz-okeeffes-room"));
        assert_eq!(made_from("東京の家").as_deref(), Some("dong-jing-nojia"));
        assert_eq!(made_from("  !!! "), None);
    }

    #[test]
    fn a_long_name_is_cut_at_a_words_end() {
        let slug = made_from(&"stone ".repeat(60)).unwrap();
        assert_eq!(slug, vec!["stone"; 20].join("-"));
        assert_eq!(made_from(&"x".repeat(500)).unwrap().len(), MAX_SLUG_LENGTH);
    }

    #[test]
    fn further_words_stay_if_the_name_is_cut() {
        let made = |name: &str, further: &[&str]| Slug::from_name_and(name, further).map(String::from);
        assert_eq!(made("Untitled", &["Åsa Öst", "1984"]).as_deref(), Some("untitled-asa-ost-1984"));
        assert_eq!(
            made(&"stone ".repeat(60), &["Nord"]).unwrap(),
            format!("{}-nord", vec!["stone"; 19].join("-"))
        );
        assert_eq!((made("?", &["Nord"]), made("Untitled", &["?"])), (None, None));
    }

    #[test]
    fn invalid_slugs_are_rejected() {
        for text in ["", "A", "a b", "a/b", "..", "ä", "a_b", "a\n", &"a".repeat(121)] {
            assert_eq!(text.parse::<Slug>(), Err(InvalidSlug), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_derived_slug_is_valid(name in any::<String>()) {
            if let Some(slug) = Slug::from_name(&name) {
                prop_assert_eq!(slug.as_str().parse::<Slug>(), Ok(slug.clone()));
            }
        }
    }
}
