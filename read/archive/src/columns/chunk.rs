//! The columns of the projects in one range of ordinals. Chunks are immutable; a change replaces whole chunks.

use lexical::OrdinalSet;

use super::TextColumn;
use super::oklab::Oklab;
use crate::blocks::bitmap;
use crate::recorded::Recorded;

/// The number of ordinals in the range of a chunk. Ordinals are positions in the log, so that a chunk has fewer projects than that. A
/// change copies a chunk, of at most 250 KB.
pub(crate) const CHUNK: u64 = 4_096;

const WORDS: usize = (CHUNK / 64) as usize;

/// The greatest year, of four digits.
pub(crate) const LAST_YEAR: u16 = 9_999;
/// The year of a project without one.
const NO_YEAR: u16 = u16::MAX;

/// The day of selection of a project without one.
const NO_DAY: i32 = i32::MIN;
/// A number that no day is below.
pub(crate) const FIRST_DAY: i32 = NO_DAY + 1;

/// A project with numbered texts.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) ordinal: u64,
    pub(super) category: u8,
    pub(super) texts: [u32; TextColumn::COUNT],
    pub(super) year: Option<u16>,
    pub(super) has_picture: bool,
    pub(super) added: i32,
    pub(super) selected: Option<i32>,
    pub(super) newest: i32,
    pub(super) name: Box<str>,
    pub(super) recorded: Recorded,
    pub(super) palette: Vec<Oklab>,
}

/// The projects of a range of ordinals, numbered from 0 in their order: the rows.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    first: u64,
    /// A bit for each ordinal of the range that has a row.
    present: [u64; WORDS],
    /// The number of rows before each word of `present`.
    before: [u16; WORDS],
    /// The ordinal of each row, counted from `first`.
    offsets: Vec<u16>,
    /// The index in [`schemas::record::Category::ALL`] of each row.
    pub(crate) categories: Vec<u8>,
    texts: [Vec<u32>; TextColumn::COUNT],
    /// The year of each row, above [`LAST_YEAR`] without one.
    pub(crate) years: Vec<u16>,
    pub(crate) has_picture: Vec<bool>,
    /// The day of the first event of each row.
    pub(crate) added: Vec<i32>,
    /// The day on which a curator selected each row, below [`FIRST_DAY`] without one.
    pub(crate) selected: Vec<i32>,
    newest: Vec<i32>,
    /// The members of each row that have a value.
    pub(crate) recorded: Vec<Recorded>,
    names: String,
    /// The end of each name in `names`.
    name_ends: Vec<u32>,
    palettes: Vec<Oklab>,
    /// The end of each row's colours in `palettes`.
    palette_ends: Vec<u32>,
}

impl Chunk {
    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    pub(crate) fn ordinal(&self, row: usize) -> u64 {
        self.first + u64::from(self.offsets[row])
    }

    /// Returns the number of each row's text in a column; 0 without a text.
    pub(crate) fn texts(&self, column: TextColumn) -> &[u32] {
        &self.texts[column as usize]
    }

    /// Returns the year of a row.
    pub(crate) fn year(&self, row: usize) -> Option<u16> {
        Some(self.years[row]).filter(|year| *year != NO_YEAR)
    }

    /// Returns the day on which a curator selected a row.
    pub(crate) fn selected(&self, row: usize) -> Option<i32> {
        Some(self.selected[row]).filter(|day| *day != NO_DAY)
    }

    /// Returns the day that a row is browsed by.
    pub(crate) fn newest(&self, row: usize) -> i32 {
        self.newest[row]
    }

