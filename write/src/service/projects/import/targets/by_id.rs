//! The project of a line with an external id. An id is an exact string: where another id has the slug that it makes, its project
//! gets the slug with a checksum of the id.

use schemas::ids::CommandId;
use schemas::import::Fault;
use schemas::slug::Slug;

use super::super::first_lines::{FirstLines, IdMatch};
use super::super::line::Line;
use super::{LineTarget, LineTargets};
use crate::service::projects::ProjectHistory;

/// The owner of a slug that was derived from the id of a line.
enum IdOwner {
    /// The project with this very id.
    Same(LineTarget),
    /// A project of which no id is known: one of an older log, or one that a line without an id created.
    Unknown(LineTarget),
    /// A project with another id; what to call it.
    Other(String),
    None,
}

impl LineTargets {
    pub(super) fn resolve_by_id(
        &self,
        line: &Line,
        id: &str,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> Result<LineTarget, Vec<Fault>> {
        let owner = |slug| self.owner_by_id(slug, line, id, import, first_lines);
        let owners: Vec<IdOwner> = line.slugs.iter().map(owner).collect();
        let same = owners.iter().find_map(|owner| match owner {
            IdOwner::Same(target) => Some(target.clone()),
            _ => None,
        });
        // The later slug first: no other id makes it.
        let unknown = owners.iter().rev().find_map(|owner| match owner {
            IdOwner::Unknown(target) => Some(target.clone()),
            _ => None,
        });
        let mut slugs = line.slugs.iter().zip(&owners);
        let free = slugs.find_map(|(slug, owner)| matches!(owner, IdOwner::None).then(|| slug.clone()));
        same.or(unknown).or(free.map(LineTarget::New)).ok_or_else(|| vec![taken(id, &line.slugs, &owners)])
    }

    fn owner_by_id(
        &self,
        slug: &Slug,
        line: &Line,
        id: &str,
        import: CommandId,
        first_lines: &FirstLines,
    ) -> IdOwner {
        let Some(stream) = self.owners.get(slug.as_str()) else {
            let target = LineTarget::New(slug.clone());
            return match (self.claimed.get(slug), first_lines.get(import, slug.as_str())) {
                (Some(claim), _) => by_known_id(claim.id.as_deref(), id, target),
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
        // Of a project without an id, an earlier line of this import may have said the id.
        let known = self.ids.get(stream).or_else(|| self.said.get(stream)).map(String::as_str);
        let first = self.current.get(stream).and_then(|slug| first_lines.get(import, slug.as_str()));
        let earlier = first.filter(|first| first.number != line.number);
        match (known, earlier) {
            (None, Some(first)) if first.compare_id(id) == IdMatch::Other => {
                IdOwner::Other(format!("that of line {}", first.number))
            }
            _ => by_known_id(known, id, target),
        }
    }
}

fn by_known_id(known: Option<&str>, id: &str, target: LineTarget) -> IdOwner {
    match known {
        None => IdOwner::Unknown(target),
        Some(known) if known == id => IdOwner::Same(target),
        Some(known) => IdOwner::Other(format!("the one with the id “{known}”")),
    }
}

/// Names both ids, or all: one for each slug.
fn taken(id: &str, slugs: &[Slug], owners: &[IdOwner]) -> Fault {
    let each: Vec<String> = slugs
        .iter()
        .zip(owners)
        .filter_map(|(slug, owner)| match owner {
            IdOwner::Other(other) => Some(format!("{slug} to {other}")),
            _ => None,
        })
        .collect();
    let reason = format!(
        "is “{id}”, and the slugs that it makes belong to other projects ({}); give a slug instead",
        each.join(", ")
    );
    Fault { field: "id".into(), reason }
}
