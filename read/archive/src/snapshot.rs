//! The archive in memory as of one commit.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;
use schemas::record::Category;

use super::blocks::{BlockList, NewProject, NewProjects};
use super::columns::{Columns, NewRows, Values};
use super::dictionary::{Analyzer, Dictionary, FormKey};
use super::newest::{Entry, NewestOrder};
use super::order::Day;
use super::shown_forms::ShownForms;
use super::stemming::WordStemmer;

/// What queries read. Immutable; a commit replaces it.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) block_list: BlockList,
    pub(super) newest: NewestOrder,
    pub(super) columns: Columns,
    pub(super) dictionary: Arc<Dictionary>,
    /// What its stems are shown as in facets.
    pub(super) shown_forms: ShownForms,
}

/// The projects that changed since a snapshot.
#[derive(Debug)]
pub(super) struct Changes {
    /// The ordinals of all of them, which are removed from the snapshot.
    changed: HashSet<u64, RandomState>,
    /// Those that are listed, which are added again.
    added: Vec<NewProject>,
    newest: Vec<Entry>,
    rows: NewRows,
    terms: Vec<FormKey>,
}

/// A row of a changed project.
pub(super) struct ChangedProject<'a> {
    pub(super) ordinal: u64,
    pub(super) slug: &'a str,
    pub(super) category: Category,
    /// The day of publication.
    pub(super) published: Day,
    pub(super) is_listed: bool,
    pub(super) words: &'a str,
    /// What it is filtered, counted and sorted by.
    pub(super) values: Values<'a>,
}

impl Changes {
    /// Returns no changes of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> Changes {
        Changes {
            changed: HashSet::default(),
            added: Vec::new(),
            newest: Vec::new(),
            rows: snapshot.columns.new_rows(),
            terms: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    pub(super) fn add(&mut self, project: &ChangedProject<'_>, analyzer: &mut Analyzer<'_>) {
        self.changed.insert(project.ordinal);
        if !project.is_listed {
            return;
        }
        let first = self.terms.len();
        analyzer.analyze(project.words, &mut self.terms);
        self.added.push(NewProject {
            day: project.published,
            slug: project.slug.to_owned(),
            ordinal: project.ordinal,
            category: project.category as usize,
            terms: first..self.terms.len(),
        });
        let ChangedProject { ordinal, category, values, .. } = *project;
        self.newest.push(Entry { day: Day::new(Some(values.newest)), ordinal, category });
        self.rows.push(values);
    }
}

impl Snapshot {
    /// Returns a snapshot without projects. Its blocks will have at most `max_projects`.
    pub(super) fn new(max_projects: usize) -> Snapshot {
        Snapshot {
            block_list: BlockList::new(max_projects),
            newest: NewestOrder::new(max_projects),
            columns: Columns::default(),
            dictionary: Arc::default(),
            shown_forms: ShownForms::default(),
        }
    }

    /// Returns an analyzer that extends a copy of the dictionary.
    pub(super) fn analyzer<'a>(&self, stemmer: &'a WordStemmer) -> Analyzer<'a> {
        Analyzer::new(stemmer, self.dictionary.clone())
    }

    /// Returns the snapshot after the changes, whose terms are in `dictionary`.
    pub(super) fn updated(&self, mut changes: Changes, dictionary: Arc<Dictionary>) -> Snapshot {
        changes.added.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let added = NewProjects { projects: &changes.added, terms: &changes.terms, dictionary: &dictionary };
        let block_list = self.block_list.updated(&changes.changed, added);
        let newest = self.newest.updated(&changes.changed, changes.newest);
        let columns = self.columns.updated(&changes.changed, changes.rows);
        Snapshot { block_list, newest, columns, dictionary, shown_forms: ShownForms::default() }
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let words = self.dictionary.bytes() + self.shown_forms.bytes();
        self.block_list.bytes() + self.newest.bytes() + self.columns.bytes() + words
    }
}
