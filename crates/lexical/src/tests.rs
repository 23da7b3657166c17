//! Tests of the whole index: written by the writer, searched by the reader.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod beginning;
mod commits;
mod copies;
mod cursors;
mod lookup;
mod oracle;
mod relevance;
mod restrictions;
mod results;
mod typing;
mod words;

use tempfile::TempDir;

use super::*;

/// A project of a test; its summary is made from the other fields.
#[derive(Clone, Debug, Default, PartialEq)]
struct Project {
    ordinal: u64,
    slug: String,
    name: String,
    studio: Option<String>,
    city: Option<String>,
    category: String,
    intro: Option<String>,
    published: Option<i32>,
}

impl Project {
    /// Returns a project with only a name.
    fn named(ordinal: u64, name: &str) -> Project {
        let slug = format!("{}-{ordinal}", text::fold(name).replace(' ', "-"));
        Project { ordinal, slug, name: name.to_owned(), category: "design".to_owned(), ..Project::default() }
    }

    fn id(&self) -> String {
        format!("project-{:06}", self.ordinal)
    }

    fn summary(&self) -> String {
        format!("{{\"ordinal\":{},\"name\":{:?}", self.ordinal, self.name)
    }
}

/// An index in a temporary folder, with its writer and a reader.
struct Fixture {
    writer: SearchWriter,
    reader: SearchReader,
    folder: TempDir,
}

impl Fixture {
    fn empty() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let writer = SearchWriter::open_or_create(folder.path()).unwrap();
        let reader = SearchReader::open(folder.path()).unwrap();
        Fixture { writer, reader, folder }
    }

    fn of(projects: &[Project]) -> Fixture {
        let mut fixture = Fixture::empty();
        fixture.add(projects);
        fixture.commit("all");
        fixture
    }

    fn named(names: &[&str]) -> Fixture {
        let projects: Vec<Project> =
            (0..).zip(names).map(|(ordinal, name)| Project::named(ordinal, name)).collect();
        Fixture::of(&projects)
    }

    fn add(&mut self, projects: &[Project]) {
        for project in projects {
            upsert(&mut self.writer, project);
        }
    }

    fn commit(&mut self, payload: &str) {
        self.writer.commit(payload).unwrap();
        assert!(self.reader.refresh().unwrap());
    }

    /// Returns the ordinals of all results in order.
    fn find(&self, text: &str) -> Vec<u64> {
        let page = self.reader.search(&request(text)).unwrap();
        let found = ordinals(&page);
        assert_eq!(found.len() as u64, page.total(), "{text}");
        found
    }

    fn scores(&self, text: &str) -> Vec<f32> {
        self.reader.search(&request(text)).unwrap().hits().map(|hit| hit.score).collect()
    }
}

fn upsert(writer: &mut SearchWriter, project: &Project) {
    let (id, summary) = (project.id(), project.summary());
    writer.upsert(&document(project, &id, &summary)).unwrap();
}

fn document<'a>(project: &'a Project, id: &'a str, summary: &'a str) -> SearchDocument<'a> {
    SearchDocument {
        project: id,
        ordinal: project.ordinal,
        slug: &project.slug,
        name: &project.name,
        studio: project.studio.as_deref(),
        city: project.city.as_deref(),
        category: &project.category,
        intro: project.intro.as_deref(),
        published: project.published,
        summary: summary.as_bytes(),
        state: b"",
        listed: true,
    }
}

fn request(text: &str) -> SearchRequest<'_> {
    SearchRequest { text, category: None, limit: MAX_PAGE_SIZE, after: None }
}

fn ordinals(page: &SearchPage) -> Vec<u64> {
    let ordinal = |summary: &[u8]| {
        let object = [summary, b"}"].concat();
        serde_json::from_slice::<serde_json::Value>(&object).unwrap()["ordinal"].as_u64().unwrap()
    };
    page.hits().map(|hit| ordinal(hit.summary)).collect()
}

/// A random number generator (SplitMix64), the same everywhere for one seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

const WORDS: [&str; 37] = [
    "stone",
    "glass",
    "light",
    "villa",
    "tower",
    "garden",
    "Zürich",
    "Łódź",
    "São",
    "Paulo",
    "O'Keeffe",
    "art",
    "arts",
    "artist",
    "museum",
    "museums",
    "house",
    "horse",
    "concrete",
    "brick",
    "東京",
    "京都",
    "駅",
    "timber",
    "T-shirt",
    "1939",
    "1938",
    "of",
    "the",
    "café",
    "houses",
    "and",
    "glasshouse",
    "glass-house",
    "S.M.A.K.",
    "Smak",
    "villa's",
];
const CATEGORIES: [&str; 3] = ["architecture", "design", "art"];

/// Returns a project of a few random words, so that many queries match several projects.
fn random_project(ordinal: u64, random: &mut Random) -> Project {
    let mut words = |bound: usize| {
        let words: Vec<&str> = (0..random.below(bound)).map(|_| *random.pick(&WORDS)).collect();
        words.join(" ")
    };
    let (name, studio, city, intro) = (words(5), words(3), words(2), words(12));
    Project {
        ordinal,
        slug: format!("slug-{ordinal}"),
        name,
        studio: Some(studio).filter(|studio| !studio.is_empty()),
        city: Some(city).filter(|city| !city.is_empty()),
        category: (*random.pick(&CATEGORIES)).to_owned(),
        intro: Some(intro).filter(|intro| !intro.is_empty()),
        published: Some(random.below(40) as i32 - 10).filter(|day| *day >= 0),
    }
}

fn random_projects(count: u64, seed: u64) -> Vec<Project> {
    let mut random = Random(seed);
    (0..count).map(|ordinal| random_project(ordinal, &mut random)).collect()
}

/// Returns a query of random words of the projects: as they are, misspelled, cut short, or in quotes.
fn random_query(random: &mut Random) -> String {
    let mut words: Vec<String> = (0..=random.below(3)).map(|_| (*random.pick(&WORDS)).to_owned()).collect();
    match random.below(6) {
        0 => format!("\"{}\"", words.join(" ")),
        1 => {
            let last = words.pop().unwrap_or_default();
            let prefix: String = last.chars().take(1 + random.below(3)).collect();
            words.push(prefix);
            words.join(" ")
        }
        2 => words.join(" ").replacen('s', "z", 1),
        _ => words.join(" "),
    }
}
