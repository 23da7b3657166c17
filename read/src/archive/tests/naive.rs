//! The archive as a list that is looked through from end to end: plain rules, nothing shared with the code under test.

use std::cmp::Reverse;

use proptest::prelude::*;

use super::*;

/// How words are written, and which of them mean the same. A text that holds `東京` holds its characters too.
pub(super) const WRITTEN: [(&str, &[u32]); 13] = [
    ("concrete", &[0]),
    ("Concretes", &[0]),
    ("béton", &[1]),
    ("BETON", &[1]),
    ("lights", &[2]),
    ("Lighting", &[2]),
    ("oak", &[3]),
    ("the", &[4]),
    ("京", &[5]),
    ("東京", &[6, 5, 7]),
    ("grey-green", &[8, 9]),
    ("green", &[9]),
    ("O'Keeffe", &[10, 11]),
];

/// What a text is made of, by index in [`WRITTEN`].
pub(super) type Text = Vec<usize>;

/// A project as an editor made it.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) ordinal: u64,
    pub(super) slug: String,
    pub(super) listed: bool,
    pub(super) facts: Facts,
    /// The day of its first event, of January 2020 or after it, as a number of days.
    pub(super) added: i32,
}

/// What its record says.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) category: Category,
    /// A day of January 2020.
    pub(super) day: Option<i32>,
    /// Likewise: when its curator selected it.
    pub(super) selected: Option<i32>,
    pub(super) taste: [Text; 6],
}

/// What an editor does with the project of a number, out of a dozen.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Record(u64, Facts),
    Rename(u64, u8),
    Withdraw(u64),
    Restore(u64),
}

/// A question by its parts.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) taste: [Option<Text>; 6],
    pub(super) category: Option<Category>,
}

/// The place of a hit: dimensions that match, the day with the unknown last, the slug.
pub(super) type Rank = (Reverse<usize>, Reverse<Option<i32>>, String);

#[derive(Debug, Default)]
pub(super) struct Naive {
    pub(super) projects: Vec<(u64, Made)>,
    position: u64,
}

impl Naive {
    /// What the act makes of the list, and the event that says so; none for a project that is not there.
    pub(super) fn act(&mut self, act: &Act) -> Option<Happened> {
        let (Act::Record(number, _) | Act::Rename(number, _) | Act::Withdraw(number) | Act::Restore(number)) =
            *act;
        let found = self.projects.iter_mut().find(|(known, _)| *known == number);
        let happened = match (found, act) {
            (None, Act::Record(_, facts)) => {
                let slug = format!("p{}-{number}", number % 3);
                let made = Made {
                    ordinal: self.position + 1,
                    slug: slug.clone(),
                    listed: true,
                    facts: facts.clone(),
                    added: (self.position as i32 + 1) / 3 + 1,
                };
                self.projects.push((number, made));
                selected(number, &slug, facts.record())
            }
            (None, _) => return None,
            (Some((_, made)), Act::Record(_, facts)) => {
                made.facts = facts.clone();
                revised(number, facts.record())
            }
            (Some((_, made)), Act::Rename(_, to)) => {
                made.slug = format!("q{to}-{number}");
                renamed(number, &made.slug)
            }
            (Some((_, made)), Act::Withdraw(_)) => {
                made.listed = false;
                withdrawn(number)
            }
            (Some((_, made)), Act::Restore(_)) => {
                made.listed = true;
                restored(number)
            }
        };
        self.position += 1;
        Some(happened)
    }

    pub(super) fn listed(&self, category: Option<Category>) -> impl Iterator<Item = &Made> {
        let all = self.projects.iter().map(|(_, made)| made).filter(|made| made.listed);
        all.filter(move |made| category.is_none_or(|category| category == made.facts.category))
    }

    /// All hits in order, with their places.
    pub(super) fn by_taste(&self, asked: &Asked) -> Vec<(Rank, Hit)> {
        let hit = |made: &Made| {
            let matched: Vec<Dimension> = Dimension::ALL
                .into_iter()
                .filter(|dimension| {
                    let at = *dimension as usize;
                    asked.taste[at].as_ref().is_some_and(|text| holds(&made.facts.taste[at], text))
                })
                .collect();
            let rank = (Reverse(matched.len()), Reverse(made.facts.day), made.slug.clone());
            (rank, Hit { ordinal: made.ordinal, matched: matched.into_iter().collect() })
        };
        let hits = self.listed(asked.category).map(hit);
        let mut hits: Vec<(Rank, Hit)> = hits.filter(|(_, hit)| !hit.matched.is_empty()).collect();
        hits.sort_by(|(a, _), (b, _)| a.cmp(b));
        hits
    }
}

/// Whether a text holds every word of another one that has any.
pub(super) fn holds(text: &Text, asked: &Text) -> bool {
    let held: Vec<u32> = text.iter().flat_map(|word| WRITTEN[*word].1).copied().collect();
    // The first meaning of a word is the word itself; `grey-green` is two.
    let demanded = |word: &usize| {
        let all = WRITTEN[*word].1;
        if WRITTEN[*word].0.contains('-') { all } else { &all[..1] }
    };
    !asked.is_empty() && asked.iter().flat_map(demanded).all(|meaning| held.contains(meaning))
}

impl Facts {
    fn record(&self) -> Record {
        let texts: Vec<(Dimension, String)> = Dimension::ALL
            .into_iter()
            .zip(&self.taste)
            .filter(|(_, text)| !text.is_empty())
            .map(|(dimension, text)| (dimension, written(text)))
            .collect();
        let texts: Vec<(Dimension, &str)> =
            texts.iter().map(|(dimension, text)| (*dimension, text.as_str())).collect();
        let day = |day: Option<i32>| day.map(|day| format!("2020-01-{day:02}"));
        let mut record = record(self.category, day(self.day).as_deref(), &texts);
        record.provenance.selected = day(self.selected).map(|day| day.parse().unwrap());
        record
    }
}

pub(super) fn written(text: &Text) -> String {
    text.iter().map(|word| WRITTEN[*word].0).collect::<Vec<_>>().join(", ")
}

fn text() -> impl Strategy<Value = Text> {
    proptest::collection::vec(0..WRITTEN.len(), 0..4)
}

fn category() -> impl Strategy<Value = Category> {
    prop_oneof![Just(Category::Art), Just(Category::Design), Just(Category::Interiors)]
}

pub(super) fn asked() -> impl Strategy<Value = Asked> {
    let taste = proptest::array::uniform6(proptest::option::of(text()));
    (taste, proptest::option::of(category())).prop_map(|(taste, category)| Asked { taste, category })
}

pub(super) fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
    let number = 0..60_u64;
    let days = (proptest::option::of(1..4), proptest::option::of(1..4));
    let facts = (category(), days, proptest::array::uniform6(text()))
        .prop_map(|(category, (day, selected), taste)| Facts { category, day, selected, taste });
    let act = prop_oneof![
        6 => (number.clone(), facts).prop_map(|(number, facts)| Act::Record(number, facts)),
        1 => (number.clone(), any::<u8>()).prop_map(|(number, to)| Act::Rename(number, to)),
        2 => number.clone().prop_map(Act::Withdraw),
        1 => number.prop_map(Act::Restore),
    ];
    proptest::collection::vec(act, 0..most)
}
