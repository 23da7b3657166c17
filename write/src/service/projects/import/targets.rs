//! The project of each line of an import: by slug, by external id, or by name, studio, year and city.

mod by_id;

use std::collections::HashMap;

use event_log::{Namespace, StoreError};
use schemas::external_id::ExternalId;
use schemas::ids::{CommandId, StreamId};
use schemas::import::{Fault, Identity, unused_slug};
use schemas::slug::Slug;

use super::first_lines::{FirstLines, hash};
use super::line::Line;
use crate::project;
use crate::service::projects::{ProjectHistory, ProjectService};

/// The project of a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LineTarget {
    Existing(StreamId),
    New(Slug),
}

/// What the log has at the slugs and identities of some lines, and what earlier lines have claimed.
pub(super) struct LineTargets {
    owners: HashMap<String, StreamId>,
    /// The projects that claimed the id of a line, by the claimed name.
    id_owners: HashMap<String, StreamId>,
    histories: HashMap<StreamId, ProjectHistory>,
    identities: HashMap<StreamId, Identity>,
    /// The current slug of each project; stays when the history is taken.
    current: HashMap<StreamId, Slug>,
    /// The external ids of each project that has some in the log.
    ids: HashMap<StreamId, Vec<ExternalId>>,
    /// The names of the projects whose ids have no source.
    names: HashMap<StreamId, String>,
    /// The ids in earlier lines for projects that have none in the log.
    said: HashMap<StreamId, ExternalId>,
    /// The projects of earlier lines, by their ids.
    of_ids: HashMap<ExternalId, LineTarget>,
    /// The streams that may have the identity of a line.
    candidates: HashMap<Identity, Vec<StreamId>>,
    /// The slugs of projects that earlier lines create, with what identifies them, and the reverse.
    claimed: HashMap<Slug, Claim>,
    created: HashMap<Identity, Slug>,
}

/// What identifies a project that an earlier line creates.
struct Claim {
    identity: Identity,
    id: Option<ExternalId>,
}

/// The owner of a slug that was derived for a line.
enum SlugOwner {
    /// The line's own project.
    Own(LineTarget),
    Other,
    None,
}

impl ProjectService {
    /// Looks up everything that decides the targets of these lines.
    pub(super) async fn line_targets<'l>(
        &self,
        lines: impl Iterator<Item = &'l Line> + Clone,
    ) -> Result<LineTargets, StoreError> {
        let log = &self.writer.log;
        let slugs = lines.clone().flat_map(Line::all_slugs);
        let mut slugs: Vec<String> = slugs.map(|slug| slug.as_str().to_owned()).collect();
        slugs.sort_unstable();
        slugs.dedup();
        let owners = log.holders(Namespace::SLUG, &slugs).await?;
        let names: Vec<String> = lines.clone().filter_map(Line::id).map(ExternalId::claimed_name).collect();
        let id_owners =
            if names.is_empty() { HashMap::new() } else { log.holders(Namespace::ID, &names).await? };
        let mut candidates: HashMap<Identity, Vec<StreamId>> = HashMap::new();
        if lines.clone().any(Line::is_identified_by_name) {
            let mut identities = self.identities.lock().await;
            identities.catch_up(log).await?;
            for line in lines.filter(|line| line.is_identified_by_name()) {
                candidates.insert(line.identity.clone(), identities.find(&line.identity).collect());
            }
        }
        let mut streams: Vec<StreamId> =
            owners.values().chain(id_owners.values()).chain(candidates.values().flatten()).cloned().collect();
        streams.sort_unstable();
        streams.dedup();
        let (mut histories, mut identities, mut current) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (mut ids, mut names) = (HashMap::new(), HashMap::new());
        for (stream, events) in log.read_streams(&streams).await? {
            let history = ProjectHistory::of(stream.clone(), events)?;
            if let Some(listing) = history.project().listing() {
                current.insert(stream.clone(), listing.slug.clone());
                if let Some(id) = listing.id() {
                    ids.insert(stream.clone(), listing.ids.clone());
                    let name = || (stream.clone(), listing.record.name.clone());
                    names.extend(id.source.is_none().then(name));
                }
                if !candidates.is_empty() {
                    identities.insert(stream.clone(), Identity::of(&listing.record));
                }
            }
            histories.insert(stream, history);
        }
        let (said, of_ids, claimed, created) = Default::default();
        Ok(LineTargets {
            owners,
            id_owners,
            histories,
            identities,
            current,
            ids,
            names,
            said,
            of_ids,
            candidates,
            claimed,
            created,
        })
    }
}

