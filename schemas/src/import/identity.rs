//! Which record a line without a slug is, and the slugs that are made for it.

use unicode_normalization::UnicodeNormalization;

use crate::record::Record;
use crate::slug::Slug;

/// Where a line's slug comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlugOrigin {
    /// The line gives it.
    Given,
    /// It is made from the external id that the line gives.
    Id,
    /// It is made from the name; the line is identified by its [`Identity`].
    Name,
}

/// What identifies a record that brings neither slug nor id: name, studio, year and city, in any case, with or without
/// accents, however they are spaced.
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

/// Returns the slugs that a record without one may have, in the order in which they are tried: of its name, of name and
/// studio, of name, studio and year. Those that would say no more than the one before are left out.
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

/// Returns a slug that can be given to a record whose made slugs all belong to others. It has a checksum of the record, so
/// records of one name get different ones.
pub fn unused_slug(record: &Record) -> Option<Slug> {
    let mark = format!("{:08x}", crc32fast::hash(&serde_json::to_vec(record).ok()?));
    Slug::from_name_and(&record.name, &[&mark])
}

/// Returns an external id in the form in which ids are compared: case, accents and blanks do not tell them apart.
pub fn folded_id(id: &str) -> String {
    let mut folded = String::new();
    fold(id, &mut folded);
    folded
}

/// Appends a text in small letters, without the accents of Latin, Greek and Cyrillic letters, with single blanks.
fn fold(text: &str, into: &mut String) {
    let start = into.len();
    for word in text.split_whitespace() {
        if into.len() > start {
            into.push(' ');
        }
        if word.is_ascii() {
            into.extend(word.chars().map(|c| c.to_ascii_lowercase()));
        } else {
            // Marks of other scripts tell words apart, as those of Japanese kana do.
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
    fn case_accents_and_blanks_are_folded_and_nothing_else() {
        assert!(same("Haus  am Zürichsee", "HAUS AM ZURICHSEE"));
        assert!(same("Ζώνη", "ΖΩΝΗ"));
        for (one, other) in [("House K.", "House K"), ("山田邸", "杉田邸"), ("ガ", "カ"), ("Stair", "Stairs")]
        {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn each_of_the_four_members_tells_records_apart() {
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
