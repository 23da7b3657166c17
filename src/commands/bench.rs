//! `loggia bench`: measures this build on this machine, each figure against its limit in the same run. A figure
//! that compares with something compares within the run: machines drift, ratios hold.

mod cluster;
mod edits;
mod metering;
mod relevance;
mod similar;

use std::process::ExitCode;

use ::bench::server::Server;
use ::bench::{Figure, filling, filters, idle, mcp, queries, rebuilding, searching};
use anyhow::{Context, Result};
use cli_output::{Output, Usage, say};

use crate::cli::{BenchArgs, BenchSuite};
use crate::config::{Config, Vectors};

pub use ::bench::searching::serve_bare_route as bare;

/// Runs the suites that are asked for, on a catalog of their own. Returns exit status 3 if a figure misses its limit.
pub async fn run(config: &Config, args: &BenchArgs, output: Output) -> Result<ExitCode> {
    if let Some(records) = &args.records {
        if !wants(args, BenchSuite::Relevance) {
            return Err(Usage("--records is for one suite: loggia bench relevance --records FILE").into());
        }
        relevance::check_readable(records)?;
    }
    if cfg!(debug_assertions) {
        say("this is a debug build; its figures say nothing about a release build");
    }
    let mut report = Report { output, figures: Vec::new(), table: Vec::new() };
    if wants(args, BenchSuite::Metering) {
        report.add(metering::measure(config).await?)?;
    }
    if wants(args, BenchSuite::Cluster) {
        report.add(cluster::measure(config).await?)?;
    }
    if !args.suites.iter().all(|suite| matches!(suite, BenchSuite::Metering | BenchSuite::Cluster)) {
        measure_catalog(config, args, &mut report).await?;
    }
    finish(args, &report)
}

fn wants(args: &BenchArgs, suite: BenchSuite) -> bool {
    args.suites.iter().any(|wanted| *wanted == suite || *wanted == BenchSuite::All)
}

/// Runs the suites that need a catalog; they share one.
async fn measure_catalog(config: &Config, args: &BenchArgs, report: &mut Report) -> Result<()> {
    let wants = |suite| wants(args, suite);
    if wants(BenchSuite::Similar) {
        report.add(similar::table(args.size).await?)?;
    }
    let (mut server, filled) = filling::start_and_fill(args.size).await?;
    report.add(filled)?;
    // The measured server has the same settings.
    let has_vectors = !matches!(config.media.vectors, Vectors::Off);
    if has_vectors && (wants(BenchSuite::Search) || wants(BenchSuite::Mcp)) {
        // Work in the background would be counted as the cost of requests.
        filling::wait_until_embedded(&server, args.size).await?;
        report.add(vec![filling::memory(&server, args.size)?])?;
    }
    if wants(BenchSuite::Search) {
        report.add(searching::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Filters) {
        report.add(filters::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Mcp) {
        report.add(mcp::measure(&server, args.size).await?)?;
    }
    if has_vectors && wants(BenchSuite::Similar) {
        filling::wait_until_embedded(&server, args.size).await?;
        let paths = queries::paths(demo::catalog(demo::DEMO_SEED, args.size));
        report.add(::bench::similar::measure(&server, args.size, &paths).await?)?;
    }
    // Before the edits, which change the catalog.
    if wants(BenchSuite::Relevance) {
        relevance::measure(&server, args, report).await?;
    }
    if wants(BenchSuite::Visibility) {
        report.add(edits::measure(&server).await?)?;
    }
    if wants(BenchSuite::Idle) {
        report.add(idle::measure(&server).await?)?;
    }
    if wants(BenchSuite::Rebuild) {
        report.add(rebuilding::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Start) {
        report.add(vec![restart(&mut server, args.size).await?])?;
    }
    server.stop().await
}

/// What was measured so far. Figures are printed as they come.
struct Report {
    output: Output,
    figures: Vec<Figure>,
    /// The lines of a table that is printed at the end.
    table: Vec<String>,
}

impl Report {
    fn add(&mut self, measured: Vec<Figure>) -> Result<()> {
        for figure in measured {
            self.output.answer(&figure, || figure.line())?;
            self.figures.push(figure);
        }
        Ok(())
    }
}

/// Prints the table, and writes the figures to the file of `--out`. Returns exit status 3 if one misses its limit.
fn finish(args: &BenchArgs, report: &Report) -> Result<ExitCode> {
    let Report { output, figures, table } = report;
    if !output.is_json() {
        output.lines(table)?;
    }
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
