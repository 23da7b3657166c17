//! Measures how well and how fast names are found while they are typed, and by other kinds of queries.
//!
//! The records are those of the folder `LOGGIA_SHARED_DATA` (two files of names that museums published); where it is absent
//! nothing is measured. With a size, further records are made of halves of real names with the studio and the city of others,
//! up to that number.
//!
//! ```sh
//! LOGGIA_SHARED_DATA=../shared/data cargo run --release -p lexical --features writer --example typing -- 185000 24
//! ```
//!
//! For each kind of query one line: the share of queries whose record is among the first ten results, and the share for which it is the
//! first. Records that the query cannot tell apart count alike: those of the same name, and of an unfinished name those that begin
//! with what was typed, as long as the ten results are all of that kind.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints its results")]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;

use lexical::{SearchDocument, SearchReader, SearchRequest, SearchWriter};

/// The files of real records.
const FILES: [&str; 2] = ["museums-2500.ndjson", "usda-pictured.ndjson"];
/// The most queries of each kind.
const MAX_QUERIES: usize = 3_000;
const DEFAULT_SEED: u64 = 24;

const KINDS: [&str; 9] = [
    "unfinished name",
    "whole name",
    "artist and word",
    "city and category",
    "without accents",
    "one typo",
    "one word of the name",
    "city",
    "artist",
];

struct Record {
    name: String,
    studio: String,
    city: String,
    category: String,
}

impl Record {
    fn text(&self) -> String {
        text::fold(&[&*self.name, &*self.studio, &*self.city, &*self.category].join(" / "))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let size: usize = arguments.next().map_or(Ok(0), |size| size.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(DEFAULT_SEED), |seed| seed.parse())?;
    #[expect(clippy::disallowed_methods, reason = "a variable names the folder of real records")]
    let Some(folder) = std::env::var_os("LOGGIA_SHARED_DATA") else {
        eprintln!("\n*** SKIPPED: LOGGIA_SHARED_DATA does not name the folder of real records\n");
        return Ok(());
    };
    let mut records = real_records(Path::new(&folder))?;
    let mut random = Random(seed);
    multiply(&mut records, size, &mut random);
    println!("{} records, seed {seed}", records.len());
    let index = tempfile::tempdir()?;
    write(&mut SearchWriter::open_or_create(index.path())?, &records)?;
    let reader = SearchReader::open(index.path())?;
    for kind in KINDS {
        measure(&reader, &records, kind, &mut random)?;
    }
    Ok(())
}

fn real_records(folder: &Path) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut records = Vec::new();
    for file in FILES {
        for line in BufReader::new(std::fs::File::open(folder.join(file))?).lines() {
            let line: serde_json::Value = serde_json::from_str(&line?)?;
            let text = |member: &str| line[member].as_str().unwrap_or_default().to_owned();
            records.push(Record {
                name: text("name"),
                studio: text("studio"),
                city: text("city"),
                category: text("category"),
            });
        }
    }
    Ok(records)
}

/// Adds records until there are `size`: each has the first half of one name, the second half of another, and the studio and city of
/// a third record.
fn multiply(records: &mut Vec<Record>, size: usize, random: &mut Random) {
    let real = records.len();
    while records.len() < size {
        let [first, second, other] = [(); 3].map(|()| &records[random.below(real)]);
        let words = |name: &str| name.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let (first, second) = (words(&first.name), words(&second.name));
        let name = [&first[..first.len().div_ceil(2)], &second[second.len() / 2..]].concat().join(" ");
        let made = Record {
            name,
            studio: other.studio.clone(),
            city: other.city.clone(),
            category: other.category.clone(),
        };
        records.push(made);
    }
}

