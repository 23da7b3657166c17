//! Filters, facets and orders, compared with a list of records that is scanned.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lexical::OrdinalSet;
use proptest::prelude::*;
use schemas::event::{PictureAttached, PictureErased};
use schemas::picture::{Colour, Picture, PictureFormat, PictureId};
use schemas::record::Year;

use super::*;

/// Texts and what they are compared by.
const CITIES: [(&str, &str, &[&str]); 6] = [
    ("Ulm, Germany", "ulm germany", &["ulm", "germany"]),
    ("ULM, Germany", "ulm germany", &["ulm", "germany"]),
    ("Zürich", "zurich", &["zurich"]),
    ("zurich", "zurich", &["zurich"]),
    ("Köln, Germany", "koln germany", &["koln", "germany"]),
    ("***", "***", &["***"]),
];
const STUDIOS: [(&str, &str); 3] =
    [("Ålto & Co", "alto co"), ("ALTO, CO.", "alto co"), ("Studio B", "studio b")];
const CURATORS: [&str; 2] = ["Ada", "Bo"];
/// Colours in groups of three: each is near to the others of its group and to no other.
const COLOURS: [[u8; 3]; 6] =
    [[200, 30, 30], [205, 40, 35], [190, 25, 40], [20, 60, 160], [25, 70, 170], [30, 60, 150]];
const WORDS: [(&str, &[&str]); 4] =
    [("oak", &["oak"]), ("Oaks, pine", &["oak", "pine"]), ("the pine", &["pine"]), ("", &[])];

/// A record by indices.
#[derive(Debug, Clone)]
struct Entry {
    name: u8,
    category: Category,
    city: Option<usize>,
    studio: Option<usize>,
    curator: Option<usize>,
    year: Option<u16>,
    published: Option<i32>,
    thumbnail: bool,
    /// Whether the record names the picture of the project.
    names_picture: bool,
    words: usize,
}

#[derive(Debug, Clone)]
enum Change {
    Record(u64, Entry),
    Withdraw(u64),
    Restore(u64),
    Attach(u64, Vec<usize>),
    Erase(u64),
}

/// A project of the model.
#[derive(Debug, Clone)]
struct Project {
    ordinal: u64,
    listed: bool,
    entry: Entry,
    palette: Option<Vec<usize>>,
    /// Days since 1970-01-01.
    added: i32,
}

/// 2020-01-01 in days since 1970-01-01.
const FIRST_DAY: i32 = 18_262;

impl Entry {
    fn record(&self) -> Record {
        let pictures = if self.names_picture { json!([{"source": "a.jpg"}]) } else { json!([]) };
        let published = self.published.map(|day| format!("2020-01-{day:02}"));
        serde_json::from_value(json!({
            "name": format!("Náme {}", self.name), "category": self.category.as_str(),
            "city": self.city.map(|at| CITIES[at].0), "studio": self.studio.map(|at| STUDIOS[at].0),
            "provenance": {"curated_by": self.curator.map(|at| CURATORS[at])},
            "year": self.year.map(|year| format!("{year:04}")), "published": published, "pictures": pictures,
            "thumbnail": self.thumbnail.then_some("https://example.org/a.webp"),
            "taste": {"material": Some(WORDS[self.words].0).filter(|text| !text.is_empty())},
        }))
        .unwrap()
    }
}

impl Project {
    fn palette(&self) -> &[usize] {
        self.palette.as_deref().filter(|_| self.entry.names_picture).unwrap_or_default()
    }

    fn has_picture(&self) -> bool {
        self.entry.thumbnail || self.entry.names_picture && self.palette.is_some()
    }

    fn newest(&self) -> i32 {
        self.entry.published.map_or(self.added, |day| FIRST_DAY + day - 1)
    }

    /// The groups of colours are 0 and 1.
    fn has_colour_like(&self, wanted: usize) -> bool {
        self.palette().iter().any(|own| own / 3 == wanted / 3)
    }
}

