//! Search by meaning: its cost on the demo catalog and, with `--records`, what it finds in a catalog of the records of a file alone.

use anyhow::{Context, Result, bail};
use bench::server::Server;
use bench::{filling, meaning as searches};
use cli_output::{count, say};
use embeddings::TextModel;

use super::Report;
use crate::cli::{BenchArgs, BenchSuite};
use crate::compose;
use crate::config::{Config, Vectors};

/// Fails if there is nothing with which texts can be searched by meaning, before anything is measured.
pub async fn check_weights(config: &Config) -> Result<()> {
    if config.media.vectors != Vectors::Auto {
        bail!("searches by meaning are measured with vectors = \"auto\"; the settings have another value");
    }
    let folder = compose::weights_folder(config);
    let shown = folder.display().to_string();
    let model = tokio::task::spawn_blocking(move || TextModel::open(&folder)).await??;
    if model.is_none() {
        bail!(
            "{shown} has no weights for texts, without which nothing is searched by meaning: run bin/setup, or `loggia models fetch DIR` \
             (docs/models.md), or name another folder with --weights"
        );
    }
    Ok(())
}

/// Measures the costs on the catalog of this server, and what is found in one of its own if there are records.
pub async fn measure(config: &Config, server: &Server, args: &BenchArgs, report: &mut Report) -> Result<()> {
    if let Err(reason) = check_weights(config).await {
        if args.suites.contains(&BenchSuite::Meaning) {
            return Err(reason);
        }
        say(&format!("searches by meaning are left out: {reason}"));
        return Ok(());
    }
    filling::wait_until_embedded(server, args.size).await?;
    report.add(searches::cost(server, args.size).await?)?;
    let Some(file) = &args.records else {
        say("what is found by meaning is measured with --records FILE");
        return Ok(());
    };
    let mut server = filling::start_and_import(super::new_server(config)?, file).await?;
    filling::wait_until_all_have_meanings(&server).await?;
    let found = searches::measure(&server, args.seed).await;
    let found = found.with_context(|| format!("{} cannot be measured", file.display()))?;
    server.stop().await?;
    report.add(found.figures())?;
    found.misses().iter().for_each(|miss| say(miss));
    if found.lacking > 0 {
        let lacking = count(found.lacking as u64);
        say(&format!(
            "the judged questions are about other records, of which {lacking} are not there; they are left out"
        ));
    }
    Ok(())
}
