//! One work: its maker, place, year and name; then its record.

use schemas::record::Category;
use serde_json::{Map, Value, json};

use super::calendar::{LAST_YEAR, selected_and_published};
use super::grammar::expansion::Expansion;
use super::places::{self, City, Country};
use super::repetition::RepetitionLimiter;
use super::rng::Rng;
use super::studios::{Discipline, Studio, person, studio};
use super::{editors, pictures, prose};

/// Shares of the categories, in percent.
const SHARES: [usize; 5] = [36, 18, 18, 15, 13];

/// A work with its name, before its texts are generated.
pub(super) struct Work {
    category: Category,
    pub(super) expansion: Expansion,
    pub(super) name: String,
    studio: Option<String>,
    /// The place, which the record may lack.
    country: &'static Country,
    city: &'static City,
    city_known: bool,
    /// The year of the work, which the record may lack.
    pub(super) made: i32,
    year_known: bool,
}

impl Work {
    /// Draws the work at `index`; each `attempt` gives another one. The buffers of `earlier` are reused.
    pub(super) fn draft(seed: u64, index: usize, attempt: u64, earlier: Option<Expansion>) -> Option<Self> {
        let mut rng = Rng::new(seed, 100 + attempt, index as u64);
        let category = category(&mut rng);
        let maker = maker(seed, category, index, &mut rng)?;
        let (country, city) = site(category, &maker, &mut rng)?;
        let made = year(category, &maker, &mut rng);
        let year_known = !rng.chance(6);
        let city_known = !rng.chance(8);
        let studio_known = !rng.chance(5);

        let mut expansion = Expansion::new(prose::grammar(category), rng, earlier);
        set_place(&mut expansion, country, city, city_known);
        expansion.set_tag(category.as_str());
        expansion.set_year(year_known.then_some(made));
        expansion.set_tag(if year_known { "year" } else { "noyear" });
        expansion.set_tag(if studio_known { "studio" } else { "nostudio" });
        if made < 1995 {
            expansion.set_tag("old");
        } else if made >= 2015 {
            expansion.set_tag("recent");
        }
        if made == LAST_YEAR {
            expansion.set_tag("thisyear");
        }
        expansion.set_generated("studio", studio_known.then_some(maker.name.as_str()));
        prose::draw_first_facts(&mut expansion);
        let name = prose::phrase(&mut expansion, "name")?;
        Some(Self {
            category,
            expansion,
            name,
            studio: studio_known.then_some(maker.name),
            country,
            city,
            city_known,
            made,
            year_known,
        })
    }

    /// Returns the name of the studio; empty if the record lacks it.
    pub(super) fn studio(&self) -> &str {
        self.studio.as_deref().unwrap_or_default()
    }

    /// Returns the name of the city, even if the record lacks it.
    #[cfg(test)]
    pub(super) const fn place(&self) -> &'static str {
        self.city.name
    }

    /// Generates the record, with its members in the order of the import format; returns the state too, for its buffers.
    pub(super) fn record(
        mut self,
        slug: String,
        limiter: &mut RepetitionLimiter,
    ) -> (Map<String, Value>, Expansion) {
        let expansion = &mut self.expansion;
        let intro = prose::intro(expansion).filter(|_| !expansion.rng.chance(4));
        let description = prose::description(expansion, limiter).filter(|_| !expansion.rng.chance(7));
        let design_language =
            prose::phrase(expansion, "design_language").filter(|_| !expansion.rng.chance(10));
        let details = prose::details(expansion);
        let taste = prose::taste(expansion);
        let (selected, published) = selected_and_published(self.made, &mut expansion.rng);
        let note = prose::phrase(expansion, "note").filter(|_| !expansion.rng.chance(40));
        let editor = editors::editor(self.category, selected.year(), &mut expansion.rng);

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
        put("category", Some(self.category.as_str().to_owned()));
        put("intro", intro);
        put("description", description);
        put("design_language", design_language);
        put("published", Some(published.iso()));
        record.insert("details".to_owned(), details.iter().map(detail).collect());
        let mut provenance = json!({
            "curated_by": editor,
            "selected": selected.iso(),
            "in_archive_since": selected.year(),
        });
        if let Some(note) = note {
            provenance["note"] = note.into();
        }
        record.insert("provenance".to_owned(), provenance);
        let taste: Map<String, Value> =
            taste.iter().map(|(dimension, text)| (dimension.as_str().to_owned(), text.into())).collect();
        record.insert("taste".to_owned(), taste.into());
        let pictures = pictures::pictures(&record);
        record.insert("pictures".to_owned(), pictures);
        (record, self.expansion)
    }
}

