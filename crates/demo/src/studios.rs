//! Invented practices, workshops and people. A studio is determined by seed, discipline and number, with its country, city and first
//! year, so that its works agree.

use super::places::{self, City, Country};
use super::rng::Rng;

/// The kind of name that the makers of a category have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    /// Architects: practices.
    Practice,
    /// Designers: workshops and people.
    Workshop,
    /// Photographers and artists: people.
    Person,
}

/// A maker of works.
#[derive(Debug)]
pub(super) struct Studio {
    pub(super) name: String,
    pub(super) country: &'static Country,
    pub(super) home: &'static City,
    /// The first year of its work.
    pub(super) since: i32,
}

/// Returns a studio of a discipline; `None` if the tables have no country with a city.
pub(super) fn studio(seed: u64, discipline: Discipline, number: usize) -> Option<Studio> {
    let mut rng = Rng::new(seed, 11 + discipline as u64, number as u64);
    let country = places::country(&mut rng);
    let home = country.city(&mut rng)?;
    let (name, since) = match discipline {
        Discipline::Practice => {
            (fill(rng.choose(&country.practices)?, country, &mut rng), rng.range(1986, 2020))
        }
        Discipline::Workshop if rng.chance(70) => {
            (fill(rng.choose(&country.workshops)?, country, &mut rng), rng.range(1978, 2020))
        }
        Discipline::Workshop => (person(country, &mut rng), rng.range(1972, 2020)),
        Discipline::Person if rng.chance(26) => (person(country, &mut rng), rng.range(1951, 1984)),
        Discipline::Person => (person(country, &mut rng), rng.range(1985, 2020)),
    };
    Some(Studio { name, country, home, since })
}

/// Draws the full name of a person, in the order of the country.
pub(super) fn person(country: &Country, rng: &mut Rng) -> String {
    let by_women = !country.women.is_empty() && rng.chance(50);
    let (given, surnames) = if by_women {
        (&country.women, &country.women_surnames)
    } else {
        (&country.given, &country.surnames)
    };
    let given = rng.choose(given).copied().unwrap_or_default();
    let surname = rng.choose(surnames).copied().unwrap_or_default();
    if country.family_first { format!("{surname} {given}") } else { format!("{given} {surname}") }
}

fn fill(pattern: &str, country: &Country, rng: &mut Rng) -> String {
    if pattern == "{g} {s}" {
        return person(country, rng);
    }
    let first = rng.below(country.surnames.len());
    let step = 1 + rng.below(country.surnames.len().saturating_sub(1));
    let surname =
        |at: usize| country.surnames.get(at % country.surnames.len().max(1)).copied().unwrap_or_default();
    let given = rng.choose(&country.given).copied().unwrap_or_default();
    let word = rng.choose(&country.words).copied().unwrap_or_default();
    let name = if country.family_first && pattern.contains("{g} {s}") {
        pattern.replace("{g} {s}", &format!("{} {given}", surname(first)))
    } else {
        pattern.replace("{g}", given)
    };
    name.replace("{s}", surname(first)).replace("{t}", surname(first + step)).replace("{w}", word)
}
