//! What each column is about: its name counts up to 60, its values up to 40.

use super::column::{
    Column, attachment, host, is_address, is_dated, is_decimal, is_flag, is_for_machines, is_indoors,
    is_licence, is_number, is_other_picture, is_picture, is_picture_credit, is_recent_day, is_serial_day,
    is_state, is_timestamp,
};
use super::concepts::{ABOUT_MAKERS, Concept, MAKERS, NAMES};
use super::countries;
use super::kinds;
use super::qualifiers::is_qualifier;
use super::words::{likeness, words};

/// The score from which a column is used; below it is not certain enough.
pub(crate) const LIKELY: u32 = 50;

/// The score from which a line needs no check.
pub(crate) const SURE: u32 = 80;

/// The most different values of a category.
const MAX_KINDS: usize = 60;

/// Words of which one says alone that something was published.
const PUBLISHED: [&str; 14] = [
    "published",
    "publish",
    "publication",
    "post",
    "pub",
    "veroffentlicht",
    "veroffentlichung",
    "publie",
    "pubblicato",
    "pubblicazione",
    "publicado",
    "publicacion",
    "gepubliceerd",
    "publicatiedatum",
];

/// Words for the beginning of a work, or of its entry.
const CREATED: [&str; 10] = [
    "created",
    "creation",
    "creacion",
    "creazione",
    "erstellt",
    "cree",
    "creato",
    "creado",
    "aangemaakt",
    "angelegt",
];

/// Words for credits in the names of columns.
pub(crate) const CREDITS: [&str; 7] =
    ["credit", "credits", "credito", "creditos", "crediti", "kreditzeile", "courtesy"];

/// Words for pictures in the names of columns with credits.
pub(crate) const OF_PICTURES: [&str; 22] = [
    "photo",
    "photos",
    "photograph",
    "photographs",
    "photographer",
    "photographe",
    "photographique",
    "photographiques",
    "image",
    "images",
    "picture",
    "pictures",
    "foto",
    "fotos",
    "fotografico",
    "fotografici",
    "fotograficos",
    "bild",
    "bilder",
    "immagine",
    "immagini",
    "imagen",
];

/// The share of records from which a column is taken to be filled.
const FULL: f64 = 0.8;

/// Words for the member of a maker that has the name.
const NAMES_OF_PEOPLE: [&str; 12] = [
    "name",
    "names",
    "description",
    "title",
    "titles",
    "person",
    "label",
    "def",
    "text",
    "value",
    "full",
    "cited",
];

/// What a column is about, and how certain that is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Guess {
    pub(crate) concept: Concept,
    /// Up to 60 for the name.
    pub(crate) name: u32,
    /// Up to 40 for the values.
    pub(crate) values: u32,
    /// Why, in words.
    pub(crate) reason: String,
    /// Whether the form of its name or values says it beyond doubt.
    pub(crate) is_certain: bool,
}

impl Guess {
    fn new(concept: Concept, name: u32, values: u32, reason: impl Into<String>) -> Guess {
        Guess { concept, name, values, reason: reason.into(), is_certain: false }
    }

    pub(crate) fn score(&self) -> u32 {
        self.name + self.values
    }
}

/// Returns what a column may be about, the likeliest first.
pub(crate) fn guesses(column: &Column) -> Vec<Guess> {
    if column.filled == 0 {
        return vec![Guess::new(Concept::Technical, 60, 40, "it has no values")];
    }
    if let Some(guess) = of_structure(column) {
        return vec![Guess { is_certain: true, ..guess }];
    }
    let mut guesses = Vec::new();
    for names in NAMES {
        if column.words.iter().any(|word| names.against.split_whitespace().any(|other| other == word)) {
            continue;
        }
        let name =
            names.phrases.split(';').map(|phrase| likeness(&column.words, phrase)).max().unwrap_or_default();
        if name == 0 {
            continue;
        }
        if let Some(values) = values(names.concept, column) {
            let reason = if name == 60 { "its name says so" } else { "its name has the word" };
            guesses.push(Guess::new(names.concept, name, values, reason));
        }
    }
    guesses.extend(of_values(column));
    // Stable: of equal ones the first of the list.
    guesses.sort_by_key(|guess| std::cmp::Reverse(guess.score()));
    guesses
}

