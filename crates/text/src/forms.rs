//! Number forms of English words: the singular of a plural, and the plurals of a singular.
//!
//! A wider S-stemmer (Harman, "How effective is suffixing?", 1991): only plural endings are touched, and irregular words are listed,
//! so that no word is taken for another one (news, new; painting, paint). The relation is symmetric and never chained: `leaves` has
//! the forms `leaf` and `leave`, and `leaf` only `leaves`. It depends on the word alone, not on which words occur, so that a
//! project matches or not by its own text.

mod irregular;

use irregular::{GIVEN_NAMES, IRREGULAR_BY_PLURAL, IRREGULAR_BY_SINGULAR, NOT_FORMS};

use crate::is_stop_word;

/// The shortest word that takes or loses an s, in letters.
const MIN_LENGTH: usize = 3;

/// Returns the other number forms of a folded word, at most six, in a fixed order. None for a word with other characters than a to
/// z, for stop words, and for words and given names that an s makes another word. A form that is the irregular plural of another
/// word is none: `lives` is the plural of `life`, not of `live`.
///
/// ```
/// assert_eq!(text::forms("libraries"), ["library", "librarie"]);
/// assert_eq!(text::forms("wolf"), ["wolves", "wolfs"]);
/// assert!(text::forms("news").is_empty());
/// ```
pub fn forms(word: &str) -> Vec<String> {
    let is_name = is_name(word);
    all_forms(word, is_name, is_name)
}

/// Returns the other number forms of a folded word that was typed with an apostrophe and an s after it: given names have plurals too.
///
/// ```
/// assert_eq!(text::forms_of_owner("adam"), ["adams"]);
/// assert!(text::forms("adam").is_empty());
/// ```
pub fn forms_of_owner(word: &str) -> Vec<String> {
    all_forms(word, is_name(word), is_listed(&NOT_FORMS, word))
}

fn all_forms(word: &str, has_no_singular: bool, has_no_plural: bool) -> Vec<String> {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) || is_stop_word(word) {
        return Vec::new();
    }
    let mut forms = Vec::new();
    add_singulars(word, has_no_singular, &mut forms);
    add_plurals(word, has_no_plural, &mut forms);
    add_compounds(word, &mut forms);
    let mut distinct: Vec<String> = Vec::with_capacity(forms.len());
    for form in forms {
        let is_form = form != word && !is_stop_word(&form) && !is_plural_of_another(&form, word);
        if is_form && !distinct.contains(&form) {
            distinct.push(form);
        }
    }
    distinct
}

fn add_singulars(word: &str, has_no_singular: bool, forms: &mut Vec<String>) {
    if is_irregular_plural(word) {
        forms.extend(listed(&IRREGULAR_BY_PLURAL, word));
        return;
    }
    let is_plural = word.len() > MIN_LENGTH
        && word.ends_with('s')
        && !ends_with_any(word, &["ss", "us", "is", "xs", "zs", "shs"])
        && !ends_with_consonant_and(word, "ys");
    if !is_plural || has_no_singular {
        return;
    }
    let without = |letters: usize| word[..word.len() - letters].to_owned();
    if word.ends_with("ies") && word.len() > 4 {
        forms.extend(ends_with_consonant_and(word, "ies").then(|| without(3) + "y"));
        forms.push(without(1));
    } else if ends_with_any(word, &["ches", "shes", "sses", "xes", "zes"]) {
        forms.extend([without(2), without(1)]);
    } else {
        forms.push(without(1));
    }
    forms.retain(|form| form.len() >= MIN_LENGTH);
}

fn add_plurals(word: &str, has_no_plural: bool, forms: &mut Vec<String>) {
    let with = |ending: &str| format!("{word}{ending}");
    if is_irregular_plural(word) {
        // The possessive of an irregular plural without its apostrophe: womens.
        if !ends_with_any(word, &["s", "x", "i", "y"]) {
            forms.push(with("s"));
        }
        return;
    }
    forms.extend(listed(&IRREGULAR_BY_SINGULAR, word));
    let ends_in_one_s = word.ends_with('s') && !word.ends_with("ss");
    if word.len() < MIN_LENGTH || has_no_plural || ends_in_one_s || ends_with_any(word, &["i", "u"]) {
        return;
    }
    if ends_with_consonant_and(word, "y") {
        forms.push(format!("{}ies", &word[..word.len() - 1]));
    } else if ends_with_any(word, &["ss", "x", "sh", "z"]) {
        forms.push(with("es"));
    } else if word.ends_with("ch") {
        forms.extend([with("es"), with("s")]);
    } else {
        forms.push(with("s"));
    }
}

/// Adds the other number of compounds of man and child.
fn add_compounds(word: &str, forms: &mut Vec<String>) {
    let without = |letters: usize| &word[..word.len() - letters];
    if word.len() > 5 && word.ends_with("man") {
        forms.push(format!("{}en", without(2)));
    } else if word.len() > 5 && word.ends_with("men") {
        forms.push(format!("{}an", without(2)));
    } else if word.len() > 7 && word.ends_with("child") {
        forms.push(format!("{word}ren"));
    } else if word.len() > 10 && word.ends_with("children") {
        forms.push(without(3).to_owned());
    }
}

/// Returns whether an s makes the word another one, or is not the ending of a plural.
fn is_name(word: &str) -> bool {
    is_listed(&NOT_FORMS, word)
        || is_listed(&GIVEN_NAMES, word)
        || word.strip_suffix('s').is_some_and(|name| is_listed(&GIVEN_NAMES, name))
}

/// Returns whether the form, a plural of the word, is listed as that of other words only.
fn is_plural_of_another(form: &str, word: &str) -> bool {
    form.len() > word.len()
        && is_irregular_plural(form)
        && !listed(&IRREGULAR_BY_PLURAL, form).any(|singular| singular == word)
}

fn is_listed(words: &[&str], word: &str) -> bool {
    words.binary_search(&word).is_ok()
}

fn is_irregular_plural(word: &str) -> bool {
    IRREGULAR_BY_PLURAL.binary_search_by(|(plural, _)| (*plural).cmp(word)).is_ok()
}

/// Returns what a table that is sorted by its first words has for a word.
fn listed(table: &'static [(&str, &str)], word: &str) -> impl Iterator<Item = String> {
    let first = table.partition_point(|(other, _)| *other < word);
    let count = table[first..].iter().take_while(|(other, _)| *other == word).count();
    table[first..first + count].iter().map(|(_, form)| (*form).to_owned())
}

fn ends_with_any(word: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| word.ends_with(ending))
}

/// Returns whether the word ends with this after a consonant; `qu` is one.
fn ends_with_consonant_and(word: &str, ending: &str) -> bool {
    let Some(start) = word.strip_suffix(ending) else { return false };
    let is_consonant = start.bytes().last().is_some_and(|letter| !b"aeiou".contains(&letter));
    is_consonant || start.ends_with("qu")
}

#[cfg(test)]
mod tests;
