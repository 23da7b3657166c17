//! The idle suite: the CPU time of a server without requests.

use std::time::Duration;

use anyhow::Result;

use crate::Figure;
use crate::searching::median;
use crate::server::Server;

/// The time in which work that earlier suites left, such as merges of segments, ends.
const SETTLE: Duration = Duration::from_secs(15);
/// The length of a measurement: 0.1 % of it is the resolution of the kernel's CPU clock.
const INTERVAL: Duration = Duration::from_secs(10);

/// Measures the share of a core that the server and its nats-server use, three times, and takes the median.
///
/// # Errors
///
/// If the server has ended.
pub async fn measure(server: &Server) -> Result<Vec<Figure>> {
    tokio::time::sleep(SETTLE).await;
    let mut shares = Vec::new();
    for _ in 0..3 {
        let before = server.cpu()?;
        tokio::time::sleep(INTERVAL).await;
        shares.push((server.cpu()? - before) / INTERVAL.as_secs_f64() * 100.0);
    }
    Ok(vec![
        Figure::new("CPU of idle loggia up with nats-server", median(shares), "% of a core").at_most(0.5),
    ])
}
