//! Countries and cities, which exist, with the names of people, practices and streets there, which are invented.

use std::sync::LazyLock;

use super::rng::Rng;

/// A city.
#[derive(Debug, Default)]
pub(super) struct City {
    pub(super) name: &'static str,
    /// Climate and terrain, as tags of the grammar.
    pub(super) terrain: Vec<&'static str>,
    /// River, lake or harbour, with its article.
    pub(super) water: Option<&'static str>,
    /// The name in Chinese, Japanese or Korean script.
    pub(super) native: Option<&'static str>,
}

/// A country with its cities and names.
#[derive(Debug, Default)]
pub(super) struct Country {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    /// The name in a sentence, for example "the Netherlands".
    pub(super) in_sentence: &'static str,
    southern: bool,
    /// Whether family names come first.
    pub(super) family_first: bool,
    weight: usize,
    pub(super) surnames: Vec<&'static str>,
    pub(super) given: Vec<&'static str>,
    /// Women's given names and family names, if family names differ by gender; else empty.
    pub(super) women: Vec<&'static str>,
    pub(super) women_surnames: Vec<&'static str>,
    pub(super) practices: Vec<&'static str>,
    pub(super) workshops: Vec<&'static str>,
    /// Words for names of practices.
    pub(super) words: Vec<&'static str>,
    pub(super) streets: Vec<&'static str>,
    pub(super) houses: Vec<&'static str>,
    pub(super) cities: Vec<City>,
}

/// Tags of the grammar that a place sets, besides the country codes.
pub(super) const TERRAIN: [&str; 13] = [
    "cold", "mild", "dry", "trop", "sea", "river", "lake", "hill", "mount", "flat", "big", "southern", "asia",
];

const ASIAN: [&str; 11] = ["jp", "kr", "cn", "tw", "hk", "vn", "th", "id", "in", "lk", "bd"];

/// All countries, in the order of the files.
pub(super) static COUNTRIES: LazyLock<Vec<Country>> = LazyLock::new(|| {
    let sources = [
        include_str!("text/places/europe.txt"),
        include_str!("text/places/asia.txt"),
        include_str!("text/places/world.txt"),
    ];
    sources.iter().flat_map(|source| parse_countries(source)).collect()
});

static TOTAL_WEIGHT: LazyLock<usize> = LazyLock::new(|| COUNTRIES.iter().map(|country| country.weight).sum());

/// Draws a country by weight.
pub(super) fn country(rng: &mut Rng) -> &'static Country {
    let mut at = rng.below(*TOTAL_WEIGHT);
    let found = COUNTRIES.iter().find(|country| {
        let here = at < country.weight;
        at = at.saturating_sub(country.weight);
        here
    });
    found.unwrap_or_else(|| &COUNTRIES[0])
}

impl Country {
    /// Draws a city, the first ones of the list more often.
    pub(super) fn city(&self, rng: &mut Rng) -> Option<&City> {
        let at = rng.skewed(self.cities.len());
        self.cities.get(at)
    }

    /// Returns the tags that hold in the whole country.
    pub(super) fn tags(&self) -> impl Iterator<Item = &'static str> {
        let southern = self.southern.then_some("southern");
        let asian = ASIAN.contains(&self.code).then_some("asia");
        [Some(self.code), southern, asian].into_iter().flatten()
    }

    /// Draws a street address, which is often the name of a building.
    pub(super) fn street(&self, rng: &mut Rng) -> Option<String> {
        let number = 1 + rng.skewed(96);
        rng.choose(&self.streets).map(|street| street.replace('#', &number.to_string()))
    }
}

fn parse_countries(source: &'static str) -> Vec<Country> {
    let mut countries: Vec<Country> = Vec::new();
    for line in source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if let Some(head) = line.strip_prefix("= ") {
            countries.push(parse_country(head));
        } else if let (Some((key, rest)), Some(country)) = (line.split_once(' '), countries.last_mut()) {
            country.set_list(key, rest);
        }
    }
    countries
}

fn parse_country(head: &'static str) -> Country {
    let mut parts = head.split('|').map(str::trim);
    let mut next = || parts.next().unwrap_or_default();
    let (code, name, in_sentence, weight, flags) = (next(), next(), next(), next(), next());
    Country {
        code,
        name,
        in_sentence,
        weight: weight.parse().unwrap_or(1),
        southern: flags.contains('s'),
        family_first: flags.contains('x'),
        ..Country::default()
    }
}

impl Country {
    fn set_list(&mut self, key: &str, rest: &'static str) {
        let list = |separator: &str| rest.split(separator).map(str::trim).collect::<Vec<_>>();
        match key {
            "sur" => self.surnames = list(","),
            "giv" => self.given = list(","),
            "gif" => self.women = list(","),
            "suf" => self.women_surnames = list(","),
            "arc" => self.practices = list("|"),
            "des" => self.workshops = list("|"),
            "wrd" => self.words = list(","),
            "hou" => self.houses = list(","),
            "cit" => self.cities = list(";").into_iter().map(parse_city).collect(),
            "str" => self.streets = list(","),
            _ => {}
        }
    }
}

/// Parses a city such as `Porto/dsrhb/the Douro` or `Nara/mh//奈良`.
fn parse_city(text: &'static str) -> City {
    let mut parts = text.split('/').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let terrain = parts.next().unwrap_or_default().chars().filter_map(|letter| match letter {
        'c' => Some("cold"),
        'm' => Some("mild"),
        'd' => Some("dry"),
        't' => Some("trop"),
        's' => Some("sea"),
        'r' => Some("river"),
        'l' => Some("lake"),
        'h' => Some("hill"),
        'M' => Some("mount"),
        'f' => Some("flat"),
        'b' => Some("big"),
        _ => None,
    });
    let mut non_empty = || parts.next().filter(|part| !part.is_empty());
    City { name, terrain: terrain.collect(), water: non_empty(), native: non_empty() }
}
