//! The words of a column's name.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words that say nothing about a column: articles, prepositions, and prefixes of vocabularies.
const NOISE: [&str; 32] = [
    "of", "de", "d", "du", "des", "der", "die", "das", "la", "le", "les", "l", "di", "del", "della", "dell",
    "van", "het", "the", "and", "et", "und", "y", "en", "e", "dcterms", "dc", "literal", "dell'", "acf",
    "wp", "da",
];

/// Words that are written together in names such as `creditline` and `objectid`.
const GLUED: [&str; 46] = [
    "attribution",
    "inverted",
    "object",
    "id",
    "number",
    "num",
    "credit",
    "line",
    "primary",
    "image",
    "url",
    "display",
    "name",
    "accession",
    "year",
    "date",
    "begin",
    "end",
    "thumbnail",
    "person",
    "title",
    "artist",
    "maker",
    "type",
    "text",
    "media",
    "web",
    "photo",
    "picture",
    "work",
    "project",
    "record",
    "item",
    "page",
    "link",
    "rights",
    "copyright",
    "acquired",
    "birth",
    "death",
    "start",
    "country",
    "city",
    "main",
    "short",
    "edm",
];

/// Returns a text in lower case and without accents.
pub(crate) fn folded(text: &str) -> String {
    let plain = text.nfd().filter(|character| !is_combining_mark(*character));
    let lower: String = plain.flat_map(char::to_lowercase).collect();
    lower.replace('ß', "ss").replace('ø', "o").replace('æ', "ae").replace('ł', "l")
}

/// Returns the words of a name, cut at case changes, signs and blanks. Each is in lower case and without accents; those that say nothing
/// are left out unless there are no others.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut cut = String::with_capacity(name.len());
    let mut previous = ' ';
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let begins = character.is_uppercase()
            && (previous.is_lowercase()
                || previous.is_uppercase() && characters.peek().is_some_and(|next| next.is_lowercase()));
        if begins {
            cut.push(' ');
        }
        if character == '©' {
            cut.push_str(" copyright ");
        } else {
            cut.push(if character.is_alphanumeric() { character } else { ' ' });
        }
        previous = character;
    }
    let all: Vec<String> = folded(&cut).split_whitespace().flat_map(unglued).collect();
    let telling: Vec<String> = all.iter().filter(|word| !NOISE.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// Returns the words of which a word is put together, or the word itself.
fn unglued(word: &str) -> Vec<String> {
    let parts = parts(word).filter(|parts| parts.len() > 1);
    parts.map_or_else(|| vec![word.to_owned()], |parts| parts.into_iter().map(str::to_owned).collect())
}

fn parts(word: &str) -> Option<Vec<&str>> {
    if word.is_empty() {
        return Some(Vec::new());
    }
    GLUED.iter().find_map(|known| {
        let rest = word.strip_prefix(known)?;
        let mut found = parts(rest)?;
        found.insert(0, &word[..known.len()]);
        Some(found)
    })
}

/// Returns how well a phrase names a column, from 0 to 60: exactly, with all its words, or with one word, which counts most at either
/// end. Parts of words never do.
pub(crate) fn likeness(words: &[String], phrase: &str) -> u32 {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    if words.iter().map(String::as_str).eq(wanted.iter().copied()) {
        return 60;
    }
    let at = words
        .windows(wanted.len())
        .position(|window| window.iter().map(String::as_str).eq(wanted.iter().copied()));
    match (at, wanted.len()) {
        (None, _) => 0,
        (Some(_), 2..) => 50,
        (Some(at), _) if at == 0 || at + 1 == words.len() => 35,
        (Some(_), _) => 20,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        for (name, expected) in [
            ("dcterms:title:literal", "title"),
            ("AccessionNumber", "accession number"),
            ("ConstituentID", "constituent id"),
            ("objectid", "object id"),
            ("creditline", "credit line"),
            ("primaryimageurl", "primary image url"),
            ("images[].b.url", "images b url"),
            ("Date de création", "date creation"),
            ("Künstler/in", "kunstler in"),
            ("N° d'inventaire", "n inventaire"),
            ("Photo ©", "photo copyright"),
            ("woe:country", "woe country"),
            ("URLImage", "url image"),
            ("of", "of"),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn whole_words_name_a_column_and_parts_of_words_never() {
        let score = |name, phrase| likeness(&words(name), phrase);
        assert_eq!(score("Object Date", "object date"), 60);
        assert_eq!(score("Object Date (text)", "object date"), 50);
        assert_eq!(score("Artist Display Name", "artist"), 35);
        assert_eq!(score("Main artist name", "artist"), 20);
        assert_eq!(score("Corporate", "co"), 0);
    }
}
