//! Reads the archive.

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

use super::blocks::MAX_PROJECTS;
use super::columns::Values;
use super::listing::Listing;
use super::order::Day;
use super::recorded::Recorded;
use super::snapshot::{ChangedProject, Changes, Snapshot};
use super::stemming::WordStemmer;
use super::vocabulary::{RecountPolicy, Vocabulary};
use super::{NAME, corrupt, options};
use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;
use model::search::{self, View};

/// The maximum number of connections to the database.
const CONNECTIONS: u32 = 2;

/// The number of rows that are read ahead, so that the two threads do not wait for each other every few rows.
const ROWS_AHEAD: usize = 2_048;

/// All projects are loaded again, which drops unused words, once there are twice as many words as after the last full load plus
/// this many.
const SPARE_WORDS: usize = 65_536;

/// Reads one generation of the archive. Queries are answered from memory and never wait.
#[derive(Debug)]
pub struct ArchiveReader {
    pub(super) pool: SqlitePool,
    changes: ChangeDetector,
    listing: ArcSwap<Listing>,
    loaded: Mutex<Loaded>,
    /// The maximum number of projects in a block.
    block_size: usize,
    spare_words: usize,
    recount: RecountPolicy,
}

/// How much of the database is in memory.
#[derive(Debug, Default)]
struct Loaded {
    /// The last change that was read.
    change: i64,
    /// The number of words after the last full load.
    words: usize,
    /// The position of the search index in the listing.
    view_position: Option<Position>,
    /// A newer search index, which is used as soon as the archive has reached its position.
    pending_view: Option<View>,
}

impl ArchiveReader {
    /// Opens the archive in a generation's folder, read-only and without a search index, and loads all of it.
    pub async fn open(folder: &Path) -> Result<ArchiveReader, ModelError> {
        ArchiveReader::open_in_blocks(folder, MAX_PROJECTS, None).await
    }

    /// Opens the archive together with a search index, and lists what both contain.
    pub(crate) async fn open_with_view(
        folder: &Path,
        view: Option<View>,
    ) -> Result<ArchiveReader, ModelError> {
        ArchiveReader::open_in_blocks(folder, MAX_PROJECTS, view).await
    }

    /// Opens the archive in blocks of at most `block_size` projects.
    pub(super) async fn open_in_blocks(
        folder: &Path,
        block_size: usize,
        view: Option<View>,
    ) -> Result<ArchiveReader, ModelError> {
        let pool = sqlite::readers(options(folder).row_buffer_size(ROWS_AHEAD), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("archive.db"));
        let view_position = view.as_ref().map(search::position);
        let snapshot = Arc::new(Snapshot::new(block_size));
        let vocabulary = Arc::new(Vocabulary::of(Arc::clone(&snapshot), None));
        let stemmer = Arc::new(WordStemmer::new());
        let reader = ArchiveReader {
            pool,
            changes,
            listing: ArcSwap::from_pointee(Listing {
                snapshot,
                computed: Arc::default(),
                vocabulary,
                view,
                stemmer,
            }),
            loaded: Mutex::new(Loaded { view_position, ..Loaded::default() }),
            block_size,
            spare_words: SPARE_WORDS,
            recount: RecountPolicy::default(),
        };
        reader.refresh().await?;
        Ok(reader)
    }

    /// Returns the archive as of the last refresh. The queries of one answer should use one listing.
    pub fn listing(&self) -> Listing {
        Listing::clone(&self.listing.load())
    }