/// Returns what the form of a name, or values of a database, say beyond doubt.
fn of_structure(column: &Column) -> Option<Guess> {
    let name = column.name.as_str();
    let sure = |concept, reason: &str| Some(Guess::new(concept, 60, 40, reason));
    if name.starts_with('@') || (name.starts_with("o:") && name != "o:id") {
        return sure(Concept::Technical, "its name is one of the system that exported it");
    }
    let has = |words: &[&str]| column.has_word(words);
    let is_picture_word =
        |word: &String| ["image", "images", "picture", "photo", "bild", "alt"].contains(&word.as_str());
    let own = [
        "object",
        "record",
        "item",
        "work",
        "project",
        "o",
        "id",
        "system",
        "opera",
        "oeuvre",
        "obra",
        "werk",
        "objekt",
        "source",
        "inventory",
        "accession",
    ];
    if column.words.last().is_some_and(|word| word == "id" || word == "ids" || word == "guid") {
        let rest = &column.words[..column.words.len() - 1];
        if !rest.is_empty() && rest.iter().all(is_picture_word) && column.share(is_number) < 0.9 {
            return sure(Concept::Picture, "it has keys of pictures");
        }
        if column.words.iter().any(|word| !own.contains(&word.as_str()) && word != "ids" && word != "guid") {
            return sure(Concept::OtherKey, "it is the key of something else");
        }
    }
    if has(&["status", "state"]) && column.filled > 0 && column.share(is_state) > 0.9 {
        return sure(Concept::Technical, "its values are states of an entry");
    }
    if name.ends_with(":resource") && column.share(is_number) > 0.9 {
        return sure(Concept::OtherKey, "it has keys of other records");
    }
    // Before the flags: NO is Norway.
    if countries::are_named_codes(column) {
        return sure(Concept::Country, "its values are codes of countries");
    }
    let flags = column.share(is_flag) > 0.9 && column.counts.len() <= 3;
    if flags && !has(&["id", "no", "nr", "number", "title", "titel", "name"]) {
        return sure(Concept::Technical, "its values are yes and no");
    }
    about_maker(column)
}

/// Returns what a column is whose name, or the list it is in, names makers.
fn about_maker(column: &Column) -> Option<Guess> {
    let sure = |concept, reason: &str| Some(Guess::new(concept, 60, 40, reason));
    let leaf = column.name.rsplit('.').next().unwrap_or_default();
    let is_nested = leaf.len() < column.name.len();
    let leaf_words = words(leaf);
    let parents = &column.words[..column.words.len().saturating_sub(leaf_words.len())];
    let is_maker = |word: &String| MAKERS.contains(&word.as_str());
    let in_makers = is_nested && parents.iter().any(is_maker);
    if !in_makers && !column.words.iter().any(is_maker) {
        return None;
    }
    if column.has_word(&["copyright", "rights", "credit", "statement", "photo"]) {
        return None;
    }
    if column.has_word(&["place", "places"]) {
        return sure(Concept::OtherPlace, "places of people are also those where they were born");
    }
    if column.has_word(&["prefix", "qualifier"]) {
        return sure(Concept::Qualifier, "it stands before the names of makers");
    }
    if column.has_word(&["role", "roles"]) {
        return sure(Concept::Qualifier, "it has the roles of makers");
    }
    let about = |word: &String| ABOUT_MAKERS.contains(&word.as_str());
    if leaf_words.iter().any(about)
        || column.words.iter().any(|word| about(word) && word != "type" && word != "display")
    {
        return sure(Concept::AboutMaker, "it is about the maker, not about the work");
    }
    if in_makers
        && !leaf_words.iter().any(is_maker)
        && !leaf_words.iter().any(|word| NAMES_OF_PEOPLE.contains(&word.as_str()))
    {
        return sure(Concept::AboutMaker, "it is about the maker, not about the work");
    }
    if column.share(|text| is_number(text) || is_timestamp(text)) > 0.5 {
        return sure(Concept::AboutMaker, "it has numbers about the maker");
    }
    let lines = column.share(|text| text.contains('\n'));
    let list = u32::from(column.is_list) * 5;
    // The author of an entry is often another than the maker of the work.
    let is_author = column.has_word(&[
        "author",
        "authors",
        "creator",
        "creators",
        "contributor",
        "contributors",
        "agent",
    ]);
    let name = match (column.words.len(), is_author) {
        (1, false) => 60,
        (_, false) => 55,
        (_, true) => 50,
    };
    Some(Guess::new(Concept::Maker, name, if lines > 0.4 { 5 } else { 30 + list }, "its name says so"))
}

