//! The columns of a sample with their values, and what texts look like.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::cell::{Lines, clean};
use crate::date::{DayForm, YearOf, day};
use crate::path::{Path, collect_paths, scalar};

use super::words::words;

/// Words for a date that is not known, in lower case.
const UNDATED: [&str; 14] = [
    "n.d.",
    "n.d",
    "s.a.",
    "s.d.",
    "o. j.",
    "o.j.",
    "z.j.",
    "undated",
    "undatiert",
    "date not known",
    "unknown date",
    "date unknown",
    "non daté",
    "sin fecha",
];

/// The file endings of pictures that can be shown.
const PICTURES: [&str; 6] = [".jpg", ".jpeg", ".png", ".webp", ".avif", ".jfif"];

/// The file endings of pictures that cannot, or not well.
const OTHER_PICTURES: [&str; 4] = [".tif", ".tiff", ".gif", ".bmp"];

/// A column or path of a sample.
#[derive(Debug)]
pub(crate) struct Column {
    /// The heading, or the path.
    pub(crate) name: String,
    /// The words of its name, in lower case and without accents.
    pub(crate) words: Vec<String>,
    /// The texts of each record: none, one, or those of a list.
    pub(crate) cells: Vec<Vec<String>>,
    /// The number of records with a text.
    pub(crate) filled: usize,
    /// Different texts with the number of times they occur, the most frequent first.
    pub(crate) counts: Vec<(String, usize)>,
    /// Whether a record has several texts.
    pub(crate) is_list: bool,
}

impl Column {
    fn new(name: &str, records: &[Map<String, Value>]) -> Column {
        let path = Path::new(name);
        let texts = |record| {
            let found = path.find(record, &[]);
            let texts = found.values.into_iter().flatten().filter_map(scalar);
            texts.filter_map(|text| clean(&text, Lines::Kept, &[])).collect::<Vec<_>>()
        };
        let cells: Vec<Vec<String>> = records.iter().map(texts).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for text in cells.iter().flatten() {
            *counts.entry(text).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().map(|(text, count)| (text.to_owned(), count)).collect();
        counts.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then_with(|| a.cmp(b)));
        Column {
            name: name.to_owned(),
            words: words(name),
            filled: cells.iter().filter(|texts| !texts.is_empty()).count(),
            is_list: cells.iter().any(|texts| texts.len() > 1) || name.contains("[]"),
            counts,
            cells,
        }
    }

    /// Returns the texts of all records.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().flatten().map(String::as_str)
    }

    /// Returns the share of its texts for which this is true, from 0 to 1; 0 without texts.
    pub(crate) fn share(&self, is_so: impl Fn(&str) -> bool) -> f64 {
        let (mut so, mut all) = (0, 0);
        for (text, count) in &self.counts {
            all += count;
            so += if is_so(text) { *count } else { 0 };
        }
        if all == 0 { 0.0 } else { so as f64 / all as f64 }
    }

    /// Returns the share of records with a text, from 0 to 1.
    pub(crate) fn fill(&self) -> f64 {
        if self.cells.is_empty() { 0.0 } else { self.filled as f64 / self.cells.len() as f64 }
    }

    /// Returns whether every text differs from the others.
    pub(crate) fn is_unique(&self) -> bool {
        self.counts.first().is_some_and(|(_, count)| *count == 1)
    }

    /// Returns the average length of its texts, in characters.
    pub(crate) fn average_length(&self) -> f64 {
        let (characters, texts) = self.counts.iter().fold((0, 0), |(characters, texts), (text, count)| {
            (characters + text.chars().count() * count, texts + count)
        });
        if texts == 0 { 0.0 } else { characters as f64 / texts as f64 }
    }

    /// Returns whether its name has one of these words.
    pub(crate) fn has_word(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    /// Returns whether some of its texts are days as spreadsheet programs keep them, and every other number is a year.
    pub(crate) fn has_serial_days(&self) -> bool {
        let is_read = |text: &str| text.parse::<f64>().is_err() || is_plain_year(text) || is_serial_day(text);
        self.texts().any(is_serial_day) && self.texts().all(is_read)
    }

    /// Returns what separates several values within its texts, if something surely does.
    pub(crate) fn separator(&self) -> Option<&'static str> {
        let has = |separator| self.texts().any(|text| text.contains(separator));
        if self.texts().any(|text| text.contains("://") && text.contains('?')) {
            return None;
        }
        if has("|") { Some("|") } else { None }
    }
}

/// Returns the columns of records: those of a table in the order of its headings, or the paths of nested JSON by name.
pub(crate) fn columns(headings: &[String], records: &[Map<String, Value>]) -> Vec<Column> {
    if !headings.is_empty() {
        let mut seen = BTreeSet::new();
        let names = headings.iter().filter(|name| !name.is_empty() && seen.insert(name.as_str()));
        return names.map(|name| Column::new(name, records)).collect();
    }
    let mut paths = BTreeSet::new();
    for record in records {
        collect_paths(record, &mut paths);
    }
    let columns: Vec<Column> = paths.iter().map(|path| Column::new(path, records)).collect();
    // A list that is empty in one record has the paths of its elements in others.
    let is_parent = |column: &Column| {
        let leads = |other: &String| {
            other
                .strip_prefix(&column.name)
                .is_some_and(|rest| rest.starts_with('.') || rest.starts_with("[]"))
        };
        column.filled == 0 && paths.iter().any(leads)
    };
    columns.into_iter().filter(|column| !is_parent(column)).collect()
}