    /// Returns the memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        let listing = self.listing.load();
        listing.snapshot.bytes() + listing.vocabulary.bytes()
    }

    /// Loads what was committed since the last refresh, or all projects again if too many words may be unused.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        self.refresh_with_view(None).await
    }

    /// Refreshes together with a search index, which may be newer than the present one. It is used once the archive has reached its
    /// position. A project that it does not contain yet is not listed: no answer names a project without a summary.
    pub(crate) async fn refresh_with_view(&self, view: Option<View>) -> Result<(), ModelError> {
        let mut loaded = self.loaded.lock().await;
        self.load_changes(&mut loaded, view).await?;
        let now = self.listing.load_full();
        if now.vocabulary.is_due(&now.snapshot, self.recount) {
            let vocabulary = Vocabulary::of(Arc::clone(&now.snapshot), Some(&now.vocabulary));
            let vocabulary = Arc::new(vocabulary);
            self.listing.store(Arc::new(Listing { vocabulary, ..Listing::clone(&now) }));
        }
        Ok(())
    }

    async fn load_changes(&self, loaded: &mut Loaded, view: Option<View>) -> Result<(), ModelError> {
        let is_newer = |view: &View| loaded.view_position.is_none_or(|shown| search::position(view) > shown);
        if let Some(view) = view.filter(is_newer) {
            // A view that is already pending is kept: the archive reaches it even if the index advances faster.
            loaded.pending_view.get_or_insert(view);
        }
        let stamps = self.changes.check();
        if stamps.is_none() && loaded.pending_view.is_none() {
            return Ok(());
        }
        let mut transaction = self.pool.begin().await?;
        let applied: Checkpoint = database::checkpoint(&mut transaction, NAME).await?;
        let now = self.listing.load_full();
        let is_first = loaded.view_position.is_none();
        let is_reached = |view: &mut View| is_first || applied.position >= search::position(view);
        let next_view = loaded.pending_view.take_if(is_reached);
        if next_view.is_none() && stamps.is_none() {
            return Ok(());
        }
        // The first search index may not contain what was listed without one.
        let is_first_view = next_view.is_some() && now.view.is_none();
        let words = now.snapshot.dictionary.forms();
        let is_full = is_first_view || loaded.change == 0 || words > 2 * loaded.words + self.spare_words;
        let (before, from) = match is_full {
            true => (Arc::new(Snapshot::new(self.block_size)), 0),
            false => (Arc::clone(&now.snapshot), loaded.change),
        };
        let view = next_view.or_else(|| now.view.clone());
        let read = read_changes(&mut transaction, (&before, &now.stemmer), from, view.as_ref()).await?;
        transaction.rollback().await?;
        let (snapshot, change) = read;
        let snapshot = snapshot.map_or(before, Arc::new);
        (loaded.change, loaded.view_position) = (change, view.as_ref().map(search::position));
        if is_full {
            loaded.words = snapshot.dictionary.forms();
        }
        self.listing.store(Arc::new(Listing {
            snapshot,
            computed: Arc::default(),
            view,
            ..Listing::clone(&now)
        }));
        if let Some(stamps) = stamps {
            self.changes.mark_read(stamps);
        }
        Ok(())
    }

    /// Sets the number of words after which all projects are loaded again.
    #[cfg(all(test, feature = "apply"))]
    pub(super) fn with_spare_words(self, spare_words: usize) -> ArchiveReader {
        ArchiveReader { spare_words, ..self }
    }

    #[cfg(all(test, feature = "apply"))]
    pub(super) fn with_recount(self, recount: RecountPolicy) -> ArchiveReader {
        ArchiveReader { recount, ..self }
    }

    #[cfg(all(test, feature = "apply"))]
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.listing.load().snapshot)
    }

    /// Closes the database once no query uses it.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Returns the snapshot after the rows that changed after `from`, if there are any, and the change after which to read next: rows of
/// listed projects that the search index does not contain are read again with the next index.
async fn read_changes(
    connection: &mut SqliteConnection,
    (before, stemmer): (&Snapshot, &WordStemmer),
    from: i64,
    view: Option<&View>,
) -> Result<(Option<Snapshot>, i64), ModelError> {
    let sql = "SELECT ordinal, slug, category, published, added, newest, listed, words, name, city, studio, curator, year, \
               selected, has_picture, palette, recorded, changed FROM projects WHERE changed > ? ORDER BY changed, ordinal";
    let mut rows = sqlx::query(sql).bind(from).fetch(connection);
    let (mut changes, mut analyzer) = (Changes::of(before), before.analyzer(stemmer));
    let (mut last, mut unknown) = (from, None);
    while let Some(row) = rows.try_next().await? {
        let mut project = read_project(&row)?;
        last = row.try_get("changed")?;
        if project.is_listed && view.is_some_and(|view| view.summary_of(project.ordinal).is_none()) {
            project.is_listed = false;
            unknown.get_or_insert(last);
        }
        changes.add(&project, &mut analyzer);
    }
    let snapshot = (!changes.is_empty()).then(|| before.updated(changes, analyzer.finish()));
    Ok((snapshot, unknown.map_or(last, |first| first - 1)))
}

fn read_project(row: &SqliteRow) -> Result<ChangedProject<'_>, ModelError> {
    let category = row.try_get::<&str, _>("category")?;
    let category = Category::parse(category).ok_or_else(|| corrupt(format!("the category {category}")))?;
    let ordinal = row.try_get::<i64, _>("ordinal")?.unsigned_abs();
    let values = Values {
        ordinal,
        category: category as u8,
        texts: [row.try_get("city")?, row.try_get("studio")?, row.try_get("curator")?],
        year: row.try_get("year")?,
        has_picture: row.try_get("has_picture")?,
        added: row.try_get("added")?,
        selected: row.try_get("selected")?,
        newest: row.try_get("newest")?,
        name: row.try_get("name")?,
        recorded: Recorded::of_bits(row.try_get("recorded")?),
        palette: row.try_get("palette")?,
    };
    Ok(ChangedProject {
        ordinal,
        slug: row.try_get("slug")?,
        category,
        published: Day::new(row.try_get("published")?),
        values,
        is_listed: row.try_get("listed")?,
        words: row.try_get("words")?,
    })
}
