//! From text files to a [`Book`]. A fault is noted and the line left out, so that parsing itself cannot fail.

use super::super::slugs::digest;
use super::{Book, Clause, Figures, Line, Manner, Piece, Pool, Slot, TagSet};

impl Book {
    /// Reads the pools of all `sources`; `given` names the facts and `given_tags` the tags that come from outside.
    pub(crate) fn parse(
        sources: &[&'static str],
        given: &[&'static str],
        given_tags: &[&'static str],
    ) -> Self {
        let mut book = Self::default();
        for name in given {
            book.intern(name);
        }
        for tag in given_tags {
            book.intern_tag(tag);
        }
        let mut known_tags = TagSet::default();
        for tag in given_tags {
            known_tags.insert(book.intern_tag(tag));
        }
        for source in sources {
            book.read(source);
        }
        book.check(given, &mut known_tags);
        book
    }

    fn read(&mut self, source: &'static str) {
        let mut current: Option<Slot> = None;
        for text in source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
            if let Some(name) = text.strip_prefix("== ") {
                let slot = self.intern(name.trim());
                if let Some(entry) = self.pools.get_mut(usize::from(slot)) {
                    entry.get_or_insert_with(Pool::default);
                }
                current = Some(slot);
                continue;
            }
            let Some(slot) = current else {
                self.faults.push(format!("A line stands before the first heading: {text}"));
                continue;
            };
            let (line, weight, firsts) = self.line(slot, text);
            if let Some(pool) = self.pools.get_mut(usize::from(slot)).and_then(Option::as_mut) {
                pool.add(line, weight, &firsts);
            }
        }
    }

    fn intern(&mut self, name: &'static str) -> Slot {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let parent = name.split_once('.').map(|(parent, _)| self.intern(parent));
        let slot = Slot::try_from(self.pools.len()).unwrap_or(Slot::MAX);
        self.slots.insert(name, slot);
        self.pools.push(None);
        self.parents.push(parent);
        slot
    }

    fn intern_tag(&mut self, name: &'static str) -> u16 {
        let next = self.tags.len();
        if next >= TagSet::CAPACITY && !self.tags.contains_key(name) {
            self.faults.push(format!("There are more than {} tags; {name} is lost.", TagSet::CAPACITY));
        }
        *self.tags.entry(name).or_insert(u16::try_from(next).unwrap_or(u16::MAX))
    }

    /// One line, its weight, and the tags of the first clause that asks for something (for the pool's index).
    fn line(&mut self, pool: Slot, text: &'static str) -> (Line, usize, Vec<u16>) {
        let mut line = Line { key: digest(&[text]), ..Line::default() };
        let (mut weight, mut firsts, mut rest) = (1, Vec::new(), text);
        if let Some((inside, after)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            rest = after.trim_start();
            for term in inside.split_whitespace() {
                let (wanted, names) = term.strip_prefix('!').map_or((true, term), |names| (false, names));
                let tags: Vec<u16> = names.split('/').map(|name| self.intern_tag(name)).collect();
                let mut any = TagSet::default();
                tags.iter().for_each(|tag| any.insert(*tag));
                if wanted && firsts.is_empty() {
                    firsts = tags;
                }
                line.clauses.push(Clause { any, wanted });
            }
        }
        if let Some((number, after)) = rest.strip_prefix('%').and_then(|text| text.split_once(' ')) {
            (weight, rest) = (number.parse().unwrap_or(1), after.trim_start());
        }
        if rest.contains(['[', ']', '%']) {
            self.faults.push(format!("A condition or a weight stands too late: {text}"));
        }
        let mut parts = rest.split(";;").map(str::trim);
        line.pieces = self.pieces(parts.next().unwrap_or_default());
        for part in parts {
            if let Some(tags) = part.strip_prefix('+') {
                for tag in tags.split('+').map(str::trim) {
                    let tag = self.intern_tag(tag);
                    line.adds.insert(tag);
                }
            } else if let Some((name, value)) = part.split_once('=') {
                let slot = self.attribute(pool, name.trim());
                let pieces = self.pieces(value.trim());
                line.attributes.push((slot, pieces));
            } else {
                self.faults.push(format!("Neither an attribute nor a tag: {part} in {text}"));
            }
        }
        (line, weight, firsts)
    }

    fn attribute(&mut self, pool: Slot, name: &'static str) -> Slot {
        let pool = self.slots.iter().find(|(_, slot)| **slot == pool).map_or("", |(name, _)| *name);
        // A few hundred names in all, leaked once in the life of the process, so that a slot's name is like any other.
        self.intern(Box::leak(format!("{pool}.{name}").into_boxed_str()))
    }

    fn pieces(&mut self, text: &'static str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '(']) {
            let (before, from) = rest.split_at(at);
            if !before.is_empty() {
                pieces.push(Piece::Text(before));
            }
            let closing = if from.starts_with('{') { '}' } else { ')' };
            let Some((inside, after)) = from.get(1..).and_then(|text| text.split_once(closing)) else {
                self.faults.push(format!("A bracket is not closed: {text}"));
                return pieces;
            };
            if closing == ')' {
                let choices = inside.split('|').map(|choice| self.pieces(choice)).collect();
                pieces.push(Piece::Either(choices));
            } else if let Some(piece) = self.slot_piece(inside) {
                pieces.push(piece);
            } else {
                self.faults.push(format!("Not a slot: {{{inside}}} in {text}"));
            }
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest));
        }
        pieces
    }

