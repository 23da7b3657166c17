//! `loggia models`: the weights of the encoders, and which encoder made how many vectors; installs weights.

mod recorded;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use cli_output::{Output, bytes, count, table};
use data_folder::DataFolder;
use embeddings::weights::{self, State, Status};
use serde::Serialize;

use super::config::CheckedEncoder;
use crate::cli::ModelsCommand;
use crate::compose;
use crate::config::Config;
use recorded::RecordedVectors;

/// The exit status if a file of weights is damaged.
const DIFFERENCE: u8 = 3;

/// The weights of one model.
#[derive(Debug, Serialize)]
struct Weights {
    model: &'static str,
    /// What is encoded with them: `pictures` or `texts`.
    encodes: &'static str,
    licence: &'static str,
    file: String,
    /// `ready`, `missing` or `damaged`.
    state: &'static str,
    /// The size of the file that is there.
    bytes: Option<u64>,
    /// Why the file that is there cannot be used.
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    weights: Vec<Weights>,
    /// The encoder that the settings choose.
    encoder: CheckedEncoder,
    /// How many vectors each encoder made; null where the log is not here.
    vectors: Option<Vec<RecordedVectors>>,
}

/// What was installed, and what is missing still.
#[derive(Debug, Serialize)]
struct Installed {
    folder: String,
    installed: Vec<Weights>,
    /// The models whose weights are neither there nor in the folder that was named.
    missing: Vec<&'static str>,
}

pub async fn run(config: &Config, command: Option<&ModelsCommand>, output: Output) -> Result<ExitCode> {
    match command {
        None => show(config, output).await,
        Some(ModelsCommand::Fetch { folder }) => fetch(config, folder, output).await,
    }
}

/// Prints the report; exit status 3 if a file is damaged.
async fn show(config: &Config, output: Output) -> Result<ExitCode> {
    DataFolder::new(&config.server.data).check()?;
    let report = Report {
        weights: status(compose::weights_folder(config)).await?,
        encoder: CheckedEncoder::of(config).await?,
        vectors: recorded::vectors(config).await?,
    };
    output.answer(&report, || text(&report))?;
    let is_damaged = report.weights.iter().any(|weights| weights.problem.is_some());
    Ok(if is_damaged { ExitCode::from(DIFFERENCE) } else { ExitCode::SUCCESS })
}

/// Returns the weights in a folder; reading and checking them takes some 50 ms.
async fn status(folder: PathBuf) -> Result<Vec<Weights>> {
    let all = tokio::task::spawn_blocking(move || weights::status(&folder)).await?;
    Ok(all.into_iter().map(Weights::of).collect())
}

async fn fetch(config: &Config, from: &Path, output: Output) -> Result<ExitCode> {
    let to = compose::own_weights_folder(config);
    if config.media.weights.is_none() {
        DataFolder::new(&config.server.data).check()?;
    }
    if !from.is_dir() {
        bail!(
            "there is no folder {}; name one that holds the files which docs/models.md lists",
            from.display()
        );
    }
    let (source, target) = (from.to_owned(), to.clone());
    let installed = tokio::task::spawn_blocking(move || weights::install(&source, &target)).await??;
    let missing = status(to.clone()).await?.into_iter().filter(|weights| weights.state == "missing");
    let answer = Installed {
        folder: to.display().to_string(),
        installed: installed.into_iter().map(Weights::of).collect(),
        missing: missing.map(|weights| weights.model).collect(),
    };
    output.answer(&answer, || answer.text())?;
    Ok(ExitCode::SUCCESS)
}

impl Weights {
    fn of(status: Status) -> Weights {
        let (encodes, licence) = match status.model {
            "efficientnet-lite0" => ("pictures", "Apache-2.0"),
            _ => ("texts", "MIT"),
        };
        let (state, bytes, problem) = match status.state {
            State::Ready { bytes } => ("ready", Some(bytes), None),
            State::Missing => ("missing", None, None),
            State::Unusable(error) => ("damaged", None, Some(error.to_string())),
        };
        let file = status.file.display().to_string();
        Weights { model: status.model, encodes, licence, file, state, bytes, problem }
    }
}

impl Installed {
    fn text(&self) -> String {
        let installed = self.installed.iter().map(|weights| {
            let Weights { model, encodes, file, .. } = weights;
            format!("{model} for {encodes} is in place: {file}")
        });
        let missing = self.missing.iter().map(|model| {
            format!("{model} is missing: {} and the folder that was named do not have its files", self.folder)
        });
        installed.chain(missing).collect::<Vec<_>>().join("\n")
    }
}

fn text(report: &Report) -> String {
    let cells = |weights: &Weights| {
        let state = match weights.state {
            "ready" => "in place, hash right",
            "missing" => "missing",
            _ => "damaged",
        };
        let size = weights.bytes.map_or_else(|| "-".to_owned(), bytes);
        [weights.model, weights.encodes, &size, state, weights.licence, &weights.file].map(str::to_owned)
    };
    let headings = ["weights", "for", "size", "state", "licence", "file"];
    let mut lines = table(headings, &report.weights, cells);
    lines.extend(report.weights.iter().filter_map(|weights| weights.problem.clone()));
    lines.extend([String::new(), report.encoder.sentence(), String::new()]);
    match &report.vectors {
        None => lines.push("vectors are counted in the data folder of the write side".to_owned()),
        Some(vectors) if vectors.is_empty() => lines.push("no vectors are recorded yet".to_owned()),
        Some(vectors) => lines.extend(table(["vectors of", "pictures", "texts"], vectors, |row| {
            [row.encoder.clone(), count(row.visual), count(row.semantic)]
        })),
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
