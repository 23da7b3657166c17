//! Projects in a list that is scanned, with filters and orders by indices.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;
use schemas::event::{PictureAttached, PictureErased};
use schemas::picture::{Colour, Picture, PictureFormat, PictureId};
use schemas::record::Year;
use schemas::taste::Taste;

use super::super::*;

/// Texts and what they are compared by.
pub(super) const CITIES: [(&str, &str, &[&str]); 10] = [
    ("Ulm, Germany", "ulm germany", &["ulm", "germany"]),
    ("ULM, Germany", "ulm germany", &["ulm", "germany"]),
    ("Zürich", "zurich", &["zurich"]),
    ("zurich", "zurich", &["zurich"]),
    ("Köln, Germany", "koln germany", &["koln", "germany"]),
    ("***", "***", &["***"]),
    ("Arima, Trinidad and Tobago", "arima trinidad tobago", &["arima", "trinidad tobago"]),
    ("Arima, Trinidad & Tobago", "arima trinidad tobago", &["arima", "trinidad tobago"]),
    ("Tōkyō、Japan", "tokyo japan", &["tokyo", "japan"]),
    ("Cairo; Egypt", "cairo egypt", &["cairo", "egypt"]),
];
pub(super) const STUDIOS: [(&str, &str); 6] = [
    ("Ålto & Co", "alto co"),
    ("ALTO and CO.", "alto co"),
    ("Studio B", "studio b"),
    ("C", "c"),
    ("C++", "c++"),
    ("C#", "c#"),
];
pub(super) const CURATORS: [(&str, &str); 3] =
    [("Ada & Bo", "ada bo"), ("Bo", "bo"), ("Ada and Bo", "ada bo")];
/// Colours in groups of three: each is near to the others of its group and to no other.
pub(super) const COLOURS: [[u8; 3]; 6] =
    [[200, 30, 30], [205, 40, 35], [190, 25, 40], [20, 60, 160], [25, 70, 170], [30, 60, 150]];
pub(super) const WORDS: [(&str, &[&str]); 4] =
    [("oak", &["oak"]), ("Oaks, pine", &["oak", "pine"]), ("the pine", &["pine"]), ("", &[])];

/// What all names begin with: longer than the first words of a name that would fit into a short cursor.
const BEGINNING: &str = "name that is as long as those of drawings in an archive where sheets of one building differ in their last words \
     alone, by which they must be in order, number by number, sheet";

/// A record by indices.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: u8,
    pub(super) category: Category,
    pub(super) city: Option<usize>,
    pub(super) studio: Option<usize>,
    pub(super) curator: Option<usize>,
    pub(super) year: Option<u16>,
    pub(super) published: Option<i32>,
    pub(super) selected: Option<i32>,
    pub(super) thumbnail: bool,
    /// Whether the record names the picture of the project.
    pub(super) names_picture: bool,
    pub(super) words: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Change {
    Record(u64, Entry),
    Withdraw(u64),
    Restore(u64),
    Attach(u64, Vec<usize>),
    Erase(u64),
}

/// A project of the model.
#[derive(Debug, Clone)]
pub(super) struct Project {
    pub(super) ordinal: u64,
    pub(super) listed: bool,
    pub(super) entry: Entry,
    pub(super) palette: Option<Vec<usize>>,
    /// Days since 1970-01-01.
    pub(super) added: i32,
}

/// 2020-01-01 in days since 1970-01-01.
pub(super) const FIRST_DAY: i32 = 18_262;

impl Entry {
    pub(super) fn record(&self) -> Record {
        let pictures = if self.names_picture { json!([{"source": "a.jpg"}]) } else { json!([]) };
        let date = |day: Option<i32>| day.map(|day| format!("2020-01-{day:02}"));
        let (published, selected) = (date(self.published), date(self.selected));
        serde_json::from_value(json!({
            "name": format!("A {BEGINNING} {}", self.name), "category": self.category.as_str(),
            "city": self.city.map(|at| CITIES[at].0), "studio": self.studio.map(|at| STUDIOS[at].0),
            "provenance": {"curated_by": self.curator.map(|at| CURATORS[at].0), "selected": selected},
            "year": self.year.map(|year| format!("{year:04}")), "published": published, "pictures": pictures,
            "thumbnail": self.thumbnail.then_some("https://example.org/a.webp"),
            "taste": {"material": Some(WORDS[self.words].0).filter(|text| !text.is_empty())},
        }))
        .unwrap()
    }
}

