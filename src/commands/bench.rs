//! `loggia bench`: measures this build on this machine, each figure against its limit in the same run. A figure
//! that compares with something compares within the run: machines drift, ratios hold.

mod meaning;
mod relevance;

use std::fs::File;
use std::process::ExitCode;

use ::bench::server::Server;
use ::bench::{
    Figure, cluster, comparison, edits, filling, filters, idle, labelled_pictures, mcp, metering,
    neighbour_table, queries, rebuilding, searching, similar,
};
use anyhow::{Context, Result, bail};
use cli_output::{Output, Usage, say};
use data_folder::DataFolder;
use schemas::command::{Command, CommandReply};

use crate::cli::{BenchArgs, BenchSuite};
use crate::compose;
use crate::config::{Config, Vectors};
use crate::session::Session;

pub use ::bench::searching::serve_bare_route as bare;

/// Runs the suites that are asked for, on a catalog of their own. Returns exit status 3 if a figure misses its limit.
pub async fn run(config: &Config, args: &BenchArgs, output: Output) -> Result<ExitCode> {
    check_files(args)?;
    if args.suites.contains(&BenchSuite::Meaning) {
        meaning::check_weights(config).await?;
    }
    if cfg!(debug_assertions) {
        say("this is a debug build; its figures say nothing about a release build");
    }
    let mut report = Report { output, figures: Vec::new(), table: Vec::new() };
    if wants(args, BenchSuite::Metering) {
        report.add(metering::measure(config.nats.server.clone()).await?)?;
    }
    if wants(args, BenchSuite::Cluster) {
        report.add(cluster::measure(config.nats.server.as_deref()).await?)?;
    }
    if wants(args, BenchSuite::Comparison) {
        report.add(comparison::measure(args.size).await?)?;
    }
    let needs_no_catalog = |suite: &BenchSuite| {
        matches!(suite, BenchSuite::Metering | BenchSuite::Cluster | BenchSuite::Comparison)
    };
    if !args.suites.iter().all(needs_no_catalog) {
        measure_catalog(config, args, &mut report).await?;
    }
    finish(args, &report)
}

/// Checks the files and folders that the arguments name, before anything is measured.
fn check_files(args: &BenchArgs) -> Result<()> {
    if let Some(records) = &args.records {
        if !wants(args, BenchSuite::Relevance) && !wants(args, BenchSuite::Meaning) {
            return Err(
                Usage("--records is for two suites: loggia bench relevance meaning --records FILE").into()
            );
        }
        let opened = File::open(records).and_then(|file| file.metadata());
        let about = opened.with_context(|| {
            format!("{} cannot be read; name a file of records with --records", records.display())
        })?;
        if about.is_dir() {
            bail!("{} is a folder; name a file of records with --records", records.display());
        }
    }
    if let Some(folder) = &args.pictures {
        if !wants(args, BenchSuite::Similar) {
            return Err(Usage("--pictures is for one suite: loggia bench similar --pictures DIR").into());
        }
        labelled_pictures::read_labels(folder)?;
    }
    Ok(())
}

/// Returns a server with the weights of the settings, which is not started.
fn new_server(config: &Config) -> Result<Server> {
    Server::new(&compose::weights_folder(config))
}

fn wants(args: &BenchArgs, suite: BenchSuite) -> bool {
    args.suites.iter().any(|wanted| *wanted == suite || *wanted == BenchSuite::All)
}

/// Runs the suites that need a catalog; they share one.
async fn measure_catalog(config: &Config, args: &BenchArgs, report: &mut Report) -> Result<()> {
    let wants = |suite| wants(args, suite);
    if wants(BenchSuite::Similar) {
        report.add(neighbour_table::measure(args.size).await?)?;
        if let Some(folder) = &args.pictures {
            report.add(labelled_pictures::measure(compose::weights_folder(config), folder).await?)?;
        }
    }
    let (mut server, filled) = filling::start_and_fill(new_server(config)?, args.size).await?;
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
        report.add(similar::measure(&server, args.size, &paths).await?)?;
    }
    // Before the edits, which change the catalog.
    if wants(BenchSuite::Relevance) {
        relevance::measure(config, &server, args, report).await?;
    }
    if wants(BenchSuite::Meaning) {
        meaning::measure(config, &server, args, report).await?;
    }
    if wants(BenchSuite::Visibility) {
        let session = Session::of_folder(&server.data()).await?;
        report.add(edits::measure(&server, sender(&session)).await?)?;
        session.close().await;
    }
    // After those, since it gives pictures to some projects, which edits cost more with.
    if has_vectors && wants(BenchSuite::Similar) {
        let session = Session::of_folder(&server.data()).await?;
        let store = DataFolder::new(&server.data()).store();
        report.add(edits::measure_vectors(&store, sender(&session)).await?)?;
        session.close().await;
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

/// Returns what sends a command as the actor for whom pictures are drawn.
fn sender(session: &Session) -> impl AsyncFn(Command) -> Result<CommandReply> {
    async |command| session.send(demo::ACTOR.parse()?, None, command).await
}

async fn restart(server: &mut Server, size: usize) -> Result<Figure> {
    server.stop().await?;
    let seconds = server.start().await?;
    Ok(Figure::new("start on the existing catalog until ready", seconds, "s").at_most_in(size, 3.0))
}
