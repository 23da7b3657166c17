//! Which line of an import named which project first, over all of its messages: two lines that say different things about
//! one project contradict each other, however far apart they stand.

use std::collections::{HashMap, VecDeque};

use schemas::ids::CommandId;

use super::line::Line;

/// How many imports are remembered, the last ones …
const IMPORTS: usize = 8;

/// … and how many projects in all of them but the newest.
const PROJECTS: usize = 1_000_000;

/// The first lines of the last imports, by the correlation of their messages.
#[derive(Debug, Default)]
pub(in crate::service) struct Named {
    imports: VecDeque<(CommandId, Import)>,
}

/// The first line for each project, by the project's slug: 40 bytes each.
type Import = HashMap<u64, First>;

/// A line that named a project first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct First {
    /// Its number in the file.
    pub(super) number: u64,
    /// A hash of what it says.
    pub(super) content: u64,
    /// A hash of what identifies it.
    pub(super) identity: u64,
}

impl First {
    pub(super) fn of(line: &Line) -> First {
        First { number: line.number, content: line.content, identity: hash(&line.identity) }
    }
}

impl Named {
    /// Returns the line of an import that named a project first.
    pub(super) fn first(&self, import: CommandId, slug: &str) -> Option<First> {
        let (_, named) = self.imports.iter().find(|(id, _)| *id == import)?;
        named.get(&hash(slug)).copied()
    }

    /// Remembers the lines of an import that named these projects first.
    pub(super) fn remember<'s>(
        &mut self,
        import: CommandId,
        lines: impl IntoIterator<Item = (&'s str, First)>,
    ) {
        let place = self.imports.iter().position(|(id, _)| *id == import);
        let (_, mut named) =
            place.and_then(|place| self.imports.remove(place)).unwrap_or((import, Import::new()));
        for (slug, first) in lines {
            named.entry(hash(slug)).or_insert(first);
        }
        self.imports.push_back((import, named));
        let held = |imports: &VecDeque<(CommandId, Import)>| {
            imports.iter().map(|(_, named)| named.len()).sum::<usize>()
        };
        while self.imports.len() > IMPORTS || (self.imports.len() > 1 && held(&self.imports) > PROJECTS) {
            self.imports.pop_front();
        }
    }
}

/// A hash for this process.
pub(super) fn hash<T: std::hash::Hash + ?Sized>(value: &T) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
