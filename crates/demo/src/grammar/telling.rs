//! One record being told from a [`Book`]: its facts as they become known, and the text that is made of them.

use super::super::dice::Dice;
use super::{Book, Figures, Line, Manner, Piece, Pool, Slot, TagSet};
use crate::weariness::Weariness;
use crate::wording;

/// How often a pool is drawn from before its lines are tried one after the other.
const DRAWS: usize = 24;

/// How many lines are offered before nothing is said at all.
const TRIES: usize = 12;

#[derive(Clone, Copy, Debug)]
enum Fact {
    Unknown,
    Absent,
    Given(&'static str),
    Told { from: u32, to: u32 },
}

/// The facts of one record and what has been said of it so far.
pub(crate) struct Telling {
    book: &'static Book,
    pub(crate) dice: Dice,
    tags: TagSet,
    facts: Vec<Fact>,
    /// By slot: the line drawn for it, whose attributes can be asked for.
    drawn: Vec<Option<&'static Line>>,
    told: String,
    /// Keys of the lines said so far.
    said: Vec<u64>,
    year: Option<i32>,
}

impl Telling {
    /// A record of which nothing is known yet. The room of an `earlier` one is used again.
    pub(crate) fn new(book: &'static Book, dice: Dice, earlier: Option<Self>) -> Self {
        let (mut facts, mut drawn, mut told, mut said) = earlier.map_or_else(Default::default, |earlier| {
            (earlier.facts, earlier.drawn, earlier.told, earlier.said)
        });
        let slots = book.pools.len();
        facts.clear();
        facts.resize(slots, Fact::Unknown);
        drawn.clear();
        drawn.resize(slots, None);
        told.clear();
        said.clear();
        Self { book, dice, tags: TagSet::default(), facts, drawn, told, said, year: None }
    }

    /// Sets a fact from outside; `None` makes every line that needs it untellable.
    pub(crate) fn give(&mut self, name: &str, value: Option<&'static str>) {
        let fact = value.map_or(Fact::Absent, Fact::Given);
        if let Some(slot) = self.book.slot(name) {
            self.put(slot, fact);
        }
    }

    /// As [`Self::give`], for a value made for this record.
    pub(crate) fn give_own(&mut self, name: &str, value: &str) {
        let fact = self.keep(value);
        if let Some(slot) = self.book.slot(name) {
            self.put(slot, fact);
        }
    }

    /// Sets the year that `{year}` and `{year+2}` speak of.
    pub(crate) fn give_year(&mut self, year: Option<i32>) {
        self.year = year;
        match year {
            Some(year) => self.give_own("year", &year.to_string()),
            None => self.give("year", None),
        }
    }

    pub(crate) fn tag(&mut self, name: &str) {
        if let Some(tag) = self.book.tag(name) {
            self.tags.insert(tag);
        }
    }

    /// The fact `name`, drawn now if it is not known yet.
    pub(crate) fn fact(&mut self, name: &str) -> Option<String> {
        let mut text = String::with_capacity(32);
        let slot = self.book.slot(name)?;
        self.write_slot(slot, Manner::default(), &mut text).then_some(text)
    }

    /// Draws the fact `name` now, if a pool of that name exists, since later facts depend on it.
    pub(crate) fn settle(&mut self, name: &str) {
        let mut text = String::new();
        if let Some(slot) = self.book.slot(name) {
            self.write_fact(slot, &mut text);
        }
    }

    /// Appends a line of the pool `name` that was not said before in this record. False, and nothing appended, when no
    /// line of it fits.
    pub(crate) fn say(&mut self, name: &str, out: &mut String) -> bool {
        let Some(pool) = self.book.slot(name).and_then(|slot| self.book.pool(slot)) else { return false };
        self.draw(pool, Among::Unsaid, out).is_some()
    }

    /// As [`Self::say`], but nothing that the catalog is tired of; what is said counts as said.
    pub(crate) fn say_fresh(&mut self, name: &str, out: &mut String, weariness: &mut Weariness) -> bool {
        let Some(pool) = self.book.slot(name).and_then(|slot| self.book.pool(slot)) else { return false };
        let start = out.len();
        for _ in 0..TRIES {
            // What is refused stays marked as said, so that each try is another line.
            let Some(line) = self.draw(pool, Among::Fresh(weariness), out) else { return false };
            if weariness.allows(line.key, &out[start..]) {
                return true;
            }
            out.truncate(start);
        }
        false
    }

    /// As [`Self::say`], whether it was said before or not.
    pub(crate) fn say_anyway(&mut self, name: &str, out: &mut String) -> bool {
        let pool = self.book.slot(name).and_then(|slot| self.book.pool(slot));
        pool.is_some_and(|pool| self.draw(pool, Among::All, out).is_some())
    }

    fn put(&mut self, slot: Slot, fact: Fact) {
        if let Some(entry) = self.facts.get_mut(usize::from(slot)) {
            *entry = fact;
        }
    }

    fn keep(&mut self, value: &str) -> Fact {
        let from = self.told.len() as u32;
        self.told.push_str(value);
        Fact::Told { from, to: self.told.len() as u32 }
    }

