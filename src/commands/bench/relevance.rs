//! The relevance on the demo catalog and, with `--records`, on a catalog of the records of a file alone.

use anyhow::{Context, Result};
use bench::filling;
use bench::relevance::{self, Catalog, Relevance};
use bench::server::Server;
use cli_output::{count, say};

use super::Report;
use crate::cli::BenchArgs;
use crate::config::Config;

/// Measures the relevance on the catalog of this server, and on one of its own if there are other records.
pub async fn measure(config: &Config, server: &Server, args: &BenchArgs, report: &mut Report) -> Result<()> {
    say(&format!("the names and typing errors are drawn with --seed {}", args.seed));
    let mut measured = vec![relevance::measure(server, Catalog::Demo, args.seed).await?];
    add(&measured[0], report)?;
    if let Some(file) = &args.records {
        let mut server = filling::start_and_import(super::new_server(config)?, file).await?;
        let records = relevance::measure(&server, Catalog::Records, args.seed).await;
        let records = records.with_context(|| format!("{} cannot be measured", file.display()))?;
        server.stop().await?;
        add(&records, report)?;
        measured.push(records);
    }
    report.table = relevance::table(&measured);
    Ok(())
}

fn add(measured: &Relevance, report: &mut Report) -> Result<()> {
    report.add(measured.figures())?;
    for miss in measured.misses() {
        say(&miss);
    }
    if !measured.left_out.is_empty() {
        let (left_out, queries) = (measured.left_out.len() as u64, measured.left_out.join(", "));
        say(&format!(
            "{} judged queries do not fit this catalog and are left out: {queries}",
            count(left_out)
        ));
    }
    Ok(())
}
