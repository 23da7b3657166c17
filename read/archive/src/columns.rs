//! What listed projects are filtered, counted and sorted by, as columns in memory.
//!
//! Projects are in the order of their ordinals, cut into chunks of equal ranges of ordinals (see [`chunk`]): a commit replaces the
//! chunks of the projects that changed and shares the others. The texts of a column are numbered (see [`texts`]): a filter looks its
//! values up once and compares numbers, and a facet counts numbers. Colours are compared as [`oklab`] says.

pub(super) mod chunk;
pub(super) mod oklab;
pub(super) mod texts;

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;

use chunk::{CHUNK, Chunk, ChunkBuilder, Row};
use oklab::Oklab;
use texts::Texts;

use super::recorded::Recorded;

/// The columns of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextColumn {
    City = 0,
    Studio = 1,
    Curator = 2,
}

impl TextColumn {
    pub(super) const COUNT: usize = 3;
}

/// The columns of all listed projects, as of one commit.
#[derive(Debug)]
pub(super) struct Columns {
    /// The chunk at `n` has the ordinals from `n × CHUNK` on; `None` if nothing of them is listed.
    chunks: Vec<Option<Arc<Chunk>>>,
    texts: ColumnTexts,
}

/// The texts of each [`TextColumn`], shared between snapshots.
type ColumnTexts = [Arc<Texts>; TextColumn::COUNT];

/// The values of a project before its texts are numbered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) ordinal: u64,
    /// An index in [`schemas::record::Category::ALL`].
    pub(super) category: u8,
    /// By [`TextColumn`].
    pub(super) texts: [Option<&'a str>; TextColumn::COUNT],
    pub(super) year: Option<u16>,
    pub(super) has_picture: bool,
    /// The day of its first event, in days since 1970-01-01.
    pub(super) added: i32,
    /// The day on which a curator selected it, likewise.
    pub(super) selected: Option<i32>,
    /// The day that it is browsed by, likewise.
    pub(super) newest: i32,
    /// Its folded name, by which it is sorted in the order of names.
    pub(super) name: &'a str,
    /// The members that have a value.
    pub(super) recorded: Recorded,
    /// sRGB colours of three bytes each.
    pub(super) palette: &'a [u8],
}

/// Projects that are added to columns, their texts numbered.
#[derive(Debug)]
pub(super) struct NewRows {
    rows: Vec<Row>,
    texts: ColumnTexts,
}

impl NewRows {
    pub(super) fn push(&mut self, values: Values<'_>) {
        let mut texts = [0; TextColumn::COUNT];
        for ((number, text), texts) in texts.iter_mut().zip(values.texts).zip(&mut self.texts) {
            *number = text.map_or(0, |text| match texts.number_of(text) {
                Some(known) => known,
                None => Arc::make_mut(texts).insert(text),
            });
        }
        let palette = values.palette.as_chunks().0.iter().map(|rgb| Oklab::of(*rgb)).collect();
        self.rows.push(Row {
            ordinal: values.ordinal,
            category: values.category,
            texts,
            year: values.year,
            has_picture: values.has_picture,
            added: values.added,
            selected: values.selected,
            newest: values.newest,
            name: values.name.into(),
            recorded: values.recorded,
            palette,
        });
    }
}

impl Default for Columns {
    fn default() -> Columns {
        let texts = [Texts::with_parts(), Texts::default(), Texts::default()];
        Columns { chunks: Vec::new(), texts: texts.map(Arc::new) }
    }
}

impl Columns {
    /// Returns empty additions to these columns.
    pub(super) fn new_rows(&self) -> NewRows {
        NewRows { rows: Vec::new(), texts: self.texts.clone() }
    }

    /// Returns the columns without the projects with these ordinals, and with the added ones.
    pub(super) fn updated(&self, removed: &HashSet<u64, RandomState>, mut added: NewRows) -> Columns {
        added.rows.sort_unstable_by_key(|row| row.ordinal);
        let mut touched: Vec<usize> = removed.iter().map(|ordinal| chunk_of(*ordinal)).collect();
        touched.sort_unstable();
        touched.dedup();
        let mut chunks = self.chunks.clone();
        let mut rows = added.rows.into_iter().peekable();
        for at in touched {
            let own = std::iter::from_fn(|| rows.next_if(|row| chunk_of(row.ordinal) == at));
            let old = self.chunks.get(at).and_then(Option::as_deref);
            let mut builder = ChunkBuilder::new(at as u64 * CHUNK);
            let mut own = own.peekable();
            for old in old.into_iter().flat_map(Chunk::rows).filter(|row| !removed.contains(&row.ordinal)) {
                while let Some(new) = own.next_if(|new| new.ordinal < old.ordinal) {
                    builder.push(&new);
                }
                builder.push(&old);
            }
            own.for_each(|new| builder.push(&new));
            if at >= chunks.len() {
                chunks.resize(at + 1, None);
            }
            chunks[at] = builder.finish().map(Arc::new);
        }
        Columns { chunks, texts: added.texts }
    }

    /// Iterates over the chunks with projects.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().filter_map(Option::as_deref)
    }

    /// Returns whether the project with an ordinal is listed.
    pub(super) fn contains(&self, ordinal: u64) -> bool {
        let chunk = self.chunks.get(chunk_of(ordinal)).and_then(Option::as_deref);
        chunk.is_some_and(|chunk| chunk.contains(ordinal))
    }

    pub(super) fn texts(&self, column: TextColumn) -> &Texts {
        &self.texts[column as usize]
    }

    /// Returns one more than the greatest ordinal that a chunk could have.
    pub(super) fn bound(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK
    }

    /// Returns the approximate memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let chunks: usize = self.chunks().map(Chunk::bytes).sum();
        chunks + self.chunks.capacity() * 8 + self.texts.iter().map(|texts| texts.bytes()).sum::<usize>()
    }
}

fn chunk_of(ordinal: u64) -> usize {
    (ordinal / CHUNK) as usize
}
