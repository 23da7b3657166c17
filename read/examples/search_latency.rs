//! Measures the search index on generated catalogs: `cargo run -p read --features apply --release --example search_latency -- 2600 100000`.
//!
//! For every size it builds an index, then runs 2,000 queries of each kind on one thread, each with its ten summaries concatenated, and
//! prints microseconds. No query is repeated, and nothing is cached by query.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measuring program"
)]

use std::time::Instant;

use read::search::{SearchDocument, SearchReader, SearchRequest, SearchWriter};

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    for size in if sizes.is_empty() { vec![2_600, 100_000] } else { sizes } {
        measure(size);
    }
}

const KINDS: [&str; 10] = [
    "single",
    "two words",
    "three words",
    "phrase",
    "prefix",
    "typo",
    "accented",
    "category",
    "artist + word",
    "no match",
];

fn measure(size: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(7);
    let language = Language::new(&mut dice, size);
    let mut writer = SearchWriter::open_or_create(folder.path()).unwrap();
    let start = Instant::now();
    let mut kept = Vec::new();
    for ordinal in 0..size {
        let project = language.project(&mut dice);
        add(&mut writer, ordinal, &project);
        if ordinal % (size / 500).max(1) == 0 {
            kept.push(project);
        }
    }
    writer.commit("all").unwrap();
    println!("\n{size} documents: indexed and committed in {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let reader = SearchReader::open(folder.path()).unwrap();
    println!("opened in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    table(&reader, &kept, &mut dice);
    commits(&mut writer, &reader, &language, &mut dice, size);
    table(&reader, &kept, &mut dice);
}

/// Measures small commits and the refresh after each.
fn commits(
    writer: &mut SearchWriter,
    reader: &SearchReader,
    language: &Language,
    dice: &mut Dice,
    size: usize,
) {
    let (mut committing, mut refreshing) = (Vec::new(), Vec::new());
    for round in 0..20 {
        let project = language.project(dice);
        add(writer, dice.roll(size), &project);
        let start = Instant::now();
        writer.commit(&round.to_string()).unwrap();
        committing.push(start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        reader.refresh().unwrap();
        refreshing.push(start.elapsed().as_secs_f64() * 1e3);
    }
    committing.sort_by(f64::total_cmp);
    refreshing.sort_by(f64::total_cmp);
    println!(
        "one-document commits: median {:.1} ms, refresh median {:.2} ms, worst {:.2} ms",
        committing[10], refreshing[10], refreshing[19]
    );
}

/// Runs each query once per round; its time is the minimum over the rounds, since other work on the machine can only increase it. The
/// mean is of the processor time over all rounds.
fn table(reader: &SearchReader, kept: &[Project], dice: &mut Dice) {
    const ROUNDS: u32 = 5;
    println!(
        "{:14} {:>8} {:>8} {:>8} {:>8} {:>7} {:>9}",
        "microseconds", "cpu mean", "p50", "p99", "worst", "empty", "hits"
    );
    let mut answer: Vec<u8> = Vec::with_capacity(64 << 10);
    let mut mixed = Vec::new();
    let mut processor = 0.0;
    let only = std::env::var("KIND").ok();
    for kind in KINDS.into_iter().filter(|kind| only.as_ref().is_none_or(|only| only == kind)) {
        let queries: Vec<String> = (0..2_000).map(|_| query(kind, kept, dice)).collect();
        let mut times = vec![f64::MAX; queries.len()];
        let (mut empty, mut hits) = (0, 0);
        let begin = processor_seconds();
        for _ in 0..ROUNDS {
            (empty, hits) = (0, 0);
            for (text, time) in queries.iter().zip(&mut times) {
                let category = (kind == "category").then_some("design");
                let start = Instant::now();
                answer.clear();
                let page = reader.search(&SearchRequest { text, category, limit: 10, after: None }).unwrap();
                for hit in page.hits() {
                    answer.extend_from_slice(hit.summary);
                    answer.extend_from_slice(b"},");
                }
                *time = time.min(start.elapsed().as_secs_f64() * 1e6);
                empty += usize::from(page.total() == 0);
                hits += page.total();
            }
        }
        if std::env::var_os("SLOWEST").is_some() {
            let mut slowest: Vec<usize> = (0..queries.len()).collect();
            slowest.sort_by(|a, b| times[*b].total_cmp(&times[*a]));
            for &place in slowest.iter().step_by(40).take(5) {
                let page = reader.search(&SearchRequest {
                    text: &queries[place],
                    category: None,
                    limit: 10,
                    after: None,
                });
                println!("    {:8.1} {:?} {}", times[place], queries[place], page.unwrap().total());
            }
        }
        let mean = (processor_seconds() - begin) * 1e6 / (times.len() as f64 * f64::from(ROUNDS));
        line(kind, mean, &mut times, empty, hits);
        if kind != "no match" {
            processor += mean;
            mixed.extend(times);
        }
    }
    line("mixed", processor / (KINDS.len() - 1) as f64, &mut mixed, 0, 0);
}

/// Returns the processor time of this thread, in seconds.
fn processor_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times
        .split(' ')
        .next()
        .and_then(|nanoseconds| nanoseconds.parse::<f64>().ok())
        .map_or(0.0, |nanoseconds| nanoseconds / 1e9)
}

fn line(kind: &str, mean: f64, times: &mut [f64], empty: usize, hits: u64) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[(times.len() as f64 * share) as usize];
    let hits = hits / times.len() as u64;
    println!(
        "{kind:14} {mean:8.1} {:8.1} {:8.1} {:8.1} {empty:7} {hits:9}",
        at(0.5),
        at(0.99),
        times[times.len() - 1]
    );
}

fn query(kind: &str, kept: &[Project], dice: &mut Dice) -> String {
    let project = &kept[dice.roll(kept.len())];
    let words: Vec<&str> = project.name.split(' ').chain(project.intro.split(' ')).collect();
    let word = |dice: &mut Dice| words[dice.roll(words.len())].to_owned();
    let long = |dice: &mut Dice, least: usize| {
        (0..50)
            .map(|_| words[dice.roll(words.len())])
            .find(|word| word.chars().count() >= least)
            .unwrap_or("museum")
            .to_owned()
    };
    match kind {
        "two words" | "category" => format!("{} {}", word(dice), word(dice)),
        "three words" => format!("{} {} {}", word(dice), word(dice), word(dice)),
        "phrase" => {
            let first = dice.roll(words.len() - 1);
            format!("\"{} {}\"", words[first], words[first + 1])
        }
        "prefix" => long(dice, 6).chars().take(4 + dice.roll(2)).collect(),
        "typo" => {
            let mut letters: Vec<char> = long(dice, 6).chars().collect();
            let at = dice.roll(letters.len() - 1);
            match dice.roll(4) {
                0 => letters.swap(at, at + 1),
                1 => letters[at] = 'x',
                2 => letters.insert(at, 'q'),
                _ => drop(letters.remove(at)),
            }
            letters.into_iter().collect()
        }
        "accented" => {
            let folded = |word: &str| {
                word.replace(['é', 'è'], "e").replace('ü', "u").replace('ó', "o").replace('ł', "l")
            };
            folded(&format!("{} {}", project.city, word(dice)))
        }
        "artist + word" => format!("{} {}", project.studio, word(dice)),
        "no match" => format!("zzq{}vvx wwyk{}", dice.roll(1_000), dice.roll(1_000)),
        _ => word(dice),
    }
}

fn add(writer: &mut SearchWriter, ordinal: usize, project: &Project) {
    let id = format!("{ordinal:026}");
    let slug = format!("{}-{ordinal}", project.name.replace(' ', "-"));
    let summary = format!(
        "{{\"slug\":\"{slug}\",\"name\":\"{}\",\"studio\":\"{}\",\"city\":\"{}\",\"year\":\"2011\",\"category\":\"{}\",\"intro\":\"{}\",\
         \"published\":\"2014-05-06\",\"thumbnail\":\"https://example.org/media/{id}/thumbnail.webp\",\
         \"url\":\"https://example.org/projects/{slug}\",\"citation_url\":\"https://example.org/cite/{slug}/1\",\
         \"provenance\":{{\"curated_by\":\"The editors\",\"selected\":\"2014-05-06\",\"in_archive_since\":2014,\"note\":null}}",
        project.name, project.studio, project.city, project.category, project.intro
    );
    let document = SearchDocument {
        project: &id,
        ordinal: ordinal as u64,
        slug: &slug,
        name: &project.name,
        studio: Some(&project.studio),
        city: Some(&project.city),
        category: project.category,
        intro: Some(&project.intro),
        published: Some((ordinal * 7_919 % 5_000) as i32),
        summary: summary.as_bytes(),
        state: b"",
        listed: true,
    };
    writer.upsert(&document).unwrap();
}

struct Project {
    name: String,
    studio: String,
    city: String,
    category: &'static str,
    intro: String,
}

/// Generated words with the frequencies of a natural language.
struct Language {
    words: Vec<String>,
    cities: Vec<String>,
    studios: Vec<String>,
}

const CATEGORIES: [&str; 5] = ["architecture", "interiors", "design", "photography", "art"];
const SYLLABLES: [&str; 48] = [
    "ra", "mi", "ton", "sel", "ka", "do", "ver", "lu", "pen", "sha", "gri", "mo", "ne", "ti", "bal", "cor",
    "dan", "el", "fi", "gus", "har", "in", "jo", "kel", "lan", "mar", "nor", "ol", "pra", "qui", "ros",
    "sta", "tur", "ul", "va", "wen", "xi", "yor", "zu", "é", "ü", "ó", "bre", "cha", "dro", "è", "ł", "ing",
];

impl Language {
    fn new(dice: &mut Dice, size: usize) -> Language {
        let mut names = |count: usize, most: usize| -> Vec<String> {
            let word = |dice: &mut Dice| -> String {
                if dice.roll(60) == 0 {
                    return (0..2).filter_map(|_| char::from_u32(0x4e00 + dice.roll(2_000) as u32)).collect();
                }
                (0..2 + dice.roll(most)).map(|_| SYLLABLES[dice.roll(SYLLABLES.len())]).collect()
            };
            let mut seen = std::collections::BTreeSet::new();
            while seen.len() < count {
                seen.insert(word(dice));
            }
            let mut words: Vec<String> = seen.into_iter().collect();
            for place in (1..words.len()).rev() {
                words.swap(place, dice.roll(place + 1));
            }
            words
        };
        // The vocabulary grows with the square root of the number of texts.
        let words = names(((size as f64).sqrt() * 190.0) as usize, 3);
        Language { words, cities: names(400, 2), studios: names((size / 8).clamp(300, 8_000), 2) }
    }

    /// Returns a word; the word of rank r is about 1/r as frequent as the first.
    fn word(&self, dice: &mut Dice) -> &str {
        let share = dice.roll(1 << 30) as f64 / f64::from(1 << 30);
        &self.words[((self.words.len() as f64 + 8.0).powf(share) * 8_f64.powf(1.0 - share) - 8.0) as usize]
    }

    fn text(&self, dice: &mut Dice, words: usize) -> String {
        let words: Vec<&str> = (0..words).map(|_| self.word(dice)).collect();
        words.join(" ")
    }

    fn project(&self, dice: &mut Dice) -> Project {
        let (name, intro) = (2 + dice.roll(3), 25 + dice.roll(15));
        Project {
            name: self.text(dice, name),
            studio: format!(
                "{} {}",
                self.studios[dice.roll(self.studios.len())],
                self.studios[dice.roll(self.studios.len())]
            ),
            city: self.cities[dice.roll(self.cities.len())].clone(),
            category: CATEGORIES[dice.roll(5)],
            intro: self.text(dice, intro),
        }
    }
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}
