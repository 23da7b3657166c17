//! How many of the imported records lack what visitors look for.

use schemas::command::LineResult;
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
    /// Counts what the record of a line lacks, after the line was imported. A line with only a part of a record is counted only if its
    /// project is new: otherwise the project has more than the line says.
    pub fn add(&mut self, lacks: Lacks, is_whole: bool, result: &LineResult) {
        let has_kept = match result {
            LineResult::New { .. } => false,
            LineResult::Changed { pictures_kept, kept_pictures, .. }
            | LineResult::Same { pictures_kept, kept_pictures, .. }
                if is_whole =>
            {
                // Also one whose file is not there, which the line does not name.
                *pictures_kept || !kept_pictures.is_empty()
            }
            LineResult::Changed { .. } | LineResult::Same { .. } | LineResult::Rejected { .. } => return,
        };
        let Lacks { picture, city, year, text } = lacks;
        let picture = picture && !has_kept;
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
    use schemas::import::Fault;
    use schemas::slug::Slug;

    use super::*;

    fn slug() -> Slug {
        "a".parse().unwrap()
    }

    fn new() -> LineResult {
        LineResult::New { slug: slug() }
    }

    fn same(pictures_kept: bool, kept_pictures: &[&str]) -> LineResult {
        let kept_pictures = kept_pictures.iter().map(ToString::to_string).collect();
        LineResult::Same { slug: slug(), pictures_kept, kept_pictures }
    }

    fn changed(pictures_kept: bool) -> LineResult {
        LineResult::Changed {
            slug: slug(),
            members: vec!["name".into()],
            removed: Vec::new(),
            removed_pictures: Vec::new(),
            pictures_kept,
            kept_pictures: Vec::new(),
        }
    }

    #[test]
    fn it_is_said_in_one_sentence() {
        let mut lacking = Lacking::default();
        assert_eq!(lacking.sentence(), None);
        lacking.add(Lacks::default(), true, &new());
        assert_eq!(
            lacking.sentence().unwrap(),
            "Of 1 record, each has a picture, a city, a year and a text."
        );
        for _ in 0..1_500 {
            lacking.add(Lacks { picture: true, year: true, ..Lacks::default() }, true, &new());
        }
        lacking.add(Lacks { text: true, ..Lacks::default() }, true, &new());
        assert_eq!(
            lacking.sentence().unwrap(),
            "Of 1,502 records: 1,500 without a picture, 1,500 without a year, 1 without a text."
        );
        let mut all = Lacking::default();
        all.add(Lacks { city: true, ..Lacks::default() }, true, &new());
        assert_eq!(all.sentence().unwrap(), "Of 1 record: all without a city.");
    }

    #[test]
    fn a_record_that_keeps_its_picture_without_the_file_has_one() {
        let lacks = Lacks { picture: true, year: true, ..Lacks::default() };
        let mut lacking = Lacking::default();
        for result in [same(true, &[]), same(false, &["a.jpg"]), changed(true)] {
            lacking.add(lacks, true, &result);
        }
        assert_eq!(lacking.sentence().unwrap(), "Of 3 records: all without a year.");
        for result in [new(), same(false, &[]), changed(false)] {
            lacking.add(lacks, true, &result);
        }
        assert_eq!(lacking.sentence().unwrap(), "Of 6 records: 3 without a picture, all without a year.");
    }

    #[test]
    fn a_rejected_line_and_a_part_of_a_record_that_was_there_before_are_not_counted() {
        let rejected =
            LineResult::Rejected { faults: vec![Fault { field: String::new(), reason: "".into() }] };
        let lacks = Lacks { city: true, ..Lacks::default() };
        let mut lacking = Lacking::default();
        lacking.add(lacks, true, &rejected);
        for result in [same(true, &[]), changed(false)] {
            lacking.add(lacks, false, &result);
        }
        assert_eq!(lacking.sentence(), None);
        lacking.add(lacks, false, &new());
        assert_eq!(lacking.sentence().unwrap(), "Of 1 record: all without a city.");
    }
}
