//! Pictures, details, and what is left out.

use std::collections::BTreeSet;

use crate::path::column_name;

use super::column::{Column, attachment, is_address, is_number, is_other_picture, is_picture};
use super::concepts::Concept;
use super::draft::{Draft, Line, Picture};
use super::members::Columns;
use super::scores::{Guess, SURE};

/// Words for the sizes of a picture, the best for a page first. Letters are those of services for pictures.
const SIZES: [&[&str]; 6] = [
    &["web", "large", "b", "big", "gross", "grande", "primary"],
    &["original", "full", "print", "z", "c", "k", "h", "o"],
    &["medium", "mittel", "n", "m", "preview"],
    &["small", "klein", "d", "thumb", "thumbnail", "s", "t"],
    &["square", "sq", "icon", "q", "tiny"],
    &["alternate", "screen", "zoom", "manifest"],
];

/// The longest text of a detail on average, in characters.
const MAX_DETAIL: f64 = 400.0;

impl Columns<'_> {
    /// Adds pictures and the texts about them.
    pub(crate) fn pictures(&self, draft: &mut Draft) {
        let mut found: Vec<(usize, &Guess)> = self.about(Concept::Picture);
        found.retain(|(number, _)| !draft.has(*number));
        let has_files = |number: usize| {
            self.columns[number]
                .share(|text| is_picture(text) || is_address(text) || attachment(text).is_some())
                > 0.3
        };
        if found.iter().any(|(number, _)| has_files(*number)) {
            found.retain(|(number, _)| has_files(*number));
        }
        found.sort_by_key(|(number, guess)| {
            (
                is_alternative(&self.columns[*number]),
                size(&self.columns[*number]),
                std::cmp::Reverse(guess.score()),
            )
        });
        let Some(&(first, _)) = found.first() else { return };
        let family = without_numbers(&self.columns[first]);
        for (number, guess) in found {
            let column = &self.columns[number];
            let is_another = number == first || without_numbers(column) == family || is_alternative(column);
            if !is_another {
                draft.ignore(
                    number,
                    format!("it is another size of the pictures of {}", self.columns[first].name),
                );
                continue;
            }
            let mut source = picture_source(Line::of("source", number, guess), column);
            let pattern = (!has_files(number) && !column.name.contains(['{', '}']))
                .then(|| format!("images/{{{}}}.jpg", column.name));
            if pattern.is_some() {
                source.score = source.score.min(60);
                source.reason = "it has keys of pictures; write the pattern of their files, or of their addresses such as https://…".into();
            }
            let mut picture = Picture { source, pattern, texts: Vec::new() };
            draft.notes.extend(self.locate(&mut picture));
            draft.pictures.push(picture);
        }
        self.texts_of_pictures(draft);
    }

    fn texts_of_pictures(&self, draft: &mut Draft) {
        let free = |concept| self.about(concept).into_iter().find(|(number, _)| !draft.has(*number));
        // Captions often name the photographer.
        let is_alt = |number: usize| {
            let words = &self.columns[number].words;
            words.iter().any(|word| word == "alt" || word.starts_with("altern") || word == "assistive")
        };
        let mut texts = self.about(Concept::PictureText);
        texts.retain(|(number, _)| !draft.has(*number));
        texts.sort_by_key(|(number, _)| !is_alt(*number));
        let alt = texts.first().copied().map(|(number, guess)| Line::of("alt", number, guess));
        let credit = free(Concept::Photographer).map(|(number, guess)| Line::of("credit", number, guess));
        let rights =
            self.about(Concept::Rights).into_iter().find(|(number, _)| is_of_photo(&self.columns[*number]));
        let rights = rights.map(|(number, guess)| Line::of("rights", number, guess));
        let kept: Vec<Line> = credit.iter().chain(&rights).cloned().collect();
        for line in kept {
            let key = label(&self.columns[line.columns[0]]);
            draft.details.push(Line { key, ..line });
        }
        for (index, picture) in draft.pictures.iter_mut().enumerate() {
            // A text that describes one picture is not said of others.
            picture.texts.extend(alt.clone().filter(|_| index == 0));
            picture.texts.extend(credit.iter().chain(&rights).cloned());
        }
    }

    /// Adds the details, in the order of the file, and what is left out with its reason.
    pub(crate) fn details(&self, draft: &mut Draft) {
        if let Some(line) = draft.member("category").cloned() {
            let key = category_label(&self.columns[line.columns[0]]);
            let keys = line.keys.into_iter().filter(|(key, _)| *key == "split").collect();
            draft.details.push(Line {
                key,
                keys,
                ..Line { columns: line.columns, ..line_about(line.score, line.reason) }
            });
        }
        self.rights(draft);
        for (number, guesses) in self.guesses.iter().enumerate() {
            if draft.has(number) {
                continue;
            }
            let column = &self.columns[number];
            let Some(guess) = guesses.first().filter(|guess| guess.score() >= super::scores::LIKELY) else {
                self.unnamed(draft, number);
                continue;
            };
            let labelled = match guess.concept {
                Concept::Accession if column.has_word(&["identifier"]) => Some("Identifier".to_owned()),
                Concept::Accession => Some("Accession number".to_owned()),
                Concept::Department => Some(named(column, &["department", "departments"], "Department")),
                Concept::Dimensions => Some(dimensions_label(column)),
                Concept::CreditLine => Some("Credit line".to_owned()),
                Concept::Photographer | Concept::PictureText => Some(label(column)),
                Concept::Detail => Some(label(column)),
                _ => None,
            };
            match (labelled, guess.concept) {
                (Some(label), _)
                    if draft.details.iter().any(|line| line.key == label)
                        || guess.score() < SURE && column.counts.len() < 2 && column.filled > 2 =>
                {
                    self.unnamed(draft, number);
                }
                (Some(label), _) => self.detail(draft, number, label, guess),
                (None, Concept::Private) => {
                    draft.private.push(number);
                    draft.ignore(number, "may be internal or personal");
                }
                (None, concept) => match why_left_out(concept) {
                    Some(_) if guess.is_certain => draft.ignore(number, guess.reason.clone()),
                    Some(reason) => draft.ignore(number, reason),
                    None => self.unnamed(draft, number),
                },
            }
        }
        let mut keys = BTreeSet::new();
        let (kept, repeated): (Vec<Line>, _) = std::mem::take(&mut draft.details)
            .into_iter()
            .partition(|line| keys.insert(column_name(&line.key)));
        draft.details = kept;
        for number in repeated.iter().flat_map(|line| line.columns.clone()) {
            draft.ignore(number, "there is a detail of this name already");
        }
        let order = |line: &Line| (line.key != "Date", line.columns.first().copied());
        draft.details.sort_by_key(order);
        self.credits(draft);
    }

    fn detail(&self, draft: &mut Draft, number: usize, key: String, guess: &Guess) {
        let column = &self.columns[number];
        let mut line = Line::of(key, number, guess).split_at_bars(self.columns);
        if column.texts().any(|text| text.contains("&amp;") || text.contains("&#") || text.contains("</")) {
            line = line.with("html", "true");
        }
        if column.is_list && column.texts().any(|text| text.contains(", ")) {
            line = line.with("join", "\"; \"");
        }
        draft.details.push(line);
    }

    /// Rights, of which a text and the address of a licence are one, and several texts stand for each other.
    fn rights(&self, draft: &mut Draft) {
        let mut found = self.about(Concept::Rights);
        found.retain(|(number, _)| !draft.has(*number));
        found.truncate(2);
        let Some(&(first, guess)) = found.first() else { return };
        let mut line = Line::of("Rights", first, guess);
        line.columns = found.iter().map(|(number, _)| *number).collect();
        if line.columns.len() > 1 {
            let addresses = line.columns.iter().any(|number| self.columns[*number].share(is_address) > 0.5);
            line.is_first_of = !addresses;
            line.columns
                .sort_unstable_by_key(|number| (self.columns[*number].share(is_address) > 0.5, *number));
            if addresses {
                line = line.with("join", "\", \"");
            }
        }
        draft.details.push(line);
    }

    /// Decides about a column whose name says nothing that is used: a detail if it is a text that differs between records.
    fn unnamed(&self, draft: &mut Draft, number: usize) {
        let column = &self.columns[number];
        let is_text = column.share(|text| is_number(text) || is_address(text)) < 0.5;
        let why = if column.filled == 0 {
            "it has no values"
        } else if column.counts.len() < 2 {
            "all its values are the same"
        } else if column.share(is_other_picture) > 0.5 {
            "it names pictures that browsers do not show"
        } else if !is_text {
            "it has numbers or addresses, and its name is not known"
        } else if column.average_length() > MAX_DETAIL {
            "its texts are too long for a detail"
        } else {
            let key = label(column);
            if draft.details.iter().any(|line| line.key == key) {
                return draft.ignore(number, format!("there is a detail {key} already"));
            }
            let reason = "its name is not known, and its texts differ between records".to_owned();
            draft.details.push(Line { key, columns: vec![number], ..line_about(50, reason) });
            return;
        };
        draft.ignore(number, why);
    }
}

