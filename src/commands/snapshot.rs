//! `loggia snapshot`: copies the read models of this folder, for a new node to start from.

use std::path::Path;

use anyhow::Result;
use cli_output::{Output, count};
use data_folder::DataFolder;
use projections::snapshot::take;

use crate::config::Config;
use crate::process::now;

/// Copies the models into a folder; their node may be running.
pub async fn run(config: &Config, folder: &Path, output: Output) -> Result<()> {
    let data = DataFolder::new(&config.server.data);
    data.check()?;
    let manifest = take(&data.models(), folder, now()).await?;
    Ok(output.answer(&manifest, || {
        format!(
            "the read models as of event {} are in {} ({} files, {} bytes); a new read node starts from them with \
             LOGGIA_SNAPSHOT={}",
            count(manifest.position().0),
            folder.display(),
            manifest.files().count(),
            count(manifest.size()),
            folder.display()
        )
    })?)
}
