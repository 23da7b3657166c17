//! What the whole log says of the projects: those that are listed, and the pictures that it names.

use std::collections::{BTreeSet, HashMap};

use event_log::{EventLog, StoreError};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Position, StreamId};
use schemas::picture::PictureId;
use schemas::versioned::Decoded;

use crate::project::{Listing, Project};

/// The number of events that are read at once.
const PAGE: usize = 500;

/// The beginning of the types of events with vectors, which are long and have no pictures.
const VECTORS: &str = "loggia.curation.vectors_recorded.";

/// The beginnings of the types of events that name a picture, in every version.
const PICTURE_EVENTS: [&str; 2] = ["loggia.curation.picture_attached.", "loggia.curation.picture_erased."];

/// Returns every listed project of the log, in the order of the slugs. Events of a newer version are passed over.
///
/// # Errors
///
/// Fails if the log cannot be read.
pub async fn listed_projects(log: &EventLog) -> Result<Vec<Listing>, StoreError> {
    let mut projects = HashMap::<StreamId, Project>::new();
    let has_state =
        |event: &Recorded| event.stream.as_project().is_some() && !event.kind.starts_with(VECTORS);
    each(log, has_state, |stream, event| {
        let project = projects.entry(stream.clone()).or_default();
        *project = std::mem::take(project).evolve(&event);
    })
    .await?;
    let listing = |project| match project {
        Project::Listed(listing) => Some(listing),
        Project::Absent | Project::Withdrawn { .. } => None,
    };
    let mut listed: Vec<Listing> = projects.into_values().filter_map(listing).collect();
    listed.sort_by(|a, b| a.slug.cmp(&b.slug));
    Ok(listed)
}

/// Returns the pictures that the log names, without those that it says are erased.
///
/// # Errors
///
/// Fails if the log cannot be read.
pub async fn named_pictures(log: &EventLog) -> Result<BTreeSet<PictureId>, StoreError> {
    let (mut named, mut erased) = (BTreeSet::new(), BTreeSet::new());
    let is_of_picture = |event: &Recorded| PICTURE_EVENTS.iter().any(|kind| event.kind.starts_with(kind));
    each(log, is_of_picture, |_, event| match event {
        Event::PictureAttached(attached) => drop(named.insert(attached.picture.id)),
        Event::PictureErased(event) => drop(erased.insert(event.picture)),
        _ => {}
    })
    .await?;
    Ok(&named - &erased)
}

/// Calls `found` with each event of the log that is wanted and that this version knows.
async fn each(
    log: &EventLog,
    is_wanted: impl Fn(&Recorded) -> bool,
    mut found: impl FnMut(&StreamId, Event),
) -> Result<(), StoreError> {
    let mut after = Position::START;
    loop {
        let page = log.read_all(after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.position;
        for recorded in page.iter().filter(|recorded| is_wanted(recorded)) {
            let decoded = recorded.decode().map_err(|error| StoreError::corrupt(error.to_string()))?;
            if let Decoded::Known(event) = decoded {
                found(&recorded.stream, *event);
            }
        }
    }
}

#[cfg(test)]
mod tests;