/// Returns whether a text is an address of the web.
pub(crate) fn is_address(text: &str) -> bool {
    let lower = text.trim_start().to_lowercase();
    lower.starts_with("https://") || lower.starts_with("http://") || lower.starts_with("www.")
}

/// Returns the site of an address, in lower case.
pub(crate) fn host(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("://")?;
    rest.split(['/', '?', '#']).next().map(str::to_lowercase)
}

/// Returns whether an address is one of data, not of a page.
pub(crate) fn is_for_machines(text: &str) -> bool {
    let lower = text.to_lowercase();
    let address = lower.split(['?', '#']).next().unwrap_or_default();
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|rest| {
            (1..=2).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let of_data = |part: &str| ["api", "iiif", "manifest", "oai"].contains(&part) || is_version(part);
    host.split('.').any(|label| label == "api" || label == "iiif")
        || path.split('/').any(of_data)
        || [".json", ".jsonld", ".xml", ".rdf", ".ttl"].iter().any(|ending| path.ends_with(ending))
        || lower.contains("format=json")
}

/// Returns whether a text is the state of an entry of a site.
pub(crate) fn is_state(text: &str) -> bool {
    let states = [
        "publish",
        "published",
        "draft",
        "pending",
        "private",
        "trash",
        "future",
        "inherit",
        "archived",
        "veröffentlicht",
        "entwurf",
        "publié",
        "brouillon",
    ];
    states.contains(&text.to_lowercase().as_str())
}

/// Returns whether a text names a place within a building, such as “Gallery 3”.
pub(crate) fn is_indoors(text: &str) -> bool {
    let lower = text.to_lowercase();
    let places = [
        "gallery",
        "storage",
        "room",
        "floor",
        "shelf",
        "depot",
        "lager",
        "regal",
        "schrank",
        "raum",
        "saal",
        "salle",
        "reserve",
        "réserve",
        "sala",
        "magazzino",
        "deposito",
        "depósito",
        "zaal",
        "magasin",
        "wing",
        "storeroom",
        "basement",
        "stockwerk",
        "etage",
        "étage",
        "verdieping",
    ];
    let numbered =
        ["hall", "case", "cabinet", "vitrine", "level", "box", "rack", "galerie", "galleria", "piano"];
    let words =
        || lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    // Others name furniture or a house too, unless a number or a letter stands behind them.
    let has_number = || words().skip(1).any(|word| word.chars().count() == 1 || word.parse::<u32>().is_ok());
    words().any(|word| places.contains(&word))
        || words().count() <= 3 && words().any(|word| numbered.contains(&word)) && has_number()
}

/// Returns whether a text ends as a picture, or has an address of one in brackets.
pub(crate) fn is_picture(text: &str) -> bool {
    ends_with(text, &PICTURES)
}

/// Returns whether a text ends as a picture that browsers do not show.
pub(crate) fn is_other_picture(text: &str) -> bool {
    ends_with(text, &OTHER_PICTURES) || text.starts_with("data:")
}

fn ends_with(text: &str, endings: &[&str]) -> bool {
    let lower = text.to_lowercase();
    let is_one = |part: &str| {
        let path = part.split(['?', '#', ' ']).next().unwrap_or_default();
        endings.iter().any(|ending| path.ends_with(ending) || part.trim().ends_with(ending))
    };
    lower.split([',', ';', '|']).any(is_one)
        || attachment(text).is_some_and(|name| is_one(&name.to_lowercase()))
}

/// Returns the name before an address in brackets, as in `front.jpg (https://…)`.
pub(crate) fn attachment(text: &str) -> Option<&str> {
    text.split_once(" (https://").map(|(name, _)| name)
}

/// Returns whether a text is a number, with signs of decimals and thousands.
pub(crate) fn is_number(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_digit() || ".,'’ -+".contains(character);
    text.contains(|character: char| character.is_ascii_digit()) && text.chars().all(is_part)
}

/// Returns whether a text is a decimal number.
pub(crate) fn is_decimal(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|number| number.fract() != 0.0) && text.matches('.').count() == 1
}

/// Returns whether a text is a year alone.
pub(crate) fn is_plain_year(text: &str) -> bool {
    let bare = text.strip_suffix(".0").unwrap_or(text);
    bare.len() == 4 && YearOf::Sure.find(bare).is_some()
}