fn line_about(score: u32, reason: String) -> Line {
    Line { score, reason, ..Line::default() }
}

fn why_left_out(concept: Concept) -> Option<&'static str> {
    match concept {
        Concept::AboutMaker | Concept::Qualifier => Some("it is about the maker, not about the work"),
        Concept::Range => Some("the years of a range; makers' working dates stand here too"),
        Concept::OtherPlace => Some("a place other than that where the work was made or stands"),
        Concept::Measure => Some("a measure; a text of the dimensions says it better"),
        Concept::OtherKey => Some("the key of something else"),
        Concept::Notes => Some("remarks of those who keep the records"),
        Concept::Technical => Some("about the system, not about the work"),
        Concept::Id => Some("another key"),
        Concept::Picture => Some("it has no pictures that can be shown"),
        Concept::Url => Some("another address"),
        _ => None,
    }
}

/// Returns how well a size suits a page, the best first.
fn size(column: &Column) -> usize {
    let rank = |word: &String| SIZES.iter().position(|words| words.contains(&word.as_str()));
    let known = column.words.iter().filter_map(rank).max();
    // One without a word for its size is between the large and the small ones.
    known.map_or(2, |rank| if rank < 2 { rank } else { rank + 1 })
}

fn is_alternative(column: &Column) -> bool {
    column.has_word(&["alt", "alternate", "additional", "weitere", "more", "gallery", "autres"])
}

