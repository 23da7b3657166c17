//! One work: who made it, where and when, what it is called; then its record.

use serde_json::{Map, Value};

use super::Category;
use super::calendar::{LAST_YEAR, selected_and_published};
use super::dice::Dice;
use super::grammar::telling::Telling;
use super::places::{self, City, Country};
use super::studios::{Discipline, Studio, person, studio};
use super::taste::taste;
use super::weariness::Weariness;
use super::{editors, pictures, prose};

/// Shares of the categories, in a hundred.
const SHARES: [usize; 5] = [36, 18, 18, 15, 13];

/// A work that has a name, before its texts are told.
pub(super) struct Work {
    category: Category,
    telling: Telling,
    pub(super) name: String,
    studio: Option<String>,
    /// Where it stands; the record may not say.
    country: &'static Country,
    city: &'static City,
    city_known: bool,
    /// The year it was made; the record may not say.
    made: i32,
    year_known: bool,
}

impl Work {
    /// The `index`-th work. Another `attempt` gives another one, for when the name is taken.
    pub(super) fn draft(seed: u64, index: usize, attempt: u64, earlier: Option<Telling>) -> Option<Self> {
        let mut dice = Dice::new(seed, 100 + attempt, index as u64);
        let category = category(&mut dice);
        let maker = maker(seed, category, index, &mut dice)?;
        let (country, city) = site(category, &maker, &mut dice)?;
        let made = year(category, &maker, &mut dice);
        let year_known = !dice.chance(6);
        let city_known = !dice.chance(8);
        let studio_known = !dice.chance(5);

        let mut telling = Telling::new(prose::book(category), dice, earlier);
        tell_place(&mut telling, country, city, city_known);
        telling.tag(category.name());
        telling.give_year(year_known.then_some(made));
        telling.tag(if year_known { "year" } else { "noyear" });
        telling.tag(if studio_known { "studio" } else { "nostudio" });
        if made < 1995 {
            telling.tag("old");
        } else if made >= 2015 {
            telling.tag("recent");
        }
        if made == LAST_YEAR {
            telling.tag("thisyear");
        }
        if studio_known {
            telling.give_own("studio", &maker.name);
        } else {
            telling.give("studio", None);
        }
        prose::settle(&mut telling);
        let name = prose::line(&mut telling, "name")?;
        Some(Self {
            category,
            telling,
            name,
            studio: studio_known.then_some(maker.name),
            country,
            city,
            city_known,
            made,
            year_known,
        })
    }

    /// The studio's name, empty where none is recorded.
    pub(super) fn studio(&self) -> &str {
        self.studio.as_deref().unwrap_or_default()
    }

    /// The city's name, whether the record says it or not.
    #[cfg(test)]
    pub(super) const fn place(&self) -> &'static str {
        self.city.name
    }

    /// The year of the work, whether the record says it or not.
    pub(super) const fn made(&self) -> i32 {
        self.made
    }

    /// Gives up the work; its room can be used for another one.
    pub(super) fn into_telling(self) -> Telling {
        self.telling
    }

    /// The whole record under `slug`, in the order of the import format's members, and the room it was told in.
    pub(super) fn record(mut self, slug: String, weariness: &mut Weariness) -> (Map<String, Value>, Telling) {
        let telling = &mut self.telling;
        let intro = prose::intro(telling).filter(|_| !telling.dice.chance(4));
        let description = prose::description(telling, weariness).filter(|_| !telling.dice.chance(7));
        let design_language = prose::line(telling, "design_language").filter(|_| !telling.dice.chance(10));
        let details = prose::details(telling);
        let taste = taste(telling);
        let (selected, published) = selected_and_published(self.made, &mut telling.dice);
        let note = prose::line(telling, "note").filter(|_| !telling.dice.chance(40));
        let editor = editors::editor(self.category, selected.year(), &mut telling.dice);

        let mut record = Map::with_capacity(15);
        let mut put = |member: &str, value: Option<String>| {
            if let Some(value) = value {
                record.insert(member.to_owned(), Value::String(value));
            }
        };
        put("slug", Some(slug));
        put("name", Some(self.name));
        put("studio", self.studio);
        put("city", self.city_known.then(|| place(self.city, self.country)));
        put("year", self.year_known.then(|| self.made.to_string()));
        put("category", Some(self.category.name().to_owned()));
        put("intro", intro);
        put("description", description);
        put("design_language", design_language);
        put("published", Some(published.iso()));
        record.insert("details".to_owned(), details.into_iter().map(detail).collect());
        let mut provenance = Map::with_capacity(4);
        provenance.insert("curated_by".to_owned(), editor.into());
        provenance.insert("selected".to_owned(), selected.iso().into());
        provenance.insert("in_archive_since".to_owned(), selected.year().into());
        if let Some(note) = note {
            provenance.insert("note".to_owned(), note.into());
        }
        record.insert("provenance".to_owned(), provenance.into());
        let taste: Map<String, Value> =
            taste.iter().map(|(dimension, text)| (dimension.as_str().to_owned(), text.into())).collect();
        record.insert("taste".to_owned(), taste.into());
        let pictures = pictures::pictures(&record);
        record.insert("pictures".to_owned(), pictures);
        (record, self.telling)
    }
}

