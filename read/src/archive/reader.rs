//! Asks the archive.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use futures::TryStreamExt;
use schemas::ids::Position;
use schemas::record::Category;
use sqlite::ChangeDetector;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::block::LARGEST;
use super::listing::Listing;
use super::order::Day;
use super::snapshot::{Changed, Changes, Snapshot};
use super::vocabulary::{Pace, Vocabulary};
use super::words::Stems;
use super::{NAME, corrupt, options};
use crate::checkpoint::Checkpoint;
use crate::database;
use crate::error::ModelError;
use crate::search::{self, View};

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
    changes: ChangeDetector,
    now: ArcSwap<Listing>,
    taken: Mutex<Taken>,
    /// How many projects a block holds at the most.
    largest: usize,
    spare_words: usize,
    pace: Pace,
}

/// What is in memory already.
#[derive(Debug, Default)]
struct Taken {
    /// Rows that changed after this one are read next.
    change: i64,
    /// How many words there were when all was last read.
    words: usize,
    /// The position of the search index that goes with it.
    shown: Option<Position>,
    /// A newer search index, which is taken as soon as the archive is as far.
    coming: Option<View>,
}

impl ArchiveReader {
    /// Opens the archive in a generation's folder, for reading only, and loads all of it.
    pub async fn open(folder: &Path) -> Result<ArchiveReader, ModelError> {
        ArchiveReader::open_in_blocks(folder, LARGEST, None).await
    }

    /// The same beside a search index: it shows what both know.
    pub(crate) async fn open_beside(folder: &Path, view: Option<View>) -> Result<ArchiveReader, ModelError> {
        ArchiveReader::open_in_blocks(folder, LARGEST, view).await
    }

    /// The same, in blocks that hold so many projects at the most.
    pub(super) async fn open_in_blocks(
        folder: &Path,
        largest: usize,
        view: Option<View>,
    ) -> Result<ArchiveReader, ModelError> {
        let pool = sqlite::readers(options(folder).row_buffer_size(ROWS_AHEAD), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("archive.db"));
        let shown = view.as_ref().map(search::position);
        let snapshot = Arc::new(Snapshot::new(largest));
        let vocabulary = Arc::new(Vocabulary::of(Arc::clone(&snapshot), None));
        let now =
            ArcSwap::from_pointee(Listing { snapshot, vocabulary, view, stems: Arc::new(Stems::new()) });
        let taken = Mutex::new(Taken { shown, ..Taken::default() });
        let (spare_words, pace) = (SPARE_WORDS, Pace::default());
        let reader = ArchiveReader { pool, changes, now, taken, largest, spare_words, pace };
        reader.refresh().await?;
        Ok(reader)
    }

    /// The archive as it is now. What one answer needs is asked of one listing.
    pub fn now(&self) -> Listing {
        Listing::clone(&self.now.load())
    }

    /// The memory that what is asked takes, in bytes.
    pub fn bytes(&self) -> usize {
        let now = self.now.load();
        now.snapshot.bytes() + now.vocabulary.bytes()
    }

