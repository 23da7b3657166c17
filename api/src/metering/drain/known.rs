//! Which calls count already, for those that are so old that JetStream may have forgotten their ids.

use std::collections::{HashMap, HashSet, VecDeque};

use futures::{StreamExt, TryStreamExt, stream};
use schemas::usage::Call;
use uuid::Uuid;

use super::super::gate::LookupError;

/// Subjects that are looked up at once.
const AT_ONCE: usize = 32;
/// Ids that are kept in memory; what was looked up first is forgotten first.
const MOST: usize = 2_000_000;

/// The ids that count, by subject, as they were looked up, and those that were published since.
#[derive(Debug, Default)]
pub(super) struct Known {
    subjects: HashMap<String, Ids>,
    order: VecDeque<String>,
    ids: usize,
}

#[derive(Debug)]
struct Ids {
    /// Lower ids were not kept.
    first: Uuid,
    ids: HashSet<Uuid>,
}

impl Known {
    /// Looks up the subjects of these calls, but for those that are known already.
    pub(super) async fn look_up<Looking>(
        &mut self,
        calls: Vec<Call>,
        subject: fn(&Call) -> String,
        look: impl Fn(Call, Uuid) -> Looking,
    ) -> Result<(), LookupError>
    where
        Looking: Future<Output = Result<HashSet<Uuid>, LookupError>>,
    {
        let mut wanted = HashMap::<String, (Call, Uuid)>::new();
        for call in calls {
            let id = call.id.0;
            let (_, first) = wanted.entry(subject(&call)).or_insert((call, id));
            *first = (*first).min(id);
        }
        wanted.retain(|subject, (_, first)| self.subjects.get(subject).is_none_or(|ids| ids.first > *first));
        while self.ids > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids -= self.subjects.remove(&oldest).map_or(0, |ids| ids.ids.len());
        }
        let mut found = stream::iter(wanted)
            .map(|(subject, (call, first))| {
                let looking = look(call, first);
                async move { looking.await.map(|ids| (subject, Ids { first, ids })) }
            })
            .buffer_unordered(AT_ONCE);
        while let Some((subject, ids)) = found.try_next().await? {
            self.ids += ids.ids.len();
            match self.subjects.insert(subject.clone(), ids) {
                Some(before) => self.ids -= before.ids.len(),
                None => self.order.push_back(subject),
            }
        }
        Ok(())
    }

    /// Returns whether a call was found to count.
    pub(super) fn has(&self, subject: &str, call: &Call) -> bool {
        self.subjects.get(subject).is_some_and(|ids| ids.ids.contains(&call.id.0))
    }

    /// Notes a call that counts now.
    pub(super) fn note(&mut self, subject: &str, call: &Call) {
        if let Some(ids) = self.subjects.get_mut(subject) {
            self.ids += usize::from(ids.ids.insert(call.id.0));
        }
    }
}
