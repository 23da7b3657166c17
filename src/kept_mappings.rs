//! The mappings that are kept with the catalog: a file beside the event log, read and replaced as a whole. A running service does
//! not use it; backups contain it.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use daemon::process_lock::write_private;
use data_folder::DataFolder;
use jiff::Timestamp;
use schemas::external_id::SourceName;
use schemas::kept_mappings::{
    KEPT_MAPPINGS, KeptMapping, KeptMappings, LastFile, MAX_FILE_BYTES, MAX_MAPPING_BYTES,
};

use crate::config::Config;
use crate::process;
use crate::store;

/// A mapping as `--mapping` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMapping {
    /// What sentences call it: the file as it was named, or `the mapping tate`.
    pub shown: String,
    /// Its TOML.
    pub text: String,
    /// The name and the file that was last imported with it, if it is a kept one.
    pub kept: Option<(SourceName, Option<LastFile>)>,
}

/// Returns the mappings that are kept; none if nothing is kept yet. Fails if they are kept elsewhere or are unreadable.
pub fn read(config: &Config) -> Result<KeptMappings> {
    DataFolder::new(&config.server.data).check()?;
    store::require_log_here(config)?;
    let path = path(config);
    let bytes = match bounded_file::read(&path, MAX_FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(KeptMappings::default()),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    KeptMappings::parse(&bytes).with_context(|| {
        format!(
            "{} is not what loggia mappings writes; restore it from a backup, or remove it",
            path.display()
        )
    })
}

/// Replaces the kept mappings. Fails if the file cannot be written.
pub fn write(config: &Config, mappings: &KeptMappings) -> Result<()> {
    let (path, text) = (path(config), mappings.text()?);
    if text.len() as u64 > MAX_FILE_BYTES {
        bail!(
            "the kept mappings have more than 16 MiB together; remove some with loggia mappings remove NAME"
        );
    }
    let written = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(store::folder(config))
        .and_then(|()| write_private(&path, text.as_bytes()));
    written.with_context(|| format!("{} cannot be written", path.display()))
}

fn path(config: &Config) -> PathBuf {
    store::folder(config).join(KEPT_MAPPINGS)
}

/// Returns the mapping that `--mapping` names: a kept one by its name, or else a file. A file that is called as a kept mapping is
/// written `./NAME`. Fails with a sentence if there is neither.
pub fn find(config: &Config, named: &Path) -> Result<NamedMapping> {
    let Some(name) = named.to_str().and_then(|text| text.parse::<SourceName>().ok()) else {
        return file(named);
    };
    let mut kept = match read(config) {
        Err(_) if named.exists() => return file(named),
        kept => kept?,
    };
    match kept.mappings.remove(&name) {
        Some(KeptMapping { text, last_file, .. }) => {
            Ok(NamedMapping { shown: format!("the mapping {name}"), text, kept: Some((name, last_file)) })
        }
        None if named.exists() => file(named),
        None => bail!("there is no mapping {name}, neither kept nor as a file here; {}", listed(&kept)),
    }
}

/// Reads the TOML of a mapping from a file. Fails if it is absent, no regular file, too large or not UTF-8.
pub fn file(path: &Path) -> Result<NamedMapping> {
    let shown = path.display().to_string();
    let unreadable = || format!("the mapping {shown} cannot be read");
    let bytes = bounded_file::read(path, MAX_MAPPING_BYTES as u64).with_context(unreadable)?;
    let text = String::from_utf8(bytes)
        .ok()
        .context("it is not UTF-8; save it as UTF-8")
        .with_context(unreadable)?;
    // Some editors of Windows begin a file with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(NamedMapping { shown, text, kept: None })
}

/// Returns the day of a time in UTC, as `2026-10-01`.
pub fn day(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d").to_string()
}

/// Returns which mappings are kept, for sentences about one that is not.
pub fn listed(kept: &KeptMappings) -> String {
    if kept.mappings.is_empty() {
        return "no mapping is kept; add one with loggia mappings add FILE.toml".to_owned();
    }
    let names: Vec<&str> = kept.mappings.keys().map(SourceName::as_str).collect();
    let (be, mappings) = if names.len() == 1 { ("is", "mapping") } else { ("are", "mappings") };
    format!("the kept {mappings} {be} {}", names.join(", "))
}

/// Records the file that was imported with a kept mapping, and its columns, so that one that is gone from the next file can be told
/// from one that was never there. A mapping that was removed meanwhile stays removed. Fails if the file cannot be written.
pub fn remember_file(config: &Config, name: &SourceName, file: &Path, columns: &[String]) -> Result<()> {
    let mut kept = read(config)?;
    let Some(mapping) = kept.mappings.get_mut(name) else { return Ok(()) };
    let file_name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let (imported_at, columns) = (process::clock().now(), columns.to_vec());
    mapping.last_file = Some(LastFile { name: file_name, imported_at, columns });
    write(config, &kept)
}

/// Removes the file once nothing is kept. Fails if it cannot be removed.
pub fn remove_all(config: &Config) -> Result<()> {
    let path = path(config);
    fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))
}

#[cfg(test)]
mod tests;