fn write(writer: &mut SearchWriter, records: &[Record]) -> Result<(), Box<dyn Error>> {
    fn given(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    for (ordinal, record) in (0..).zip(records) {
        writer.insert(&SearchDocument {
            project: &ordinal.to_string(),
            ordinal,
            slug: &ordinal.to_string(),
            name: &record.name,
            studio: given(&record.studio),
            city: given(&record.city),
            category: &record.category,
            intro: None,
            published: None,
            summary: ordinal.to_string().as_bytes(),
            state: b"",
            listed: true,
        })?;
    }
    writer.commit("all")?;
    Ok(writer.force_merge()?)
}

fn measure(
    reader: &SearchReader,
    records: &[Record],
    kind: &str,
    random: &mut Random,
) -> Result<(), Box<dyn Error>> {
    let mut queries: Vec<(String, &Record)> = Vec::new();
    let mut tries = 0;
    while queries.len() < MAX_QUERIES.min(records.len()) && tries < 20 * MAX_QUERIES {
        tries += 1;
        let record = &records[random.below(records.len())];
        queries.extend(query(kind, record, random).map(|text| (text, record)));
    }
    let (mut in_ten, mut first, mut missed) = (0, 0, Vec::new());
    for (text, record) in &queries {
        let page = reader.search(&SearchRequest { text, category: None, limit: 10, after: None })?;
        let found: Vec<&Record> = page
            .hits()
            .map(|hit| Ok(&records[std::str::from_utf8(hit.summary)?.parse::<usize>()?]))
            .collect::<Result<_, Box<dyn Error>>>()?;
        let at = position(kind, text, record, &found);
        in_ten += usize::from(at.is_some());
        first += usize::from(at == Some(0));
        if at.is_none() {
            missed.push((text, record, page.total()));
        }
    }
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = cpu_nanoseconds()?;
        for (text, _) in &queries {
            let page = reader.search(&SearchRequest { text, category: None, limit: 10, after: None })?;
            std::hint::black_box(page.hits().len());
        }
        best = best.min((cpu_nanoseconds()? - start) / queries.len() as f64 / 1e3);
    }
    let share = |count: usize| count as f64 / queries.len() as f64;
    println!(
        "{kind:20} {:5} queries: {:.4} in ten, {:.4} first, {best:8.1} µs",
        queries.len(),
        share(in_ten),
        share(first)
    );
    for (text, record, total) in missed.iter().take(4) {
        println!("      missed: {text:?} for {:?} (of {total})", record.name);
    }
    Ok(())
}

/// Returns the processor time of this thread so far: on a busy machine the clock on the wall says little.
fn cpu_nanoseconds() -> Result<f64, Box<dyn Error>> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(times.split(' ').next().unwrap_or_default().parse()?)
}

/// Returns the position of the record, or of one that the query cannot tell from it.
fn position(kind: &str, text: &str, record: &Record, found: &[&Record]) -> Option<usize> {
    let name = text::fold(&record.name);
    if kind == "city" || kind == "artist" {
        let field = |record: &Record| text::fold(if kind == "city" { &record.city } else { &record.studio });
        return found.iter().position(|found| field(found) == field(record));
    }
    if kind == "city and category" || kind == "one word of the name" {
        // Any result with all words is as good.
        let words = text::fold(text);
        let has_all = |found: &Record| {
            let text = format!(" {} ", found.text());
            words.split(' ').all(|word| text.contains(&format!(" {word} ")))
        };
        return found.iter().position(|found| has_all(found));
    }
    let equal = |found: &&Record| {
        text::fold(&found.name) == name
            && (kind != "artist and word" || text::fold(&found.studio) == text::fold(&record.studio))
    };
    let typed = text::fold(text);
    let begins = |found: &&&Record| text::fold(&found.name).starts_with(&typed);
    if kind == "unfinished name" {
        let alike = found.iter().take_while(begins).count();
        // All results begin with what was typed: no order of them is better.
        if alike == found.len() && alike == 10 {
            return Some(0);
        }
        let at = found.iter().position(equal)?;
        return Some(if at < alike { 0 } else { at });
    }
    let is_alike = |found: &&Record| {
        equal(found)
            || kind == "artist and word" && {
                let text = format!(" {} ", found.text());
                typed.split(' ').all(|word| text.contains(&format!(" {word} ")))
            }
    };
    found.iter().position(is_alike)
}

fn query(kind: &str, record: &Record, random: &mut Random) -> Option<String> {
    let long = |text: &str, least: usize| -> Vec<String> {
        text::fold(text).split(' ').filter(|word| word.chars().count() >= least).map(str::to_owned).collect()
    };
    let words = long(&record.name, 4);
    match kind {
        "unfinished name" => {
            let letters: Vec<char> = record.name.chars().collect();
            let least = (letters.len() * 6).div_ceil(10);
            if letters.len() < 4 || least >= letters.len() {
                return None;
            }
            let cut = least + random.below(letters.len() - least);
            Some(letters[..cut].iter().collect::<String>().trim().to_owned())
        }
        "whole name" => Some(record.name.clone()),
        "artist and word" => {
            let longest = words.iter().max_by_key(|word| word.chars().count())?;
            Some(format!("{} {longest}", long(&record.studio, 3).pop()?))
        }
        "city and category" if !record.city.is_empty() => {
            Some(format!("{} {}", record.city, record.category))
        }
        "city" if !record.city.is_empty() => Some(record.city.clone()),
        "artist" if !record.studio.is_empty() => Some(record.studio.clone()),
        "without accents" if !record.name.is_ascii() => Some(text::fold(&record.name)),
        "one typo" if words.len() > 1 => {
            let at = random.below(words.len());
            let mut words = words;
            let mut letters: Vec<char> = words[at].chars().collect();
            let swapped = random.below(letters.len() - 1);
            letters.swap(swapped, swapped + 1);
            words[at] = letters.into_iter().collect();
            Some(words.join(" "))
        }
        "one word of the name" => Some(words.get(random.below(words.len().max(1)))?.clone()),
        _ => None,
    }
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
}
