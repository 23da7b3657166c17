//! `loggia bench`: measures this build on this machine, each figure against its limit in the same run. A figure
//! that compares with something compares within the run: machines drift, ratios hold.

mod cluster;
mod edits;
mod metering;
mod similar;

use std::process::ExitCode;

use ::bench::server::Server;
use ::bench::{Figure, filling, filters, idle, mcp, queries, rebuilding, searching};
use anyhow::{Context, Result};
use cli_output::{Output, say};

use crate::cli::{BenchArgs, BenchSuite};
use crate::config::{Config, Vectors};

pub use ::bench::searching::serve_bare_route as bare;

/// Runs the suites that are asked for, on a catalog of their own. Returns exit status 3 if a figure misses its limit.
pub async fn run(config: &Config, args: &BenchArgs, output: Output) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        say("this is a debug build; its figures say nothing about a release build");
    }
    let mut figures = Vec::new();
    let mut add = |measured: Vec<Figure>| -> Result<()> {
        for figure in measured {
            output.answer(&figure, || figure.line())?;
            figures.push(figure);
        }
        Ok(())
    };
    let wants = |suite| args.suites.iter().any(|wanted| *wanted == suite || *wanted == BenchSuite::All);
    if wants(BenchSuite::Metering) {
        add(metering::measure(config).await?)?;
    }
    if wants(BenchSuite::Cluster) {
        add(cluster::measure(config).await?)?;
    }
    if args.suites.iter().all(|suite| matches!(suite, BenchSuite::Metering | BenchSuite::Cluster)) {
        return finish(args, &figures);
    }
    if wants(BenchSuite::Similar) {
        add(similar::table(args.size).await?)?;
    }
    let (mut server, filled) = filling::start_and_fill(args.size).await?;
    add(filled)?;
    // The measured server has the same settings.
    let has_vectors = !matches!(config.media.vectors, Vectors::Off);
    if has_vectors && (wants(BenchSuite::Search) || wants(BenchSuite::Mcp)) {
        // Work in the background would be counted as the cost of requests.
        filling::wait_until_embedded(&server, args.size).await?;
        add(vec![filling::memory(&server, args.size)?])?;
    }
    if wants(BenchSuite::Search) {
        add(searching::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Filters) {
        add(filters::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Mcp) {
        add(mcp::measure(&server, args.size).await?)?;
    }
    if has_vectors && wants(BenchSuite::Similar) {
        filling::wait_until_embedded(&server, args.size).await?;
        let paths = queries::paths(demo::catalog(demo::DEMO_SEED, args.size));
        add(::bench::similar::measure(&server, args.size, &paths).await?)?;
    }
    if wants(BenchSuite::Visibility) {
        add(edits::measure(&server).await?)?;
    }
    if wants(BenchSuite::Idle) {
        add(idle::measure(&server).await?)?;
    }
    if wants(BenchSuite::Rebuild) {
        add(rebuilding::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Start) {
        add(vec![restart(&mut server, args.size).await?])?;
    }
    server.stop().await?;
    finish(args, &figures)
}

/// Writes the figures to the file of `--out`. Returns exit status 3 if one misses its limit.
fn finish(args: &BenchArgs, figures: &[Figure]) -> Result<ExitCode> {
    if let Some(path) = &args.out {
        std::fs::write(path, serde_json::to_vec_pretty(figures)?)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(if figures.iter().all(Figure::holds) { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

async fn restart(server: &mut Server, size: usize) -> Result<Figure> {
    server.stop().await?;
    let seconds = server.start().await?;
    Ok(Figure::new("start on the existing catalog until ready", seconds, "s").at_most_in(size, 3.0))
}
