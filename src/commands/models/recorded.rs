//! Counts the vectors of listed projects by the encoder that made them, from the event log.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Position, StreamId};
use schemas::versioned::Decoded;
use serde::Serialize;

use crate::config::Config;
use crate::store;

/// The number of events that are read at once.
const PAGE: usize = 500;

// The beginnings of the types of all versions of an event.
const VECTORS: &str = "loggia.curation.vectors_recorded.";
const SELECTED: &str = "loggia.curation.project_selected.";
const RESTORED: &str = "loggia.curation.project_restored.";
const WITHDRAWN: &str = "loggia.curation.project_withdrawn.";

/// The vectors of one encoder.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct RecordedVectors {
    /// Its name; for vectors that came with an import, their model.
    pub(super) encoder: String,
    pub(super) visual: u64,
    pub(super) semantic: u64,
}

/// A project and the encoders of its vectors.
#[derive(Debug, Default)]
struct Project {
    is_listed: bool,
    visual: Option<String>,
    semantic: Option<String>,
}

#[derive(Debug, Default)]
struct Projects(HashMap<StreamId, Project>);

/// Returns the newest vectors of all listed projects, by encoder; `None` if the log is not in this data folder.
pub(super) async fn vectors(config: &Config) -> Result<Option<Vec<RecordedVectors>>> {
    if store::is_here(config) && !store::has_log(config) {
        return Ok(None);
    }
    let (store, mut after) = (store::open_read_only(config).await?, Position::START);
    let mut projects = Projects::default();
    loop {
        let page = store.read_all(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.position;
        page.iter().try_for_each(|event| projects.apply(event))?;
    }
    store.close().await;
    Ok(Some(projects.by_encoder()))
}

impl Projects {
    fn apply(&mut self, recorded: &Recorded) -> Result<()> {
        let kind = recorded.kind.as_str();
        let is_listed = kind.starts_with(SELECTED) || kind.starts_with(RESTORED);
        if is_listed || kind.starts_with(WITHDRAWN) {
            self.0.entry(recorded.stream.clone()).or_default().is_listed = is_listed;
        } else if kind.starts_with(VECTORS)
            && let Decoded::Known(event) = recorded.decode()?
            && let Event::VectorsRecorded(vectors) = *event
        {
            let project = self.0.entry(recorded.stream.clone()).or_default();
            project.visual = vectors.visual().map(|(model, _)| model.to_owned());
            project.semantic = vectors.semantic().map(|(model, _)| model.to_owned());
        }
        Ok(())
    }

    /// Returns the counts, by the name of the encoder.
    fn by_encoder(self) -> Vec<RecordedVectors> {
        let mut counts = BTreeMap::<String, (u64, u64)>::new();
        for project in self.0.into_values().filter(|project| project.is_listed) {
            if let Some(encoder) = project.visual {
                counts.entry(encoder).or_default().0 += 1;
            }
            if let Some(encoder) = project.semantic {
                counts.entry(encoder).or_default().1 += 1;
            }
        }
        let row = |(encoder, (visual, semantic))| RecordedVectors { encoder, visual, semantic };
        counts.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests;