/// Filters by indices, as alternatives.
#[derive(Debug, Clone)]
struct Wanted {
    categories: Vec<Category>,
    cities: Vec<usize>,
    studios: Vec<usize>,
    curators: Vec<usize>,
    places: Vec<&'static str>,
    years: (Option<u16>, Option<u16>),
    has_picture: bool,
    colours: Vec<usize>,
    added_since: Option<i32>,
}

impl Wanted {
    fn filters(&self) -> Filters {
        let year = |year: Option<u16>| year.map(|year| format!("{year:04}").parse::<Year>().unwrap());
        Filters {
            categories: self.categories.clone(),
            cities: self.cities.iter().map(|at| CITIES[*at].0.to_uppercase()).collect(),
            studios: self.studios.iter().map(|at| STUDIOS[*at].0.to_lowercase()).collect(),
            curators: self.curators.iter().map(|at| CURATORS[*at].to_owned()).collect(),
            places: self.places.iter().map(|place| format!(" {place}")).collect(),
            year_from: year(self.years.0),
            year_to: year(self.years.1),
            has_picture: self.has_picture,
            colours: self.colours.iter().map(|at| Colour(COLOURS[*at])).collect(),
            added_since: self.added_since.map(|day| format!("2020-01-{day:02}").parse().unwrap()),
        }
    }

    fn matches(&self, project: &Project) -> bool {
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
            && or_all(self.curators.is_empty(), self.curators.iter().any(|at| entry.curator == Some(*at)))
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
    }
}

/// The projects of the model by number.
#[derive(Debug, Default)]
struct Model {
    projects: BTreeMap<u64, Project>,
    position: u64,
}

