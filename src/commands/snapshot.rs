//! `loggia snapshot`: the read models of this folder, for another node to begin with.

use std::path::Path;

use anyhow::Result;
use projections::snapshot::take;

use crate::clock::now;
use crate::config::Config;
use crate::data_folder::DataFolder;
use crate::output::{Output, count};

/// Copies the models into a folder, whether their node runs or not.
pub async fn run(config: &Config, folder: &Path, output: Output) -> Result<()> {
    let data = DataFolder::new(&config.server.data);
    data.check()?;
    let manifest = take(&data.models(), folder, now()).await?;
    output.answer(&manifest, || {
        format!(
            "the read models as of event {} are in {} ({} files, {} bytes); a new read node begins with them by \
             LOGGIA_SNAPSHOT={}",
            count(manifest.position().0),
            folder.display(),
            manifest.files().count(),
            count(manifest.size()),
            folder.display()
        )
    })
}