    /// Takes in what was committed since the last time; all of it again where too many words may be unused by now.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        self.refresh_beside(None).await
    }

    /// The same beside a search index, which may be newer than the one before. It is shown once the archive has come as far, and
    /// a project that it does not know yet is not listed: no answer names more projects than it has summaries.
    pub(crate) async fn refresh_beside(&self, view: Option<View>) -> Result<(), ModelError> {
        let mut taken = self.taken.lock().await;
        self.take_in(&mut taken, view).await?;
        let now = self.now.load_full();
        if now.vocabulary.is_due(&now.snapshot, self.pace) {
            let vocabulary = Vocabulary::of(Arc::clone(&now.snapshot), Some(&now.vocabulary));
            self.now.store(Arc::new(Listing { vocabulary: Arc::new(vocabulary), ..Listing::clone(&now) }));
        }
        Ok(())
    }

    async fn take_in(&self, taken: &mut Taken, view: Option<View>) -> Result<(), ModelError> {
        if let Some(view) = view.filter(|view| taken.shown.is_none_or(|shown| search::position(view) > shown))
        {
            // The one that is waited for is kept: the archive reaches it, however fast the index goes on.
            taken.coming.get_or_insert(view);
        }
        let stamps = self.changes.check();
        if stamps.is_none() && taken.coming.is_none() {
            return Ok(());
        }
        let mut transaction = self.pool.begin().await?;
        let applied: Checkpoint = database::checkpoint(&mut transaction, NAME).await?;
        let now = self.now.load_full();
        let is_first = taken.shown.is_none();
        let coming = taken.coming.take_if(|view| is_first || applied.position >= search::position(view));
        if coming.is_none() && stamps.is_none() {
            return Ok(());
        }
        // What was listed without a search index may be unknown to the first one.
        let starts_over = coming.is_some() && now.view.is_none();
        let words = now.snapshot.dictionary.forms();
        let reads_all = starts_over || taken.change == 0 || words > 2 * taken.words + self.spare_words;
        let (before, from) = match reads_all {
            true => (Arc::new(Snapshot::new(self.largest)), 0),
            false => (Arc::clone(&now.snapshot), taken.change),
        };
        let view = coming.or_else(|| now.view.clone());
        let read = read(&mut transaction, (&before, &now.stems), from, view.as_ref()).await?;
        transaction.rollback().await?;
        let (snapshot, change) = read;
        let snapshot = snapshot.map_or(before, Arc::new);
        (taken.change, taken.shown) = (change, view.as_ref().map(search::position));
        if reads_all {
            taken.words = snapshot.dictionary.forms();
        }
        self.now.store(Arc::new(Listing { snapshot, view, ..Listing::clone(&now) }));
        if let Some(stamps) = stamps {
            self.changes.mark_read(stamps);
        }
        Ok(())
    }

    /// The same, which reads all again after fewer words.
    #[cfg(all(test, feature = "apply"))]
    pub(super) fn with_spare_words(self, spare_words: usize) -> ArchiveReader {
        ArchiveReader { spare_words, ..self }
    }

    /// The same, which counts words at another pace.
    #[cfg(all(test, feature = "apply"))]
    pub(super) fn with_pace(self, pace: Pace) -> ArchiveReader {
        ArchiveReader { pace, ..self }
    }

    #[cfg(all(test, feature = "apply"))]
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.now.load().snapshot)
    }

    /// Closes the database once no question is under way any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(super) fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}

/// What the rows that changed after `from` make of a snapshot, if they make anything of it, and after which one to read next: those
/// that are listed and that the search index does not know are read again beside the next index.
async fn read(
    connection: &mut SqliteConnection,
    (before, stems): (&Snapshot, &Stems),
    from: i64,
    view: Option<&View>,
) -> Result<(Option<Snapshot>, i64), ModelError> {
    let sql = "SELECT ordinal, slug, category, published, newest, listed, words, changed FROM projects \
               WHERE changed > ? ORDER BY changed";
    let mut rows = sqlx::query(sql).bind(from).fetch(connection);
    let (mut changes, mut reading) = (Changes::default(), before.reading(stems));
    let (mut last, mut unknown) = (from, None);
    while let Some(row) = rows.try_next().await? {
        let mut project = read_project(&row)?;
        last = row.try_get("changed")?;
        if project.is_listed && view.is_some_and(|view| view.summary_of(project.ordinal).is_none()) {
            project.is_listed = false;
            unknown.get_or_insert(last);
        }
        changes.add(&project, &mut reading);
    }
    let snapshot = (!changes.is_empty()).then(|| before.changed(changes, reading.finish()));
    Ok((snapshot, unknown.map_or(last, |first| first - 1)))
}

fn read_project(row: &SqliteRow) -> Result<Changed<'_>, ModelError> {
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
