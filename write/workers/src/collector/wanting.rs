//! Which pictures are still to be fetched: what the latest revision of each listed project names and that was not looked at yet.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::ProjectId;
use schemas::record::Record;
use schemas::versioned::Decoded;
use tokio::time::Instant;

use super::PictureSource;
use super::hosts::Hosts;
use super::wanted::{SCHEMES, Wanted};

/// How long a picture that did not come is left alone before each further try; after the last one it is given up.
const PAUSES: [Duration; 4] = [
    Duration::from_secs(60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
];

/// How the kinds of events begin that may name no picture and still matter.
const LISTINGS: [&str; 2] = ["loggia.curation.project_withdrawn.", "loggia.curation.project_restored."];

/// What came of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tried {
    /// The project still names it, and what it is stands in the log.
    Settled {
        /// Whether it is kept.
        kept: bool,
    },
    /// The project does not name it any more, or is not listed, so nothing was recorded.
    Unwanted,
    /// A later try may bring it.
    Later {
        /// Why it did not come.
        reason: String,
        /// Whether its host was silent for too long.
        silent: bool,
    },
}

/// What is known of a project that names, or named, pictures to be fetched.
#[derive(Debug, Default)]
struct Wish {
    withdrawn: bool,
    /// What the latest revision names.
    named: Vec<String>,
    /// What was looked at, and whether it is kept.
    looked_at: HashMap<String, bool>,
}

/// What is to be fetched.
#[derive(Debug, Default)]
pub(super) struct Wanting {
    /// What makes the pictures that are not fetched.
    source: Option<PictureSource>,
    wishes: HashMap<ProjectId, Wish>,
    /// How often each of those that wait or are under way was tried.
    tries: HashMap<Wanted, usize>,
    under_way: HashSet<Wanted>,
    hosts: Hosts,
    refused: usize,
}

impl Wanting {
    pub(super) fn new(source: Option<PictureSource>) -> Wanting {
        Wanting { source, ..Wanting::default() }
    }

    /// Takes in what an event says.
    pub(super) fn hear(&mut self, recorded: &Recorded) {
        let Some(project) = recorded.stream.as_project() else { return };
        // Many texts name none of either kind; reading every record would take longer than fetching.
        let text = recorded.data.get();
        let prefix = self.source.map(|source| source.prefix);
        let names = SCHEMES.into_iter().chain(prefix).any(|beginning| text.contains(beginning));
        let made = self.source.filter(|source| recorded.actor.as_str() == source.actor).and(prefix);
        let is_listing = LISTINGS.iter().any(|kind| recorded.kind.starts_with(kind));
        if !(names || is_listing || self.wishes.contains_key(&project)) {
            return;
        }
        let Ok(Decoded::Known(event)) = recorded.decode() else { return };
        match *event {
            Event::ProjectSelected(selected) => self.want(project, &selected.record, made),
            Event::ProjectRevised(revised) => self.want(project, &revised.record, made),
            Event::PictureAttached(attached) => self.settle(project, attached.source, true),
            Event::PictureRefused(refused) => self.settle(project, refused.source, false),
            Event::ProjectWithdrawn(_) => self.list(project, false),
            Event::ProjectRestored(_) => self.list(project, true),
            // What stands behind the source of an erased picture was looked at: it is not fetched again of itself.
            Event::PictureErased(_)
            | Event::ProjectRenamed(_)
            | Event::VectorsRecorded(_)
            | Event::Account(_) => {}
        }
    }