    fn slot_piece(&mut self, inside: &'static str) -> Option<Piece> {
        if let Some(range) = inside.strip_prefix('#') {
            return number(range, Figures::Grouped);
        }
        if let Some(range) =
            inside.strip_prefix('w').filter(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        {
            return number(range, Figures::Words);
        }
        if let Some(offset) = inside.strip_prefix("year").filter(|text| text.starts_with(['+', '-'])) {
            return offset.parse().ok().map(Piece::Year);
        }
        let mut manner = Manner::default();
        let mut name = inside;
        loop {
            if let Some(after) = name.strip_prefix("a ") {
                (manner.article, name) = (true, after);
            } else if let Some(after) = name.strip_prefix("t ") {
                (manner.title, name) = (true, after);
            } else if let Some(after) = name.strip_prefix('~') {
                (manner.fresh, name) = (true, after);
            } else {
                break;
            }
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        (!name.is_empty() && name.chars().all(plain)).then(|| Piece::Slot { slot: self.intern(name), manner })
    }

    /// Notes slots that nothing can fill and tags that nothing sets.
    fn check(&mut self, given: &[&'static str], known: &mut TagSet) {
        let mut filled: Vec<bool> = self.pools.iter().map(Option::is_some).collect();
        let mut fill = |slot: Slot| {
            if let Some(entry) = filled.get_mut(usize::from(slot)) {
                *entry = true;
            }
        };
        given.iter().filter_map(|name| self.slots.get(name)).for_each(|slot| fill(*slot));
        let outside = *known;
        let mut faults = Vec::new();
        for line in self.pools.iter().flatten().flat_map(|pool| &pool.lines) {
            if line.adds.meets(&outside) {
                faults.push(format!("A line sets a tag that comes from outside: {:?}", line.pieces));
            }
            known.absorb(&line.adds);
            line.attributes.iter().for_each(|(slot, _)| fill(*slot));
        }
        let empty = |slot: &Slot| !filled.get(usize::from(*slot)).copied().unwrap_or(false);
        let unfilled = self.slots.iter().filter(|(_, slot)| empty(slot));
        faults.extend(unfilled.map(|(name, _)| format!("Nothing fills the slot {name}.")));
        let (set, unset) = self.tags.iter().partition::<Vec<_>, _>(|(_, tag)| known.contains(**tag));
        self.set = set.into_iter().map(|(name, _)| *name).collect();
        self.unset = unset.into_iter().map(|(name, _)| *name).collect();
        faults.sort();
        self.faults.append(&mut faults);
    }
}

impl Pool {
    fn add(&mut self, line: Line, weight: usize, firsts: &[u16]) {
        let at = u16::try_from(self.lines.len()).unwrap_or(u16::MAX);
        self.lines.push(line);
        let entries = std::iter::repeat_n(at, weight);
        if firsts.is_empty() {
            self.general.extend(entries);
            return;
        }
        for tag in firsts {
            self.asked.insert(*tag);
            self.special.entry(*tag).or_default().extend(entries.clone());
        }
    }
}

/// `12-40`, `120-400/5`.
fn number(range: &str, style: Figures) -> Option<Piece> {
    let (range, step) = range.split_once('/').unwrap_or((range, "1"));
    let (low, high) = range.split_once('-')?;
    let (low, high, step) = (low.parse().ok()?, high.parse().ok()?, step.parse().ok()?);
    let style = if style == Figures::Grouped && low >= 1700 && high <= 2030 { Figures::Year } else { style };
    (low <= high && step > 0).then_some(Piece::Number { low, high, step, style })
}
