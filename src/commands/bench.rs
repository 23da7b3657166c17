//! `loggia bench`: measures this build on this machine, each figure against its limit in the same run. A figure
//! that compares with something compares within the run: machines drift, ratios hold.

mod bare;
mod cluster;
mod edits;
mod filling;
mod load;
mod mcp;
mod metering;
mod queries;
mod rebuilding;
mod searching;
mod server;
mod similar;

use std::process::ExitCode;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::cli::{BenchArgs, BenchSuite};
use crate::config::{Config, Vectors};
use crate::output::{Output, say};
use server::Server;

pub use bare::run as bare;

/// The largest catalog whose figures have limits; of a larger one they are only shown.
const LIMITED: usize = 100_000;

/// One measured figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it may be, if it has a limit.
    pub limit: Option<Limit>,
}

/// What a figure may be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// So much or less.
    AtMost(f64),
    /// So much or more.
    AtLeast(f64),
}

impl Figure {
    fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Figure {
        Figure { name: name.into(), value, unit, limit: None }
    }

    fn at_most(mut self, limit: f64) -> Figure {
        self.limit = Some(Limit::AtMost(limit));
        self
    }

    /// Has this limit in catalogs of up to [`LIMITED`] projects.
    fn at_most_in(self, size: usize, limit: f64) -> Figure {
        if size <= LIMITED { self.at_most(limit) } else { self }
    }

    fn at_least(mut self, limit: f64) -> Figure {
        self.limit = Some(Limit::AtLeast(limit));
        self
    }

    /// Whether it keeps its limit; one without a limit always does.
    pub fn holds(&self) -> bool {
        match self.limit {
            None => true,
            Some(Limit::AtMost(limit)) => self.value <= limit,
            Some(Limit::AtLeast(limit)) => self.value >= limit,
        }
    }

    fn line(&self) -> String {
        let limit = match self.limit {
            None => String::new(),
            Some(Limit::AtMost(limit)) => format!("at most {limit}"),
            Some(Limit::AtLeast(limit)) => format!("at least {limit}"),
        };
        let verdict = if self.limit.is_none() {
            ""
        } else if self.holds() {
            "ok"
        } else {
            "MISSED"
        };
        format!("{:<46} {:>12.2} {:<12} {limit:<16} {verdict}", self.name, self.value, self.unit)
    }
}

/// Runs the wanted parts on a catalog of their own. Exit status 3 when a figure misses its limit.
pub async fn run(config: &Config, args: &BenchArgs, output: Output) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        say("this is a debug build; its figures say nothing about a release build");
    }
    let mut figures = Vec::new();
    let mut take = |measured: Vec<Figure>| -> Result<()> {
        for figure in measured {
            output.answer(&figure, || figure.line())?;
            figures.push(figure);
        }
        Ok(())
    };
    let wants = |suite| args.suites.iter().any(|wanted| *wanted == suite || *wanted == BenchSuite::All);
    if wants(BenchSuite::Metering) {
        take(metering::measure(config).await?)?;
    }
    if wants(BenchSuite::Cluster) {
        take(cluster::measure(config).await?)?;
    }
    if args.suites.iter().all(|suite| matches!(suite, BenchSuite::Metering | BenchSuite::Cluster)) {
        return finish(args, &figures);
    }
    if wants(BenchSuite::Similar) {
        take(similar::table(args.size).await?)?;
    }
    let (mut server, filled) = filling::start_and_fill(args.size).await?;
    take(filled)?;
    // The measured server has the same settings. Without vectors it is soon quiet, whatever the size.
    let is_described = !matches!(config.vectors, Vectors::Off);
    if is_described && (wants(BenchSuite::Search) || wants(BenchSuite::Mcp)) {
        // What goes on in the background would be counted as the cost of requests.
        filling::wait_until_described(&server, args.size).await?;
        take(vec![filling::memory(&server, args.size)?])?;
    }
    if wants(BenchSuite::Search) {
        take(searching::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Mcp) {
        take(mcp::measure(&server, args.size).await?)?;
    }
    if is_described && wants(BenchSuite::Similar) {
        filling::wait_until_described(&server, args.size).await?;
        let paths = queries::paths(demo::catalog(demo::DEMO_SEED, args.size));
        take(similar::answers(&server, args.size, &paths).await?)?;
    }
    if wants(BenchSuite::Visibility) {
        take(edits::measure(&server).await?)?;
    }
    if wants(BenchSuite::Rebuild) {
        take(rebuilding::measure(&server, args.size).await?)?;
    }
    if wants(BenchSuite::Start) {
        take(vec![restart(&mut server, args.size).await?])?;
    }
    server.stop().await?;
    finish(args, &figures)
}

/// Writes the figures where they are wanted, and says whether all hold.
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
