//! The vectors of all listed projects in memory, as of the last computation of the lists.

use std::collections::HashMap;

use futures::TryStreamExt;
use knn::{Encoding, Layout, Rank, Row, VectorSpace};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::list::members;
use super::rows::{Encoded, Form, Forms, Numbers, Vectors, load_models};
use super::{KEPT, corrupt};
use model::error::ModelError;

/// Every listed project with vectors. Lists contain exactly these projects.
#[derive(Debug)]
pub(super) struct Memory {
    /// The names of the models, by the numbers in layouts.
    models: Vec<String>,
    pub(super) space: VectorSpace,
    /// Whether stored lists may contain other projects: those that were dirty when it was loaded.
    pub(super) is_incomplete: bool,
}

impl Memory {
    /// Loads the stored vectors. At 100,000 projects with 200 MB of them this takes about a second.
    pub(super) async fn load(connection: &mut SqliteConnection) -> Result<Memory, ModelError> {
        let mut memory = Memory { models: Vec::new(), space: VectorSpace::new(KEPT), is_incomplete: false };
        let dirty = "SELECT count(*) > 0 FROM projects WHERE dirty = 1";
        memory.is_incomplete = sqlx::query_scalar(dirty).fetch_one(&mut *connection).await?;
        let forms = load_models(connection).await?;
        let sql = "SELECT ordinal, visual_model, visual, semantic_model, semantic FROM projects \
                   JOIN vectors USING (ordinal) WHERE listed = 1 AND dirty = 0 ORDER BY ordinal";
        let mut rows = sqlx::query(sql).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await? {
            memory.insert(read_ordinal(&row)?, &read_vectors(&row, &forms)?);
        }
        drop(rows);
        if !memory.is_incomplete {
            memory.load_thresholds(connection).await?;
        }
        Ok(memory)
    }

    /// Loads the admission thresholds of the lists that are full.
    async fn load_thresholds(&mut self, connection: &mut SqliteConnection) -> Result<(), ModelError> {
        let sql = "SELECT ordinal, list FROM projects WHERE listed = 1 AND sides > 0 AND complete = 0";
        let mut rows = sqlx::query(sql).fetch(connection);
        while let Some(row) = rows.try_next().await? {
            let (owner, list) = (read_ordinal(&row)?, members(row.try_get("list")?));
            if !self.contains(owner) {
                return Err(corrupt("a list of a project without vectors"));
            }
            let last = list.last().and_then(|last| self.space.rank(owner, *last));
            self.set_threshold(
                owner,
                last.ok_or_else(|| corrupt("a list that ends with an unknown project"))?,
            );
        }
        Ok(())
    }

    /// Builds the graphs of layouts with at least `from` projects.
    pub(super) fn build_graphs(&mut self, from: usize) {
        self.space.build_graphs(from);
    }

    /// Uses graphs that were rebuilt in the background, and starts to rebuild stale ones.
    pub(super) fn renew_graphs(&mut self, from: usize) {
        self.space.refresh_graphs(from);
    }

    pub(super) fn contains(&self, ordinal: u32) -> bool {
        self.space.contains(ordinal)
    }

    /// Adds a project that is not in memory yet.
    pub(super) fn insert(&mut self, ordinal: u32, vectors: &Vectors) {
        let (visual, semantic) = (vectors.visual.as_ref(), vectors.semantic.as_ref());
        let layout = Layout {
            visual: visual.map(|side| self.encoding(side)),
            semantic: semantic.map(|side| self.encoding(side)),
        };
        let [visual, semantic] = [visual, semantic].map(|side| side.map(|side| side.numbers.side()));
        self.space.insert(ordinal, Row { layout, visual, semantic });
    }

    fn encoding(&mut self, side: &Encoded) -> Encoding {
        let model = self.models.iter().position(|model| *model == side.model).unwrap_or_else(|| {
            self.models.push(side.model.clone());
            self.models.len() - 1
        });
        let Form { dimensions, is_quantized } = side.numbers.form();
        Encoding { model, dimensions, is_quantized }
    }

    pub(super) fn remove(&mut self, ordinal: u32) {
        self.space.remove(ordinal);
    }

    /// Sets the admission threshold of a project's list: only projects that rank before it can enter.
    pub(super) fn set_threshold(&mut self, ordinal: u32, threshold: Rank) {
        self.space.set_threshold(ordinal, threshold);
    }
}

pub(super) fn read_ordinal(row: &SqliteRow) -> Result<u32, ModelError> {
    u32::try_from(row.try_get::<i64, _>("ordinal")?).map_err(corrupt)
}

/// Reads the columns of both sides; `forms` are those of all models.
pub(super) fn read_vectors(row: &SqliteRow, forms: &HashMap<String, Forms>) -> Result<Vectors, ModelError> {
    let side =
        |model: &str, numbers: &str, form: fn(&Forms) -> Form| -> Result<Option<Encoded>, ModelError> {
            let Some(stored) = row.try_get::<Option<&[u8]>, _>(numbers)? else { return Ok(None) };
            let model: String = row.try_get(model)?;
            let forms = forms.get(&model).ok_or_else(|| corrupt("a vector of an unknown model"))?;
            let numbers = Numbers::from_stored(stored, form(forms))?;
            Ok(Some(Encoded { model, numbers }))
        };
    Ok(Vectors {
        visual: side("visual_model", "visual", |forms| forms.visual)?,
        semantic: side("semantic_model", "semantic", |forms| forms.semantic)?,
    })
}