/// Returns whether a text has a year or a century, or says that there is no date.
pub(crate) fn is_dated(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut digits = 0;
    let mut longest = 0;
    for character in lower.chars() {
        digits = if character.is_ascii_digit() { digits + 1 } else { 0 };
        longest = longest.max(digits);
        if digits > 4 {
            return false;
        }
    }
    let says_century = ["century", "jahrhundert", "jh.", "siècle", "secolo", "siglo", "eeuw", "bce", "b.c."]
        .iter()
        .any(|word| lower.contains(word));
    YearOf::Sure.find(text).is_some()
        || (longest == 4 && lower.chars().count() < 60)
        || says_century
        || UNDATED.contains(&lower.as_str())
}

/// Returns whether a text is a day since there are databases, with a time of day or not.
pub(crate) fn is_recent_day(text: &str) -> bool {
    let numbers = text.split(|character: char| !character.is_ascii_digit()).filter(|part| !part.is_empty());
    let is_recent = |text| YearOf::Sure.find(text).is_some_and(|year| year >= 1990);
    numbers.count() > 1 && !is_plain_year(text) && is_recent(text)
        || is_serial_day(text) && day(text, DayForm::Excel).is_some_and(|day| day.as_str() >= "1990")
}

/// Returns whether a text is a day as spreadsheet programs keep it: the number of days since 1899, here of 1954 to 2064.
pub(crate) fn is_serial_day(text: &str) -> bool {
    let days = text.split('.').next().and_then(|days| days.parse::<u32>().ok());
    is_number(text) && days.is_some_and(|days| (20_000..=60_000).contains(&days))
}

/// Returns whether a text is a day with the time of day that a cell for days has.
pub(crate) fn is_midnight(text: &str) -> bool {
    text.contains("00:00:00") && YearOf::Sure.find(text).is_some()
}

/// Returns whether a text is the first day of a year, as the cell of a spreadsheet program has it.
pub(crate) fn is_new_year(text: &str) -> bool {
    (is_serial_day(text) || is_midnight(text))
        && day(text, DayForm::Excel).is_some_and(|day| day.ends_with("-01-01"))
}

/// Returns whether a text is a point in time with a time of day other than midnight.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let is_clock = |word: &str| {
        let digits = word.chars().take_while(|character| character.is_ascii_digit()).count();
        (1..=2).contains(&digits) && word[digits..].starts_with(':')
    };
    let has_clock = text.split([' ', 'T']).any(is_clock);
    has_clock && !text.contains("00:00:00") && text.chars().any(|character| character.is_ascii_digit())
}

/// Returns whether a text says whom a picture is from, as “Photo: Mina Halloran” does.
pub(crate) fn is_picture_credit(text: &str) -> bool {
    let lower = text.to_lowercase();
    let first = lower.split(|character: char| !character.is_alphabetic()).find(|word| !word.is_empty());
    let words = [
        "photo",
        "photos",
        "photograph",
        "photography",
        "image",
        "images",
        "courtesy",
        "foto",
        "fotos",
        "bild",
        "photographie",
        "photographe",
        "photographer",
        "fotograf",
        "fotografie",
        "aufnahme",
        "crédit",
        "credit",
        "courtoisie",
        "cortesia",
        "cortesía",
        "fotografia",
        "fotografía",
    ];
    lower.starts_with('©') || first.is_some_and(|word| words.contains(&word))
}

/// Returns whether a text says how a work was acquired, as “Gift of Ada Pelt, 1971” does.
pub(crate) fn is_acquisition(text: &str) -> bool {
    const WORDS: &str = "gift gifts bequest bequeathed purchase purchased presented fund donated donation acquired transferred \
         schenkung geschenk stiftung vermächtnis ankauf erworben leihgabe nachlass don legs achat dépôt dation dono donazione \
         legato acquisto lascito donación legado compra adquisición schenking aankoop legaat bruikleen";
    let lower = text.to_lowercase();
    let mut words = lower.split(|character: char| !character.is_alphanumeric());
    words.any(|word| WORDS.split_whitespace().any(|known| known == word))
}

/// Returns whether a text is a licence or a copyright.
pub(crate) fn is_licence(text: &str) -> bool {
    let starts = [
        "cc0",
        "cc by",
        "cc-by",
        "©",
        "(c) ",
        "copyright",
        "public domain",
        "in copyright",
        "no known copyright",
        "all rights reserved",
        "gemeinfrei",
        "alle rechte vorbehalten",
        "domaine public",
        "tous droits réservés",
        "pubblico dominio",
        "dominio público",
        "publiek domein",
    ];
    let lower = text.to_lowercase();
    starts.iter().any(|start| lower.starts_with(start))
        || ["creativecommons.org/", "rightsstatements.org/"].iter().any(|site| lower.contains(site))
}

/// Returns whether a text is a flag of a database.
pub(crate) fn is_flag(text: &str) -> bool {
    let flags = [
        "true",
        "false",
        "yes",
        "no",
        "y",
        "n",
        "ja",
        "nein",
        "oui",
        "non",
        "si",
        "sì",
        "sí",
        "nee",
        "checked",
        "unchecked",
        "x",
        "0",
        "1",
        "wahr",
        "falsch",
        "vrai",
        "faux",
    ];
    flags.contains(&text.to_lowercase().as_str())
}
