//! What an answer says of a relaxed search: the words that no project has, their replacements, and a query that finds more.

use read::search::{MAX_QUERY_WORDS, Relaxation, RelaxationKind, Replacement, SearchPage, Suggestion};
use serde::Serialize;

use super::json_writer::JsonWriter;
use super::quotation::unquoted;
use crate::error::ApiError;

/// The members of an answer whose results all match exactly.
const NOTHING: &[u8] =
    br#""approximate":false,"missing_words":[],"replaced":[],"did_you_mean":null,"note":null"#;

#[derive(Serialize)]
struct Replaced<'a> {
    from: &'a str,
    to: &'a str,
}

/// Writes the members that say how the query was relaxed.
pub fn write(
    json: &mut JsonWriter<'_>,
    relaxation: Option<&Relaxation>,
    note: Option<&str>,
) -> Result<(), ApiError> {
    let Some(relaxation) = relaxation else {
        match note {
            None => json.rendered(NOTHING),
            Some(_) => {
                json.rendered(NOTHING.strip_suffix(br#","note":null"#).unwrap_or(NOTHING));
                json.member("note", &note)?;
            }
        }
        return Ok(());
    };
    let replaced: Vec<Replaced<'_>> =
        relaxation.replacements.iter().map(|one| Replaced { from: &one.from, to: &one.to }).collect();
    json.member("approximate", &relaxation.is_approximate())?;
    json.member("missing_words", &relaxation.unknown_words)?;
    json.member("replaced", &replaced)?;
    json.member("did_you_mean", &relaxation.did_you_mean.as_ref().map(|suggestion| &suggestion.query))?;
    json.member("note", &note)
}

/// Returns the relaxation as sentences; `None` if every result has all words in some form.
pub fn note(page: &SearchPage) -> Option<String> {
    joined(page, page.relaxation().map(sentences).unwrap_or_default())
}

/// Returns the same without [`suggestion`], for pages, which link to it.
pub fn note_without_suggestion(page: &SearchPage) -> Option<String> {
    joined(page, page.relaxation().map(found).into_iter().collect())
}

/// Returns the same without saying that the filters exclude projects, for tools, which say what to leave out.
pub fn note_without_excluded(page: &SearchPage) -> Option<String> {
    let relaxation = page.relaxation().filter(|relaxation| relaxation.excluded == 0);
    joined(page, relaxation.map(sentences).unwrap_or_default())
}

/// Returns a query with more exact results, if there are few or none.
pub fn suggestion(page: &SearchPage) -> Option<&Suggestion> {
    page.relaxation().and_then(of_little)
}

fn joined(page: &SearchPage, mut sentences: Vec<String>) -> Option<String> {
    if page.is_truncated() {
        sentences.push(format!("Only the first {MAX_QUERY_WORDS} words were looked for."));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn of_little(relaxation: &Relaxation) -> Option<&Suggestion> {
    let is_little = matches!(relaxation.kind, RelaxationKind::Any | RelaxationKind::NoMatches);
    relaxation.did_you_mean.as_ref().filter(|_| is_little)
}

fn sentences(relaxation: &Relaxation) -> Vec<String> {
    std::iter::once(found(relaxation)).chain(of_little(relaxation).map(suggested)).collect()
}

/// Returns what was found, or that nothing was.
fn found(relaxation: &Relaxation) -> String {
    let Relaxation { kind, unknown_words, replacements, matched_words, unmatched_words, .. } = relaxation;
    match kind {
        RelaxationKind::Prefix => of_prefix(relaxation),
        RelaxationKind::Corrected => format!("Shown are projects with {}.", instead(replacements.iter())),
        RelaxationKind::Fuzzy if replacements.is_empty() => {
            "No project has these words as a phrase. Shown are projects that have them apart.".to_owned()
        }
        RelaxationKind::Fuzzy => format!(
            "No project has all of these words as they were typed. Shown are projects with {}.",
            instead(replacements.iter())
        ),
        RelaxationKind::Any => {
            let shown = if matched_words.is_empty() {
                "most of them".to_owned()
            } else {
                listed(matched_words.iter().map(String::as_str), "and")
            };
            let lacking = match unmatched_words.is_empty() {
                true => String::new(),
                false => {
                    format!(" None of them has {}.", listed(unmatched_words.iter().map(String::as_str), "or"))
                }
            };
            let instead = if replacements.is_empty() {
                String::new()
            } else {
                format!(" They have {}.", instead(replacements.iter()))
            };
            format!("No project has all of these words. Shown are projects with {shown}.{lacking}{instead}")
        }
        RelaxationKind::NoMatches if relaxation.excluded > 0 => {
            let projects = if relaxation.excluded == 1 { "project has" } else { "projects have" };
            format!(
                "None of the projects that the filters leave has all of these words; without filters {} {projects} them.",
                relaxation.excluded
            )
        }
        RelaxationKind::NoMatches if unknown_words.is_empty() => {
            "No project has all of these words, or enough of them.".to_owned()
        }
        RelaxationKind::NoMatches => {
            format!("No project has {}.", listed(unknown_words.iter().map(String::as_str), "or"))
        }
        RelaxationKind::NoWords => "The text has no word that could be looked for.".to_owned(),
    }
}

/// Returns what was found with a longer last word, with words joined, or apart.
fn of_prefix(relaxation: &Relaxation) -> String {
    let Relaxation { exact, replacements, .. } = relaxation;
    let (longer, others): (Vec<&Replacement>, Vec<&Replacement>) =
        replacements.iter().partition(|one| one.is_completion);
    let words = || listed(longer.iter().map(|one| one.to.as_str()), "or");
    if relaxation.ends_with_letter {
        return match longer.first() {
            Some(one) => {
                format!("Shown are projects in which {} begins a word: {}.", quoted(&one.from), words())
            }
            None => "Shown are projects in which the last letter begins a word.".to_owned(),
        };
    }
    let mut shown = Vec::new();
    if let Some(one) = longer.first() {
        shown.push(format!("projects in which {} begins a longer word: {}", quoted(&one.from), words()));
    }
    if !others.is_empty() {
        shown.push(format!("projects with {}", instead(others.into_iter())));
    }
    if shown.is_empty() {
        shown.push("projects in which the last word begins a longer one".to_owned());
    }
    let shown = shown.join(", and ");
    match exact {
        0 => format!("No project has all of these words. Shown are {shown}."),
        1 => format!("One project has all of these words. Shown are also {shown}."),
        exact => format!("{exact} projects have all of these words. Shown are also {shown}."),
    }
}

/// Returns, for example, `“museum” instead of “musuem”`.
fn instead<'r>(replacements: impl Iterator<Item = &'r Replacement>) -> String {
    let pairs: Vec<String> =
        replacements.map(|one| format!("{} instead of {}", quoted(&one.to), quoted(&one.from))).collect();
    pairs.join(", ")
}

fn suggested(suggestion: &Suggestion) -> String {
    let projects = if suggestion.total == 1 { "project" } else { "projects" };
    format!("Did you mean {}? It finds {} {projects}.", quoted(&suggestion.query), suggestion.total)
}

fn quoted(words: &str) -> String {
    format!("“{}”", unquoted(words))
}

/// Returns, for example, `“a”, “b” and “c”`.
fn listed<'w>(words: impl Iterator<Item = &'w str>, joined: &str) -> String {
    let quoted: Vec<String> = words.map(quoted).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} {joined} {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests;
