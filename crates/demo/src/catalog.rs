//! The catalog as a sequence: works one after the other, each with a name and a slug of its own.

use serde_json::{Map, Value};

use super::grammar::telling::Telling;
use super::slugs::{Known, slug};
use super::weariness::Weariness;
use super::work::Work;

/// How often another work is tried when the name is taken; after that a second work of a name is let in, as happens in
/// life, if its studio is another one.
const NAMES_TRIED: u64 = 5;
/// From this many works on, names are scarce, and one more try is enough.
const NAMES_SCARCE: usize = 50_000;
/// How often another work is tried at all.
const TRIED: u64 = 60;

pub(super) struct Catalog {
    seed: u64,
    index: usize,
    names: Known,
    works: Known,
    slugs: Known,
    weariness: Weariness,
    /// The room the last record was told in, for the next one.
    room: Option<Telling>,
    #[cfg(test)]
    told: Option<(&'static str, i32)>,
}

impl Catalog {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            index: 0,
            names: Known::default(),
            works: Known::default(),
            slugs: Known::default(),
            weariness: Weariness::new(),
            room: None,
            #[cfg(test)]
            told: None,
        }
    }

    /// The next work whose name, with its studio, is not taken.
    fn work(&mut self, index: usize) -> Option<Work> {
        let tried = if index < NAMES_SCARCE { NAMES_TRIED } else { 2 };
        for attempt in 0..TRIED {
            let Some(work) = Work::draft(self.seed, index, attempt, self.room.take()) else { continue };
            let named = attempt < tried && self.names.holds(&[&work.name]);
            if !named && self.works.add(&[&work.name, work.studio()]) {
                self.names.add(&[&work.name]);
                return Some(work);
            }
            self.room = Some(work.into_telling());
        }
        None
    }

    /// The name's slug; if it is taken, with the studio; then with the year; at last with the work's number.
    fn slug(&mut self, work: &Work, index: usize) -> String {
        let plain = slug(&work.name);
        let plain = if plain.is_empty() { format!("work-{index}") } else { plain };
        if self.slugs.add(&[&plain]) {
            return plain;
        }
        let studio = slug(work.studio());
        let mut longer = if studio.is_empty() { plain } else { format!("{plain}-{studio}") };
        longer.truncate(longer.get(..96).map_or(longer.len(), |head| head.trim_end_matches('-').len()));
        if self.slugs.add(&[&longer]) {
            return longer;
        }
        let dated = format!("{longer}-{}", work.made());
        if self.slugs.add(&[&dated]) {
            return dated;
        }
        let mut numbered = format!("{longer}-n{index}");
        while !self.slugs.add(&[&numbered]) {
            numbered.push('x');
        }
        numbered
    }
}

#[cfg(test)]
impl Catalog {
    /// The slugs alone, without telling the records.
    pub(super) fn slugs(mut self) -> impl Iterator<Item = String> {
        (0..).map_while(move |index| {
            let work = self.work(index)?;
            let slug = self.slug(&work, index);
            self.room = Some(work.into_telling());
            Some(slug)
        })
    }

    /// What the last record was told from, by fact; `None` where it has no such fact.
    pub(super) fn facts(&mut self, names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| self.room.as_mut().and_then(|room| room.fact(name))).collect()
    }

    /// The city and the year of the last record, whether it says them or not.
    pub(super) const fn told(&self) -> Option<(&'static str, i32)> {
        self.told
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
            self.told = Some((work.place(), work.made()));
        }
        self.weariness.next_record();
        let (record, room) = work.record(slug, &mut self.weariness);
        self.room = Some(room);
        Some(record)
    }
}
