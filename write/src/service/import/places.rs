//! Which project each line of an import is about: by its slug, or by name, studio, year and city.

use std::collections::HashMap;

use event_log::{Namespace, StoreError};
use schemas::ids::{CommandId, StreamId};
use schemas::import::{Fault, Identity, unused_slug};
use schemas::slug::Slug;

use super::line::Line;
use super::named::{Named, hash};
use crate::service::CommandService;
use crate::service::past::Past;

/// Where a line goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// To the project of this stream.
    Held(StreamId),
    /// To a project that it makes, at this slug.
    New(Slug),
}

/// What the log has at the slugs of some lines and of the same identities, and what the lines before have taken.
pub(super) struct Places {
    holders: HashMap<String, StreamId>,
    pasts: HashMap<StreamId, Past>,
    identities: HashMap<StreamId, Identity>,
    /// The slug that each project has now, also of those whose past was taken.
    current: HashMap<StreamId, Slug>,
    /// The streams that may have the identity of a line, by the line's identity.
    alike: HashMap<Identity, Vec<StreamId>>,
    /// The slugs of projects that lines before make, with their identities, and the other way round.
    taken: HashMap<Slug, Identity>,
    made: HashMap<Identity, Slug>,
}

/// What a slug that was made for a line is to it.
enum Standing {
    /// The line's own project has it.
    Own(Place),
    Taken,
    Free,
}

impl CommandService {
    /// Looks up everything that tells where these lines go.
    pub(super) async fn places<'l>(
        &self,
        lines: impl Iterator<Item = &'l Line> + Clone,
    ) -> Result<Places, StoreError> {
        let slugs = lines.clone().flat_map(|line| &line.slugs);
        let mut slugs: Vec<String> = slugs.map(|slug| slug.as_str().to_owned()).collect();
        slugs.sort_unstable();
        slugs.dedup();
        let holders = self.store.holders(Namespace::SLUG, &slugs).await?;
        let mut alike: HashMap<Identity, Vec<StreamId>> = HashMap::new();
        if lines.clone().any(Line::is_identified) {
            let mut identities = self.identities.lock().await;
            identities.catch_up(&self.store).await?;
            for line in lines.filter(|line| line.is_identified()) {
                alike.insert(line.identity.clone(), identities.of(&line.identity).collect());
            }
        }
        let mut streams: Vec<StreamId> = holders.values().chain(alike.values().flatten()).cloned().collect();
        streams.sort_unstable();
        streams.dedup();
        let (mut pasts, mut identities, mut current) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (stream, events) in self.store.read_streams(&streams).await? {
            let past = Past::of(stream.clone(), events)?;
            if let Some(listing) = past.project().listing() {
                current.insert(stream.clone(), listing.slug.clone());
                if !alike.is_empty() {
                    identities.insert(stream.clone(), Identity::of(&listing.record));
                }
            }
            pasts.insert(stream, past);
        }
        let (taken, made) = Default::default();
        Ok(Places { holders, pasts, identities, current, alike, taken, made })
    }
}

impl Places {
    /// Returns where a line goes after all lines before it, or why it goes nowhere. `named` tells what lines of the same
    /// import, in other messages, have taken: a dry run leaves nothing else of them.
    pub(super) fn of(&mut self, line: &Line, import: CommandId, named: &Named) -> Result<Place, Vec<Fault>> {
        let place = if line.is_identified() {
            self.identified(line, import, named)?
        } else {
            match self.holders.get(line.record.slug.as_str()) {
                Some(stream) => Place::Held(stream.clone()),
                None => Place::New(line.record.slug.clone()),
            }
        };
        if let Place::New(slug) = &place {
            self.taken.entry(slug.clone()).or_insert_with(|| line.identity.clone());
            self.made.entry(line.identity.clone()).or_insert_with(|| slug.clone());
        }
        Ok(place)
    }

    fn identified(&self, line: &Line, import: CommandId, named: &Named) -> Result<Place, Vec<Fault>> {
        let mut free = None;
        for slug in &line.slugs {
            match self.standing(slug, line, import, named) {
                Standing::Own(place) => return Ok(place),
                Standing::Taken => {}
                Standing::Free => free = free.or(Some(slug)),
            }
        }
        if let Some(slug) = self.made.get(&line.identity) {
            return Ok(Place::New(slug.clone()));
        }
        let alike = self.alike.get(&line.identity).into_iter().flatten();
        let alike: Vec<&StreamId> = alike.filter(|stream| self.is_own(stream, line)).collect();
        match (&alike[..], free) {
            ([stream], _) => Ok(Place::Held((*stream).clone())),
            ([], Some(slug)) => Ok(Place::New(slug.clone())),
            ([], None) => Err(vec![slug_fault(taken(line))]),
            (several, _) => Err(vec![slug_fault(self.ambiguous(several))]),
        }
    }

    fn standing(&self, slug: &Slug, line: &Line, import: CommandId, named: &Named) -> Standing {
        if let Some(stream) = self.holders.get(slug.as_str()) {
            let own = self.is_own(stream, line);
            return if own { Standing::Own(Place::Held(stream.clone())) } else { Standing::Taken };
        }
        let own = match (self.taken.get(slug), named.first(import, slug.as_str())) {
            (Some(identity), _) => *identity == line.identity,
            (None, Some(first)) => first.identity == hash(&line.identity),
            (None, None) => return Standing::Free,
        };
        if own { Standing::Own(Place::New(slug.clone())) } else { Standing::Taken }
    }

    /// Whether a project is the line's: by what identifies it now, or because this very line wrote it before.
    fn is_own(&self, stream: &StreamId, line: &Line) -> bool {
        self.identities.get(stream) == Some(&line.identity)
            || self.pasts.get(stream).is_some_and(|past| past.before(line.command).is_some())
    }

    fn ambiguous(&self, several: &[&StreamId]) -> String {
        let mut slugs: Vec<&str> =
            several.iter().filter_map(|stream| Some(self.current.get(*stream)?.as_str())).collect();
        slugs.sort_unstable();
        let shown = slugs[..slugs.len().min(3)].join(", ");
        format!(
            "is absent, and {} projects have this name, studio, year and city ({shown}{}); give the slug of the one that is meant",
            slugs.len(),
            if slugs.len() > 3 { ", …" } else { "" }
        )
    }

    /// Returns the slug that a place's project has now or will have.
    pub(super) fn slug<'p>(&'p self, place: &'p Place) -> Option<&'p Slug> {
        match place {
            Place::New(slug) => Some(slug),
            Place::Held(stream) => self.current.get(stream),
        }
    }

    /// Takes what happened to the project of a stream.
    pub(super) fn take(&mut self, stream: &StreamId) -> Option<Past> {
        self.pasts.remove(stream)
    }
}

fn slug_fault(reason: String) -> Fault {
    Fault { field: "slug".into(), reason }
}

fn taken(line: &Line) -> String {
    let given = unused_slug(&line.record.record);
    let given = given.map_or_else(String::new, |slug| format!(", for example {slug}"));
    format!(
        "is absent, and every slug that can be made ({}) belongs to a project of another name, studio, year or city; give \
         a slug{given}, or an id",
        line.slugs.iter().map(Slug::as_str).collect::<Vec<_>>().join(", ")
    )
}
