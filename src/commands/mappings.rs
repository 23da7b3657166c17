//! `loggia mappings`: the mappings that are kept with the catalog, for `loggia import --mapping NAME`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use cli_output::{Output, count};
use mapping::Mapping;
use schemas::external_id::SourceName;
use schemas::kept_mappings::{KeptMapping, KeptMappings};
use serde::Serialize;

use crate::cli::MappingsCommand;
use crate::config::Config;
use crate::kept_mappings;
use crate::process;

/// What became of a mapping.
#[derive(Debug, Serialize)]
struct Done<'a> {
    name: &'a SourceName,
    /// `added`, `replaced`, `same` or `removed`.
    done: &'static str,
}

/// A kept mapping as it is listed.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    name: &'a SourceName,
    #[serde(flatten)]
    mapping: &'a KeptMapping,
}

pub fn run(config: &Config, command: &MappingsCommand, output: Output) -> Result<ExitCode> {
    match command {
        MappingsCommand::Add { file } => add(config, file, output),
        MappingsCommand::List => list(&kept_mappings::read(config)?, output),
        MappingsCommand::Show { name } => show(&kept_mappings::read(config)?, name, output),
        MappingsCommand::Remove { name } => remove(config, name, output),
    }
}

fn add(config: &Config, file: &Path, output: Output) -> Result<ExitCode> {
    let kept_mappings::NamedMapping { shown, text, .. } = kept_mappings::file(file)?;
    let mapping = Mapping::parse(&shown, &text)?;
    let Some(name) = mapping.name else {
        bail!("{shown} has no name; begin it with a line such as name = \"{}\"", suggested_name(file));
    };
    let name: SourceName = name.parse()?;
    let mut kept = kept_mappings::read(config)?;
    let before = kept.mappings.get(&name);
    let (done, text_of_it) = match before {
        None => (
            "added",
            format!("the mapping {name} is kept; import with it: loggia import FILE --mapping {name}"),
        ),
        Some(before) if before.text == text => ("same", format!("the mapping {name} is kept already")),
        Some(_) => ("replaced", format!("the mapping {name} replaces the one that was kept")),
    };
    if done != "same" {
        // The columns of the last file stay: the next one may lack some of them.
        let last_file = before.and_then(|before| before.last_file.clone());
        kept.mappings.insert(name.clone(), KeptMapping { text, added_at: process::clock().now(), last_file });
        kept_mappings::write(config, &kept)?;
    }
    output.answer(&Done { name: &name, done }, || text_of_it)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the name of a file as the name of a mapping, for an example.
fn suggested_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase().replace([' ', '.'], "-");
    stem.parse::<SourceName>().map_or_else(|_| "works".to_owned(), String::from)
}

fn list(kept: &KeptMappings, output: Output) -> Result<ExitCode> {
    let all: Vec<Listed> = kept.mappings.iter().map(|(name, mapping)| Listed { name, mapping }).collect();
    let cells = |Listed { name, mapping }: &Listed| {
        let last = mapping.last_file.as_ref();
        [
            name.to_string(),
            kept_mappings::day(mapping.added_at),
            last.map_or_else(|| "-".to_owned(), |last| last.name.clone()),
            last.map_or_else(|| "-".to_owned(), |last| kept_mappings::day(last.imported_at)),
            last.map_or_else(|| "-".to_owned(), |last| count(last.columns.len() as u64)),
        ]
    };
    output.rows(
        &all,
        ["mapping", "added", "last file", "imported", "columns"],
        cells,
        "no mapping is kept; add one with loggia mappings add FILE.toml",
    )?;
    Ok(ExitCode::SUCCESS)
}

fn show(kept: &KeptMappings, name: &str, output: Output) -> Result<ExitCode> {
    let found = name.parse().ok().and_then(|name: SourceName| kept.mappings.get_key_value(&name));
    let Some((name, mapping)) = found else { return Ok(not_kept(kept, name, output)) };
    output.answer(&Listed { name, mapping }, || mapping.text.trim_end().to_owned())?;
    Ok(ExitCode::SUCCESS)
}

fn remove(config: &Config, name: &str, output: Output) -> Result<ExitCode> {
    let mut kept = kept_mappings::read(config)?;
    let found = name.parse().ok().filter(|name: &SourceName| kept.mappings.remove(name).is_some());
    let Some(name) = found else { return Ok(not_kept(&kept, name, output)) };
    match kept.mappings.is_empty() {
        true => kept_mappings::remove_all(config),
        false => kept_mappings::write(config, &kept),
    }
    .context("the mapping is not removed")?;
    output.answer(&Done { name: &name, done: "removed" }, || {
        format!("the mapping {name} is removed; what was imported with it stays")
    })?;
    Ok(ExitCode::SUCCESS)
}

fn not_kept(kept: &KeptMappings, name: &str, output: Output) -> ExitCode {
    output.not_done(&format!("no mapping “{name}” is kept; {}", kept_mappings::listed(kept)))
}

#[cfg(test)]
mod tests;
