//! Columns that have the same makers in another form, as “Agnes Pellow” is of “Pellow, Agnes”.

use crate::people::turned_round;

use super::concepts::Concept;
use super::draft::Draft;
use super::members::Columns;
use super::scores::LIKELY;

impl Columns<'_> {
    /// Returns the column in which the makers of a column stand as people read them: itself, or another one where most of its own are
    /// “Last, First”.
    pub(crate) fn readable(&self, draft: &Draft, number: usize) -> usize {
        if self.turned(number) < 0.5 {
            return number;
        }
        let mut others = (0..self.columns.len()).filter(|other| !draft.has(*other));
        others.find(|other| self.is_other_form(number, *other)).unwrap_or(number)
    }

    /// Returns whether two columns have the same makers, in one of them as “Last, First” and in the other not.
    pub(crate) fn is_other_form(&self, one: usize, other: usize) -> bool {
        let is_turned = |number| self.turned(number) >= 0.5;
        self.may_be_form(other) && is_turned(one) != is_turned(other) && self.are_same_people(one, other)
    }

    /// Returns whether a column may be a form of names, going by its own. A copyright has the words of a maker too.
    fn may_be_form(&self, number: usize) -> bool {
        let known = self.guesses[number].first().filter(|guess| guess.score() >= LIKELY);
        known.is_none_or(|guess| {
            matches!(guess.concept, Concept::Maker | Concept::AboutMaker | Concept::Title)
        })
    }

    /// Returns whether most names of two columns have the same words, in any order.
    pub(crate) fn are_same_people(&self, one: usize, other: usize) -> bool {
        let words = |text: &String| {
            let mut words: Vec<String> =
                text.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase).collect();
            // Years of a life stand behind one form only.
            words.retain(|word| word.contains(|character: char| !character.is_ascii_digit()));
            words.sort_unstable();
            words
        };
        let pairs = self.columns[one].cells.iter().zip(&self.columns[other].cells);
        let both: Vec<_> = pairs.filter_map(|(one, other)| Some((one.first()?, other.first()?))).collect();
        let same = both.iter().filter(|(one, other)| words(one) == words(other)).count();
        one != other && !both.is_empty() && same * 10 >= both.len() * 7
    }

    /// Returns the share of names that are “Last, First”.
    fn turned(&self, number: usize) -> f64 {
        let without_years = |name: &str| {
            let parts = name.split(',').filter(|part| !part.contains(|digit: char| digit.is_ascii_digit()));
            parts.collect::<Vec<_>>().join(",")
        };
        let is_turned = |name: &str| {
            let name = without_years(name);
            let first = name.split_once(", ").map_or("", |(_, first)| first);
            turned_round(&name) != name && first.split(' ').count() <= 3
        };
        let names: Vec<&str> =
            self.columns[number].texts().flat_map(|text| text.split(['|', ';'])).map(str::trim).collect();
        names.iter().filter(|name| is_turned(name)).count() as f64 / names.len().max(1) as f64
    }
}
