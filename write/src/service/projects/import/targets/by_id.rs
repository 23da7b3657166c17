//! The project of a line with an external id. An id is an exact string, unique in its source: where another id has the slug that it
//! makes, its project gets the slug with the source or with a checksum of the id.

use schemas::external_id::ExternalId;
use schemas::ids::CommandId;
use schemas::import::{Fault, is_same_name};
use schemas::slug::Slug;

use super::super::first_lines::{FirstLines, IdMatch};
use super::super::line::Line;
use super::{LineTarget, LineTargets, slug_fault};
use crate::project;
use crate::service::projects::ProjectHistory;

/// The owner of a slug that was derived from the id of a line.
enum IdOwner {
    /// The project with this very id.
    Same(LineTarget),
    /// A project of which no id is known: one of an older log, or one that a line without an id created. Or one that was imported
    /// under this id and name before the id had a source.
    Unknown(LineTarget),
    /// A project with another id; what to call it.
    Other(String),
    None,
}

impl LineTargets {
    pub(super) fn resolve_by_id(
        &self,
        line: &Line,
        id: &ExternalId,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> Result<LineTarget, Vec<Fault>> {
        if let Some(target) = self.known_by_id(line, id, import, first_lines) {
            return Ok(target);
        }
        let owner = |slug| self.owner_by_id(slug, line, id, import, first_lines);
        let owners: Vec<IdOwner> = line.slugs.iter().map(owner).collect();
        let former = line.slugs_without_source.iter().map(owner);
        // The later slug first: no other id makes it.
        let unknown = owners.iter().rev().find_map(|owner| match owner {
            IdOwner::Unknown(target) => Some(target.clone()),
            _ => None,
        });
        let unknown = unknown.or_else(|| {
            former.into_iter().find_map(|owner| match owner {
                IdOwner::Unknown(target) => Some(target),
                _ => None,
            })
        });
        let mut slugs = line.slugs.iter().zip(&owners);
        let free = slugs.find_map(|(slug, owner)| matches!(owner, IdOwner::None).then(|| slug.clone()));
        unknown.or(free.map(LineTarget::New)).ok_or_else(|| vec![taken(id, &line.slugs, &owners)])
    }

    /// Returns the target of a line that names both. An existing project keeps its slug; the project at the slug gets the id if it
    /// has none.
    pub(super) fn resolve_by_slug_and_id(
        &self,
        line: &Line,
        slug: &Slug,
        id: &ExternalId,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> Result<LineTarget, Vec<Fault>> {
        let at_slug = match (self.owners.get(slug.as_str()), self.claimed.get(slug)) {
            (Some(stream), _) => Some(LineTarget::Existing(stream.clone())),
            (None, Some(_)) => Some(LineTarget::New(slug.clone())),
            (None, None) => None,
        };
        match (self.known_by_id(line, id, import, first_lines), at_slug) {
            (Some(of_id), Some(at_slug)) if of_id != at_slug => {
                let current = self.slug(&of_id).map_or_else(String::new, |slug| format!(" “{slug}”"));
                Err(vec![slug_fault(format!(
                    "is “{slug}”, and the id {id} belongs to another project{current}; leave out the slug or the id"
                ))])
            }
            (Some(target), _) | (None, Some(target)) => Ok(target),
            (None, None) => Ok(LineTarget::New(slug.clone())),
        }
    }

    /// Returns the project that has or had this very id, or that an earlier line gives it.
    fn known_by_id(
        &self,
        line: &Line,
        id: &ExternalId,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> Option<LineTarget> {
        if let Some(target) = self.of_ids.get(id) {
            return Some(target.clone());
        }
        if let Some(stream) = self.id_owners.get(&id.claimed_name()) {
            return Some(LineTarget::Existing(stream.clone()));
        }
        line.slugs.iter().find_map(|slug| match self.owner_by_id(slug, line, id, import, first_lines) {
            IdOwner::Same(target) => Some(target),
            IdOwner::Unknown(_) | IdOwner::Other(_) | IdOwner::None => None,
        })
    }

    fn owner_by_id(
        &self,
        slug: &Slug,
        line: &Line,
        id: &ExternalId,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> IdOwner {
        let Some(stream) = self.owners.get(slug.as_str()) else {
            let target = LineTarget::New(slug.clone());
            return match (self.claimed.get(slug), first_lines.get(import, slug.as_str())) {
                (Some(claim), _) => by_said_id(claim.id.as_ref(), id, target),
                (None, Some(first)) => match first.compare_id(id) {
                    IdMatch::Same => IdOwner::Same(target),
                    IdMatch::Unknown => IdOwner::Unknown(target),
                    IdMatch::Other => IdOwner::Other(format!("that of line {}", first.number)),
                },
                (None, None) => IdOwner::None,
            };
        };
        let target = LineTarget::Existing(stream.clone());
        let ran_before = |history: &ProjectHistory| history.before(line.command).is_some();
        if self.histories.get(stream).is_some_and(ran_before) {
            return IdOwner::Same(target);
        }
        if let Some(known) = self.ids.get(stream) {
            let has_name = || self.names.get(stream).zip(line.name());
            return match project::match_ids(known, id) {
                project::IdMatch::Same => IdOwner::Same(target),
                project::IdMatch::WithoutSource
                    if has_name().is_some_and(|(known, name)| is_same_name(known, name)) =>
                {
                    IdOwner::Unknown(target)
                }
                project::IdMatch::WithoutSource | project::IdMatch::Unknown | project::IdMatch::Other => {
                    known.last().map_or(IdOwner::None, other)
                }
            };
        }
        // Of a project without an id, an earlier line of this import may have said the id.
        let said = self.said.get(stream);
        let first = self.current.get(stream).and_then(|slug| first_lines.get(import, slug.as_str()));
        let earlier = first.filter(|first| first.number != line.number);
        match (said, earlier) {
            (None, Some(first)) if first.compare_id(id) == IdMatch::Other => {
                IdOwner::Other(format!("that of line {}", first.number))
            }
            _ => by_said_id(said, id, target),
        }
    }
}

fn by_said_id(said: Option<&ExternalId>, id: &ExternalId, target: LineTarget) -> IdOwner {
    match said {
        None => IdOwner::Unknown(target),
        Some(said) if said == id => IdOwner::Same(target),
        Some(said) => other(said),
    }
}

fn other(known: &ExternalId) -> IdOwner {
    IdOwner::Other(format!("the one with the id {known}"))
}

/// Names both ids, or all: one for each slug.
fn taken(id: &ExternalId, slugs: &[Slug], owners: &[IdOwner]) -> Fault {
    let each: Vec<String> = slugs
        .iter()
        .zip(owners)
        .filter_map(|(slug, owner)| match owner {
            IdOwner::Other(other) => Some(format!("{slug} to {other}")),
            _ => None,
        })
        .collect();
    let reason = format!(
        "is {id}, and the slugs that it makes belong to other projects ({}); give a slug instead",
        each.join(", ")
    );
    Fault { field: "id".into(), reason }
}
