//! The similarity suite: CPU time of a request for similar projects compared with a search.

use anyhow::Result;

use crate::Figure;
use crate::load::Request;
use crate::searching::{CONNECTIONS, cpu_of, median};
use crate::server::Server;

/// The number of distinct projects that are requested.
const REQUESTED: usize = 2_000;

/// Measures both in turn, three times, and takes the medians. The projects of the server must have vectors.
///
/// # Errors
///
/// If a request fails.
pub async fn measure(server: &Server, size: usize, search: &[String]) -> Result<Vec<Figure>> {
    let records = demo::catalog(demo::DEMO_SEED, size);
    let slugs = records.filter_map(|record| record["slug"].as_str().map(str::to_owned));
    let similar: Vec<Request> = slugs
        .step_by((size / REQUESTED).max(1))
        .map(|slug| Request::get(&format!("/v1/similar/{slug}")))
        .collect();
    let search: Vec<Request> = search.iter().map(|path| Request::get(path)).collect();
    let (mut cpu, mut reference, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let (similar_cpu, _) = cpu_of(server.pid()?, &server.address, &similar, CONNECTIONS).await?;
        let (search_cpu, _) = cpu_of(server.pid()?, &server.address, &search, CONNECTIONS).await?;
        cpu.push(similar_cpu);
        reference.push(search_cpu);
        ratios.push(similar_cpu / search_cpu);
    }
    Ok(vec![
        Figure::new("CPU of a request for neighbours", median(cpu), "µs"),
        Figure::new("CPU of a search request in turn with it", median(reference), "µs"),
        Figure::new("CPU of neighbours against a search", median(ratios), "times").at_most(1.0),
    ])
}
