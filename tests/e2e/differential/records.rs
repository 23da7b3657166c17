//! Records of words with known folded forms, and a scan over them as the model of search.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A reproducible random number generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn roll(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// Words as recorded, as people may type them, and as both are folded.
type Word = (&'static str, &'static str, &'static str);

const WORDS: &[Word] = &[
    ("stone", "STONE", "stone"),
    ("Glass", "glass", "glass"),
    ("light", "Light", "light"),
    ("lighthouse", "lighthouse", "lighthouse"),
    ("villa", "villa", "villa"),
    ("tower", "Tower", "tower"),
    ("towers", "towers", "towers"),
    ("garden", "garden", "garden"),
    ("gardener", "gardener", "gardener"),
    ("Zürich", "zurich", "zurich"),
    ("Łódź", "Lodz", "lodz"),
    ("São", "sao", "sao"),
    ("Paulo", "paulo", "paulo"),
    ("O’Keeffe", "o'keeffe", "okeeffe"),
    ("museum", "museum", "museum"),
    ("museums", "Museums", "museums"),
    ("house", "house", "house"),
    ("houses", "houses", "houses"),
    ("horse", "horse", "horse"),
    ("concrete", "concrete", "concrete"),
    ("brick", "brick", "brick"),
    ("timber", "timber", "timber"),
    ("1939", "1939", "1939"),
    ("1938", "1938", "1938"),
    ("café", "CAFE", "cafe"),
    ("of", "of", "of"),
    ("the", "the", "the"),
    ("Århus", "arhus", "arhus"),
    ("ﬁlm", "film", "film"),
    ("Ｗide", "wide", "wide"),
    ("naïve", "naive", "naive"),
    ("Dvořák", "dvorak", "dvorak"),
];

const CATEGORIES: [&str; 3] = ["architecture", "design", "art"];

/// The records, and the folded words of each.
pub(super) struct Records {
    pub(super) lines: Vec<Value>,
    words: Vec<BTreeSet<&'static str>>,
    /// The folded name of each.
    names: Vec<String>,
}

/// A query and its meaning.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) category: Option<&'static str>,
    words: Vec<String>,
}

