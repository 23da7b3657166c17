//! Looks up which spooled calls count already, for calls so old that JetStream may have forgotten their ids.

use std::collections::{HashMap, HashSet};

use futures::{StreamExt, TryStreamExt, stream};
use schemas::subject;
use schemas::usage::Call;
use uuid::Uuid;

use super::super::publisher::{LookupError, UsagePublisher};

/// The number of subjects that are looked up concurrently.
const AT_ONCE: usize = 32;
/// From this number of subjects on, all subjects of their tier are looked up together.
const FEW: usize = 16;
/// The maximum number of ids in memory; beyond it all are dropped and looked up again when needed.
const MOST: usize = 2_000_000;

/// The calls among which a call is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// The calls that count.
    Counted,
    /// The recorded overruns.
    Overruns,
}

impl Kept {
    fn stream(self, call: &Call) -> String {
        match self {
            Kept::Counted => subject::usage_stream(&call.tier),
            Kept::Overruns => subject::OVERRUN.to_owned(),
        }
    }

    fn subject(self, call: &Call) -> String {
        match self {
            Kept::Counted => call.subject(),
            Kept::Overruns => call.overrun_subject(),
        }
    }

    /// The subjects of all keys of the tier in the month of this call.
    fn pattern(self, call: &Call) -> String {
        subject::of_all_keys(if self == Kept::Counted { "usage" } else { "overrun" }, &call.tier, call.month)
    }
}

/// The known ids by subject: those that were looked up, and those published since.
#[derive(Debug)]
pub(super) struct Known {
    kept: Kept,
    subjects: HashMap<String, Ids>,
    /// Patterns whose subjects were all looked up: a subject without an entry has no ids from this one on.
    patterns: HashMap<String, Uuid>,
    /// Patterns with too many calls to look up together.
    large: HashSet<String>,
    ids: usize,
}

#[derive(Debug)]
struct Ids {
    /// Lower ids are not known.
    first: Uuid,
    ids: HashSet<Uuid>,
}

/// A subject to look up: a call of it, and the lowest id that is needed.
type Wanted = HashMap<String, (Call, Uuid)>;

impl Known {
    pub(super) fn new(kept: Kept) -> Known {
        let (subjects, patterns, large) = Default::default();
        Known { kept, subjects, patterns, large, ids: 0 }
    }

    /// Looks up the subjects of these calls that are not known yet.
    pub(super) async fn look_up(
        &mut self,
        publisher: &UsagePublisher,
        calls: Vec<Call>,
    ) -> Result<(), LookupError> {
        let mut wanted = Wanted::new();
        for call in calls {
            let id = call.id.0;
            let (_, first) = wanted.entry(self.kept.subject(&call)).or_insert((call, id));
            *first = (*first).min(id);
        }
        if self.ids > MOST {
            *self = Known::new(self.kept);
        }
        wanted.retain(|subject, (call, first)| !self.covers(subject, call, *first));
        if wanted.len() > FEW {
            self.look_up_together(publisher, &wanted).await?;
            wanted.retain(|subject, (call, first)| !self.covers(subject, call, *first));
        }
        let kept = self.kept;
        let mut found = stream::iter(wanted)
            .map(|(subject, (call, first))| async move {
                let ids = publisher.ids(&kept.stream(&call), &subject, first).await?;
                Ok((subject, Ids { first, ids }))
            })
            .buffer_unordered(AT_ONCE);
        while let Some((subject, ids)) = found.try_next().await? {
            self.keep(subject, ids);
        }
        Ok(())
    }

    /// Looks up all subjects of the tiers and months of these calls, unless they are too many.
    async fn look_up_together(
        &mut self,
        publisher: &UsagePublisher,
        wanted: &Wanted,
    ) -> Result<(), LookupError> {
        let mut patterns = HashMap::<String, (&Call, Uuid)>::new();
        for (call, first) in wanted.values() {
            let (_, lowest) = patterns.entry(self.kept.pattern(call)).or_insert((call, *first));
            *lowest = (*lowest).min(*first);
        }
        patterns.retain(|pattern, _| !self.large.contains(pattern));
        for (pattern, (call, first)) in patterns {
            let Some(found) = publisher.ids_of_all(&self.kept.stream(call), &pattern, first).await? else {
                self.large.insert(pattern);
                continue;
            };
            for (subject, ids) in found {
                self.keep(subject, Ids { first, ids });
            }
            self.patterns.insert(pattern, first);
        }
        Ok(())
    }

    /// Returns whether the ids under this subject are known from `first` on.
    fn covers(&self, subject: &str, call: &Call, first: Uuid) -> bool {
        self.subjects.get(subject).is_some_and(|ids| ids.first <= first)
            || self.patterns.get(&self.kept.pattern(call)).is_some_and(|known| *known <= first)
    }

    fn keep(&mut self, subject: String, ids: Ids) {
        self.ids += ids.ids.len();
        if let Some(before) = self.subjects.insert(subject, ids) {
            self.ids -= before.ids.len();
        }
    }

    /// Returns whether a call is recorded already.
    pub(super) fn has(&self, call: &Call) -> bool {
        self.subjects.get(&self.kept.subject(call)).is_some_and(|ids| ids.ids.contains(&call.id.0))
    }

    /// Records a call that was published now.
    pub(super) fn note(&mut self, call: &Call) {
        let subject = self.kept.subject(call);
        let pattern = || self.patterns.get(&self.kept.pattern(call)).copied();
        if !self.subjects.contains_key(&subject) {
            let Some(first) = pattern() else { return };
            self.subjects.insert(subject.clone(), Ids { first, ids: HashSet::new() });
        }
        if let Some(ids) = self.subjects.get_mut(&subject) {
            self.ids += usize::from(ids.ids.insert(call.id.0));
        }
    }
}