    pub(crate) fn name(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.name_ends[before]);
        &self.names[start as usize..self.name_ends[row] as usize]
    }

    pub(crate) fn palette(&self, row: usize) -> &[Oklab] {
        let start = row.checked_sub(1).map_or(0, |before| self.palette_ends[before]);
        &self.palettes[start as usize..self.palette_ends[row] as usize]
    }

    /// Returns whether there is a project with an ordinal of the range.
    pub(super) fn contains(&self, ordinal: u64) -> bool {
        bitmap::contains(&self.present, (ordinal - self.first) as usize)
    }

    /// Calls `visit` with the row of each project that a set contains, ascending.
    pub(crate) fn for_each_in(&self, set: &OrdinalSet, mut visit: impl FnMut(usize)) {
        let first = (self.first / 64) as usize;
        for (at, present) in self.present.iter().enumerate() {
            let mut shared = present & set.word(first + at);
            if shared == *present {
                let start = usize::from(self.before[at]);
                (start..start + present.count_ones() as usize).for_each(&mut visit);
                continue;
            }
            while shared != 0 {
                let below = present & ((shared & shared.wrapping_neg()) - 1);
                visit(usize::from(self.before[at]) + below.count_ones() as usize);
                shared &= shared - 1;
            }
        }
    }

    /// Adds the projects whose row is set in a bitmap to a set.
    pub(crate) fn add_to(&self, set: &mut OrdinalSet, rows: &[u64]) {
        for (index, word) in rows.iter().enumerate() {
            bitmap::ones(index, *word).for_each(|row| set.insert(self.ordinal(row)));
        }
    }

    /// Iterates over the rows, to be changed and put into another chunk.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        (0..self.len()).map(|row| Row {
            ordinal: self.ordinal(row),
            category: self.categories[row],
            texts: std::array::from_fn(|column| self.texts[column][row]),
            year: self.year(row),
            has_picture: self.has_picture[row],
            added: self.added[row],
            selected: self.selected(row),
            newest: self.newest[row],
            name: self.name(row).into(),
            recorded: self.recorded[row],
            palette: self.palette(row).to_vec(),
        })
    }

    pub(super) fn bytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(|texts| texts.capacity() * 4).sum();
        size_of::<Chunk>()
            + texts
            + self.offsets.capacity() * 2
            + self.categories.capacity()
            + self.years.capacity() * 2
            + self.has_picture.capacity()
            + (self.added.capacity() + self.selected.capacity() + self.newest.capacity()) * 4
            + self.recorded.capacity() * size_of::<Recorded>()
            + self.names.capacity()
            + (self.name_ends.capacity() + self.palette_ends.capacity()) * 4
            + self.palettes.capacity() * size_of::<Oklab>()
    }
}

/// Builds a chunk from its rows in ascending order.
#[derive(Debug)]
pub(super) struct ChunkBuilder {
    chunk: Chunk,
}

impl ChunkBuilder {
    /// Returns a builder for the range that begins at an ordinal.
    pub(super) fn new(first: u64) -> ChunkBuilder {
        ChunkBuilder {
            chunk: Chunk {
                first,
                present: [0; WORDS],
                before: [0; WORDS],
                offsets: Vec::new(),
                categories: Vec::new(),
                texts: Default::default(),
                years: Vec::new(),
                has_picture: Vec::new(),
                added: Vec::new(),
                selected: Vec::new(),
                newest: Vec::new(),
                recorded: Vec::new(),
                names: String::new(),
                name_ends: Vec::new(),
                palettes: Vec::new(),
                palette_ends: Vec::new(),
            },
        }
    }

    pub(super) fn push(&mut self, row: &Row) {
        let chunk = &mut self.chunk;
        let offset = (row.ordinal - chunk.first) as u16;
        bitmap::set(&mut chunk.present, usize::from(offset));
        chunk.offsets.push(offset);
        chunk.categories.push(row.category);
        chunk.texts.iter_mut().zip(row.texts).for_each(|(column, text)| column.push(text));
        chunk.years.push(row.year.unwrap_or(NO_YEAR));
        chunk.has_picture.push(row.has_picture);
        chunk.added.push(row.added);
        chunk.selected.push(row.selected.unwrap_or(NO_DAY));
        chunk.newest.push(row.newest);
        chunk.recorded.push(row.recorded);
        chunk.names.push_str(&row.name);
        chunk.name_ends.push(chunk.names.len() as u32);
        chunk.palettes.extend_from_slice(&row.palette);
        chunk.palette_ends.push(chunk.palettes.len() as u32);
    }

    /// Returns the chunk; `None` without rows.
    pub(super) fn finish(mut self) -> Option<Chunk> {
        let chunk = &mut self.chunk;
        let mut rows = 0;
        for (before, present) in chunk.before.iter_mut().zip(&chunk.present) {
            *before = rows;
            rows += present.count_ones() as u16;
        }
        chunk.offsets.shrink_to_fit();
        chunk.categories.shrink_to_fit();
        chunk.texts.iter_mut().for_each(Vec::shrink_to_fit);
        chunk.years.shrink_to_fit();
        chunk.has_picture.shrink_to_fit();
        chunk.added.shrink_to_fit();
        chunk.selected.shrink_to_fit();
        chunk.newest.shrink_to_fit();
        chunk.recorded.shrink_to_fit();
        chunk.names.shrink_to_fit();
        chunk.name_ends.shrink_to_fit();
        chunk.palettes.shrink_to_fit();
        chunk.palette_ends.shrink_to_fit();
        (rows > 0).then_some(self.chunk)
    }
}
