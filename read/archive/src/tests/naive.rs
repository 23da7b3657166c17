//! A reference implementation: a list that is scanned, which shares nothing with the code under test.

use std::cmp::Reverse;

use proptest::prelude::*;

use super::*;

/// Words and their meanings; two words with a common meaning match. `東京` also contains its characters.
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

/// The words of a text, as indices in [`WRITTEN`].
pub(super) type Text = Vec<usize>;

/// The state of a project.
#[derive(Debug, Clone)]
pub(super) struct Project {
    pub(super) ordinal: u64,
    pub(super) slug: String,
    pub(super) listed: bool,
    pub(super) facts: Facts,
    /// The day of its first event, as the number of days since 2019-12-31.
    pub(super) added: i32,
}

/// The record of a project.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) category: Category,
    /// The day of publication in January 2020.
    pub(super) day: Option<i32>,
    /// The day of selection by the curator in January 2020.
    pub(super) selected: Option<i32>,
    pub(super) taste: [Text; 6],
}

/// A change of the project with a number.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Record(u64, Facts),
    Rename(u64, u8),
    Withdraw(u64),
    Restore(u64),
}

/// A query by its parts.
#[derive(Debug, Clone)]
pub(super) struct Query {
    /// The alternatives in each dimension.
    pub(super) taste: [Vec<Text>; 6],
    pub(super) matching: MatchMode,
    pub(super) category: Option<Category>,
}

/// What a hit is ordered by: the number of matching dimensions, the day with unrecorded ones last, the slug.
pub(super) type Rank = (Reverse<usize>, Reverse<Option<i32>>, String);

#[derive(Debug, Default)]
pub(super) struct Naive {
    pub(super) projects: Vec<(u64, Project)>,
    position: u64,
}

impl Naive {
    /// Applies a change and returns its event; `None` for a project that does not exist.
    pub(super) fn apply(&mut self, change: &Change) -> Option<NumberedEvent> {
        let (Change::Record(number, _)
        | Change::Rename(number, _)
        | Change::Withdraw(number)
        | Change::Restore(number)) = *change;
        let found = self.projects.iter_mut().find(|(known, _)| *known == number);
        let happened = match (found, change) {
            (None, Change::Record(_, facts)) => {
                let slug = format!("p{}-{number}", number % 3);
                let project = Project {
                    ordinal: self.position + 1,
                    slug: slug.clone(),
                    listed: true,
                    facts: facts.clone(),
                    added: (self.position as i32 + 1) / 3 + 1,
                };
                self.projects.push((number, project));
                selected(number, &slug, facts.record())
            }
            (None, _) => return None,
            (Some((_, project)), Change::Record(_, facts)) => {
                project.facts = facts.clone();
                revised(number, facts.record())
            }
            (Some((_, project)), Change::Rename(_, to)) => {
                project.slug = format!("q{to}-{number}");
                renamed(number, &project.slug)
            }
            (Some((_, project)), Change::Withdraw(_)) => {
                project.listed = false;
                withdrawn(number)
            }
            (Some((_, project)), Change::Restore(_)) => {
                project.listed = true;
                restored(number)
            }
        };
        self.position += 1;
        Some(happened)
    }

    pub(super) fn listed(&self, category: Option<Category>) -> impl Iterator<Item = &Project> {
        let all = self.projects.iter().map(|(_, project)| project).filter(|project| project.listed);
        all.filter(move |project| category.is_none_or(|category| category == project.facts.category))
    }

    /// Returns all hits in order, and how many projects match one dimension, two, and so on.
    pub(super) fn by_taste(&self, query: &Query) -> (Vec<(Rank, Hit)>, Vec<u64>) {
        let hit = |project: &Project| {
            let matched: Vec<Dimension> = Dimension::ALL
                .into_iter()
                .filter(|dimension| {
                    let at = *dimension as usize;
                    query.taste[at].iter().any(|text| matches(&project.facts.taste[at], text))
                })
                .collect();
            let rank = (Reverse(matched.len()), Reverse(project.facts.day), project.slug.clone());
            (rank, Hit { ordinal: project.ordinal, matched: matched.into_iter().collect() })
        };
        let hits = self.listed(query.category).map(hit);
        let mut hits: Vec<(Rank, Hit)> = hits.filter(|(_, hit)| !hit.matched.is_empty()).collect();
        hits.sort_by(|(a, _), (b, _)| a.cmp(b));
        let requested = query.taste.iter().filter(|texts| !texts.is_empty()).count();
        let count = |number: usize| hits.iter().filter(|(_, hit)| hit.matched.len() == number).count() as u64;
        let by_matched = (1..=requested).map(count).collect();
        hits.retain(|(_, hit)| query.matching == MatchMode::Any || hit.matched.len() == requested);
        (hits, by_matched)
    }
}

/// Returns whether a text contains every word of a query, which must have one.
pub(super) fn matches(text: &Text, query: &Text) -> bool {
    let contained: Vec<u32> = text.iter().flat_map(|word| WRITTEN[*word].1).copied().collect();
    // The first meaning of a word is the word itself; `grey-green` is two words.
    let required = |word: &usize| {
        let all = WRITTEN[*word].1;
        if WRITTEN[*word].0.contains('-') { all } else { &all[..1] }
    };
    !query.is_empty() && query.iter().flat_map(required).all(|meaning| contained.contains(meaning))
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

pub(super) fn query() -> impl Strategy<Value = Query> {
    let taste = proptest::array::uniform6(proptest::collection::vec(text(), 0..4));
    let matching = prop_oneof![2 => Just(MatchMode::Any), 1 => Just(MatchMode::All)];
    (taste, matching, proptest::option::of(category())).prop_map(|(mut taste, matching, category)| {
        if matching == MatchMode::All {
            // Few projects match more.
            taste.iter_mut().filter(|texts| !texts.is_empty()).skip(2).for_each(Vec::clear);
        }
        Query { taste, matching, category }
    })
}

pub(super) fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    let number = 0..60_u64;
    let days = (proptest::option::of(1..4), proptest::option::of(1..4));
    let facts = (category(), days, proptest::array::uniform6(text()))
        .prop_map(|(category, (day, selected), taste)| Facts { category, day, selected, taste });
    let change = prop_oneof![
        6 => (number.clone(), facts).prop_map(|(number, facts)| Change::Record(number, facts)),
        1 => (number.clone(), any::<u8>()).prop_map(|(number, to)| Change::Rename(number, to)),
        2 => number.clone().prop_map(Change::Withdraw),
        1 => number.prop_map(Change::Restore),
    ];
    proptest::collection::vec(change, 0..most)
}
