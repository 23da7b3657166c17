//! Identifies the project of a line without a slug, and derives slugs for such lines.

use unicode_normalization::UnicodeNormalization;

use crate::record::Record;
use crate::slug::Slug;

/// What the slug of a line was derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlugOrigin {
    /// The line gives the slug.
    Given,
    /// The slug is derived from the external id of the line.
    Id,
    /// The slug is derived from the name; the line is identified by its [`Identity`].
    Name,
}

/// The identity of a record with neither slug nor id: name, studio, year and city, compared without case, accents and
/// repeated white space.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity(String);

impl Identity {
    /// Returns the identity of a record.
    pub fn of(record: &Record) -> Identity {
        let mut identity = String::new();
        fold(&record.name, &mut identity);
        for part in [record.studio.as_deref(), record.city.as_deref()] {
            identity.push('\u{1f}');
            fold(part.unwrap_or_default(), &mut identity);
        }
        identity.push('\u{1f}');
        if let Some(year) = record.year {
            identity.push_str(&year.to_string());
        }
        Identity(identity)
    }
}

/// Returns whether two names are the same without case, accents and repeated white space.
pub fn is_same_name(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|name| {
        let mut folded = String::new();
        fold(name, &mut folded);
        folded
    });
    one == other
}

/// Returns the candidate slugs of a record without one, in the order in which they are tried: from the name; name and
/// studio; name, studio and year. Duplicates are left out.
pub fn made_slugs(record: &Record) -> Vec<Slug> {
    let mut slugs: Vec<Slug> = Slug::from_name(&record.name).into_iter().collect();
    let studio = record.studio.as_deref();
    let year = record.year.map(|year| year.to_string());
    let mut further = Vec::new();
    for word in [studio, year.as_deref()].into_iter().flatten() {
        further.push(word);
        slugs.extend(Slug::from_name_and(&record.name, &further).filter(|slug| !slugs.contains(slug)));
    }
    slugs
}

/// Returns a slug for a record whose candidate slugs all belong to other projects. It ends with a checksum of the
/// record, so records of the same name get different slugs.
pub fn unused_slug(record: &Record) -> Option<Slug> {
    let mark = format!("{:08x}", crc32fast::hash(&serde_json::to_vec(record).ok()?));
    Slug::from_name_and(&record.name, &[&mark])
}

/// Appends a text in lowercase, with single spaces and without the accents of Latin, Greek and Cyrillic letters.
fn fold(text: &str, into: &mut String) {
    let start = into.len();
    for word in text.split_whitespace() {
        if into.len() > start {
            into.push(' ');
        }
        if word.is_ascii() {
            into.extend(word.chars().map(|c| c.to_ascii_lowercase()));
        } else {
            // In other scripts, such as Japanese kana, marks distinguish words.
            let is_accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
            into.extend(word.chars().flat_map(char::to_lowercase).nfd().filter(|c| !is_accent(c)).nfc());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_line;
    use super::*;

    fn record(text: &str) -> Record {
        parse_line(text, false).unwrap().record
    }

    fn same(one: &str, other: &str) -> bool {
        let with = |name: &str| record(&format!(r#"{{"name":"{name}","category":"art"}}"#));
        Identity::of(&with(one)) == Identity::of(&with(other))
    }

    #[test]
    fn only_case_accents_and_white_space_are_folded() {
        assert!(same("Haus  am Zürichsee", "HAUS AM ZURICHSEE"));
        assert!(same("Ζώνη", "ΖΩΝΗ"));
        for (one, other) in [("House K.", "House K"), ("山田邸", "杉田邸"), ("ガ", "カ"), ("Stair", "Stairs")]
        {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn each_of_the_four_fields_distinguishes_records() {
        let full = |name: &str, studio: &str, year: &str, city: &str| {
            let text = format!(
                r#"{{"name":"{name}","studio":"{studio}","year":"{year}","city":"{city}","category":"art"}}"#
            );
            Identity::of(&record(&text))
        };
        let first = full("A", "B", "1999", "C");
        assert_eq!(first, full("a", "b", "1999", "c"));
        for other in [
            full("X", "B", "1999", "C"),
            full("A", "X", "1999", "C"),
            full("A", "B", "2000", "C"),
            full("A", "B", "1999", "X"),
            full("A", "C", "1999", "B"),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn slugs_are_made_from_the_name_then_with_studio_then_with_year() {
        let made = |text: &str| made_slugs(&record(text)).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            made(r#"{"name":"Untitled","studio":"Ada","year":1999,"city":"Ulm","category":"art"}"#),
            ["untitled", "untitled-ada", "untitled-ada-1999"]
        );
        assert_eq!(
            made(r#"{"name":"Untitled","year":1999,"category":"art"}"#),
            ["untitled", "untitled-1999"]
        );
        assert_eq!(made(r#"{"name":"Untitled","studio":"?","category":"art"}"#), ["untitled"]);
        let slug = unused_slug(&record(r#"{"name":"Untitled","category":"art"}"#)).unwrap();
        assert_eq!((slug.as_str().len(), &slug.as_str()[..9]), (17, "untitled-"));
    }
}
