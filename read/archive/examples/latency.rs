//! Measures the archive on generated catalogs: the time of queries, the memory, and the time to refresh after a change.
//!
//! ```sh
//! cargo run --release -p archive --features apply --example latency -- 2600 100000
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints its results")]

use std::time::Instant;

use archive::{ArchiveReader, ArchiveWriter, Facet, TasteRequest, TermKind};
use jiff::Timestamp;
use lexical::OrdinalSet;
use model::checkpoint::Checkpoint;
use schemas::event::{Event, ProjectRevised, ProjectSelected};
use schemas::ids::{Position, ProjectId};
use schemas::record::{Category, Record};
use schemas::taste::{Dimension, Taste};

/// The number of projects in one commit.
const BATCH: u64 = 5_000;
/// The number of different words of each dimension, a few of which are far more frequent than the others.
const WORDS: usize = 2_000;
/// The maximum number of words in a text; the average is half of it.
const LENGTH: usize = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).map(|size| size.parse().unwrap()).collect();
    for size in if sizes.is_empty() { vec![2_600, 100_000] } else { sizes } {
        measure(size).await;
    }
}

async fn measure(size: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(7);
    let mut writer = ArchiveWriter::open(folder.path()).await.unwrap();
    let began = Instant::now();
    for start in (0..size).step_by(BATCH as usize) {
        let batch: Vec<u64> = (start..(start + BATCH).min(size)).collect();
        write(&mut writer, &batch, &mut dice, selected).await;
    }
    println!("\n{size} projects, written in {:.2} s", began.elapsed().as_secs_f64());
    let before = resident();
    let began = Instant::now();
    let reader = ArchiveReader::open(folder.path()).await.unwrap();
    println!("opened in {:.0} ms", began.elapsed().as_secs_f64() * 1e3);
    let (bytes, grown) = (reader.bytes() as f64 / 1e6, (resident() - before) as f64 / 1e6);
    println!("{bytes:.1} MB in memory; the process has grown by {grown:.1} MB");
    queries(&reader, &mut dice);
    facets(&reader, size, &mut dice);
    changes(&mut writer, &reader, size, &mut dice).await;
    println!("{:.1} MB in memory with the counts of all words", reader.bytes() as f64 / 1e6);
}

fn queries(reader: &ArchiveReader, dice: &mut Dice) {
    for (name, dimensions, words, category) in [
        ("one word in one dimension", 1, 1, None),
        ("a word in each of three", 3, 1, None),
        ("a word in each of six", 6, 1, None),
        ("two words in each of six", 6, 2, None),
        ("the same in a category", 6, 2, Some(Category::Design)),
    ] {
        let texts: Vec<Vec<String>> =
            (0..1_000).map(|_| (0..dimensions).map(|at| text(at, words, dice)).collect()).collect();
        report(name, texts.iter(), |texts| {
            let mut request = TasteRequest { limit: 10, category, ..TasteRequest::default() };
            for (dimension, text) in Dimension::ALL.into_iter().zip(texts) {
                request = request.with(dimension, text);
            }
            reader.listing().by_taste(&request).unwrap().total
        });
    }
    let numbers = 0..1_000;
    report("the newest of a category", numbers.clone(), |_| {
        reader.listing().newest(Some(Category::Design), 10, None).unwrap().total
    });
    report("a random one of a category", numbers.clone(), |_| {
        reader.listing().random(Some(Category::Design), dice.next()).unwrap()
    });
    let began = Instant::now();
    let distinct: u64 =
        reader.listing().terms(TermKind::Word, None, None, 20).iter().map(|terms| terms.distinct).sum();
    println!(
        "{:28} {:.1} ms, {distinct} words",
        "all words, first count",
        began.elapsed().as_secs_f64() * 1e3
    );
    let began = Instant::now();
    reader.listing().terms(TermKind::Word, None, Some(Category::Design), 20);
    println!("{:28} {:.1} ms", "the same in a category", began.elapsed().as_secs_f64() * 1e3);
    report("all words, counted before", numbers.take(50), |_| {
        reader.listing().terms(TermKind::Word, None, None, 20)[0].distinct
    });
    let began = Instant::now();
    reader.listing().suggest("b", 20);
    println!("{:28} {:.1} ms", "suggestions, first count", began.elapsed().as_secs_f64() * 1e3);
    for (name, length) in [("one letter", 1), ("two letters", 2), ("four letters", 4)] {
        let typed = (0..1_000).map(|_| text(0, 1, dice).chars().take(length).collect::<String>());
        report(&format!("suggestions for {name}"), typed, |typed| {
            reader.listing().suggest(&typed, 20).len() as u64
        });
    }
    report("similar words", 0..50, |_| {
        reader.listing().nearest_terms(Dimension::Mood, "mbrklaed", 5).len() as u64
    });
}

