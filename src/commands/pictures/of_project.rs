//! Every picture that one project ever showed, withdrawn or not, in any revision.

use anyhow::{Result, bail};
use schemas::event::Event;
use schemas::picture::PictureId;
use schemas::slug::Slug;
use schemas::versioned::Decoded;
use schemas::web_address::without_login;
use write::project::Project;

use super::{Row, rows};
use crate::config::Config;
use crate::store;

/// Returns the pictures that the record names, and after them those that only former revisions show.
pub(super) async fn of_project(config: &Config, slug: &Slug) -> Result<Vec<Row>> {
    let Some(recorded) = store::history(config, slug).await? else {
        bail!(
            "no project has or ever had the slug {slug}; `loggia pictures list` shows those that have pictures"
        );
    };
    let mut events = Vec::with_capacity(recorded.len());
    for recorded in &recorded {
        if let Decoded::Known(event) = recorded.decode()? {
            events.push(*event);
        }
    }
    Ok(all(&events))
}

fn all(events: &[Event]) -> Vec<Row> {
    let project = Project::replay(events);
    let Some(listing) = project.listing() else { return Vec::new() };
    let mut all: Vec<Row> = rows(listing).collect();
    for event in events {
        if let Event::PictureAttached(attached) = event
            && let source = without_login(&attached.source)
            && !all.iter().any(|row| row.source == source && row.picture == Some(attached.picture.id))
        {
            let picture = attached.picture.id;
            let state = if is_erased(events, picture) { "erased" } else { "former" };
            let (slug, source) = (listing.slug.to_string(), source.into_owned());
            all.push(Row { state, slug, source, picture: Some(picture), reason: None });
        }
    }
    all
}

/// Returns whether the newest event about a picture is its erasure.
fn is_erased(events: &[Event], picture: PictureId) -> bool {
    let newest = events.iter().rev().find_map(|event| match event {
        Event::PictureAttached(attached) => (attached.picture.id == picture).then_some(false),
        Event::PictureErased(erased) => (erased.picture == picture).then_some(true),
        _ => None,
    });
    newest.unwrap_or(false)
}

#[cfg(test)]
mod tests;