impl Model {
    fn apply(&mut self, change: &Change) -> Option<NumberedEvent> {
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

    fn matching(&self, wanted: &Wanted) -> Vec<&Project> {
        self.projects.values().filter(|project| project.listed && wanted.matches(project)).collect()
    }
}

fn picture_id(number: u64) -> PictureId {
    PictureId([number as u8; 32])
}

/// Counts the projects by value as a facet does: the most frequent first, then by value; with the most frequent spelling.
fn counted<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, u64)> {
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

fn expected_facet(projects: &[&Project], facet: Facet) -> Vec<(String, u64)> {
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
            counted(entries().filter_map(|entry| entry.curator).map(|at| (CURATORS[at], CURATORS[at])))
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

/// Returns the ordinals in an order.
fn expected_order(projects: &[&Project], order: &Order) -> Vec<u64> {
    let mut sorted = projects.to_vec();
    match order {
        Order::Newest => sorted.sort_by_key(|project| Reverse((project.newest(), project.ordinal))),
        Order::Oldest => sorted.sort_by_key(|project| (project.newest(), project.ordinal)),
        Order::Name => {
            sorted.sort_by_key(|project| (format!("name {}", project.entry.name), project.ordinal))
        }
        Order::Nearest(_) => unreachable!("its order is not modelled"),
    }
    sorted.iter().map(|project| project.ordinal).collect()
}

fn entry() -> impl Strategy<Value = Entry> {
    let category = prop_oneof![Just(Category::Art), Just(Category::Design), Just(Category::Interiors)];
    let texts = (
        proptest::option::of(0..6_usize),
        proptest::option::of(0..3_usize),
        proptest::option::of(0..2_usize),
    );
    let days = (proptest::option::of(1_998..2_003_u16), proptest::option::of(1..5));
    (0..20_u8, category, texts, days, any::<bool>(), any::<bool>(), 0..4_usize).prop_map(
        |(name, category, (city, studio, curator), (year, published), thumbnail, names_picture, words)| {
            Entry { name, category, city, studio, curator, year, published, thumbnail, names_picture, words }
        },
    )
}

fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
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

fn wanted() -> impl Strategy<Value = Wanted> {
    // Most filters are absent most of the time, so that something is found.
    fn few<T: Clone + std::fmt::Debug + 'static>(
        values: impl Strategy<Value = T> + 'static,
    ) -> BoxedStrategy<Vec<T>> {
        prop_oneof![4 => Just(Vec::new()), 1 => proptest::collection::vec(values, 1..3)].boxed()
    }
    let year = || prop_oneof![4 => Just(None), 1 => (1_998..2_003_u16).prop_map(Some)];
    let category = prop_oneof![Just(Category::Art), Just(Category::Design)];
    let place =
        prop_oneof![Just("germany"), Just("ulm"), Just("zurich"), Just("ulm germany"), Just("nowhere")];
    let texts = (few(0..6_usize), few(0..3_usize), few(0..2_usize), few(place));
    let rest = (proptest::bool::weighted(0.2), few(0..6_usize), proptest::option::weighted(0.2, 1..30));
    (few(category), texts, (year(), year()), rest).prop_map(
        |(categories, (cities, studios, curators, places), years, (has_picture, colours, added_since))| {
            Wanted { categories, cities, studios, curators, places, years, has_picture, colours, added_since }
        },
    )
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

fn ordinals(set: &OrdinalSet) -> Vec<u64> {
    (0..10_000).filter(|ordinal| set.contains(*ordinal)).collect()
}

/// Asserts that a reader selects, counts and sorts as a scan of the model does.
fn assert_agrees(reader: &ArchiveReader, model: &Model, wanted: &Wanted, limit: usize) {
    let (listing, filters) = (reader.listing(), wanted.filters());
    let expected = model.matching(wanted);
    let set = listing.select(&filters);
    let mut all: Vec<u64> = expected.iter().map(|project| project.ordinal).collect();
    all.sort_unstable();
    assert_eq!(ordinals(&set), all, "{filters:?}");
    for counts in Facet::ALL.map(|facet| listing.facet(&set, facet)) {
        // The form of a word depends on the projects that are not counted, too.
        let shown = |value: String| if value == "oaks" { "oak".to_owned() } else { value };
        let found: Vec<(String, u64)> =
            counts.values.into_iter().map(|one| (shown(one.value), one.count)).collect();
        assert_eq!(found, expected_facet(&expected, counts.facet), "{:?} {filters:?}", counts.facet);
    }
    let all = listing.select(&Filters::default());
    for facet in Facet::ALL {
        assert_eq!(listing.facet_of_all(facet), &listing.facet(&all, facet), "{facet:?}");
    }
    let selection = Selection { set: &set, fingerprint: filters.fingerprint() };
    for order in [Order::Newest, Order::Oldest, Order::Name] {
        let (mut walked, mut after) = (Vec::new(), None::<String>);
        loop {
            let cursor = after.as_deref().map(|text| text.parse().unwrap());
            let page = listing.in_order(selection, &order, limit, cursor).unwrap();
            assert_eq!(page.total, expected.len() as u64);
            walked.extend(page.ordinals);
            after = page.next.map(|cursor| cursor.to_string());
            if after.is_none() {
                break;
            }
        }
        assert_eq!(walked, expected_order(&expected, &order), "{order:?}");
    }
    let request = taste_request(&[(Dimension::Material, "oaks")]);
    let within = TasteRequest { within: Some(selection), ..request.clone() };
    let with_oak: Vec<&Project> =
        expected.into_iter().filter(|project| WORDS[project.entry.words].1.contains(&"oak")).collect();
    let page = listing.by_taste(&within).unwrap();
    let mut hits: Vec<u64> = page.hits.iter().map(|hit| hit.ordinal).collect();
    hits.sort_unstable();
    let mut oak: Vec<u64> = with_oak.iter().map(|project| project.ordinal).collect();
    oak.sort_unstable();
    assert_eq!(
        (hits, page.total, page.dimensions[0].projects),
        (oak.clone(), oak.len() as u64, oak.len() as u64)
    );
    assert_eq!(ordinals(&listing.matching_taste(&within)), oak);
    let page = listing.by_taste_in_order(&within, &Order::Name).unwrap();
    let hits: Vec<u64> = page.hits.iter().map(|hit| hit.ordinal).collect();
    assert_eq!((hits, page.total), (expected_order(&with_oak, &Order::Name), oak.len() as u64));
    assert!(page.hits.iter().all(|hit| hit.matched.contains(Dimension::Material)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn filters_facets_and_orders_are_those_of_a_scan(
        rounds in proptest::collection::vec((changes(120), wanted()), 1..5),
        limit in 1..12_usize,
    ) {
        run(async {
            let (mut archive, mut model) = (Archive::new().await, Model::default());
            for (changes, wanted) in rounds {
                let events: Vec<NumberedEvent> = changes.iter().filter_map(|change| model.apply(change)).collect();
                archive.apply(&events).await;
                assert_agrees(&archive.reader, &model, &wanted, limit);
                assert_agrees(&archive.reopened().await, &model, &wanted, limit);
            }
        });
    }
}

#[tokio::test]
async fn the_nearest_colour_comes_first_and_a_facet_ignores_its_own_filter() {
    let mut archive = Archive::new().await;
    let mut model = Model::default();
    let entry = |city, names_picture| Entry {
        name: 1,
        category: Category::Art,
        city: Some(city),
        studio: None,
        curator: None,
        year: Some(1999),
        published: None,
        thumbnail: false,
        names_picture,
        words: 0,
    };
    let changes = [
        Change::Record(1, entry(0, true)),
        Change::Attach(1, vec![3, 2]),
        Change::Record(2, entry(2, true)),
        Change::Attach(2, vec![0]),
        Change::Record(3, entry(1, true)),
        Change::Attach(3, vec![5]),
        Change::Record(4, entry(2, false)),
        Change::Attach(4, vec![0]),
        Change::Record(5, entry(4, true)),
        Change::Attach(5, vec![4, 1]),
    ];
    let events: Vec<NumberedEvent> = changes.iter().filter_map(|change| model.apply(change)).collect();
    archive.apply(&events).await;
    let listing = archive.reader.listing();
    let filters = Filters { colours: vec![Colour([200, 30, 30])], ..Filters::default() };
    let set = listing.select(&filters);
    let order = Order::Nearest(filters.colours.clone());
    let selection = Selection { set: &set, fingerprint: filters.fingerprint() };
    let first = listing.in_order(selection, &order, 2, None).unwrap();
    // Positions 3, 9 and 1: the same red, one nearly so, and one further away.
    assert_eq!((first.ordinals, first.total), (vec![3, 9], 3));
    let rest = listing.in_order(selection, &order, 2, first.next.clone()).unwrap();
    assert_eq!((rest.ordinals, rest.next), (vec![1], None));
    let other = Selection { fingerprint: Filters::default().fingerprint(), ..selection };
    assert!(listing.in_order(other, &order, 2, first.next.clone()).is_err());
    assert!(listing.in_order(selection, &Order::Newest, 2, first.next).is_err());

    let filters =
        Filters { cities: vec!["zürich".into()], year_from: Some("1999".parse().unwrap()), ..filters };
    assert!(
        filters.restricts(Facet::City) && filters.restricts(Facet::Year) && !filters.restricts(Facet::Studio)
    );
    let others = listing.select(&filters.without(Facet::City));
    let counts = listing.facet(&others, Facet::City);
    let values: Vec<(&str, u64)> = counts.values.iter().map(|one| (one.value.as_str(), one.count)).collect();
    assert_eq!(values, [("Köln, Germany", 1), ("Ulm, Germany", 1), ("Zürich", 1)]);
    let same = Filters { cities: vec!["ZURICH".into(), "Zürich".into()], ..filters.clone() };
    assert_eq!(same.fingerprint(), filters.fingerprint());
    assert_ne!(filters.without(Facet::City).fingerprint(), filters.fingerprint());
}

#[test]
fn facets_and_filters_have_names() {
    let names = Facet::ALL.map(Facet::as_str).join(",");
    assert_eq!(names, "category,city,studio,curator,year,material,light,color,mood,composition,subject");
    assert!(Facet::ALL.into_iter().all(|facet| Facet::parse(&facet.as_str().to_uppercase()) == Some(facet)));
    assert_eq!(Facet::parse("shape"), None);
    assert_eq!(Filters::of_category(Some(Category::Art)).only_category(), Some(Some(Category::Art)));
    assert_eq!(Filters::default().only_category(), Some(None));
    assert_eq!(Filters { has_picture: true, ..Filters::default() }.only_category(), None);
}