impl Records {
    /// Generates records of random words.
    pub(super) fn generate(size: usize, seed: u64) -> Records {
        let mut random = Random::new(seed);
        let (mut lines, mut words, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..size {
            let mut found = BTreeSet::new();
            let mut folded = String::new();
            let mut text = |least: usize, most: usize| {
                let chosen: Vec<Word> =
                    (0..least + random.roll(most)).map(|_| WORDS[random.roll(WORDS.len())]).collect();
                found.extend(chosen.iter().map(|word| word.2));
                if least == 1 {
                    folded = chosen.iter().map(|word| word.2).collect::<Vec<_>>().join(" ");
                }
                chosen.iter().map(|word| word.0).collect::<Vec<_>>().join(" ")
            };
            let (name, studio, city, intro) = (text(1, 4), text(0, 3), text(0, 2), text(0, 12));
            let category = CATEGORIES[random.roll(CATEGORIES.len())];
            found.insert(category);
            let mut line = json!({"slug": format!("record-{number}"), "name": name, "category": category});
            for (member, text) in [("studio", studio), ("city", city), ("intro", intro)] {
                if !text.is_empty() {
                    line[member] = json!(text);
                }
            }
            if random.roll(4) > 0 {
                line["published"] = json!(format!("20{:02}-0{}-15", 10 + random.roll(9), 1 + random.roll(9)));
            }
            lines.push(line);
            words.push(found);
            names.push(folded);
        }
        Records { lines, words, names }
    }

    /// Gives each record a taste of a few words.
    pub(super) fn give_taste(&mut self) {
        for (number, line) in self.lines.iter_mut().enumerate() {
            let material = ["oak", "larch", "oak and brick"][number % 3];
            let mood = ["calm", "bright"][number % 2];
            line["taste"] = json!({"material": material, "mood": mood});
        }
    }

    /// Returns one to three words as people type them, sometimes with the last one cut short or with a category.
    pub(super) fn query(&self, random: &mut Random) -> Query {
        let chosen: Vec<Word> = (0..=random.roll(3)).map(|_| WORDS[random.roll(WORDS.len())]).collect();
        let mut typed: Vec<String> = chosen.iter().map(|word| word.1.to_owned()).collect();
        let mut words: Vec<String> = chosen.iter().map(|word| word.2.to_owned()).collect();
        let last = words.last_mut().unwrap();
        if random.roll(3) == 0 && last.len() > 4 {
            last.truncate(4);
            *typed.last_mut().unwrap() = last.clone();
        }
        let category = (random.roll(4) == 0).then(|| CATEGORIES[random.roll(CATEGORIES.len())]);
        Query { text: typed.join(" "), category, words }
    }

    /// Returns the projects that contain every word in some form.
    pub(super) fn full(&self, query: &Query) -> BTreeSet<String> {
        self.matching(query, &query.required(), has_form)
    }

    /// Returns the projects that contain every word in some form, but for two neighbours that they have joined; the last word may be a
    /// prefix.
    pub(super) fn joined(&self, query: &Query) -> BTreeSet<String> {
        let required = query.required();
        let pairs = (1..query.words.len()).map(|second| [&query.words[second - 1], &query.words[second]]);
        let pairs = pairs.filter(|pair| pair.iter().all(|word| required.contains(*word)));
        let with_pair = pairs.map(|pair| {
            let others = required.iter().filter(|word| !pair.contains(word)).cloned();
            let words: Vec<String> = others.chain([pair.map(String::as_str).concat()]).collect();
            self.matching(query, &words, |found, word| query.has_or_begins(found, word))
        });
        with_pair.flatten().collect()
    }

    /// Returns the projects whose name begins with the query and goes on with its last word.
    pub(super) fn begun(&self, query: &Query) -> BTreeSet<String> {
        // A single word with enough full matches is taken as a whole one.
        if query.words.iter().collect::<BTreeSet<_>>().len() == 1 {
            return BTreeSet::new();
        }
        let typed = query.words.join(" ");
        let begins = |name: &String| {
            name.strip_prefix(&typed).is_some_and(|rest| !rest.is_empty() && !rest.starts_with(' '))
        };
        let records = self.lines.iter().zip(&self.names);
        let of_category =
            records.filter(|(line, _)| query.category.is_none_or(|category| line["category"] == category));
        let begun = of_category.filter(|(_, name)| begins(name));
        begun.map(|(line, _)| line["slug"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the projects that contain every word, where the last may be a prefix.
    pub(super) fn with_longer_last_word(&self, query: &Query) -> BTreeSet<String> {
        self.matching(query, &query.required(), |found, word| query.has_or_begins(found, word))
    }

    fn matching(
        &self,
        query: &Query,
        words: &[String],
        contains: impl Fn(&BTreeSet<&str>, &str) -> bool,
    ) -> BTreeSet<String> {
        let records = self.lines.iter().zip(&self.words);
        let records =
            records.filter(|(line, _)| query.category.is_none_or(|category| line["category"] == category));
        let matching = records.filter(|(_, found)| words.iter().all(|word| contains(found, word)));
        matching.map(|(line, _)| line["slug"].as_str().unwrap().to_owned()).collect()
    }
}

impl Query {
    /// Returns the words that restrict the results: all but of and the, unless there are no others.
    fn required(&self) -> Vec<String> {
        let required = self.words.iter().filter(|word| !["of", "the"].contains(&word.as_str()));
        let required: Vec<String> = required.cloned().collect();
        if required.is_empty() { self.words.clone() } else { required }
    }

    /// Returns whether a word is among others in some form, or begins one of them if it is the last: that may be unfinished, unless it
    /// was typed before.
    fn has_or_begins(&self, found: &BTreeSet<&str>, word: &str) -> bool {
        let is_unfinished =
            self.words.split_last().is_some_and(|(last, before)| *last == word && !before.contains(last));
        has_form(found, word) || is_unfinished && found.iter().any(|found| found.starts_with(word))
    }
}

/// Returns whether a word is among others, or its other number, which here is always with an s or without.
fn has_form(found: &BTreeSet<&str>, word: &str) -> bool {
    let is_plural = |plural: &str, singular: &str| {
        singular.len() > 2 && !singular.ends_with('s') && plural.strip_suffix('s') == Some(singular)
    };
    found.iter().any(|other| *other == word || is_plural(other, word) || is_plural(word, other))
}

pub(super) fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
