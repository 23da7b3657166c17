//! The texts of a work: intro, description, details, taste and short phrases, from the grammar of its category.

use std::sync::LazyLock;

use schemas::record::Category;
use schemas::taste::Taste;

use super::grammar::Grammar;
use super::grammar::expansion::Expansion;
use super::places::{COUNTRIES, TERRAIN};
use super::repetition::RepetitionLimiter;
use super::wording;

/// The length of an intro, in characters.
pub(super) const INTRO: std::ops::RangeInclusive<usize> = 90..=260;
/// The length of a description, in characters.
pub(super) const DESCRIPTION: std::ops::RangeInclusive<usize> = 400..=1_400;

/// The percentage of taste dimensions that are missing.
const MISSING_TASTE_PERCENT: usize = 12;
/// The percentage of the others that have a second phrase.
const SECOND_TASTE_PERCENT: usize = 34;

/// Facts that the caller sets.
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

/// Tags that the caller sets, besides terrain and country codes.
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

static GRAMMARS: LazyLock<[Grammar; 5]> = LazyLock::new(|| {
    let mut tags: Vec<&'static str> = TAGS.to_vec();
    tags.extend(TERRAIN);
    tags.extend(COUNTRIES.iter().map(|country| country.code));
    Category::ALL.map(|category| Grammar::parse(sources(category), &GIVEN, &tags))
});

/// The texts of a category, between those of further files.
macro_rules! texts {
    ([$($before:literal),*] $category:literal [$($after:literal),*]) => {
        &[
            include_str!("text/shared.txt"),
            include_str!("text/taste.txt"),
            include_str!("text/notes.txt"),
            include_str!("text/outlines.txt"),
            $(include_str!(concat!("text/", $before, ".txt")),)*
            include_str!(concat!("text/", $category, "/details.txt")),
            include_str!(concat!("text/", $category, "/ideas.txt")),
            include_str!(concat!("text/", $category, "/kinds.txt")),
            include_str!(concat!("text/", $category, "/light.txt")),
            include_str!(concat!("text/", $category, "/making.txt")),
            include_str!(concat!("text/", $category, "/materials.txt")),
            include_str!(concat!("text/", $category, "/names.txt")),
            include_str!(concat!("text/", $category, "/opening.txt")),
            include_str!(concat!("text/", $category, "/record.txt")),
            $(include_str!(concat!("text/", $after, ".txt"))),*
        ]
    };
}

fn sources(category: Category) -> &'static [&'static str] {
    match category {
        Category::Architecture => texts!(["places/toponyms"] "architecture" ["architecture/site"]),
        Category::Interiors => texts!(["places/toponyms"] "interiors" []),
        Category::Design => texts!([] "design" ["design/words", "design/words2"]),
        Category::Photography => texts!(["places/toponyms"] "photography" []),
        Category::Art => texts!(["places/toponyms"] "art" ["art/words"]),
    }
}

/// Returns the grammar of a category.
pub(super) fn grammar(category: Category) -> &'static Grammar {
    &GRAMMARS[category as usize]
}

/// Draws facts before the name, in this order: later ones depend on the tags of earlier ones.
pub(super) fn draw_first_facts(expansion: &mut Expansion) {
    for fact in ["palette", "kind", "idea", "material", "second", "light", "parti"] {
        expansion.draw_fact(fact);
    }
}

/// Generates one or two sentences of a length in [`INTRO`].
pub(super) fn intro(expansion: &mut Expansion) -> Option<String> {
    let mut text = String::with_capacity(256);
    for _ in 0..16 {
        text.clear();
        if !expansion.expand("intro", &mut text) {
            return None;
        }
        if characters(&text) < *INTRO.start() {
            text.push(' ');
            expansion.expand("intro_tail", &mut text);
        }
        if INTRO.contains(&characters(&text)) {
            wording::capitalise(&mut text);
            return Some(text);
        }
    }
    None
}

/// The roles of further sentences when a description is too short.
const FILLER_ROLES: [&str; 8] = ["detail", "making", "use", "detail", "closing", "making", "plan", "use"];