impl Project {
    pub(super) fn palette(&self) -> &[usize] {
        self.palette.as_deref().filter(|_| self.entry.names_picture).unwrap_or_default()
    }

    pub(super) fn has_picture(&self) -> bool {
        self.entry.thumbnail || self.entry.names_picture && self.palette.is_some()
    }

    pub(super) fn newest(&self) -> i32 {
        self.entry.published.or(self.entry.selected).map_or(self.added, |day| FIRST_DAY + day - 1)
    }

    /// The groups of colours are 0 and 1.
    pub(super) fn has_colour_like(&self, wanted: usize) -> bool {
        self.palette().iter().any(|own| own / 3 == wanted / 3)
    }
}

/// Filters by indices, as alternatives.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) categories: Vec<Category>,
    pub(super) cities: Vec<usize>,
    pub(super) studios: Vec<usize>,
    pub(super) curators: Vec<usize>,
    pub(super) places: Vec<&'static str>,
    pub(super) years: (Option<u16>, Option<u16>),
    pub(super) has_picture: bool,
    pub(super) colours: Vec<usize>,
    pub(super) added_since: Option<i32>,
    pub(super) selected: (Option<i32>, Option<i32>),
    pub(super) material: Option<&'static str>,
}

impl Wanted {
    pub(super) fn filters(&self) -> Filters {
        let year = |year: Option<u16>| year.map(|year| format!("{year:04}").parse::<Year>().unwrap());
        let date = |day: Option<i32>| day.map(|day| format!("2020-01-{day:02}").parse().unwrap());
        Filters {
            categories: self.categories.clone(),
            cities: self.cities.iter().map(|at| CITIES[*at].0.to_uppercase()).collect(),
            studios: self.studios.iter().map(|at| STUDIOS[*at].0.to_lowercase()).collect(),
            curators: self.curators.iter().map(|at| CURATORS[*at].0.to_owned()).collect(),
            places: self.places.iter().map(|place| format!(" {place}")).collect(),
            year_from: year(self.years.0),
            year_to: year(self.years.1),
            has_picture: self.has_picture,
            colours: self.colours.iter().map(|at| Colour(COLOURS[*at])).collect(),
            added_since: date(self.added_since),
            selected_from: date(self.selected.0),
            selected_to: date(self.selected.1),
            taste: Taste::from_fn(|dimension| {
                self.material.filter(|_| dimension == Dimension::Material).map(str::to_owned)
            }),
        }
    }

    pub(super) fn matches(&self, project: &Project) -> bool {
        let entry = &project.entry;
        let or_all = |is_empty: bool, any: bool| is_empty || any;
        let city = entry.city.map(|at| &CITIES[at]);
        or_all(self.categories.is_empty(), self.categories.contains(&entry.category))
            && or_all(
                self.cities.is_empty(),
                self.cities.iter().any(|at| city.is_some_and(|own| own.1 == CITIES[*at].1)),
            )
            && or_all(
                self.studios.is_empty(),
                self.studios
                    .iter()
                    .any(|at| entry.studio.is_some_and(|own| STUDIOS[own].1 == STUDIOS[*at].1)),
            )
            && or_all(
                self.curators.is_empty(),
                self.curators
                    .iter()
                    .any(|at| entry.curator.is_some_and(|own| CURATORS[own].1 == CURATORS[*at].1)),
            )
            && or_all(
                self.places.is_empty(),
                self.places
                    .iter()
                    .any(|place| city.is_some_and(|own| own.2.contains(place) || own.1 == *place)),
            )
            && self.years.0.is_none_or(|from| entry.year.is_some_and(|year| year >= from))
            && self.years.1.is_none_or(|to| entry.year.is_some_and(|year| year <= to))
            && (!self.has_picture || project.has_picture())
            && or_all(self.colours.is_empty(), self.colours.iter().any(|at| project.has_colour_like(*at)))
            && self.added_since.is_none_or(|day| project.added >= FIRST_DAY + day - 1)
            && self.selected.0.is_none_or(|from| entry.selected.is_some_and(|day| day >= from))
            && self.selected.1.is_none_or(|to| entry.selected.is_some_and(|day| day <= to))
            && self.material.is_none_or(|word| {
                WORDS[entry.words].1.iter().any(|own| *own == word.trim_end_matches('s').to_lowercase())
            })
    }
}

/// The projects of the model by number.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) projects: BTreeMap<u64, Project>,
    pub(super) position: u64,
}

