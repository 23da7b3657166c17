//! The revisions of a project, without their content.

use jiff::Timestamp;

use crate::ids::Revision;

/// A project with all its revisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    project: String,
    /// The present slug.
    pub slug: String,
    /// The withdrawal, if the project is withdrawn.
    pub withdrawn: Option<Withdrawal>,
    /// All revisions, the first one first.
    revisions: Vec<RecordedRevision>,
}

/// The withdrawal of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// The reason, for readers.
    pub reason: String,
    /// The time.
    pub at: Timestamp,
}

/// A revision without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRevision {
    /// The number of the revision.
    pub revision: Revision,
    /// The slug when it was recorded.
    pub slug: String,
    /// The time at which it was recorded.
    pub at: Timestamp,
}

impl History {
    /// Creates the history of the project with this id from its revisions, the first one first; `None` without any.
    pub fn new(
        project: String,
        slug: String,
        withdrawn: Option<Withdrawal>,
        revisions: Vec<RecordedRevision>,
    ) -> Option<History> {
        (!revisions.is_empty()).then_some(History { project, slug, withdrawn, revisions })
    }

    /// Returns the id of the project.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Returns all revisions, the first one first. There is at least one.
    pub fn revisions(&self) -> &[RecordedRevision] {
        &self.revisions
    }

    /// Returns a revision by its number.
    pub fn find(&self, revision: Revision) -> Option<&RecordedRevision> {
        self.revisions.iter().find(|recorded| recorded.revision == revision)
    }

    /// Returns the first revision.
    pub fn first(&self) -> &RecordedRevision {
        &self.revisions[0]
    }

    /// Returns the newest revision.
    pub fn newest(&self) -> &RecordedRevision {
        &self.revisions[self.revisions.len() - 1]
    }

    /// Returns the revision that was current at an instant; `None` before the first.
    pub fn as_of(&self, instant: Timestamp) -> Option<&RecordedRevision> {
        // Clocks may have been set back: of two candidates the later revision wins.
        self.revisions.iter().rev().find(|recorded| recorded.at <= instant)
    }
}