/// Returns how well the values fit a concept, from 0 to 40; `None` if they exclude it.
fn values(concept: Concept, column: &Column) -> Option<u32> {
    let share = |is_so: fn(&str) -> bool| column.share(is_so);
    let numbers = share(is_number);
    let addresses = share(is_address);
    let times = share(is_timestamp);
    let length = column.average_length();
    let digits = share(|text| text.contains(|character: char| character.is_ascii_digit()));
    let distinct = column.counts.len() as f64 / column.filled.max(1) as f64;
    let is_text = numbers < 0.5 && addresses < 0.3;
    let when = |is_so: bool, values: u32| is_so.then_some(values);
    match concept {
        Concept::Id => {
            let fits =
                !column.is_list && length < 60.0 && share(is_decimal) < 0.2 && times < 0.5 && addresses < 0.5;
            when(fits, if column.is_unique() { 40 } else { 5 })
        }
        Concept::Accession => when(length < 60.0 && times < 0.5 && addresses < 0.5 && digits > 0.3, 35),
        Concept::Title => {
            let recurs = column.filled > 20 && distinct < 0.1;
            when(is_text && !recurs && (1.5..200.0).contains(&length), if distinct > 0.4 { 40 } else { 20 })
        }
        Concept::ObjectName | Concept::Department | Concept::Subject | Concept::CreditLine => {
            when(is_text, 30)
        }
        Concept::Maker => when(is_text && length < 200.0, 30),
        // A credit line says how a work was acquired, unless it speaks of a picture.
        Concept::Photographer if may_credit_works(column) => {
            when(is_text && share(is_picture_credit) > 0.5, 40)
        }
        Concept::Photographer => when(is_text && length < 200.0, 35),
        Concept::Qualifier => {
            let qualifies = share(|text| text.split('|').any(is_qualifier)) > 0.0;
            when(is_text && length < 60.0, if qualifies { 40 } else { 20 })
        }
        Concept::Date | Concept::Acquired | Concept::Published | Concept::Selected => {
            of_days(concept, column)
        }
        Concept::City | Concept::Country => {
            let is_shown = share(|text| text.to_lowercase().contains("on view")) > 0.2;
            when(!is_shown && share(is_indoors) <= 0.3 && is_text && digits < 0.4 && length < 80.0, 35)
        }
        Concept::Category => of_kinds(column).filter(|_| is_text),
        Concept::Material => {
            when(is_text, if share(|text| text.contains([',', ';', ' '])) > 0.3 { 40 } else { 30 })
        }
        Concept::Dimensions => when(digits > 0.5 && numbers < 0.7, 40),
        Concept::Rights => when(numbers < 0.5, 30),
        Concept::Description | Concept::Intro => when(is_text && length > 6.0 && distinct > 0.3, 40),
        Concept::Picture => of_pictures(column),
        Concept::PictureText => when(is_text, 30),
        Concept::Url => {
            let fits = addresses > 0.7 && share(is_picture) < 0.5;
            let score = match distinct {
                _ if share(is_for_machines) >= 0.5 => 5,
                distinct if distinct <= 0.5 => 10,
                _ => 40 - u32::from(column.is_list) * 5,
            };
            when(fits, score)
        }
        Concept::Notes => when(true, 35),
        Concept::Detail => when(addresses < 0.3, 25),
        Concept::Measure => when(numbers > 0.5 || column.has_word(&["units", "unit"]) || digits > 0.5, 35),
        Concept::Private => when(true, 40),
        Concept::AboutMaker
        | Concept::Range
        | Concept::OtherPlace
        | Concept::OtherKey
        | Concept::Technical => when(true, 32),
    }
}

/// Returns whether a column with this name may credit works rather than their pictures.
fn may_credit_works(column: &Column) -> bool {
    column.has_word(&CREDITS) && !column.has_word(&["courtesy"]) && !column.has_word(&OF_PICTURES)
}

/// Returns how well values are years or days of this.
fn of_days(concept: Concept, column: &Column) -> Option<u32> {
    let share = |is_so: fn(&str) -> bool| column.share(is_so);
    let times = share(is_timestamp);
    let length = column.average_length();
    let dated = share(is_dated);
    let when = |is_so: bool, values: u32| is_so.then_some(values);
    match concept {
        // A bare “Date” with a time of day is that of an entry, not of a work.
        Concept::Published if !column.has_word(&PUBLISHED) => {
            when(column.words.len() == 1 && times > 0.5, 25)
        }
        Concept::Published | Concept::Selected if share(is_serial_day) > 0.8 => when(true, 30),
        // Works are not made day by day in the years of databases; entries are.
        Concept::Date if column.has_word(&CREATED) && share(is_recent_day) > 0.9 => {
            let says_date = column.has_word(&["date", "data", "fecha"]);
            when(says_date && times < 0.5 && length < 100.0, 15)
        }
        Concept::Date | Concept::Acquired | Concept::Published => {
            let has_serials = concept != Concept::Published && column.has_serial_days();
            let serial = if has_serials { share(is_serial_day) } else { 0.0 };
            let fits = times < 0.5 && dated + serial >= 0.3 && length < 100.0 && column.words != ["art"];
            let score = match dated + serial {
                found if found < 0.6 => 20,
                _ if serial > 0.5 => 30,
                _ => 40,
            };
            when(fits, score)
        }
        // A database writes such times by itself.
        Concept::Selected if share(|text| is_timestamp(text) && text.ends_with('Z')) > 0.5 => None,
        Concept::Selected => {
            let digits = share(|text| text.contains(|character: char| character.is_ascii_digit()));
            let are_days = dated > 0.9 && digits > 0.9 && share(is_number) < 0.1;
            when(times > 0.5 || are_days || share(is_recent_day) > 0.9, 30)
        }
        _ => None,
    }
}