/// Returns the city with its country; a city state alone.
fn place(city: &City, country: &Country) -> String {
    if city.name == country.name { city.name.to_owned() } else { format!("{}, {}", city.name, country.name) }
}

fn detail((label, value): &(String, String)) -> Value {
    json!({ "label": label, "value": value })
}

fn category(rng: &mut Rng) -> Category {
    let mut at = rng.below(SHARES.iter().sum());
    for (category, share) in Category::ALL.into_iter().zip(SHARES) {
        if at < share {
            return category;
        }
        at -= share;
    }
    Category::Architecture
}

/// Draws the maker. The number of studios grows with the catalog, to about one for every two or three works.
fn maker(seed: u64, category: Category, index: usize, rng: &mut Rng) -> Option<Studio> {
    let discipline = match category {
        Category::Architecture => Discipline::Practice,
        Category::Interiors if rng.chance(70) => Discipline::Practice,
        Category::Interiors | Category::Design => Discipline::Workshop,
        Category::Photography | Category::Art => Discipline::Person,
    };
    let number = rng.skewed(420 + index / 6);
    studio(seed, discipline, number)
}

/// Draws the place: mostly in the maker's country, often in its own city, sometimes abroad.
fn site(category: Category, maker: &Studio, rng: &mut Rng) -> Option<(&'static Country, &'static City)> {
    let (home, country) = match category {
        Category::Design => (88, 97),
        Category::Art => (60, 82),
        Category::Photography => (30, 72),
        Category::Architecture | Category::Interiors => (42, 88),
    };
    let at = rng.below(100);
    if at < home {
        return Some((maker.country, maker.home));
    }
    let country = if at < country { maker.country } else { places::country(rng) };
    country.city(rng).map(|city| (country, city))
}

fn year(category: Category, maker: &Studio, rng: &mut Rng) -> i32 {
    let first = match category {
        Category::Architecture | Category::Interiors => maker.since.max(1995),
        Category::Design => maker.since.max(1982),
        Category::Photography | Category::Art => maker.since,
    };
    let last = (maker.since + 36).min(LAST_YEAR);
    let span = usize::try_from(last - first).unwrap_or(0) + 1;
    let year = last - i32::try_from(rng.skewed(span)).unwrap_or(0);
    // The catalog ends within the last year, so it has fewer works.
    if year == LAST_YEAR && rng.chance(60) { year - 1 } else { year }
}

fn set_place(expansion: &mut Expansion, country: &'static Country, city: &'static City, known: bool) {
    country.tags().for_each(|tag| expansion.set_tag(tag));
    city.terrain.iter().for_each(|tag| expansion.set_tag(tag));
    expansion.set_tag(if known { "hascity" } else { "nocity" });
    expansion.set_fact("city", known.then_some(city.name));
    expansion.set_fact("country", known.then_some(country.in_sentence));
    expansion.set_fact("water", city.water.filter(|_| known));
    if known && city.water.is_some() {
        expansion.set_tag("water");
    }
    expansion.set_fact("citynative", city.native.filter(|_| known));
    let surname = expansion.rng.choose(&country.surnames).copied();
    expansion.set_fact("sur", surname);
    let house = expansion.rng.choose(&country.houses).copied();
    expansion.set_fact("hou", house);
    let name = person(country, &mut expansion.rng);
    expansion.set_generated("person", Some(&name));
    let street = country.street(&mut expansion.rng);
    expansion.set_generated("street", street.as_deref());
}