/// The city with its country, or a city state alone.
fn place(city: &City, country: &Country) -> String {
    if city.name == country.name { city.name.to_owned() } else { format!("{}, {}", city.name, country.name) }
}

fn detail((label, value): (String, String)) -> Value {
    let members = [("label".to_owned(), label.into()), ("value".to_owned(), value.into())];
    Value::Object(members.into_iter().collect())
}

fn category(dice: &mut Dice) -> Category {
    let mut at = dice.below(SHARES.iter().sum());
    for (category, share) in Category::ALL.into_iter().zip(SHARES) {
        if at < share {
            return category;
        }
        at -= share;
    }
    Category::Architecture
}

/// Studios grow in number with the catalog, about one for every two or three works.
fn maker(seed: u64, category: Category, index: usize, dice: &mut Dice) -> Option<Studio> {
    let discipline = match category {
        Category::Architecture => Discipline::Practice,
        Category::Interiors if dice.chance(70) => Discipline::Practice,
        Category::Interiors | Category::Design => Discipline::Workshop,
        Category::Photography | Category::Art => Discipline::Person,
    };
    let number = dice.skewed(420 + index / 6);
    studio(seed, discipline, number)
}

/// Most works stand in the maker's country, many in its own city, some abroad.
fn site(category: Category, maker: &Studio, dice: &mut Dice) -> Option<(&'static Country, &'static City)> {
    let (home, country) = match category {
        Category::Design => (88, 97),
        Category::Art => (60, 82),
        Category::Photography => (30, 72),
        Category::Architecture | Category::Interiors => (42, 88),
    };
    let at = dice.below(100);
    if at < home {
        return Some((maker.country, maker.home));
    }
    let country = if at < country { maker.country } else { places::country(dice) };
    country.city(dice).map(|city| (country, city))
}

fn year(category: Category, maker: &Studio, dice: &mut Dice) -> i32 {
    let first = match category {
        Category::Architecture | Category::Interiors => maker.since.max(1995),
        Category::Design => maker.since.max(1982),
        Category::Photography | Category::Art => maker.since,
    };
    let last = (maker.since + 36).min(LAST_YEAR);
    let span = usize::try_from(last - first).unwrap_or(0) + 1;
    let year = last - i32::try_from(dice.skewed(span)).unwrap_or(0);
    // Of the year under way only a part is in print.
    if year == LAST_YEAR && dice.chance(60) { year - 1 } else { year }
}

fn tell_place(telling: &mut Telling, country: &'static Country, city: &'static City, known: bool) {
    country.tags().for_each(|tag| telling.tag(tag));
    city.lie.iter().for_each(|tag| telling.tag(tag));
    telling.tag(if known { "hascity" } else { "nocity" });
    telling.give("city", known.then_some(city.name));
    telling.give("country", known.then_some(country.spoken));
    telling.give("water", city.water.filter(|_| known));
    if known && city.water.is_some() {
        telling.tag("water");
    }
    telling.give("citynative", city.native.filter(|_| known));
    let surname = telling.dice.of(&country.surnames).copied();
    telling.give("sur", surname);
    let house = telling.dice.of(&country.houses).copied();
    telling.give("hou", house);
    let someone = person(country, &mut telling.dice);
    telling.give_own("person", &someone);
    match country.street(&mut telling.dice) {
        Some(street) => telling.give_own("street", &street),
        None => telling.give("street", None),
    }
}