/// Returns how well values are pictures.
fn of_pictures(column: &Column) -> Option<u32> {
    let addresses = column.share(is_address);
    let pictures = column.share(is_picture) + column.share(|text| attachment(text).is_some());
    let is_other = column.share(is_other_picture) > 0.5;
    let is_prose = column.average_length() > 400.0 && pictures < 0.1;
    let fits = !is_other && !is_prose && (pictures > 0.3 || addresses > 0.8);
    fits.then_some(if pictures > 0.3 { 40 } else { 25 })
}

/// Returns how well values are kinds of works.
fn of_kinds(column: &Column) -> Option<u32> {
    let distinct = column.counts.len() as f64 / column.filled.max(1) as f64;
    let few = column.counts.len() <= MAX_KINDS && !(column.filled > 20 && distinct > 0.8);
    if !few {
        return None;
    }
    let known = column.share(|text| text.split('|').any(|part| kinds::category(part).is_some()));
    let score = match known {
        known if known > 0.5 => 40,
        known if known > 0.0 => 30,
        _ => 5,
    };
    (column.average_length() < 60.0).then_some(score)
}

/// Returns what the values alone show, where a name may be in any language.
fn of_values(column: &Column) -> Option<Guess> {
    let guess = |concept, values, reason: &str| Some(Guess::new(concept, 20, values, reason));
    let distinct = column.counts.len() as f64 / column.filled.max(1) as f64;
    if column.share(|text| is_picture(text) && !text.contains(' ') || attachment(text).is_some()) > 0.8 {
        return guess(Concept::Picture, 35, "its values are names or addresses of pictures");
    }
    if column.share(is_licence) > 0.8 {
        return guess(Concept::Rights, 35, "its values are licences or copyrights");
    }
    if column.share(is_address) > 0.9 {
        return of_addresses(column);
    }
    if column.share(is_indoors) > 0.3 && column.average_length() < 40.0 {
        return guess(Concept::OtherPlace, 32, "its values are rooms of a house");
    }
    let few = column.counts.len() <= MAX_KINDS && column.average_length() < 30.0;
    let known = if few { column.share(|text| kinds::category(text).is_some()) } else { 0.0 };
    if known > 0.8 && column.filled > 3 && distinct < 0.9 {
        return guess(Concept::Category, 32, "its values are kinds of works");
    }
    if column.average_length() > 200.0 && distinct > 0.5 {
        return guess(Concept::Description, 32, "its values are long texts");
    }
    None
}

/// Returns whether addresses may be those of the records: every record has its own, all of one site, and the name does not say that they
/// are of something else.
fn of_addresses(column: &Column) -> Option<Guess> {
    let mut hosts = column.counts.iter().map(|(text, _)| host(text));
    let first = hosts.next().flatten()?;
    let are_of_one_site = hosts.all(|host| host.is_some_and(|host| host == first));
    let are_secure = column.share(|text| text.starts_with("https://")) > 0.9;
    let are_own = column.filled > 1 && column.fill() >= FULL && column.is_unique() && !column.is_list;
    let are_pictures = column.share(|text| is_picture(text) || is_other_picture(text)) > 0.1;
    let against = NAMES.iter().filter(|names| names.concept == Concept::Url);
    let says_other = against
        .flat_map(|names| names.against.split_whitespace())
        .chain(["images", "photos", "pictures", "videos", "preview"])
        .any(|word| column.has_word(&[word]));
    if !are_of_one_site || !are_secure || !are_own || are_pictures || says_other {
        return None;
    }
    let values = if column.share(is_for_machines) >= 0.5 { 30 } else { 35 };
    Some(Guess::new(Concept::Url, 20, values, "every record has an address of its own on one site"))
}
