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

/// The first line of each project, by a hash of the project's slug: 48 bytes each.
type Import = HashMap<u64, FirstLine>;

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

impl FirstLines {
    pub(super) fn get(&self, import: CommandId, slug: &str) -> Option<FirstLine> {
        let (_, lines) = self.imports.iter().find(|(id, _)| *id == import)?;
        lines.get(&hash(slug)).copied()
    }

    /// Records the first lines of projects in an import.
    pub(super) fn remember<'s>(
        &mut self,
        import: CommandId,
        lines: impl IntoIterator<Item = (&'s str, FirstLine)>,
    ) {
        let index = self.imports.iter().position(|(id, _)| *id == import);
        let (_, mut known) =
            index.and_then(|index| self.imports.remove(index)).unwrap_or((import, Import::new()));
        for (slug, line) in lines {
            known.entry(hash(slug)).or_insert(line);
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
