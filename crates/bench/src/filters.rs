//! The filters suite: CPU time of a search with filters, and with facets beside them, compared with the same search without.

use anyhow::Result;

use crate::load::Request;
use crate::searching::{CONNECTIONS, cpu_of, median};
use crate::server::Server;
use crate::{Figure, queries};

/// Filters that leave a part of the catalog.
const FILTERS: &str = "&category=architecture,interiors,photography&year_from=1990&year_to=2020";
/// The facets beside the results of the site, and a taste dimension.
const FACETS: &str = "&facets=category,city,studio,year,material";
/// The most that a search with filters may cost, as a multiple of the same search without.
const MAX_FILTERED: f64 = 2.0;
/// The same with facets, in a catalog of up to 2,600 projects and in a larger one.
const MAX_COUNTED: [f64; 2] = [3.0, 6.0];

/// Measures the four kinds of search in turn, three times, and takes the medians.
///
/// # Errors
///
/// If a request fails.
pub async fn measure(server: &Server, size: usize) -> Result<Vec<Figure>> {
    let paths = queries::paths(demo::catalog(demo::DEMO_SEED, size));
    let with = |added: &[&str]| -> Vec<Request> {
        paths.iter().map(|path| Request::get(&format!("{path}{}", added.concat()))).collect()
    };
    let kinds = [with(&[]), with(&[FILTERS]), with(&[FACETS]), with(&[FILTERS, FACETS])];
    let mut cpu = kinds.each_ref().map(|_| Vec::new());
    for _ in 0..3 {
        for (requests, cpu) in kinds.iter().zip(&mut cpu) {
            cpu.push(cpu_of(server.pid()?, &server.address, requests, CONNECTIONS).await?.0);
        }
    }
    let [plain, filtered, counted, both] = cpu.map(median);
    let max_counted = MAX_COUNTED[usize::from(size > 2_600)];
    let against = |name: &str, cpu: f64, limit| Figure::new(name, cpu / plain, "times").at_most(limit);
    Ok(vec![
        Figure::new("CPU of a search in turn with filters", plain, "µs"),
        against("CPU of a search with three filters against it", filtered, MAX_FILTERED),
        against("CPU of a search with five facets against it", counted, max_counted),
        against("CPU of a search with both against it", both, max_counted),
    ])
}
