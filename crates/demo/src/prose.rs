//! The texts of a work: first sentences, paragraphs, details, a note, each drawn from the book of its category.

use std::sync::LazyLock;

use super::Category;
use super::grammar::Book;
use super::grammar::telling::Telling;
use super::places::{COUNTRIES, LIE};
use super::weariness::Weariness;
use super::wording;

/// Characters an intro may have.
pub(super) const INTRO: std::ops::RangeInclusive<usize> = 90..=260;
/// Characters a description may have.
pub(super) const DESCRIPTION: std::ops::RangeInclusive<usize> = 400..=1_400;

/// Facts that are set from outside the texts.
const GIVEN: [&str; 12] = [
    "it",
    "city",
    "country",
    "water",
    "citynative",
    "studio",
    "year",
    "decade",
    "sur",
    "person",
    "street",
    "hou",
];

/// Tags that are set from outside the texts, besides the lie of the land and the countries.
const TAGS: [&str; 15] = [
    "thisyear",
    "hascity",
    "water",
    "year",
    "recent",
    "old",
    "studio",
    "nocity",
    "noyear",
    "nostudio",
    "architecture",
    "interiors",
    "design",
    "photography",
    "art",
];

static BOOKS: LazyLock<[Book; 5]> = LazyLock::new(|| {
    let mut tags: Vec<&'static str> = TAGS.to_vec();
    tags.extend(LIE);
    tags.extend(COUNTRIES.iter().map(|country| country.code));
    Category::ALL.map(|category| Book::parse(sources(category), &GIVEN, &tags))
});

macro_rules! texts {
    ($($name:literal),*) => {
        &[
            include_str!("text/shared.txt"),
            include_str!("text/taste.txt"),
            include_str!("text/notes.txt"),
            include_str!("text/outlines.txt"),
            $(include_str!(concat!("text/", $name, ".txt"))),*
        ]
    };
}

fn sources(category: Category) -> &'static [&'static str] {
    match category {
        Category::Architecture => texts!(
            "places/toponyms",
            "architecture/details",
            "architecture/ideas",
            "architecture/kinds",
            "architecture/light",
            "architecture/making",
            "architecture/materials",
            "architecture/names",
            "architecture/opening",
            "architecture/record",
            "architecture/site"
        ),
        Category::Interiors => texts!(
            "places/toponyms",
            "interiors/details",
            "interiors/ideas",
            "interiors/kinds",
            "interiors/light",
            "interiors/making",
            "interiors/materials",
            "interiors/names",
            "interiors/opening",
            "interiors/record"
        ),
        Category::Design => texts!(
            "design/details",
            "design/ideas",
            "design/kinds",
            "design/light",
            "design/making",
            "design/materials",
            "design/names",
            "design/opening",
            "design/record",
            "design/words",
            "design/words2"
        ),
        Category::Photography => texts!(
            "places/toponyms",
            "photography/details",
            "photography/ideas",
            "photography/kinds",
            "photography/light",
            "photography/making",
            "photography/materials",
            "photography/names",
            "photography/opening",
            "photography/record"
        ),
        Category::Art => texts!(
            "places/toponyms",
            "art/details",
            "art/ideas",
            "art/kinds",
            "art/light",
            "art/making",
            "art/materials",
            "art/names",
            "art/opening",
            "art/record",
            "art/words"
        ),
    }
}

/// The book a work of `category` is told from.
pub(super) fn book(category: Category) -> &'static Book {
    &BOOKS[category as usize]
}

/// Facts that are drawn before the name, in this order, since later ones depend on them.
pub(super) fn settle(telling: &mut Telling) {
    for fact in ["palette", "kind", "idea", "material", "second", "light", "parti"] {
        telling.settle(fact);
    }
}

/// One or two sentences, no longer than [`INTRO`] allows.
pub(super) fn intro(telling: &mut Telling) -> Option<String> {
    let mut text = String::with_capacity(256);
    for _ in 0..16 {
        text.clear();
        if !telling.say("intro", &mut text) {
            return None;
        }
        if characters(&text) < *INTRO.start() {
            text.push(' ');
            telling.say("intro_tail", &mut text);
        }
        if INTRO.contains(&characters(&text)) {
            wording::capitalise(&mut text);
            return Some(text);
        }
    }
    None
}

