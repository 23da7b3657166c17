//! How many of the imported records lack what visitors look for.

use serde::Serialize;

use crate::lacks::Lacks;
use crate::numbers::grouped;

/// How many of these records have no picture, city, year or text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lacking {
    records: u64,
    picture: u64,
    city: u64,
    year: u64,
    /// Neither intro nor description.
    text: u64,
}

impl Lacking {
    /// Counts a record.
    pub fn add(&mut self, Lacks { picture, city, year, text }: Lacks) {
        self.records += 1;
        for (count, lacks) in [
            (&mut self.picture, picture),
            (&mut self.city, city),
            (&mut self.year, year),
            (&mut self.text, text),
        ] {
            *count += u64::from(lacks);
        }
    }

    /// Returns the sentence about it; `None` without records.
    pub fn sentence(&self) -> Option<String> {
        let Lacking { records, picture, city, year, text } = *self;
        if records == 0 {
            return None;
        }
        let lacking = [(picture, "picture"), (city, "city"), (year, "year"), (text, "text")];
        let parts = lacking.iter().filter(|(number, _)| *number > 0).map(|(number, what)| {
            let number = if *number == records { "all".to_owned() } else { grouped(*number) };
            format!("{number} without a {what}")
        });
        let parts: Vec<String> = parts.collect();
        let of = if records == 1 { "1 record".to_owned() } else { format!("{} records", grouped(records)) };
        Some(match parts.is_empty() {
            true => format!("Of {of}, each has a picture, a city, a year and a text."),
            false => format!("Of {of}: {}.", parts.join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_in_one_sentence() {
        let mut lacking = Lacking::default();
        assert_eq!(lacking.sentence(), None);
        lacking.add(Lacks::default());
        assert_eq!(
            lacking.sentence().unwrap(),
            "Of 1 record, each has a picture, a city, a year and a text."
        );
        for _ in 0..1_500 {
            lacking.add(Lacks { picture: true, year: true, ..Lacks::default() });
        }
        lacking.add(Lacks { text: true, ..Lacks::default() });
        assert_eq!(
            lacking.sentence().unwrap(),
            "Of 1,502 records: 1,500 without a picture, 1,500 without a year, 1 without a text."
        );
        let mut all = Lacking::default();
        all.add(Lacks { city: true, ..Lacks::default() });
        assert_eq!(all.sentence().unwrap(), "Of 1 record: all without a city.");
    }
}
