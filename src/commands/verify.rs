//! `loggia verify`: compares the live read models with a fresh replay, and checks the pictures.

mod media;

use std::process::ExitCode;

use anyhow::Result;
use cli_output::{Output, Usage};
use data_folder::DataFolder;
use projections::projection::counters;
use projections::projection::search::SearchProjection;
use projections::source::EventSource;
use projections::verify::{Verified, verify};
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::keys::KeysWriter;
use read::models::ModelKind;
use read::neighbours::NeighboursWriter;

use super::rebuild::wanted;
use crate::cli::{ModelName, VerifiedPart};
use crate::compose::with_node;
use crate::config::Config;
use crate::process;
use daemon::signals::Signals;

/// Checks the parts that are named, or all read models. Returns exit status 3 on a difference.
pub async fn run(
    config: &Config,
    parts: &[VerifiedPart],
    repair: bool,
    output: Output,
    signals: Signals,
) -> Result<ExitCode> {
    if repair && !parts.contains(&VerifiedPart::Media) {
        return Err(Usage(
            "--repair restores pictures: use it with `loggia verify media`; `loggia rebuild` repairs read models",
        )
        .into());
    }
    let models: Vec<ModelName> = parts.iter().filter_map(|part| part.model()).collect();
    let mut equal = true;
    if parts.contains(&VerifiedPart::Media) {
        equal &= signals.clone().interruptible(media::verify(config, repair, output)).await?;
    }
    if parts.is_empty() || !models.is_empty() {
        equal &= compare_models(config, &models, output, signals).await? == ExitCode::SUCCESS;
    }
    Ok(if equal { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

async fn compare_models(
    config: &Config,
    models: &[ModelName],
    output: Output,
    signals: Signals,
) -> Result<ExitCode> {
    let wanted = wanted(models);
    let data = DataFolder::new(&config.server.data);
    with_node(config, true, signals, async |client, _| {
        let source = EventSource::new(client.clone());
        let mut equal = true;
        for model in &wanted {
            let verified = compare(*model, &data, &source, output).await?;
            output.answer(&verified, || sentence(&verified))?;
            equal &= verified.equal;
        }
        Ok(if equal { ExitCode::SUCCESS } else { ExitCode::from(3) })
    })
    .await
}

async fn compare(
    model: ModelKind,
    data: &DataFolder,
    source: &EventSource,
    output: Output,
) -> Result<Verified> {
    let bar = output.progress(1, "replaying");
    let mut progress = |at: schemas::ids::Position, to: schemas::ids::Position| {
        bar.set_length(to.0);
        bar.set_position(at.0);
    };
    let (models, source, clock) = (data.models(), source.clone(), process::clock());
    let verified = match model {
        ModelKind::Catalog => verify::<CatalogWriter>(&models, source, clock, &mut progress).await,
        ModelKind::Search => verify::<SearchProjection>(&models, source, clock, &mut progress).await,
        ModelKind::Neighbours => verify::<NeighboursWriter>(&models, source, clock, &mut progress).await,
        ModelKind::Archive => verify::<ArchiveWriter>(&models, source, clock, &mut progress).await,
        ModelKind::Keys => verify::<KeysWriter>(&models, source, clock, &mut progress).await,
        ModelKind::Counters => counters::verify(&models, source, clock, &mut progress).await,
    };
    bar.finish_and_clear();
    Ok(verified?)
}

fn sentence(verified: &Verified) -> String {
    let Verified { model, position, equal, live, replayed } = verified;
    if *equal {
        format!("{model}: equal to a replay of the log up to {position} ({})", &live[..16])
    } else {
        format!(
            "{model}: DIFFERS from a replay of the log up to {position}; live {}, replayed {}; `loggia rebuild {model}` repairs it",
            &live[..16],
            &replayed[..16]
        )
    }
}