impl Scanned {
    pub(super) fn apply(&mut self, change: &Change) -> Option<NumberedEvent> {
        let (Change::Record(number, _)
        | Change::Withdraw(number)
        | Change::Restore(number)
        | Change::Attach(number, _)
        | Change::Erase(number)) = *change;
        let next = self.position + 1;
        let event = match (self.projects.get_mut(&number), change) {
            (None, Change::Record(_, entry)) => {
                // Three events a day, see `at`.
                let added = FIRST_DAY + (next / 3) as i32;
                let project =
                    Project { ordinal: next, listed: true, entry: entry.clone(), palette: None, added };
                self.projects.insert(number, project);
                selected(number, &format!("p{number}"), entry.record())
            }
            (None, _) => return None,
            (Some(project), Change::Record(_, entry)) => {
                project.entry = entry.clone();
                revised(number, entry.record())
            }
            (Some(project), Change::Withdraw(_)) => {
                project.listed = false;
                withdrawn(number)
            }
            (Some(project), Change::Restore(_)) => {
                project.listed = true;
                restored(number)
            }
            (Some(project), Change::Attach(_, palette)) => {
                project.palette = Some(palette.clone());
                let palette = palette.iter().map(|at| Colour(COLOURS[*at])).collect();
                let picture = Picture {
                    id: picture_id(number),
                    format: PictureFormat::Webp,
                    width: 9,
                    height: 9,
                    palette,
                };
                (number, Event::PictureAttached(PictureAttached { source: "a.jpg".into(), picture }))
            }
            (Some(project), Change::Erase(_)) => {
                project.palette = None;
                (number, Event::PictureErased(PictureErased { picture: picture_id(number) }))
            }
        };
        self.position = next;
        Some(event)
    }

    pub(super) fn matching(&self, wanted: &Wanted) -> Vec<&Project> {
        self.projects.values().filter(|project| project.listed && wanted.matches(project)).collect()
    }
}

pub(super) fn picture_id(number: u64) -> PictureId {
    PictureId([number as u8; 32])
}

/// Counts the projects by value as a facet does: the most frequent first, then by value; with the most frequent spelling.
pub(super) fn counted<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    values.for_each(|(value, spelling)| *counts.entry(value).or_default().entry(spelling).or_default() += 1);
    let mut counts: Vec<(u64, &str, &str)> = counts
        .iter()
        .map(|(value, spellings)| {
            let most = spellings.iter().max_by_key(|(text, count)| (**count, Reverse(**text))).unwrap();
            (spellings.values().sum(), *value, *most.0)
        })
        .collect();
    counts.sort_by_key(|(count, value, _)| (Reverse(*count), *value));
    counts.into_iter().map(|(count, _, spelling)| (spelling.to_owned(), count)).collect()
}

pub(super) fn expected_facet(projects: &[&Project], facet: Facet) -> Vec<(String, u64)> {
    let entries = || projects.iter().map(|project| &project.entry);
    match facet {
        Facet::Category => counted(entries().map(|entry| (entry.category.as_str(), entry.category.as_str()))),
        Facet::City => {
            counted(entries().filter_map(|entry| entry.city).map(|at| (CITIES[at].1, CITIES[at].0)))
        }
        Facet::Studio => {
            counted(entries().filter_map(|entry| entry.studio).map(|at| (STUDIOS[at].1, STUDIOS[at].0)))
        }
        Facet::Curator => {
            counted(entries().filter_map(|entry| entry.curator).map(|at| (CURATORS[at].1, CURATORS[at].0)))
        }
        Facet::Year => {
            let years: Vec<String> =
                entries().filter_map(|entry| entry.year).map(|year| format!("{year:04}")).collect();
            counted(years.iter().map(|year| (year.as_str(), year.as_str())))
        }
        Facet::Taste(Dimension::Material) => {
            counted(entries().flat_map(|entry| WORDS[entry.words].1).map(|word| (*word, *word)))
        }
        Facet::Taste(_) => Vec::new(),
    }
}

/// Returns the number of projects without a value.
pub(super) fn expected_unrecorded(projects: &[&Project], facet: Facet) -> u64 {
    let has_value = |entry: &Entry| match facet {
        Facet::Category => true,
        Facet::City => entry.city.is_some(),
        Facet::Studio => entry.studio.is_some(),
        Facet::Curator => entry.curator.is_some(),
        Facet::Year => entry.year.is_some(),
        Facet::Taste(Dimension::Material) => !WORDS[entry.words].1.is_empty(),
        Facet::Taste(_) => false,
    };
    projects.iter().filter(|project| !has_value(&project.entry)).count() as u64
}

