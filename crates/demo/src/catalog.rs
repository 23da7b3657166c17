//! The iterator over the records of a catalog, with unique names and slugs.

use serde_json::{Map, Value};

use super::grammar::expansion::Expansion;
use super::repetition::RepetitionLimiter;
use super::slugs::{TextSet, slug};
use super::work::Work;

/// Attempts at a work with a new name; after that a name may repeat, with another studio.
const NAME_ATTEMPTS: u64 = 5;
/// From this index on, new names are rare, and only two attempts are made.
const FEW_NAMES_FROM: usize = 50_000;
/// Attempts at a work with a new pair of name and studio.
const ATTEMPTS: u64 = 60;

pub(super) struct Catalog {
    seed: u64,
    index: usize,
    names: TextSet,
    /// Names with their studios.
    works: TextSet,
    slugs: TextSet,
    limiter: RepetitionLimiter,
    /// The state of the last record, whose buffers the next one reuses.
    last: Option<Expansion>,
    #[cfg(test)]
    /// City and year of the last record, even if the record lacks them.
    pub(super) place_and_year: Option<(&'static str, i32)>,
}

impl Catalog {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            index: 0,
            names: TextSet::default(),
            works: TextSet::default(),
            slugs: TextSet::default(),
            limiter: RepetitionLimiter::new(),
            last: None,
            #[cfg(test)]
            place_and_year: None,
        }
    }

    /// Returns the work at `index`: the first attempt whose name, with its studio, is new.
    fn work(&mut self, index: usize) -> Option<Work> {
        let name_attempts = if index < FEW_NAMES_FROM { NAME_ATTEMPTS } else { 2 };
        for attempt in 0..ATTEMPTS {
            let Some(work) = Work::draft(self.seed, index, attempt, self.last.take()) else { continue };
            let repeats = attempt < name_attempts && self.names.contains(&[&work.name]);
            if !repeats && self.works.insert(&[&work.name, work.studio()]) {
                self.names.insert(&[&work.name]);
                return Some(work);
            }
            self.last = Some(work.expansion);
        }
        None
    }

    /// Returns a unique slug: of the name; if taken, with the studio; then with the year; then with the index.
    fn slug(&mut self, work: &Work, index: usize) -> String {
        let plain = slug(&work.name);
        let plain = if plain.is_empty() { format!("work-{index}") } else { plain };
        if self.slugs.insert(&[&plain]) {
            return plain;
        }
        let studio = slug(work.studio());
        let mut longer = if studio.is_empty() { plain } else { format!("{plain}-{studio}") };
        longer.truncate(longer.get(..96).map_or(longer.len(), |head| head.trim_end_matches('-').len()));
        if self.slugs.insert(&[&longer]) {
            return longer;
        }
        let dated = format!("{longer}-{}", work.made);
        if self.slugs.insert(&[&dated]) {
            return dated;
        }
        let mut numbered = format!("{longer}-n{index}");
        while !self.slugs.insert(&[&numbered]) {
            numbered.push('x');
        }
        numbered
    }
}

#[cfg(test)]
impl Catalog {
    /// Returns the slugs without expanding the records.
    pub(super) fn slugs(mut self) -> impl Iterator<Item = String> {
        (0..).map_while(move |index| {
            let work = self.work(index)?;
            let slug = self.slug(&work, index);
            self.last = Some(work.expansion);
            Some(slug)
        })
    }

    /// Returns facts of the last record by name.
    pub(super) fn facts(&mut self, names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| self.last.as_mut().and_then(|last| last.fact(name))).collect()
    }
}

impl Iterator for Catalog {
    type Item = Map<String, Value>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.index;
        self.index += 1;
        let work = self.work(index)?;
        let slug = self.slug(&work, index);
        #[cfg(test)]
        {
            self.place_and_year = Some((work.place(), work.made));
        }
        self.limiter.next_record();
        let (record, expansion) = work.record(slug, &mut self.limiter);
        self.last = Some(expansion);
        Some(record)
    }
}
