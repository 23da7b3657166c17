//! One hash over everything from which lists follow, equal for equal models however they were made.

use std::path::Path;

use sha2::{Digest, Sha256};
use sqlx::{ConnectOptions, Connection};

use super::{NeighboursError, NeighboursWriter, corrupt, options};
use crate::checkpoint::Checkpoint;
use crate::database::{self, add_rows};

impl NeighboursWriter {
    /// The checkpoint of the model in a folder and the digest of projects, vectors and models at it, in one consistent
    /// view even while a worker writes. Lists are left out: they follow from the rest, but while many changes wait they
    /// show an older state of it, and where a graph proposes who is compared (see `graph`) they may miss a few.
    pub async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), NeighboursError> {
        let mut connection = options(folder).read_only(true).connect().await?;
        let mut view = connection.begin().await?;
        let checkpoint = database::checkpoint(&mut view, corrupt).await?;
        let mut sha = Sha256::new();
        let projects = "SELECT ordinal, project, listed, sides, visual_model, hex(visual), semantic_model, \
                        hex(semantic) FROM projects LEFT JOIN vectors USING (ordinal) ORDER BY ordinal";
        add_rows(&mut view, projects, &mut sha).await?;
        let models = "SELECT model, visual, semantic FROM models ORDER BY model";
        add_rows(&mut view, models, &mut sha).await?;
        view.rollback().await?;
        connection.close().await?;
        Ok((checkpoint, sha.finalize().into()))
    }
}
