//! Invented practices, workshops and people. The n-th studio of a discipline is the same for ever, with its country, its
//! home and the year it began, so that its works agree with one another.

use super::dice::Dice;
use super::places::{self, City, Country};

/// How the makers of a category call themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    /// Architects: practices.
    Practice,
    /// Designers: workshops and people.
    Workshop,
    /// Photographers and artists: people.
    Person,
}

/// Somebody who makes the catalog's works.
#[derive(Debug)]
pub(super) struct Studio {
    pub(super) name: String,
    pub(super) country: &'static Country,
    pub(super) home: &'static City,
    /// The first year of its work.
    pub(super) since: i32,
}

/// The `number`-th studio of a discipline, if the tables hold any country with a city at all.
pub(super) fn studio(seed: u64, discipline: Discipline, number: usize) -> Option<Studio> {
    let mut dice = Dice::new(seed, 11 + discipline as u64, number as u64);
    let country = places::country(&mut dice);
    let home = country.city(&mut dice)?;
    let (name, since) = match discipline {
        Discipline::Practice => {
            (fill(dice.of(&country.practices)?, country, &mut dice), dice.within(1986, 2020))
        }
        Discipline::Workshop if dice.chance(70) => {
            (fill(dice.of(&country.workshops)?, country, &mut dice), dice.within(1978, 2020))
        }
        Discipline::Workshop => (person(country, &mut dice), dice.within(1972, 2020)),
        Discipline::Person if dice.chance(26) => (person(country, &mut dice), dice.within(1951, 1984)),
        Discipline::Person => (person(country, &mut dice), dice.within(1985, 2020)),
    };
    Some(Studio { name, country, home, since })
}

/// A person's whole name, in the order of the country.
pub(super) fn person(country: &Country, dice: &mut Dice) -> String {
    let by_women = !country.women.is_empty() && dice.chance(50);
    let (given, surnames) = if by_women {
        (&country.women, &country.women_surnames)
    } else {
        (&country.given, &country.surnames)
    };
    let given = dice.of(given).copied().unwrap_or_default();
    let surname = dice.of(surnames).copied().unwrap_or_default();
    if country.family_first { format!("{surname} {given}") } else { format!("{given} {surname}") }
}

fn fill(pattern: &str, country: &Country, dice: &mut Dice) -> String {
    if pattern == "{g} {s}" {
        return person(country, dice);
    }
    let first = dice.below(country.surnames.len());
    let step = 1 + dice.below(country.surnames.len().saturating_sub(1));
    let surname =
        |at: usize| country.surnames.get(at % country.surnames.len().max(1)).copied().unwrap_or_default();
    let given = dice.of(&country.given).copied().unwrap_or_default();
    let word = dice.of(&country.words).copied().unwrap_or_default();
    let name = if country.family_first && pattern.contains("{g} {s}") {
        pattern.replace("{g} {s}", &format!("{} {given}", surname(first)))
    } else {
        pattern.replace("{g}", given)
    };
    name.replace("{s}", surname(first)).replace("{t}", surname(first + step)).replace("{w}", word)
}