/// Generates two to four paragraphs, separated by an empty line.
pub(super) fn description(expansion: &mut Expansion, limiter: &mut RepetitionLimiter) -> Option<String> {
    let outline = expansion.fact("outline")?;
    let noun = format!("the {} ", expansion.fact("noun")?);
    let text = String::with_capacity(900);
    let mut writer =
        DescriptionWriter { expansion, limiter, noun, text, paragraphs: 0, sentences: 0, subject: false };
    for roles in outline.split('|') {
        writer.sentences = 0;
        roles.split_whitespace().for_each(|role| writer.write(role));
    }
    for role in FILLER_ROLES {
        if writer.paragraphs >= 2 && characters(&writer.text) >= *DESCRIPTION.start() {
            break;
        }
        if writer.paragraphs < 2 || writer.sentences >= 3 {
            writer.sentences = 0;
        }
        writer.write(role);
    }
    Some(writer.text).filter(|text| DESCRIPTION.contains(&characters(text)))
}

/// Appends sentence after sentence; the work is `it` only if the previous sentence had it as subject.
struct DescriptionWriter<'a> {
    expansion: &'a mut Expansion,
    limiter: &'a mut RepetitionLimiter,
    /// The noun with its article and a space, for example `the house `.
    noun: String,
    text: String,
    paragraphs: usize,
    /// Sentences in the current paragraph; at 0, the next one starts a new paragraph.
    sentences: usize,
    /// Whether the subject of the last sentence is the work.
    subject: bool,
}

impl DescriptionWriter<'_> {
    /// Appends a sentence of the rule set `role`, if a rule applies; with a trailing `?` in half of the cases.
    fn write(&mut self, role: &str) {
        let (role, percent) = role.strip_suffix('?').map_or((role, 100), |role| (role, 50));
        if !self.expansion.rng.chance(percent) {
            return;
        }
        let (before, opens) = (self.text.len(), self.sentences == 0);
        if self.subject && !opens {
            self.expansion.set_fact("it", Some("it"));
        } else {
            self.expansion.set_generated("it", Some(self.noun.trim_end()));
        }
        if before > 0 {
            self.text.push_str(if opens { "\n\n" } else { " " });
        }
        let from = self.text.len();
        let written = self.expansion.expand_limited(role, &mut self.text, self.limiter);
        // The material is always named: details and taste refer to it.
        if !(written || role == "say_material" && self.expansion.expand_any(role, &mut self.text)) {
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

/// Generates pairs of label and value: the materials first, no label twice.
pub(super) fn details(expansion: &mut Expansion) -> Vec<(String, String)> {
    let count = 3 + expansion.rng.below(4);
    let mut details: Vec<(String, String)> = Vec::with_capacity(count);
    for turn in 0..14 {
        if details.len() >= count {
            break;
        }
        let mut text = String::with_capacity(64);
        if !expansion.expand(if turn == 0 { "first_detail" } else { "details" }, &mut text) {
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

/// Generates the text of each dimension: the first phrase by the rule set `taste_NAME`, a second one by `also_NAME`.
pub(super) fn taste(expansion: &mut Expansion) -> Taste {
    Taste::from_fn(|dimension| {
        if expansion.rng.chance(MISSING_TASTE_PERCENT) {
            return None;
        }
        let mut text = String::with_capacity(40);
        expansion.expand(&format!("taste_{dimension}"), &mut text).then_some(())?;
        if expansion.rng.chance(SECOND_TASTE_PERCENT) {
            let alone = text.len();
            text.push_str(", ");
            let has_second = expansion.expand(&format!("also_{dimension}"), &mut text);
            let (one, more) = text.split_at(alone);
            let more = more.trim_start_matches(", ");
            if !has_second || one.contains(more) || more.contains(one) {
                text.truncate(alone);
            }
        }
        (!text.is_empty()).then_some(text)
    })
}

/// Generates a short phrase of the rule set `name`, with a capital.
pub(super) fn phrase(expansion: &mut Expansion, name: &str) -> Option<String> {
    let mut text = String::with_capacity(64);
    expansion.expand(name, &mut text).then(|| {
        wording::capitalise(&mut text);
        text
    })
}
