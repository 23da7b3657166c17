//! Which pictures of a project are being fetched or drawn, as the log says it.

use std::collections::{BTreeMap, BTreeSet};

use schemas::ids::Actor;
use schemas::picture::{Picture, PictureId, is_fetched_or_drawn};
use schemas::record::Record;
use serde::{Deserialize, Serialize};

/// The sources in the present record that the service fetches or draws and that have no outcome yet: the picture fetcher has them in
/// its queue. A revision names refused sources again, so they are tried again; stored and erased pictures are not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedPictures {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    sources: BTreeSet<String>,
    /// The sources whose pictures were erased, which are not fetched again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    erased: BTreeSet<String>,
}

impl AwaitedPictures {
    /// Returns the awaited sources.
    pub fn sources(&self) -> &BTreeSet<String> {
        &self.sources
    }

    /// Returns whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.erased.is_empty()
    }

    /// Takes the sources of a record by this actor; `stored` are the stored pictures of the project.
    pub(super) fn set_record(&mut self, record: &Record, actor: &Actor, stored: &BTreeMap<String, Picture>) {
        let is_awaited = |source: &&str| {
            is_fetched_or_drawn(source, actor)
                && !stored.contains_key(*source)
                && !self.erased.contains(*source)
        };
        self.sources = record.picture_sources().filter(is_awaited).map(str::to_owned).collect();
    }

    /// Removes a source whose picture is stored or refused.
    pub(super) fn settle(&mut self, source: &str) {
        self.sources.remove(source);
    }

    /// Remembers the sources of a picture that is erased; `stored` are the stored pictures before that.
    pub(super) fn erase(&mut self, picture: PictureId, stored: &BTreeMap<String, Picture>) {
        let sources = stored.iter().filter(|(_, stored)| stored.id == picture);
        self.erased.extend(sources.map(|(source, _)| source.clone()));
    }
}
