//! Drawing from a pool: which of its lines are open while some tags hold.

use super::{Pool, TagSet};

/// Into how many parts a pool can be open at once; a record has fewer tags that lines begin with in any one pool.
const PARTS: usize = 16;

/// The parts of a pool that the tags leave open: the lines for all, and those for a tag that holds.
pub(super) struct Open {
    parts: [&'static [u16]; PARTS],
    used: usize,
    /// Lines in all parts, as often as their weight.
    pub(super) count: usize,
}

impl Pool {
    /// What may be drawn of this pool while `tags` hold.
    pub(super) fn open(&'static self, tags: &TagSet) -> Open {
        let mut open = Open { parts: [&[]; PARTS], used: 1, count: self.general.len() };
        open.parts[0] = &self.general;
        for lines in self.asked.shared(tags).filter_map(|tag| self.special.get(&tag)) {
            if let Some(part) = open.parts.get_mut(open.used) {
                (*part, open.used, open.count) = (lines, open.used + 1, open.count + lines.len());
            }
        }
        open
    }
}

impl Open {
    /// The number in the pool of the `at`-th line.
    pub(super) fn pick(&self, at: usize) -> Option<usize> {
        let mut rest = at;
        for part in self.parts.iter().take(self.used) {
            if let Some(line) = part.get(rest) {
                return Some(usize::from(*line));
            }
            rest -= part.len();
        }
        None
    }
}
