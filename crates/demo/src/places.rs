//! Where the catalog's projects stand: countries and cities that exist, and how people, practices and streets are named
//! there. Names of people and practices are invented.

use std::sync::LazyLock;

use super::dice::Dice;

/// A city: its name, how it lies, and what its own people call it.
#[derive(Debug, Default)]
pub(super) struct City {
    pub(super) name: &'static str,
    /// Climate and lie of the land, as the grammar's tags.
    pub(super) lie: Vec<&'static str>,
    /// The river, lake or harbour, with its article.
    pub(super) water: Option<&'static str>,
    /// The name in Chinese, Japanese or Korean writing.
    pub(super) native: Option<&'static str>,
}

/// A country and its habits of naming.
#[derive(Debug, Default)]
pub(super) struct Country {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    /// As it stands in a sentence: "the Netherlands".
    pub(super) spoken: &'static str,
    southern: bool,
    pub(super) family_first: bool,
    weight: usize,
    pub(super) surnames: Vec<&'static str>,
    pub(super) given: Vec<&'static str>,
    /// Women's given names and family names, where family names change with them; else empty.
    pub(super) women: Vec<&'static str>,
    pub(super) women_surnames: Vec<&'static str>,
    pub(super) practices: Vec<&'static str>,
    pub(super) workshops: Vec<&'static str>,
    pub(super) words: Vec<&'static str>,
    pub(super) streets: Vec<&'static str>,
    pub(super) houses: Vec<&'static str>,
    pub(super) cities: Vec<City>,
}

/// Tags of the grammar that a place can set, besides the country codes.
pub(super) const LIE: [&str; 13] = [
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
    sources.iter().flat_map(|source| read(source)).collect()
});

static TOTAL: LazyLock<usize> = LazyLock::new(|| COUNTRIES.iter().map(|country| country.weight).sum());

/// A country, the ones with more architecture in print more often.
pub(super) fn country(dice: &mut Dice) -> &'static Country {
    let mut at = dice.below(*TOTAL);
    let found = COUNTRIES.iter().find(|country| {
        let here = at < country.weight;
        at = at.saturating_sub(country.weight);
        here
    });
    found.unwrap_or_else(|| &COUNTRIES[0])
}

impl Country {
    /// A city of the country; the first ones of its list more often.
    pub(super) fn city(&self, dice: &mut Dice) -> Option<&City> {
        let at = dice.skewed(self.cities.len());
        self.cities.get(at)
    }

    /// Tags that hold everywhere in the country.
    pub(super) fn tags(&self) -> impl Iterator<Item = &'static str> {
        let southern = self.southern.then_some("southern");
        let asian = ASIAN.contains(&self.code).then_some("asia");
        [Some(self.code), southern, asian].into_iter().flatten()
    }

    /// An address, as a building in a street is often called by it.
    pub(super) fn street(&self, dice: &mut Dice) -> Option<String> {
        let number = 1 + dice.skewed(96);
        dice.of(&self.streets).map(|street| street.replace('#', &number.to_string()))
    }
}

fn read(source: &'static str) -> Vec<Country> {
    let mut countries: Vec<Country> = Vec::new();
    for line in source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if let Some(head) = line.strip_prefix("= ") {
            countries.push(heading(head));
        } else if let (Some((key, rest)), Some(country)) = (line.split_once(' '), countries.last_mut()) {
            country.learn(key, rest);
        }
    }
    countries
}

fn heading(head: &'static str) -> Country {
    let mut parts = head.split('|').map(str::trim);
    let mut next = || parts.next().unwrap_or_default();
    let (code, name, spoken, weight, flags) = (next(), next(), next(), next(), next());
    Country {
        code,
        name,
        spoken,
        weight: weight.parse().unwrap_or(1),
        southern: flags.contains('s'),
        family_first: flags.contains('x'),
        ..Country::default()
    }
}

impl Country {
    fn learn(&mut self, key: &str, rest: &'static str) {
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
            "cit" => self.cities = list(";").into_iter().map(city).collect(),
            "str" => self.streets = list(","),
            _ => {}
        }
    }
}

/// `Porto/dsrhb/the Douro` or `Nara/mh//奈良`.
fn city(text: &'static str) -> City {
    let mut parts = text.split('/').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let lie = parts.next().unwrap_or_default().chars().filter_map(|letter| match letter {
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
    let mut filled = || parts.next().filter(|part| !part.is_empty());
    City { name, lie: lie.collect(), water: filled(), native: filled() }
}