    /// How many pictures wait or are under way, and how many of those that are named were refused.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.tries.len(), self.refused)
    }

    /// Takes a revision as the whole wish of a project. `made` is what the sources of pictures begin with that are made
    /// from this record; other files are brought by the import. What was refused before is wanted again.
    fn want(&mut self, project: ProjectId, record: &Record, made: Option<&str>) {
        let is_wanted = |source: &&str| {
            let wanted = Wanted { project, source: (*source).to_owned() };
            wanted.address().is_some() || made.is_some_and(|prefix| source.starts_with(prefix))
        };
        let named: Vec<String> = record.picture_sources().filter(is_wanted).map(str::to_owned).collect();
        if named.is_empty() && !self.wishes.contains_key(&project) {
            return;
        }
        self.change(project, |wish| {
            wish.named = named;
            wish.looked_at.retain(|_, is_kept| *is_kept);
        });
    }

    /// Wants again what a project names and what was refused.
    pub(super) fn want_again(&mut self, project: ProjectId) {
        if self.wishes.contains_key(&project) {
            self.change(project, |wish| wish.looked_at.retain(|_, is_kept| *is_kept));
        }
    }

    fn settle(&mut self, project: ProjectId, source: String, is_kept: bool) {
        self.change(project, |wish| {
            wish.looked_at.insert(source, is_kept);
        });
    }

    fn list(&mut self, project: ProjectId, listed: bool) {
        self.change(project, |wish| wish.withdrawn = !listed);
    }

    /// Changes what is known of a project, and what waits with it.
    fn change(&mut self, project: ProjectId, change: impl FnOnce(&mut Wish)) {
        let wish = self.wishes.entry(project).or_default();
        let former = wish.wanted();
        self.refused -= wish.refused();
        change(wish);
        self.refused += wish.refused();
        let now = wish.wanted();
        for source in former.into_iter().filter(|source| !now.contains(source)) {
            let wanted = Wanted { project, source };
            if !self.under_way.contains(&wanted) {
                // The queue of its host leaves it out when its turn comes.
                self.tries.remove(&wanted);
            }
        }
        now.into_iter().for_each(|source| self.queue(Wanted { project, source }));
    }

    fn queue(&mut self, wanted: Wanted) {
        if !self.tries.contains_key(&wanted) {
            self.tries.insert(wanted.clone(), 0);
            self.hosts.push(wanted);
        }
    }

    /// The next to be fetched.
    pub(super) fn next(&mut self, now: Instant) -> Option<Wanted> {
        let (tries, under_way) = (&self.tries, &self.under_way);
        let waits = |wanted: &Wanted| tries.contains_key(wanted) && !under_way.contains(wanted);
        let wanted = self.hosts.next(now, waits)?;
        self.under_way.insert(wanted.clone());
        Some(wanted)
    }

    /// When the first of those that were put off, or the first host that rests, is due.
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.hosts.earliest()
    }

    /// Takes in what came of a try; gives the reason to record where there is no further one.
    pub(super) fn tried(&mut self, wanted: &Wanted, tried: Tried, now: Instant) -> Option<String> {
        let silent = matches!(tried, Tried::Later { silent: true, .. });
        self.under_way.remove(wanted);
        self.hosts.ended(wanted, silent, now);
        match tried {
            Tried::Settled { kept } => self.note(wanted, kept),
            Tried::Unwanted => {
                self.tries.remove(wanted);
                // It may have been named again while it was under way.
                if self.is_wanted(wanted) {
                    self.queue(wanted.clone());
                }
            }
            Tried::Later { reason, .. } => return self.put_off(wanted, &reason, now),
        }
        None
    }

    fn put_off(&mut self, wanted: &Wanted, reason: &str, now: Instant) -> Option<String> {
        if !self.is_wanted(wanted) {
            self.tries.remove(wanted);
            return None;
        }
        let tries = self.tries.get_mut(wanted)?;
        *tries += 1;
        match PAUSES.get(*tries - 1) {
            Some(pause) => {
                self.hosts.put_off(wanted.clone(), now + *pause);
                None
            }
            None => {
                self.note(wanted, false);
                Some(format!("It could not be fetched in {} tries: {reason}", PAUSES.len() + 1))
            }
        }
    }

    /// Notes what is about to be heard from the log.
    fn note(&mut self, wanted: &Wanted, kept: bool) {
        self.tries.remove(wanted);
        self.change(wanted.project, |wish| {
            wish.looked_at.entry(wanted.source.clone()).or_insert(kept);
        });
    }

    fn is_wanted(&self, wanted: &Wanted) -> bool {
        self.wishes.get(&wanted.project).is_some_and(|wish| wish.wanted().contains(&wanted.source))
    }
}

impl Wish {
    /// What is to be looked at, in the order of the record.
    fn wanted(&self) -> Vec<String> {
        if self.withdrawn {
            return Vec::new();
        }
        self.named.iter().filter(|source| !self.looked_at.contains_key(*source)).cloned().collect()
    }

    /// How many of those that are named were refused.
    fn refused(&self) -> usize {
        if self.withdrawn {
            return 0;
        }
        self.named.iter().filter(|source| self.looked_at.get(*source) == Some(&false)).count()
    }
}

#[cfg(test)]
mod tests;