    /// Draws a fitting line and appends its text; the line's tags hold from then on.
    fn draw(&mut self, pool: &'static Pool, among: Among, out: &mut String) -> Option<&'static Line> {
        let start = out.len();
        if pool.special.is_empty() {
            return self.draw_plain(pool, among, out);
        }
        let open = pool.open(&self.tags);
        if open.count == 0 {
            return None;
        }
        for _ in 0..DRAWS {
            let at = self.dice.below(open.count);
            let Some(line) = open.pick(at).and_then(|at| pool.lines.get(at)) else { continue };
            if self.tell(line, among, start, out) {
                return Some(line);
            }
        }
        let from = self.dice.below(pool.lines.len());
        let (early, late) = pool.lines.split_at(from);
        late.iter().chain(early).find(|line| self.tell(line, among, start, out))
    }

    /// As [`Self::draw`], from a pool without lines for some tags only.
    fn draw_plain(&mut self, pool: &'static Pool, among: Among, out: &mut String) -> Option<&'static Line> {
        let start = out.len();
        for _ in 0..DRAWS {
            let at = self.dice.below(pool.general.len());
            let Some(line) = pool.general.get(at).and_then(|at| pool.lines.get(usize::from(*at))) else {
                break;
            };
            if self.tell(line, among, start, out) {
                return Some(line);
            }
        }
        pool.lines.iter().find(|line| self.tell(line, among, start, out))
    }

    fn tell(&mut self, line: &'static Line, among: Among, start: usize, out: &mut String) -> bool {
        let fits = line.clauses.iter().all(|clause| clause.wanted == self.tags.meets(&clause.any));
        let open = fits
            && match among {
                Among::All => true,
                Among::Unsaid => !self.said.contains(&line.key),
                Among::Fresh(weariness) => !self.said.contains(&line.key) && weariness.allows_line(line.key),
            };
        if !open || !self.write(&line.pieces, out) {
            out.truncate(start);
            return false;
        }
        self.tags.absorb(&line.adds);
        if !matches!(among, Among::All) {
            self.said.push(line.key);
        }
        true
    }

    fn write(&mut self, pieces: &'static [Piece], out: &mut String) -> bool {
        pieces.iter().all(|piece| match piece {
            Piece::Text(text) => {
                out.push_str(text);
                true
            }
            Piece::Slot { slot, manner } => self.write_slot(*slot, *manner, out),
            Piece::Number { low, high, step, style } => {
                let steps = (high - low) / step;
                let number = low + step * self.dice.within(0, steps);
                match style {
                    Figures::Words => wording::spell(number, out),
                    Figures::Grouped => wording::figures(number, out),
                    Figures::Year => out.push_str(&number.to_string()),
                }
                true
            }
            Piece::Year(offset) => self.year.is_some_and(|year| {
                out.push_str(&(year + offset).to_string());
                true
            }),
            Piece::Either(choices) => match self.dice.of(choices) {
                Some(choice) => self.write(choice, out),
                None => true,
            },
        })
    }

    fn write_slot(&mut self, slot: Slot, manner: Manner, out: &mut String) -> bool {
        let start = out.len();
        if manner.article {
            out.push_str("a ");
        }
        let from = out.len();
        let told = if manner.fresh {
            self.book.pool(slot).is_some_and(|pool| self.draw(pool, Among::All, out).is_some())
        } else {
            self.write_fact(slot, out)
        };
        if !told || out.len() == from {
            out.truncate(start);
            return told;
        }
        if manner.title {
            let titled = wording::title(&out[from..]);
            out.truncate(from);
            out.push_str(&titled);
        }
        if manner.article && wording::takes_an(&out[from..]) {
            out.insert(start + 1, 'n');
        }
        true
    }

    fn write_fact(&mut self, slot: Slot, out: &mut String) -> bool {
        match self.facts.get(usize::from(slot)).copied().unwrap_or(Fact::Absent) {
            Fact::Absent => false,
            Fact::Given(text) => {
                out.push_str(text);
                true
            }
            Fact::Told { from, to } => {
                out.push_str(self.told.get(from as usize..to as usize).unwrap_or_default());
                true
            }
            Fact::Unknown => self.learn(slot, out),
        }
    }

    /// Draws a fact that is asked for the first time, keeps it, and appends it.
    fn learn(&mut self, slot: Slot, out: &mut String) -> bool {
        let start = out.len();
        let known = if let Some(parent) = self.book.parent(slot) {
            self.attribute(parent, slot, out)
        } else if let Some(pool) = self.book.pool(slot) {
            let line = self.draw(pool, Among::All, out);
            if let Some(entry) = self.drawn.get_mut(usize::from(slot)) {
                *entry = line;
            }
            line.is_some()
        } else {
            false
        };
        let fact = if known { self.keep(&out[start..]) } else { Fact::Absent };
        self.put(slot, fact);
        known
    }

    fn attribute(&mut self, parent: Slot, slot: Slot, out: &mut String) -> bool {
        let at = usize::from(parent);
        if matches!(self.facts.get(at), Some(Fact::Unknown)) {
            let start = out.len();
            self.learn(parent, out);
            out.truncate(start);
        }
        let line = self.drawn.get(at).copied().flatten();
        let pieces = line.and_then(|line| line.attributes.iter().find(|(name, _)| *name == slot));
        let start = out.len();
        pieces.is_some_and(|(_, pieces)| {
            let told = self.write(pieces, out);
            if !told {
                out.truncate(start);
            }
            told
        })
    }
}

/// Which lines of a pool may be drawn.
#[derive(Clone, Copy)]
enum Among<'a> {
    All,
    Unsaid,
    Fresh(&'a Weariness),
}