/// What is said besides the outline when a description came out short.
const FILLING: [&str; 8] = ["detail", "making", "use", "detail", "closing", "making", "plan", "use"];

/// Two to four paragraphs, separated by an empty line.
pub(super) fn description(telling: &mut Telling, weariness: &mut Weariness) -> Option<String> {
    let outline = telling.fact("outline")?;
    let noun = format!("the {} ", telling.fact("noun")?);
    let text = String::with_capacity(900);
    let mut speaker = Speaker { telling, weariness, noun, text, paragraphs: 0, sentences: 0, subject: false };
    for roles in outline.split('|') {
        speaker.sentences = 0;
        roles.split_whitespace().for_each(|role| speaker.say(role));
    }
    for role in FILLING {
        if speaker.paragraphs >= 2 && characters(&speaker.text) >= *DESCRIPTION.start() {
            break;
        }
        if speaker.paragraphs < 2 || speaker.sentences >= 3 {
            speaker.sentences = 0;
        }
        speaker.say(role);
    }
    Some(speaker.text).filter(|text| DESCRIPTION.contains(&characters(text)))
}

/// Tells one sentence after the other, calling the work `it` only where the sentence before was about it.
struct Speaker<'a> {
    telling: &'a mut Telling,
    weariness: &'a mut Weariness,
    /// `the house `, with a blank behind.
    noun: String,
    text: String,
    paragraphs: usize,
    /// In the paragraph so far; at none, the next sentence begins a new one.
    sentences: usize,
    /// Whether the last sentence was about the work itself.
    subject: bool,
}

impl Speaker<'_> {
    fn say(&mut self, role: &str) {
        let (role, percent) = role.strip_suffix('?').map_or((role, 100), |role| (role, 50));
        if !self.telling.dice.chance(percent) {
            return;
        }
        let (before, opens) = (self.text.len(), self.sentences == 0);
        if self.subject && !opens {
            self.telling.give("it", Some("it"));
        } else {
            self.telling.give_own("it", self.noun.trim_end());
        }
        if before > 0 {
            self.text.push_str(if opens { "\n\n" } else { " " });
        }
        let from = self.text.len();
        let fresh = self.telling.say_fresh(role, &mut self.text, self.weariness);
        // What a thing is made of is always said: details and taste speak of it.
        if !(fresh || role == "say_material" && self.telling.say_anyway(role, &mut self.text)) {
            self.text.truncate(before);
            return;
        }
        let Some(sentence) = self.text.get_mut(from..) else { return };
        self.subject = sentence.starts_with("it ") || sentence.starts_with(&self.noun);
        wording::capitalise(sentence);
        self.paragraphs += usize::from(opens);
        self.sentences += 1;
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Label and value, the materials first, no label twice.
pub(super) fn details(telling: &mut Telling) -> Vec<(String, String)> {
    let wanted = 3 + telling.dice.below(4);
    let mut details: Vec<(String, String)> = Vec::with_capacity(wanted);
    for turn in 0..14 {
        if details.len() >= wanted {
            break;
        }
        let mut text = String::with_capacity(64);
        if !telling.say(if turn == 0 { "first_detail" } else { "details" }, &mut text) {
            continue;
        }
        let Some((label, value)) = text.split_once(" | ") else { continue };
        if details.iter().all(|(known, _)| known != label) {
            let mut value = value.to_owned();
            wording::capitalise(&mut value);
            text.truncate(label.len());
            details.push((text, value));
        }
    }
    details
}

/// A short line from the pool `name`, with a capital.
pub(super) fn line(telling: &mut Telling, name: &str) -> Option<String> {
    let mut text = String::with_capacity(64);
    telling.say(name, &mut text).then(|| {
        wording::capitalise(&mut text);
        text
    })
}
