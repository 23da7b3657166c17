//! Known items of real records: what people would type for them must bring them up.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;

use super::*;

/// The real records, or nothing with a loud line where they are absent.
fn records() -> Option<Vec<Project>> {
    #[expect(clippy::disallowed_methods, reason = "a variable names the folder of real records")]
    let folder = std::env::var_os("LOGGIA_SHARED_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let file = folder.join("museums-2500.ndjson");
    let Ok(file) = std::fs::File::open(&file) else {
        // Not with println!: the harness would keep it to itself.
        let _ =
            writeln!(std::io::stderr(), "\n*** SKIPPED: the real records are not at {}\n", file.display());
        return None;
    };
    let mut projects = Vec::new();
    for (ordinal, line) in (0..).zip(std::io::BufReader::new(file).lines()) {
        let record: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |member: &str| record[member].as_str().map(str::to_owned);
        projects.push(Project {
            ordinal,
            slug: text("slug").unwrap(),
            name: text("name").unwrap(),
            studio: text("studio"),
            city: text("city"),
            category: text("category").unwrap(),
            intro: text("intro"),
            published: text("published").map(|day| day.replace('-', "").parse::<i32>().unwrap() - 20_000_000),
        });
    }
    Some(projects)
}

/// The folded words of a text that are long enough to be typed by someone who looks for it.
fn long_words(text: &str, least: usize) -> Vec<String> {
    text::fold(text).split(' ').filter(|word| word.chars().count() >= least).map(str::to_owned).collect()
}

/// A query of the kind for the project, if it has what it takes.
fn query(kind: &str, project: &Project, dice: &mut Dice) -> Option<String> {
    let words = long_words(&project.name, 4);
    let studio = project.studio.as_deref().unwrap_or_default();
    let last_name = long_words(studio, 3).pop();
    match kind {
        "exact title" => Some(project.name.clone()),
        "artist and word" => {
            // The longest word of a title is what people remember; "with" and "another" lead nobody anywhere.
            let longest = words.iter().max_by_key(|word| word.chars().count())?;
            Some(format!("{} {longest}", last_name?))
        }
        "city and category" => {
            let word = words.first().or(last_name.as_ref())?;
            Some(format!("{} {} {word}", project.city.as_ref()?, project.category))
        }
        "without accents" if !format!("{}{studio}", project.name).is_ascii() => {
            Some(text::fold(&format!("{} {studio}", project.name)))
        }
        "phrase" if words.len() > 2 => {
            let name = text::fold(&project.name);
            let all: Vec<&str> = name.split(' ').collect();
            let first = dice.roll(all.len().saturating_sub(2).max(1));
            Some(format!("\"{}\" {}", all[first..all.len().min(first + 3)].join(" "), last_name?))
        }
        "one typo" if words.len() > 1 => {
            let place = dice.roll(words.len());
            let mut words = words;
            words[place] = misspelt(&words[place], dice);
            Some(format!("{} {}", words.join(" "), last_name?))
        }
        "prefix" if words.len() > 1 => {
            let (last, first) = words.split_last()?;
            let cut: String = last.chars().take(last.chars().count().min(3 + dice.roll(2))).collect();
            Some(format!("{} {} {cut}", last_name?, first.join(" ")))
        }
        _ => None,
    }
}

fn misspelt(word: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = dice.roll(letters.len() - 1);
    match dice.roll(4) {
        0 => letters.swap(at, at + 1),
        1 => letters[at] = *dice.pick(&['a', 'e', 'o', 't', 's']),
        2 => letters.insert(at, *dice.pick(&['a', 'e', 'o', 't', 's'])),
        _ => drop(letters.remove(at)),
    }
    letters.into_iter().collect()
}

const KINDS: [&str; 7] = [
    "exact title",
    "artist and word",
    "city and category",
    "without accents",
    "phrase",
    "one typo",
    "prefix",
];

/// Kinds of which every item is found, but for one in a thousand: a typo in a word beside which only frequent words stand.
const WHOLE: [&str; 4] = ["city and category", "without accents", "one typo", "prefix"];

/// What a visitor can tell apart: two works of one name by one hand in one place are the same to a query.
fn looks(project: &Project) -> (String, String, String) {
    let fold = |text: &Option<String>| text::fold(text.as_deref().unwrap_or_default());
    (text::fold(&project.name), fold(&project.studio), fold(&project.city))
}

#[test]
fn known_items_stand_in_the_first_ten() {
    let Some(projects) = records() else { return };
    let fixture = Fixture::of(&projects);
    let mut dice = Dice(41);
    for kind in KINDS {
        let (mut asked, mut found, mut ranks) = (0.0, 0.0, 0.0);
        let mut missed: BTreeMap<String, u64> = BTreeMap::new();
        for project in &projects {
            let Some(text) = query(kind, project, &mut dice) else { continue };
            let page = fixture.reader.search(&SearchRequest { limit: 10, ..request(&text) }).unwrap();
            let place = ordinals(&page)
                .iter()
                .position(|&ordinal| looks(&projects[ordinal as usize]) == looks(project));
            asked += 1.0;
            found += f64::from(u8::from(place.is_some()));
            ranks += place.map_or(0.0, |place| 1.0 / (place + 1) as f64);
            if place.is_none() {
                missed.insert(text, page.total());
            }
        }
        let share = found / asked;
        println!(
            "{kind:18} {asked:5} asked, {:6.2} % in the first ten, MRR {:.3}",
            share * 100.0,
            ranks / asked
        );
        for (text, total) in missed.iter().take(8) {
            println!("      missed: {text:?} (of {total})");
        }
        assert!(asked > 20.0, "{kind}");
        let least = if WHOLE.contains(&kind) { 0.999 } else { 0.95 };
        assert!(share >= least, "{kind}: {share}");
    }
}
