//! Similarity: what an answer costs compared with a search.

use anyhow::Result;

use crate::Figure;
use crate::load::Request;
use crate::searching::{CONNECTIONS, cpu_of, median};
use crate::server::Server;

/// The number of distinct projects that are asked for.
const REQUESTED: usize = 2_000;

/// CPU of an answer against that of a search, on the measured server, whose projects have their vectors.
pub async fn answers(server: &Server, size: usize, search: &[String]) -> Result<Vec<Figure>> {
    let records = demo::catalog(demo::DEMO_SEED, size);
    let slugs = records.filter_map(|record| record["slug"].as_str().map(str::to_owned));
    let near: Vec<Request> = slugs
        .step_by((size / REQUESTED).max(1))
        .map(|slug| Request::get(&format!("/v1/similar/{slug}")))
        .collect();
    let search: Vec<Request> = search.iter().map(|path| Request::get(path)).collect();
    let (mut cpu, mut found, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let (similar, _) = cpu_of(server.pid()?, &server.address, &near, CONNECTIONS).await?;
        let (searched, _) = cpu_of(server.pid()?, &server.address, &search, CONNECTIONS).await?;
        cpu.push(similar);
        found.push(searched);
        ratios.push(similar / searched);
    }
    Ok(vec![
        Figure::new("CPU of a request for neighbours", median(cpu), "µs"),
        Figure::new("CPU of a search request in turn with it", median(found), "µs"),
        Figure::new("CPU of neighbours against a search", median(ratios), "times").at_most(1.0),
    ])
}
