//! Where a work was made or stands: a place, a country, or the code of one.

use super::concepts::Concept;
use super::countries;
use super::document::quoted;
use super::draft::{Draft, Line};
use super::members::Columns;
use super::scores::{Guess, SURE};

/// The most parts of a place after the first.
const MORE: usize = 2;

impl Columns<'_> {
    /// Adds the place and its country. A table can name a country only where nothing is joined to it, so that its code beside a place
    /// is for a detail.
    pub(crate) fn city(&self, draft: &mut Draft) {
        let is_free = |(number, _): &(usize, &Guess)| !draft.has(*number);
        let is_code = |(number, _): &(usize, &Guess)| countries::are_codes(&self.columns[*number]);
        let (mut codes, countries): (Vec<_>, Vec<_>) =
            self.about(Concept::Country).into_iter().filter(is_free).partition(is_code);
        let (other_codes, cities): (Vec<_>, Vec<_>) =
            self.about(Concept::City).into_iter().filter(is_free).partition(is_code);
        codes.extend(other_codes);
        if let Some(&(first, guess)) = cities.first().or(countries.first()) {
            let mut line = Line::of("city", first, guess);
            let has_country = self.columns[first].share(|text| text.contains(", ")) > 0.6;
            let rest = countries.iter().map(|(number, _)| *number);
            let mut more: Vec<usize> =
                rest.filter(|number| *number != first && !has_country).take(MORE).collect();
            more.sort_unstable();
            line.columns.extend(more);
            draft.record.push(line.split_at_bars(self.columns));
        }
        let named = draft.member("city").and_then(|line| {
            let is_country = |number: &&usize| countries.iter().any(|(country, _)| country == *number);
            line.columns.iter().find(is_country).copied()
        });
        for (at, (number, guess)) in codes.into_iter().enumerate() {
            match named {
                Some(country) => {
                    let country = &self.columns[country].name;
                    draft.ignore(number, format!("codes of countries; {country} names them"));
                }
                None if at > 0 => draft.ignore(number, "codes of countries; another column has them too"),
                None => self.coded_country(draft, number, guess),
            }
        }
    }

    /// Adds a country with the names of its codes: for the place where there is no other, else for a detail.
    fn coded_country(&self, draft: &mut Draft, number: usize, guess: &Guess) {
        let column = &self.columns[number];
        for (text, count) in &column.counts {
            for part in countries::parts(text) {
                let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
                let key = part.to_lowercase();
                match draft.countries.iter_mut().find(|(known, ..)| *known == key) {
                    Some((_, so_far, _)) => *so_far += count,
                    None => {
                        // A name among the codes stands for itself.
                        let is_name = part.chars().count() > 3;
                        let name = countries::name(&part).map(str::to_owned);
                        draft.countries.push((key, *count, name.or(is_name.then_some(part))));
                    }
                }
            }
        }
        let mut line = Line::of("city", number, guess).split_at_bars(self.columns);
        line = line.with("table", quoted("countries"));
        if draft.countries.iter().any(|(.., name)| name.is_none()) {
            line.score = line.score.min(SURE - 1);
            line.reason += "; some of its codes are not known";
        }
        if draft.member("city").is_none() {
            draft.record.push(line);
            return;
        }
        let says_code = column.has_word(&["code", "codes", "iso", "iso2", "iso3"]);
        line.key = if says_code { "Country".to_owned() } else { super::details::label(column) };
        draft.details.push(line);
    }
}
