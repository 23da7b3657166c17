//! The search suite: CPU time of a request compared with a bare route that returns the same number of bytes, and latency.

use std::io::Write;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::http::header;
use axum::routing::get;
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::load::{self, Connection, Request};
use crate::server::{Server, usage};
use crate::{Figure, queries};

/// The number of connections of a load.
pub const CONNECTIONS: usize = 8;
/// Requests per measurement: enough for the kernel's CPU clock of 10 ms.
const REQUESTS: usize = 60_000;

/// Measures both in turn, three times, and takes the medians.
///
/// # Errors
///
/// If a request fails or the bare route does not start.
pub async fn measure(server: &Server, size: usize) -> Result<Vec<Figure>> {
    let paths = queries::paths(demo::catalog(demo::DEMO_SEED, size));
    let bodies = answers(server, &paths).await?;
    let body = &bodies[bodies.len() / 2];
    let requests: Vec<Request> = paths.iter().map(|path| Request::get(path)).collect();
    let (bare, bare_address) = start_bare(server, body).await?;
    let bare_pid = bare.id().context("the bare route has ended")?;
    let (mut ours, mut theirs, mut ratios, mut p99) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    load::run(&server.address, &requests, CONNECTIONS, REQUESTS / 6).await?;
    load::run(&bare_address, &requests, CONNECTIONS, REQUESTS / 6).await?;
    for _ in 0..3 {
        let (cpu, outcome) = cpu_of(server.pid()?, &server.address, &requests, CONNECTIONS).await?;
        let (bare_cpu, _) = cpu_of(bare_pid, &bare_address, &requests, CONNECTIONS).await?;
        ours.push(cpu);
        theirs.push(bare_cpu);
        ratios.push(cpu / bare_cpu);
        p99.push(outcome.percentile(0.99));
    }
    let limit = if size <= 2_600 { 3.5 } else { 7.0 };
    Ok(vec![
        Figure::new(
            format!("distinct queries, answers of {} bytes", body.len()),
            paths.len() as f64,
            "queries",
        ),
        Figure::new("CPU of a search request", median(ours), "µs"),
        Figure::new("CPU of the bare route", median(theirs), "µs"),
        Figure::new("CPU of a search against a bare route", median(ratios), "times").at_most_in(size, limit),
        Figure::new(format!("p99 of a search over {CONNECTIONS} connections"), median(p99), "ms")
            .at_most(5.0),
    ])
}

/// Returns the answer to every query of the log, with one of about the mean size in the middle.
pub(crate) async fn answers(server: &Server, paths: &[String]) -> Result<Vec<Vec<u8>>> {
    let mut connection = Connection::open(&server.address).await?;
    let mut bodies = Vec::new();
    for path in paths {
        let answer = connection.get(path).await?;
        if answer.status != 200 {
            bail!("{path} was answered with {}: {}", answer.status, String::from_utf8_lossy(&answer.body));
        }
        bodies.push(answer.body);
    }
    // The bare route returns one body: the one nearest to the mean size, so that both servers send as many bytes.
    let mean = bodies.iter().map(Vec::len).sum::<usize>() / bodies.len().max(1);
    bodies.sort_by_key(|body| body.len().abs_diff(mean));
    bodies.rotate_right(paths.len() / 2);
    Ok(bodies)
}

/// Starts the bare route; returns its address too.
pub(crate) async fn start_bare(server: &Server, body: &[u8]) -> Result<(Child, String)> {
    let file = server.folder().join("body.json");
    std::fs::write(&file, body)?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("bench-bare")
        .arg(&file)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let out = child.stdout.take().context("the bare route prints nothing")?;
    let address = BufReader::new(out).lines().next_line().await?.context("the bare route did not start")?;
    Ok((child, address))
}

/// Serves the bytes of a file as JSON on a free port until it is killed; prints the address.
///
/// # Errors
///
/// If the file cannot be read or no port is free.
pub async fn serve_bare_route(body: &Path) -> Result<ExitCode> {
    let body = Bytes::from(std::fs::read(body)?);
    let answer = async move || ([(header::CONTENT_TYPE, "application/json")], body.clone());
    let router = Router::new().route("/v1/search", get(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", listener.local_addr()?)?;
    out.flush()?;
    drop(out);
    axum::serve(listener, router).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the CPU time per request in microseconds, and the outcome of the load.
///
/// # Errors
///
/// If a request fails, or the CPU time cannot be read.
pub async fn cpu_of(
    pid: u32,
    address: &str,
    requests: &[Request],
    connections: usize,
) -> Result<(f64, load::Outcome)> {
    cpu_of_requests(pid, address, requests, connections, REQUESTS).await
}

/// Returns the CPU time per request in microseconds, and the outcome of a load of `count` requests: together they should take a second of
/// CPU time or more.
///
/// # Errors
///
/// If a request fails, or the CPU time cannot be read.
pub async fn cpu_of_requests(
    pid: u32,
    address: &str,
    requests: &[Request],
    connections: usize,
    count: usize,
) -> Result<(f64, load::Outcome)> {
    let before = usage(pid)?.cpu;
    let outcome = load::run(address, requests, connections, count).await?;
    let cpu = usage(pid)?.cpu - before;
    if outcome.failed > 0 {
        bail!("{} requests failed under load", outcome.failed);
    }
    Ok((cpu / count as f64 * 1e6, outcome))
}

/// Returns the median of at least one figure.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