impl LineTargets {
    /// Returns the target of a line that follows all earlier ones, or why it has none. `first_lines` has what lines in other
    /// messages of the same import have claimed: a dry run leaves no other trace of them.
    pub(super) fn resolve(
        &mut self,
        line: &Line,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> Result<LineTarget, Vec<Fault>> {
        let target = if line.is_identified_by_name() {
            self.resolve_by_name(line, import, first_lines)?
        } else if let Some(id) = line.id() {
            match line.given_slug() {
                None => self.resolve_by_id(line, id, import, first_lines)?,
                Some(slug) => self.resolve_by_slug_and_id(line, slug, id, import, first_lines)?,
            }
        } else {
            match self.owners.get(line.record.slug.as_str()) {
                Some(stream) => LineTarget::Existing(stream.clone()),
                None => LineTarget::New(line.record.slug.clone()),
            }
        };
        let id = line.id().cloned();
        if let Some(id) = id.as_ref().filter(|id| self.may_have(&target, id)) {
            self.of_ids.entry(id.clone()).or_insert_with(|| target.clone());
        }
        match (&target, id) {
            (LineTarget::New(slug), id) => {
                let claim = || Claim { identity: line.identity.clone(), id };
                self.claimed.entry(slug.clone()).or_insert_with(claim);
                self.created.entry(line.identity.clone()).or_insert_with(|| slug.clone());
            }
            (LineTarget::Existing(stream), Some(id)) if !self.ids.contains_key(stream) => {
                self.said.entry(stream.clone()).or_insert(id);
            }
            (LineTarget::Existing(_), _) => {}
        }
        Ok(target)
    }

    /// Returns whether the project of a target has the id or may get it; if not, the line is rejected.
    fn may_have(&self, target: &LineTarget, id: &ExternalId) -> bool {
        match target {
            LineTarget::New(_) => true,
            LineTarget::Existing(stream) => {
                let known = self.ids.get(stream).map_or(&[][..], Vec::as_slice);
                project::match_ids(known, id) != project::IdMatch::Other
            }
        }
    }

    fn resolve_by_name(
        &self,
        line: &Line,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> Result<LineTarget, Vec<Fault>> {
        let mut free = None;
        for slug in &line.slugs {
            match self.owner(slug, line, import, first_lines) {
                SlugOwner::Own(target) => return Ok(target),
                SlugOwner::Other => {}
                SlugOwner::None => free = free.or(Some(slug)),
            }
        }
        if let Some(slug) = self.created.get(&line.identity) {
            return Ok(LineTarget::New(slug.clone()));
        }
        let candidates = self.candidates.get(&line.identity).into_iter().flatten();
        let same: Vec<&StreamId> = candidates.filter(|stream| self.is_own(stream, line)).collect();
        match (&same[..], free) {
            ([stream], _) => Ok(LineTarget::Existing((*stream).clone())),
            ([], Some(slug)) => Ok(LineTarget::New(slug.clone())),
            ([], None) => Err(vec![slug_fault(all_taken(line))]),
            (several, _) => Err(vec![slug_fault(self.ambiguous(several))]),
        }
    }

    fn owner(&self, slug: &Slug, line: &Line, import: CommandId, first_lines: &FirstLines) -> SlugOwner {
        if let Some(stream) = self.owners.get(slug.as_str()) {
            let own = self.is_own(stream, line);
            return if own { SlugOwner::Own(LineTarget::Existing(stream.clone())) } else { SlugOwner::Other };
        }
        let own = match (self.claimed.get(slug), first_lines.get(import, slug.as_str())) {
            (Some(claim), _) => claim.identity == line.identity,
            (None, Some(first)) => first.identity == hash(&line.identity),
            (None, None) => return SlugOwner::None,
        };
        if own { SlugOwner::Own(LineTarget::New(slug.clone())) } else { SlugOwner::Other }
    }

    /// Returns whether a project is that of the line: it has the same identity now, or this very line changed it before.
    fn is_own(&self, stream: &StreamId, line: &Line) -> bool {
        self.identities.get(stream) == Some(&line.identity)
            || self.histories.get(stream).is_some_and(|history| history.before(line.command).is_some())
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

    /// Returns the slug that the project of a target has now or gets.
    pub(super) fn slug<'t>(&'t self, target: &'t LineTarget) -> Option<&'t Slug> {
        match target {
            LineTarget::New(slug) => Some(slug),
            LineTarget::Existing(stream) => self.current.get(stream),
        }
    }

    pub(super) fn take_history(&mut self, stream: &StreamId) -> Option<ProjectHistory> {
        self.histories.remove(stream)
    }
}

fn slug_fault(reason: String) -> Fault {
    Fault { field: "slug".into(), reason }
}

fn all_taken(line: &Line) -> String {
    let unused = unused_slug(&line.record.record);
    let example = unused.map_or_else(String::new, |slug| format!(", for example {slug}"));
    format!(
        "is absent, and every slug that can be made ({}) belongs to a project of another name, studio, year or city; give \
         a slug{example}, or an id",
        line.slugs.iter().map(Slug::as_str).collect::<Vec<_>>().join(", ")
    )
}