/// Returns the ordinals in an order.
pub(super) fn expected_order(projects: &[&Project], order: &Order) -> Vec<u64> {
    let mut sorted = projects.to_vec();
    match order {
        Order::Newest => sorted.sort_by_key(|project| Reverse((project.newest(), project.ordinal))),
        Order::Oldest => sorted.sort_by_key(|project| (project.newest(), project.ordinal)),
        Order::Name => {
            // In the order of texts: 10 is before 9.
            sorted.sort_by_key(|project| (project.entry.name.to_string(), project.ordinal))
        }
        Order::YearAscending => sorted.sort_by_key(|project| {
            let year = project.entry.year;
            (year.is_none(), year, Reverse((project.newest(), project.ordinal)))
        }),
        Order::YearDescending => {
            // An absent year is the least one.
            sorted.sort_by_key(|project| Reverse((project.entry.year, project.newest(), project.ordinal)));
        }
        Order::Nearest(_) => unreachable!("its order is not modelled"),
    }
    sorted.iter().map(|project| project.ordinal).collect()
}

pub(super) fn entry() -> impl Strategy<Value = Entry> {
    let category = prop_oneof![Just(Category::Art), Just(Category::Design), Just(Category::Interiors)];
    let texts = (
        proptest::option::of(0..CITIES.len()),
        proptest::option::of(0..STUDIOS.len()),
        proptest::option::of(0..CURATORS.len()),
    );
    let day = || proptest::option::of(1..5);
    let days = (proptest::option::of(1_998..2_003_u16), day(), day());
    (0..20_u8, category, texts, days, any::<bool>(), any::<bool>(), 0..4_usize).prop_map(
        |(name, category, (city, studio, curator), days, thumbnail, names_picture, words)| {
            let (year, published, selected) = days;
            Entry {
                name,
                category,
                city,
                studio,
                curator,
                year,
                published,
                selected,
                thumbnail,
                names_picture,
                words,
            }
        },
    )
}

pub(super) fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    let number = 0..70_u64;
    let change = prop_oneof![
        6 => (number.clone(), entry()).prop_map(|(number, entry)| Change::Record(number, entry)),
        1 => number.clone().prop_map(Change::Withdraw),
        1 => number.clone().prop_map(Change::Restore),
        3 => (number.clone(), proptest::collection::vec(0..6_usize, 0..3)).prop_map(|(number, palette)| Change::Attach(number, palette)),
        1 => number.prop_map(Change::Erase),
    ];
    proptest::collection::vec(change, 0..most)
}

pub(super) fn wanted() -> impl Strategy<Value = Wanted> {
    // Most filters are absent most of the time, so that something is found.
    fn few<T: Clone + std::fmt::Debug + 'static>(
        values: impl Strategy<Value = T> + 'static,
    ) -> BoxedStrategy<Vec<T>> {
        prop_oneof![4 => Just(Vec::new()), 1 => proptest::collection::vec(values, 1..3)].boxed()
    }
    let year = || prop_oneof![4 => Just(None), 1 => (1_998..2_003_u16).prop_map(Some)];
    let day = || proptest::option::weighted(0.15, 1..5);
    let category = prop_oneof![Just(Category::Art), Just(Category::Design)];
    let place = proptest::sample::select(vec![
        "germany",
        "ulm",
        "zurich",
        "ulm germany",
        "trinidad tobago",
        "japan",
        "egypt",
        "nowhere",
    ]);
    let texts = (few(0..CITIES.len()), few(0..STUDIOS.len()), few(0..CURATORS.len()), few(place));
    let rest = (proptest::bool::weighted(0.2), few(0..6_usize), proptest::option::weighted(0.2, 1..30));
    let material =
        proptest::option::weighted(0.2, prop_oneof![Just("Oak"), Just("oaks"), Just("pine"), Just("elm")]);
    (few(category), texts, (year(), year()), (day(), day()), rest, material).prop_map(
        |(
            categories,
            (cities, studios, curators, places),
            years,
            selected,
            (has_picture, colours, added_since),
            material,
        )| {
            Wanted {
                categories,
                cities,
                studios,
                curators,
                places,
                years,
                has_picture,
                colours,
                added_since,
                selected,
                material,
            }
        },
    )
}
