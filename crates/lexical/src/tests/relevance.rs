//! Known-item search on real records: what people would type for a project must find it in the first ten results.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;

use super::*;

/// Returns the real records; `None`, with a line on standard error, where they are absent.
fn records() -> Option<Vec<Project>> {
    #[expect(clippy::disallowed_methods, reason = "a variable names the folder of real records")]
    let folder = std::env::var_os("LOGGIA_SHARED_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"), PathBuf::from);
    let file = folder.join("museums-2500.ndjson");
    let Ok(file) = std::fs::File::open(&file) else {
        // Not with println!: the test harness would hide it.
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

/// Returns the folded words of a text of at least `min_length` characters: shorter ones are hardly typed.
fn long_words(text: &str, min_length: usize) -> Vec<String> {
    text::fold(text).split(' ').filter(|word| word.chars().count() >= min_length).map(str::to_owned).collect()
}

/// Returns a query of a kind for the project; `None` if it lacks the fields.
fn query(kind: &str, project: &Project, random: &mut Random) -> Option<String> {
    let words = long_words(&project.name, 4);
    let studio = project.studio.as_deref().unwrap_or_default();
    let last_name = long_words(studio, 3).pop();
    match kind {
        "exact title" => Some(project.name.clone()),
        "artist and word" => {
            // People remember the longest word of a title; "with" or "another" identify nothing.
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
            let first = random.below(all.len().saturating_sub(2).max(1));
            Some(format!("\"{}\" {}", all[first..all.len().min(first + 3)].join(" "), last_name?))
        }
        "one typo" if words.len() > 1 => {
            let index = random.below(words.len());
            let mut words = words;
            words[index] = misspelled(&words[index], random);
            Some(format!("{} {}", words.join(" "), last_name?))
        }
        "prefix" if words.len() > 1 => {
            let (last, first) = words.split_last()?;
            let cut: String = last.chars().take(last.chars().count().min(3 + random.below(2))).collect();
            Some(format!("{} {} {cut}", last_name?, first.join(" ")))
        }
        _ => None,
    }
}

fn misspelled(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = random.below(letters.len() - 1);
    match random.below(4) {
        0 => letters.swap(at, at + 1),
        1 => letters[at] = *random.pick(&['a', 'e', 'o', 't', 's']),
        2 => letters.insert(at, *random.pick(&['a', 'e', 'o', 't', 's'])),
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

/// Kinds of which all items but one in a thousand are found; those not found have a typo in a word beside frequent words only.
const COMPLETE: [&str; 4] = ["city and category", "without accents", "one typo", "prefix"];

/// Returns what a query can distinguish: two works of the same name, studio and city are the same to it.
fn identity(project: &Project) -> (String, String, String) {
    let fold = |text: &Option<String>| text::fold(text.as_deref().unwrap_or_default());
    (text::fold(&project.name), fold(&project.studio), fold(&project.city))
}

#[test]
fn known_items_are_in_the_first_ten_results() {
    let Some(projects) = records() else { return };
    let fixture = Fixture::of(&projects);
    let mut random = Random(41);
    for kind in KINDS {
        let (mut queries, mut found, mut reciprocal_ranks) = (0.0, 0.0, 0.0);
        let mut missed: BTreeMap<String, u64> = BTreeMap::new();
        for project in &projects {
            let Some(text) = query(kind, project, &mut random) else { continue };
            let page = fixture.reader.search(&SearchRequest { limit: 10, ..request(&text) }).unwrap();
            let position = ordinals(&page)
                .iter()
                .position(|&ordinal| identity(&projects[ordinal as usize]) == identity(project));
            queries += 1.0;
            found += f64::from(u8::from(position.is_some()));
            reciprocal_ranks += position.map_or(0.0, |position| 1.0 / (position + 1) as f64);
            if position.is_none() {
                missed.insert(text, page.total());
            }
        }
        let recall = found / queries;
        println!(
            "{kind:18} {queries:5} queries, {:6.2} % in the first ten, MRR {:.3}",
            recall * 100.0,
            reciprocal_ranks / queries
        );
        for (text, total) in missed.iter().take(8) {
            println!("      missed: {text:?} (of {total})");
        }
        assert!(queries > 20.0, "{kind}");
        let least = if COMPLETE.contains(&kind) { 0.999 } else { 0.95 };
        assert!(recall >= least, "{kind}: {recall}");
    }
}

/// Names cut at a random letter after at least 60 % of their letters. Of records that begin with what was typed any may be first; the
/// record itself, or one of the same name, must be among the first ten, unless those all begin with it.
/// (Those not found are single words such as "Bow" of "Bowl", which ten projects contain as a whole word.)
#[test]
fn unfinished_names_are_among_the_first_ten_results() {
    let Some(projects) = records() else { return };
    let fixture = Fixture::of(&projects);
    let seed = 24;
    let mut random = Random(seed);
    let (mut queries, mut in_ten, mut first) = (0.0, 0.0, 0.0);
    for project in &projects {
        let letters: Vec<char> = project.name.chars().collect();
        let least = (letters.len() * 6).div_ceil(10);
        if letters.len() < 4 || least == letters.len() {
            continue;
        }
        let cut: String = letters[..least + random.below(letters.len() - least)].iter().collect();
        let page = fixture.reader.search(&SearchRequest { limit: 10, ..request(cut.trim()) }).unwrap();
        let typed = text::comparison_form(&cut);
        // Names are compared without `and`, so that its beginning says nothing.
        let typed = [" a", " an"].iter().find_map(|end| typed.strip_suffix(end)).unwrap_or(&typed);
        let name_of = |ordinal: &u64| text::comparison_form(&projects[*ordinal as usize].name);
        let names: Vec<String> = ordinals(&page).iter().map(name_of).collect();
        let is_found = names.contains(&text::comparison_form(&project.name))
            || names.len() == 10 && names.iter().all(|name| name.starts_with(typed));
        queries += 1.0;
        in_ten += f64::from(u8::from(is_found));
        if !is_found || !names.first().is_some_and(|name| name.starts_with(typed)) {
            println!("      not first: {cut:?} of {:?}", project.name);
        }
        first += f64::from(u8::from(names.first().is_some_and(|name| name.starts_with(typed))));
    }
    println!("seed {seed}: {queries} queries, {:.4} in ten, {:.4} first", in_ten / queries, first / queries);
    assert!(queries > 2_000.0 && in_ten / queries >= 0.99 && first / queries >= 0.99);
}
