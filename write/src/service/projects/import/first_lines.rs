//! The first line of each project in an import, over all messages of the import: two lines with different content for one
//! project contradict each other, in whatever messages they are.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU64;

use schemas::external_id::ExternalId;
use schemas::ids::CommandId;

use super::line::Line;

/// The maximum number of imports that are remembered: the last ones.
const IMPORTS: usize = 8;

/// The maximum number of projects that are remembered in all imports, unless the newest import alone has more.
const PROJECTS: usize = 1_000_000;

/// The first lines of the last imports, by the correlation id of their messages.
#[derive(Debug, Default)]
pub(in crate::service::projects) struct FirstLines {
    imports: VecDeque<(CommandId, Import)>,
}

/// The number of first lines that are added before they are sorted among the others.
const RECENT: usize = 14_000;

/// The number of parts of the sorted lines, each with a range of the hashes. They grow one by one, so that what grows is never in
/// memory twice as a whole.
const PARTS: usize = 64;

/// The first line of each project, by a hash of the project's slug: 40 to 45 bytes each. A hash map of a million would take twice as
/// many, and three times while it grows.
#[derive(Debug, Default)]
struct Import {
    /// Parts in the order of the hashes; none before the first lines are sorted.
    sorted: Vec<Vec<(u64, FirstLine)>>,
    /// Those that were added since: fewer than [`RECENT`].
    recent: HashMap<u64, FirstLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstLine {
    pub(super) number: u64,
    pub(super) content: u64,
    pub(super) identity: u64,
    /// A hash of the external id, if the line has one.
    id: Option<NonZeroU64>,
}

/// What the ids of two lines say about their projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdMatch {
    /// Both have the same id.
    Same,
    /// One has no id.
    Unknown,
    /// Each has an id of its own.
    Other,
}

impl FirstLine {
    pub(super) fn of(line: &Line) -> FirstLine {
        FirstLine {
            number: line.number,
            content: line.content,
            identity: hash(&line.identity),
            id: line.id().and_then(id_hash),
        }
    }

    /// Compares the id of this line with that of another one.
    pub(super) fn compare_id(&self, id: &ExternalId) -> IdMatch {
        match self.id {
            None => IdMatch::Unknown,
            known if known == id_hash(id) => IdMatch::Same,
            Some(_) => IdMatch::Other,
        }
    }
}

impl Import {
    fn get(&self, slug: u64) -> Option<FirstLine> {
        let among_sorted = || {
            let lines = self.sorted.get(part(slug))?;
            let at = lines.binary_search_by_key(&slug, |(slug, _)| *slug).ok()?;
            lines.get(at).map(|(_, line)| *line)
        };
        self.recent.get(&slug).copied().or_else(among_sorted)
    }

    /// Adds the line of a project that has none yet.
    fn add(&mut self, slug: u64, line: FirstLine) {
        if self.get(slug).is_some() {
            return;
        }
        self.recent.insert(slug, line);
        if self.recent.len() == RECENT {
            self.sort_recent();
        }
    }

    fn sort_recent(&mut self) {
        let mut recent: Vec<(u64, FirstLine)> = self.recent.drain().collect();
        recent.sort_unstable_by_key(|(slug, _)| *slug);
        self.sorted.resize_with(PARTS, Vec::new);
        for added in recent.chunk_by(|(slug, _), (next, _)| part(*slug) == part(*next)) {
            let lines = &mut self.sorted[part(added[0].0)];
            if lines.capacity() - lines.len() < added.len() {
                lines.reserve_exact(added.len().max(lines.len() / 8));
            }
            lines.extend_from_slice(added);
            // A stable sort finds the two runs that are in order, and only merges them.
            lines.sort_by_key(|(slug, _)| *slug);
        }
    }

    fn len(&self) -> usize {
        self.sorted.iter().map(Vec::len).sum::<usize>() + self.recent.len()
    }
}

impl FirstLines {
    pub(super) fn get(&self, import: CommandId, slug: &str) -> Option<FirstLine> {
        let (_, lines) = self.imports.iter().find(|(id, _)| *id == import)?;
        lines.get(hash(slug))
    }

    /// Records the first lines of projects in an import.
    pub(super) fn remember<'s>(
        &mut self,
        import: CommandId,
        lines: impl IntoIterator<Item = (&'s str, FirstLine)>,
    ) {
        let index = self.imports.iter().position(|(id, _)| *id == import);
        let (_, mut known) =
            index.and_then(|index| self.imports.remove(index)).unwrap_or((import, Import::default()));
        for (slug, line) in lines {
            known.add(hash(slug), line);
        }
        self.imports.push_back((import, known));
        let projects = |imports: &VecDeque<(CommandId, Import)>| {
            imports.iter().map(|(_, lines)| lines.len()).sum::<usize>()
        };
        while self.imports.len() > IMPORTS || (self.imports.len() > 1 && projects(&self.imports) > PROJECTS) {
            self.imports.pop_front();
        }
    }
}

/// Returns the part of the sorted lines in which a hash is.
fn part(slug: u64) -> usize {
    (slug >> (u64::BITS - PARTS.ilog2())) as usize
}

fn id_hash(id: &ExternalId) -> Option<NonZeroU64> {
    NonZeroU64::new(hash(id) | 1)
}

/// Returns a hash that is valid in this process.
pub(super) fn hash<T: std::hash::Hash + ?Sized>(value: &T) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_many_lines_is_kept_in_45_bytes() {
        let line = |number| FirstLine { number, content: number, identity: number, id: None };
        let (mut import, projects) = (Import::default(), 100_000);
        for number in 1..=projects {
            import.add(hash(&number), line(number));
            // A later line of a project that was added long ago, and of one that was added just now.
            import.add(hash(&(number / 2 + 1)), line(0));
            import.add(hash(&number), line(0));
        }
        assert!((1..=projects).all(|number| import.get(hash(&number)) == Some(line(number))));
        assert_eq!((import.get(hash(&0_u64)), import.get(hash(&(projects + 1)))), (None, None));
        assert_eq!(import.len(), 100_000);
        assert_eq!((import.recent.len(), part(0), part(u64::MAX)), (2_000, 0, PARTS - 1));
        let capacity: usize = import.sorted.iter().map(Vec::capacity).sum();
        assert!(capacity * size_of::<(u64, FirstLine)>() <= 45 * 98_000, "{capacity} of 98,000 lines");
        assert!(import.recent.capacity() < 2 * RECENT, "{}", import.recent.capacity());
    }
}
