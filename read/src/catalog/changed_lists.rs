//! Lists of the projects that changed since some time, and those that were last asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lexical::OrdinalSet;
use schemas::ids::Position;

use super::change_kind::ChangeKind;

/// The lists that are kept: 16 bytes a project each.
const KEPT: usize = 4;

/// A change, up to which a list goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) position: Position,
    /// The beginning of the hash of its event: after a restore to an earlier state another event may have the position.
    pub(super) mark: i64,
}

/// A list: for each project the position of its change, the latest first, and its ordinal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedList(Vec<(Position, u64)>);

impl ChangedList {
    /// Returns the ordinals of the projects, withdrawn ones included.
    pub fn ordinals(&self) -> OrdinalSet {
        self.0.iter().map(|(_, ordinal)| *ordinal).collect()
    }

    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the list of all these changes: each project with its last one.
    pub(super) fn of(mut changes: Vec<(Position, u64)>) -> ChangedList {
        changes.sort_unstable_by(|one, other| other.cmp(one));
        let mut seen = OrdinalSet::default();
        changes.retain(|(_, ordinal)| {
            let is_first = !seen.contains(*ordinal);
            seen.insert(*ordinal);
            is_first
        });
        changes.shrink_to_fit();
        ChangedList(changes)
    }

    /// Returns at most `limit` of all projects, or of those `within` a set, after the change at `last`.
    pub(super) fn part(&self, within: Option<&OrdinalSet>, limit: usize, last: Option<Position>) -> ListPart {
        let ChangedList(all) = self;
        let matches = |(_, ordinal): &&(Position, u64)| within.is_none_or(|set| set.contains(*ordinal));
        let total = if within.is_some() { all.iter().filter(matches).count() } else { all.len() };
        let from = last.map_or(0, |last| all.partition_point(|(position, _)| *position >= last));
        let mut rest = all[from..].iter().filter(matches).map(|(position, _)| *position);
        let chosen = rest.by_ref().take(limit.max(1)).collect();
        ListPart { chosen, total: total as u64, has_more: rest.next().is_some() }
    }
}

/// The part of a list that is on a page.
pub(super) struct ListPart {
    /// The positions of the changes.
    pub(super) chosen: Vec<Position>,
    /// The number of projects on all pages.
    pub(super) total: u64,
    pub(super) has_more: bool,
}

/// The lists that were last asked for: those who page through one need it again.
#[derive(Debug, Default)]
pub(super) struct KeptLists(Mutex<Vec<(ListKey, Arc<ChangedList>)>>);

/// What a list depends on beside the log: since when, of which kinds, and its head.
pub(super) type ListKey = (i64, Vec<ChangeKind>, Head);

impl KeptLists {
    pub(super) fn get(&self, key: &ListKey) -> Option<Arc<ChangedList>> {
        let mut kept = self.lock();
        let at = kept.iter().position(|(known, _)| known == key)?;
        kept[..=at].rotate_right(1);
        Some(Arc::clone(&kept[0].1))
    }

    pub(super) fn insert(&self, key: ListKey, list: Arc<ChangedList>) {
        let mut kept = self.lock();
        kept.truncate(KEPT - 1);
        kept.insert(0, (key, list));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ListKey, Arc<ChangedList>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_project_is_listed_once_and_pages_follow_one_another() {
        let changes = [(1, 1), (2, 2), (3, 3), (4, 2), (9, 1), (7, 3), (8, 5)];
        let list = ChangedList::of(changes.map(|(position, ordinal)| (Position(position), ordinal)).to_vec());
        let expected = [(9, 1), (8, 5), (7, 3), (4, 2)];
        assert_eq!(list.0, expected.map(|(position, ordinal)| (Position(position), ordinal)));
        assert_eq!(list.ordinals(), [1, 2, 3, 5].into_iter().collect());
        let part = |within: Option<&OrdinalSet>, limit, last: Option<u64>| {
            let ListPart { chosen, total, has_more } = list.part(within, limit, last.map(Position));
            (chosen.into_iter().map(|Position(position)| position).collect::<Vec<_>>(), total, has_more)
        };
        assert_eq!(part(None, 3, None), (vec![9, 8, 7], 4, true));
        assert_eq!(part(None, 3, Some(7)), (vec![4], 4, false));
        assert_eq!(part(None, 4, None), (vec![9, 8, 7, 4], 4, false));
        assert_eq!(part(None, 4, Some(4)), (vec![], 4, false));
        let within: OrdinalSet = [2, 3, 4].into_iter().collect();
        assert_eq!(part(Some(&within), 1, None), (vec![7], 2, true));
        assert_eq!(part(Some(&within), 1, Some(7)), (vec![4], 2, false));
        assert_eq!(part(Some(&OrdinalSet::default()), 1, None), (vec![], 0, false));
    }
}