/// Measures how long it takes to count sets of different sizes by five facets, as beside the results of a search.
fn facets(reader: &ArchiveReader, size: u64, dice: &mut Dice) {
    let five = [Facet::Category, Facet::City, Facet::Studio, Facet::Year, Facet::Taste(Dimension::Material)];
    for share in [0.01, 0.1, 0.5] {
        let chosen = (share * 1e6) as usize;
        // The ordinal of a project is the position of its first event.
        let sets: Vec<OrdinalSet> =
            (0..10).map(|_| (1..=size).filter(|_| dice.below(1_000_000) < chosen).collect()).collect();
        let asked = || sets.iter().cycle().take(100);
        let name = |facets: &str| format!("{facets} of {:.0} %", share * 100.0);
        report(&name("five facets"), asked(), |set| reader.listing().facets(set, &five).len() as u64);
        for facet in five {
            report(&name(facet.as_str()), asked(), |set| {
                reader.listing().facet(set, facet).values.iter().map(|value| value.count).sum()
            });
        }
    }
}

fn report<T>(name: &str, inputs: impl Iterator<Item = T>, mut query: impl FnMut(T) -> u64) {
    let (mut times, mut results) = (Vec::new(), 0);
    for input in inputs {
        let began = Instant::now();
        results += query(input);
        times.push(began.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!(
        "{name:28} median {median:8.1} µs, p99 {late:8.1} µs, {} on average",
        results / times.len() as u64
    );
}

/// Measures the refresh after commits of different sizes.
async fn changes(writer: &mut ArchiveWriter, reader: &ArchiveReader, size: u64, dice: &mut Dice) {
    for (name, projects, rounds) in
        [("one project", 1, 40), ("100 projects", 100, 10), ("4,000 projects", 4_000, 5)]
    {
        let mut times = Vec::new();
        for _ in 0..rounds {
            let mut batch: Vec<u64> = (0..projects).map(|_| dice.next() % size).collect();
            batch.sort_unstable();
            batch.dedup();
            write(writer, &batch, dice, revised).await;
            let began = Instant::now();
            reader.refresh().await.unwrap();
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("a change of {name:16} is loaded in {median:.2} ms (median), {worst:.2} ms (worst)");
    }
    let began = Instant::now();
    for _ in 0..100 {
        reader.refresh().await.unwrap();
    }
    println!("a refresh that finds nothing: {:.0} µs", began.elapsed().as_secs_f64() * 1e4);
}

async fn write(
    writer: &mut ArchiveWriter,
    batch: &[u64],
    dice: &mut Dice,
    event: impl Fn(u64, &mut Dice) -> Event,
) {
    writer.load(batch.iter().map(|number| id(*number))).await.unwrap();
    let mut checkpoint: Checkpoint = writer.checkpoint().clone();
    for number in batch {
        checkpoint.position = Position(checkpoint.position.0 + 1);
        let time = Timestamp::UNIX_EPOCH;
        writer.apply(id(*number), &event(*number, dice), checkpoint.position, time).unwrap();
    }
    writer.commit(checkpoint).await.unwrap();
}

fn id(number: u64) -> ProjectId {
    format!("{number:026}").parse().unwrap()
}

fn selected(number: u64, dice: &mut Dice) -> Event {
    let slug = format!("house-{number}-on-the-hill").parse().unwrap();
    Event::ProjectSelected(ProjectSelected { slug, record: record(number, dice), id: None })
}

fn revised(number: u64, dice: &mut Dice) -> Event {
    Event::ProjectRevised(ProjectRevised { record: record(number, dice) })
}

fn record(number: u64, dice: &mut Dice) -> Record {
    let taste = Taste::from_fn(|dimension| {
        let words = 1 + dice.below(LENGTH);
        Some(text(dimension.index(), words, dice))
    });
    let category = Category::ALL[number as usize % 5].as_str();
    let published = format!("20{:02}-{:02}-{:02}", dice.below(26), 1 + dice.below(12), 1 + dice.below(28));
    // As many studios as a quarter of the projects, of two words each, and a tenth of that in cities.
    let studio = name_of(dice.next() % (number / 4 + 1));
    let city = name_of(dice.next() % (number / 40 + 1));
    let record = serde_json::json!({
        "name": "X", "category": category, "published": published, "studio": studio, "city": city,
    });
    Record { taste, ..serde_json::from_value(record).unwrap() }
}

/// Returns words of a dimension, every fourth with an inflection.
fn text(dimension: usize, words: usize, dice: &mut Dice) -> String {
    let word = |dice: &mut Dice| {
        // The product of two even draws: half of all words are among the first fifth.
        let rank = dice.below(WORDS) * dice.below(WORDS) / WORDS;
        let mut number = rank * 7 + dimension * 11 + 1;
        let mut word = String::new();
        while number > 0 {
            word.push(char::from(b"bdfgklmprt"[number % 10]));
            word.push(char::from(b"aeiou"[number / 10 % 5]));
            number /= 10;
        }
        word.push_str(if dice.below(4) == 0 { "ks" } else { "k" });
        word
    };
    (0..words).map(|_| word(dice)).collect::<Vec<_>>().join(", ")
}

/// Returns the name of a studio or a city.
fn name_of(number: u64) -> String {
    let mut dice = Dice(number);
    format!("{} {}", text(0, 1, &mut dice), text(1, 1, &mut dice))
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 32) as usize * bound) >> 32
    }
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}