fn without_numbers(column: &Column) -> Vec<&str> {
    let is_word = |word: &&str| !word.chars().all(|character| character.is_ascii_digit());
    let trimmed =
        column.words.iter().map(|word| word.trim_end_matches(|character: char| character.is_ascii_digit()));
    trimmed.filter(is_word).collect()
}

/// Adds how several pictures in a cell are told apart.
fn picture_source(line: Line, column: &Column) -> Line {
    if column.share(|text| attachment(text).is_some()) > 0.5 {
        return line.with("find", r"'\((https://[^)]+)\)'");
    }
    let line = if column.texts().any(|text| text.contains("%20")) && column.share(is_address) < 0.1 {
        line.with("decode", "true")
    } else {
        line
    };
    match picture_separator(column) {
        Some(separator) => line.with("split", format!("{separator:?}")),
        None => line,
    }
}

/// Returns what separates several pictures in a cell.
pub(crate) fn picture_separator(column: &Column) -> Option<&'static str> {
    let cuts = |separator: &str| {
        column.texts().any(|text| {
            let parts: Vec<&str> =
                text.split(separator).map(str::trim).filter(|part| !part.is_empty()).collect();
            parts.len() > 1 && parts.iter().all(|part| is_picture(part) || is_address(part))
        })
    };
    ["|", ";", ", ", ",", "\n"].into_iter().find(|separator| cuts(separator))
}

fn is_of_photo(column: &Column) -> bool {
    column.has_word(&["photo", "foto", "picture", "bild", "bildrechte"])
}

/// Returns the label of a column: its heading, or the last member of its path, in words.
pub(crate) fn label(column: &Column) -> String {
    let mut name = column.name.as_str();
    if name.contains(':') {
        let parts: Vec<&str> = name.split(':').collect();
        name = if parts.len() > 2 { parts[1] } else { parts.last().copied().unwrap_or(name) };
    }
    let is_path = !name.contains(' ') && !name.ends_with('.');
    if is_path {
        let leaf = name.rsplit('.').next().unwrap_or(name);
        name = if ["name", "title", "text", "value", "label", "url"].contains(&leaf) {
            name.strip_suffix(leaf).unwrap_or(name)
        } else {
            leaf
        };
    }
    // The vocabulary of a name such as `dcType` says nothing to readers.
    let bare = name.strip_prefix("dc").or_else(|| name.strip_prefix("edm"));
    let name = bare.filter(|bare| bare.starts_with(char::is_uppercase)).unwrap_or(name);
    let name = name.trim_end_matches(['.', '[', ']', '?']).replace(['_', '[', ']'], " ");
    let name = name.strip_suffix(" title").unwrap_or(&name).trim().replace(" m2", " (m²)");
    let name = name.strip_suffix(" on").unwrap_or(&name);
    let spaced = if name.contains(' ') { name.to_owned() } else { cut_at_cases(name) };
    let mut characters = spaced.chars();
    characters
        .next()
        .map_or_else(|| column.name.clone(), |first| first.to_uppercase().chain(characters).collect())
}

fn cut_at_cases(name: &str) -> String {
    let mut cut = String::new();
    let mut previous = ' ';
    for character in name.chars() {
        if character.is_uppercase() && previous.is_lowercase() {
            cut.push(' ');
            cut.extend(character.to_lowercase());
        } else {
            cut.push(character);
        }
        previous = character;
    }
    cut
}

fn category_label(column: &Column) -> String {
    // A heading for people is kept as it is; the name of a member is not one.
    let is_member = column.name.contains(['_', ':', '.']) || column.name.starts_with("dc");
    if is_member { named(column, &["type"], "Type") } else { label(column) }
}

fn named(column: &Column, words: &[&str], known: &str) -> String {
    if column.has_word(words) { known.to_owned() } else { label(column) }
}

fn dimensions_label(column: &Column) -> String {
    if column.has_word(&["format", "formato", "formaat"]) { label(column) } else { "Dimensions".to_owned() }
}
