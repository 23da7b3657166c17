//! Reads the neighbours.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use futures::TryStreamExt;
use sqlite::ChangeDetector;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::list::Neighbours;
use super::meaning::{MeaningIndex, MeaningWriter, meaning_of};
use super::table::{ListStatus, Models, Table};
use super::{corrupt, options};
use model::error::ModelError;

const CONNECTIONS: u32 = 2;

/// Reads one generation of the neighbours.
#[derive(Debug)]
pub struct NeighboursReader {
    pub(super) pool: SqlitePool,
    changes: ChangeDetector,
    table: Table,
    meanings: Option<Meanings>,
    /// The names of the models that made vectors; [`Table`] numbers them from 1.
    models: RwLock<Vec<Arc<str>>>,
    loaded: Mutex<Loaded>,
}

/// The meanings of one text model.
#[derive(Debug)]
struct Meanings {
    text_model: Arc<str>,
    index: MeaningIndex,
}

/// What the refreshes have read.
#[derive(Debug, Default)]
struct Loaded {
    /// The last change.
    changed: i64,
    meanings: MeaningWriter,
}

impl NeighboursReader {
    /// Opens the neighbours in a generation's folder, read-only, and loads all lists.
    pub async fn open(folder: &Path) -> Result<NeighboursReader, ModelError> {
        NeighboursReader::open_with_meanings(folder, None).await
    }

    /// Opens the neighbours, and loads the meanings that a text model gave to texts too: 264 bytes a project.
    pub async fn open_with_meanings(
        folder: &Path,
        text_model: Option<Arc<str>>,
    ) -> Result<NeighboursReader, ModelError> {
        let pool = sqlite::readers(options(folder), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("neighbours.db"));
        let meanings = text_model.map(|text_model| Meanings { text_model, index: MeaningIndex::default() });
        let (table, models, loaded) = (Table::new(), RwLock::default(), Mutex::default());
        let reader = NeighboursReader { pool, changes, table, meanings, models, loaded };
        reader.refresh().await?;
        Ok(reader)
    }

    /// Returns the neighbours of the project that was selected at this position, if its status is [`ListStatus::Ready`].
    pub fn of(&self, ordinal: u64) -> Option<Neighbours> {
        self.table.find(ordinal).1
    }

    /// Returns the status of the list of the project that was selected at this position.
    pub fn status(&self, ordinal: u64) -> ListStatus {
        self.table.find(ordinal).0
    }

    /// Returns what made the visual and the semantic vector of the project that was selected at this position, those of its list.
    pub fn encoders(&self, ordinal: u64) -> [Option<Arc<str>>; 2] {
        let models = self.models.read().unwrap_or_else(PoisonError::into_inner);
        let name = |number: u8| models.get(usize::from(number).checked_sub(1)?).cloned();
        self.table.models(ordinal).map(name)
    }

    /// Returns the meanings of the listed projects; `None` if no text model was given.
    pub fn meanings(&self) -> Option<&MeaningIndex> {
        self.meanings.as_ref().map(|meanings| &meanings.index)
    }

    /// Loads what was committed since the last refresh.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        let Some(stamps) = self.changes.check() else { return Ok(()) };
        let mut loaded = self.loaded.lock().await;
        let sql = match self.meanings {
            None => {
                "SELECT ordinal, listed, sides, dirty, list, changed, visual_model, semantic_model FROM projects \
                 WHERE changed > ? ORDER BY changed"
            }
            Some(_) => {
                "SELECT ordinal, listed, sides, dirty, list, changed, visual_model, semantic_model, semantic FROM projects \
                 LEFT JOIN vectors USING (ordinal) WHERE changed > ? ORDER BY changed"
            }
        };
        let mut rows = sqlx::query(sql).bind(loaded.changed).fetch(&self.pool);
        // After a failure the same rows are read again by the next refresh, which changes nothing.
        let mut changed = loaded.changed;
        while let Some(row) = rows.try_next().await? {
            changed = self.load_row(&row)?;
            if let Some(Meanings { text_model, .. }) = &self.meanings {
                load_meaning(text_model, &mut loaded.meanings, &row)?;
            }
        }
        if let Some(Meanings { index, .. }) = &self.meanings {
            loaded.meanings.publish(index);
        }
        loaded.changed = changed;
        self.changes.mark_read(stamps);
        Ok(())
    }

    fn load_row(&self, row: &SqliteRow) -> Result<i64, ModelError> {
        let ordinal = ordinal_of(row)?;
        let (is_listed, is_dirty): (bool, bool) = (row.try_get("listed")?, row.try_get("dirty")?);
        let sides: u8 = row.try_get("sides")?;
        let list: &[u8] = row.try_get("list")?;
        let status = match (is_listed, sides) {
            (false, _) => ListStatus::Withdrawn,
            (true, 0) => ListStatus::NoVectors,
            // Until its new list is computed, a project keeps the former one.
            (true, _) if is_dirty && list.is_empty() => ListStatus::Pending,
            (true, _) => ListStatus::Ready,
        };
        let models =
            [self.number_of(row.try_get("visual_model")?), self.number_of(row.try_get("semantic_model")?)];
        // With its former list a project keeps the encoders that made it.
        let former = if is_dirty { self.table.models(u64::from(ordinal)) } else { Models::default() };
        let models = if former == Models::default() { models } else { former };
        self.table.set(ordinal, status, Neighbours::read(list), models);
        Ok(row.try_get("changed")?)
    }

    /// Returns the number of a model, which is new or known; 0 for none, and for more models than a catalog has.
    fn number_of(&self, model: Option<&str>) -> u8 {
        let Some(model) = model else { return 0 };
        let mut models = self.models.write().unwrap_or_else(PoisonError::into_inner);
        let at = models.iter().position(|known| **known == *model).unwrap_or_else(|| {
            models.push(model.into());
            models.len() - 1
        });
        u8::try_from(at + 1).unwrap_or(0)
    }

    /// Closes the database once no query uses it.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

fn ordinal_of(row: &SqliteRow) -> Result<u32, ModelError> {
    u32::try_from(row.try_get::<i64, _>("ordinal")?).map_err(corrupt)
}

/// Sets the meaning of a listed project, and removes that of another.
fn load_meaning(text_model: &str, meanings: &mut MeaningWriter, row: &SqliteRow) -> Result<(), ModelError> {
    let (is_listed, model): (bool, Option<&str>) = (row.try_get("listed")?, row.try_get("semantic_model")?);
    let meaning = match (is_listed, model, row.try_get::<Option<&[u8]>, _>("semantic")?) {
        (true, Some(model), Some(stored)) => meaning_of(text_model, model, stored),
        _ => None,
    };
    let ordinal = ordinal_of(row)?;
    match meaning {
        Some(meaning) => meanings.set(ordinal, &meaning),
        None => meanings.remove(ordinal),
    }
    Ok(())
}
