//! The projects that were imported from one source.

use std::collections::HashMap;

use event_log::{EventLog, Namespace, StoreError};
use schemas::external_id::{ExternalId, SourceName};
use schemas::slug::Slug;

use super::history::ProjectHistory;
use crate::project::Project;

const PAGE: usize = 200;

/// A listed project with an id of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceProject {
    /// Its current id in the source.
    pub id: String,
    /// Its current slug.
    pub slug: Slug,
    /// Its current name.
    pub name: String,
}

/// Returns how many listed projects have a current id of the source, and those of them whose id is wanted, in the order of the bytes of
/// the ids. Withdrawn projects are left out. Only the wanted ones are held in memory: a source may have millions.
///
/// # Errors
///
/// Fails if the log cannot be read, or has events of a newer version.
pub async fn projects_of_source(
    log: &EventLog,
    source: &SourceName,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<(usize, Vec<SourceProject>), StoreError> {
    let prefix = ExternalId::prefix(Some(source));
    let (mut listed, mut projects, mut after) = (0, Vec::new(), prefix.clone());
    loop {
        let mut claims = log.claims(Namespace::ID, &after, PAGE).await?;
        claims.retain(|(name, _)| name.starts_with(&prefix));
        let Some((last, _)) = claims.last() else { return Ok((listed, projects)) };
        after.clone_from(last);
        let streams: Vec<_> = claims.iter().map(|(_, stream)| stream.clone()).collect();
        let mut histories = HashMap::new();
        for (stream, events) in log.read_streams(&streams).await? {
            histories.insert(stream.clone(), ProjectHistory::of(stream, events)?);
        }
        for (name, stream) in claims {
            if let Some(Project::Listed(listing)) = histories.get(&stream).map(ProjectHistory::project)
                && let Some(id) = listing.id().filter(|id| id.claimed_name() == name)
            {
                listed += 1;
                if is_wanted(&id.id) {
                    let (id, slug, name) = (id.id.clone(), listing.slug.clone(), listing.record.name.clone());
                    projects.push(SourceProject { id, slug, name });
                }
            }
        }
    }
}
