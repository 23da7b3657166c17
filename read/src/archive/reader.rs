//! Asks the archive.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use futures::TryStreamExt;
use schemas::record::Category;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::block::LARGEST;
use super::browse::{self, NewestPage};
use super::cursor::{Cursor, InvalidCursor};
use super::dimension::Dimension;
use super::nearest;
use super::order::Day;
use super::question::{Question, TasteRequest};
use super::snapshot::{Changed, Changes, Snapshot};
use super::tally::{self, TastePage};
use super::terms::{self, DimensionTerms, Term};
use super::words::Stems;
use super::{ArchiveError, corrupt, options};
use crate::checkpoint::Checkpoint;
use crate::database::{self, Written};

/// How many may read the database at once; more wait their turn.
const CONNECTIONS: u32 = 2;

/// Rows that may be read before they are taken up, so that two threads need not wait for each other at every few.
const ROWS_AHEAD: usize = 2_048;

/// Words that nobody uses any more go when all is read again: once there are twice as many words as then, and this many more.
const SPARE_WORDS: usize = 65_536;

/// Reads one generation of the archive. Nothing that is asked of it waits for anything.
#[derive(Debug)]
pub struct ArchiveReader {
    pool: SqlitePool,
    written: Written,
    stems: Stems,
    now: ArcSwap<Snapshot>,
    loaded: Mutex<Loaded>,
    /// How many projects a block holds at the most.
    largest: usize,
    spare_words: usize,
}

/// What is in memory already.
#[derive(Debug, Default)]
struct Loaded {
    /// The last change.
    changed: i64,
    /// How many words there were when all was last read.
    words: usize,
}

impl ArchiveReader {
    /// Opens the archive in a generation's folder, for reading only, and loads all of it.
    pub async fn open(folder: &Path) -> Result<ArchiveReader, ArchiveError> {
        ArchiveReader::open_in_blocks(folder, LARGEST).await
    }

    /// The same, in blocks that hold so many projects at the most.
    pub(super) async fn open_in_blocks(folder: &Path, largest: usize) -> Result<ArchiveReader, ArchiveError> {
        let pool = database::readers(options(folder).row_buffer_size(ROWS_AHEAD), CONNECTIONS).await?;
        let now = ArcSwap::from_pointee(Snapshot::new(largest));
        let written = Written::new(&folder.join("archive.db"));
        let (stems, loaded, spare_words) = (Stems::new(), Mutex::default(), SPARE_WORDS);
        let reader = ArchiveReader { pool, written, stems, now, loaded, largest, spare_words };
        reader.refresh().await?;
        Ok(reader)
    }

    /// The projects of some taste. A cursor that was made for another question is refused.
    pub fn by_taste(&self, request: &TasteRequest<'_>) -> Result<TastePage, InvalidCursor> {
        let question = Question::of(request, &self.stems);
        tally::page(&self.now.load(), &question, request.limit, request.after.clone())
    }

    /// The newest projects, of one category or of all: by publication, else by the day of their selection, else by that on
    /// which they came in; within a day the one that came last is first. The limit is clamped to 1 to [`super::LARGEST_PAGE`]; a cursor that
    /// was made for another question is refused.
    pub fn newest(
        &self,
        category: Option<Category>,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<NewestPage, InvalidCursor> {
        browse::newest(&self.now.load(), category, limit, after)
    }

    /// The ordinal of the listed project that a number stands for. Drawn from all 64-bit numbers alike, it gives each
    /// project the same chance, to less than one part in 10^12. None where nothing is listed.
    pub fn random(&self, category: Option<Category>, draw: u64) -> Option<u64> {
        browse::random(&self.now.load(), category, draw)
    }

    /// How many projects are listed, of one category or of all.
    pub fn listed(&self, category: Option<Category>) -> u64 {
        browse::listed(&self.now.load(), category)
    }

    /// The words that projects really use, of one dimension or of each, at most `limit` of each dimension. The first to ask
    /// behind a commit waits for them to be counted: some milliseconds at 100,000 projects.
    pub fn terms(
        &self,
        dimension: Option<Dimension>,
        category: Option<Category>,
        limit: usize,
    ) -> Vec<DimensionTerms> {
        terms::terms(&self.now.load(), dimension, category, limit)
    }

    /// For the words of a text that no project uses in a dimension: words that are used and differ by few letters, or begin
    /// alike; the nearest first, then the most used. At most `limit`.
    pub fn nearest_terms(&self, dimension: Dimension, text: &str, limit: usize) -> Vec<Term> {
        nearest::nearest_terms(&self.now.load(), &self.stems, dimension, text, limit)
    }

    /// The memory that what is asked takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.now.load().bytes()
    }

    /// Takes in what was committed since the last time; all of it again where too many words may be unused by now.
    pub async fn refresh(&self) -> Result<(), ArchiveError> {
        let Some(look) = self.written.look() else { return Ok(()) };
        let mut loaded = self.loaded.lock().await;
        let sql = "SELECT ordinal, slug, category, published, newest, listed, words, changed FROM projects \
                   WHERE changed > ? ORDER BY changed";
        let now = self.now.load_full();
        let reads_all = loaded.changed == 0 || now.dictionary.forms() > 2 * loaded.words + self.spare_words;
        let (now, after) =
            if reads_all { (Arc::new(Snapshot::new(self.largest)), 0) } else { (now, loaded.changed) };
        let mut rows = sqlx::query(sql).bind(after).fetch(&self.pool);
        let (mut changes, mut reading) = (Changes::default(), now.reading(&self.stems));
        let mut last = after;
        while let Some(row) = rows.try_next().await? {
            changes.add(&read_project(&row)?, &mut reading);
            last = row.try_get("changed")?;
        }
        if !changes.is_empty() {
            let changed = now.changed(changes, reading.finish());
            if reads_all {
                loaded.words = changed.dictionary.forms();
            }
            self.now.store(Arc::new(changed));
            loaded.changed = last;
        }
        self.written.saw(look);
        Ok(())
    }

    /// The same, which reads all again after fewer words.
    #[cfg(all(test, feature = "apply"))]
    pub(super) fn with_spare_words(self, spare_words: usize) -> ArchiveReader {
        ArchiveReader { spare_words, ..self }
    }

    #[cfg(all(test, feature = "apply"))]
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.now.load_full()
    }

    /// How far this model has come.
    pub async fn checkpoint(&self) -> Result<Checkpoint, ArchiveError> {
        let mut connection = self.pool.acquire().await?;
        database::checkpoint(&mut connection, corrupt).await
    }

    /// Lets the database go once nobody asks it any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

fn read_project(row: &SqliteRow) -> Result<Changed<'_>, ArchiveError> {
    let category = row.try_get::<&str, _>("category")?;
    Ok(Changed {
        ordinal: row.try_get::<i64, _>("ordinal")?.unsigned_abs(),
        slug: row.try_get("slug")?,
        category: Category::parse(category).ok_or_else(|| corrupt(format!("the category {category}")))?,
        published: Day::new(row.try_get("published")?),
        newest: Day::new(Some(row.try_get("newest")?)),
        is_listed: row.try_get("listed")?,
        words: row.try_get("words")?,
    })
}
