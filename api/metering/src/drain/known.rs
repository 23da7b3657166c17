//! Looks up which spooled calls count already, for calls so old that JetStream may no longer recognise their ids.

use std::collections::{HashMap, HashSet};

use futures::{StreamExt, TryStreamExt, stream};
use schemas::subject;
use schemas::usage::Call;
use uuid::Uuid;

use super::super::publisher::{LookupError, UsagePublisher};

/// The number of subjects that are looked up concurrently.
const MAX_IN_FLIGHT: usize = 32;
/// From this number of subjects on, all subjects of their tier are looked up together.
const LOOK_UP_TOGETHER: usize = 16;
/// The maximum number of ids in memory; beyond it all are dropped and looked up again when needed.
const MAX_IDS: usize = 2_000_000;

/// The kind of calls among which a call is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    /// The calls that count.
    Counted,
    /// The recorded overruns.
    Overruns,
}

impl CallKind {
    fn stream(self, call: &Call) -> String {
        match self {
            CallKind::Counted => subject::usage_stream(&call.tier),
            CallKind::Overruns => subject::OVERRUN.to_owned(),
        }
    }

    fn subject(self, call: &Call) -> String {
        match self {
            CallKind::Counted => call.subject(),
            CallKind::Overruns => call.overrun_subject(),
        }
    }

    /// The subjects of all keys of the tier in the month of this call.
    fn pattern(self, call: &Call) -> String {
        subject::of_all_keys(
            if self == CallKind::Counted { "usage" } else { "overrun" },
            &call.tier,
            call.month,
        )
    }
}

/// The known ids by subject: those that were looked up, and those published since.
#[derive(Debug)]
pub(super) struct KnownIds {
    kind: CallKind,
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
type Lookups = HashMap<String, (Call, Uuid)>;

impl KnownIds {
    pub(super) fn new(kind: CallKind) -> KnownIds {
        let (subjects, patterns, large) = Default::default();
        KnownIds { kind, subjects, patterns, large, ids: 0 }
    }

    /// Looks up the subjects of these calls that are not known yet.
    pub(super) async fn look_up(
        &mut self,
        publisher: &UsagePublisher,
        calls: Vec<Call>,
    ) -> Result<(), LookupError> {
        let mut lookups = Lookups::new();
        for call in calls {
            let id = call.id.0;
            let (_, first) = lookups.entry(self.kind.subject(&call)).or_insert((call, id));
            *first = (*first).min(id);
        }
        if self.ids > MAX_IDS {
            *self = KnownIds::new(self.kind);
        }
        lookups.retain(|subject, (call, first)| !self.covers(subject, call, *first));
        if lookups.len() > LOOK_UP_TOGETHER {
            self.look_up_together(publisher, &lookups).await?;
            lookups.retain(|subject, (call, first)| !self.covers(subject, call, *first));
        }
        let kind = self.kind;
        let mut found = stream::iter(lookups)
            .map(|(subject, (call, first))| async move {
                let ids = publisher.ids(&kind.stream(&call), &subject, first).await?;
                Ok((subject, Ids { first, ids }))
            })
            .buffer_unordered(MAX_IN_FLIGHT);
        while let Some((subject, ids)) = found.try_next().await? {
            self.insert(subject, ids);
        }
        Ok(())
    }

    /// Looks up all subjects of the tiers and months of these calls, unless they are too many.
    async fn look_up_together(
        &mut self,
        publisher: &UsagePublisher,
        lookups: &Lookups,
    ) -> Result<(), LookupError> {
        let mut patterns = HashMap::<String, (&Call, Uuid)>::new();
        for (call, first) in lookups.values() {
            let (_, lowest) = patterns.entry(self.kind.pattern(call)).or_insert((call, *first));
            *lowest = (*lowest).min(*first);
        }
        patterns.retain(|pattern, _| !self.large.contains(pattern));
        for (pattern, (call, first)) in patterns {
            let Some(found) = publisher.ids_of_all(&self.kind.stream(call), &pattern, first).await? else {
                self.large.insert(pattern);
                continue;
            };
            for (subject, ids) in found {
                self.insert(subject, Ids { first, ids });
            }
            self.patterns.insert(pattern, first);
        }
        Ok(())
    }

    /// Returns whether the ids under this subject are known from `first` on.
    fn covers(&self, subject: &str, call: &Call, first: Uuid) -> bool {
        self.subjects.get(subject).is_some_and(|ids| ids.first <= first)
            || self.patterns.get(&self.kind.pattern(call)).is_some_and(|known| *known <= first)
    }

    fn insert(&mut self, subject: String, ids: Ids) {
        self.ids += ids.ids.len();
        if let Some(before) = self.subjects.insert(subject, ids) {
            self.ids -= before.ids.len();
        }
    }

    /// Returns whether a call is recorded already.
    pub(super) fn has(&self, call: &Call) -> bool {
        self.subjects.get(&self.kind.subject(call)).is_some_and(|ids| ids.ids.contains(&call.id.0))
    }

    /// Records a call that was published now.
    pub(super) fn note(&mut self, call: &Call) {
        let subject = self.kind.subject(call);
        let pattern = || self.patterns.get(&self.kind.pattern(call)).copied();
        if !self.subjects.contains_key(&subject) {
            let Some(first) = pattern() else { return };
            self.subjects.insert(subject.clone(), Ids { first, ids: HashSet::new() });
        }
        if let Some(ids) = self.subjects.get_mut(&subject) {
            self.ids += usize::from(ids.ids.insert(call.id.0));
        }
    }
}
