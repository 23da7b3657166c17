//! The MCP suite: CPU time of a tool call compared with the same query over REST, and latency.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::load::{self, Connection, Request};
use crate::searching::{cpu_of, median};
use crate::server::Server;
use crate::{Figure, queries};

const CONNECTIONS: usize = 16;
/// Requests before the measurement.
const WARM_UP: usize = 10_000;

/// Sends the same queries over both in turn, three times, and takes the medians.
///
/// # Errors
///
/// If a request fails or the answers differ.
pub async fn measure(server: &Server, size: usize) -> Result<Vec<Figure>> {
    let records = || demo::catalog(demo::DEMO_SEED, size);
    let rest: Vec<Request> = queries::paths(records()).iter().map(|path| Request::get(path)).collect();
    let calls: Vec<Request> = queries::texts(records()).iter().map(|text| call(text)).collect();
    let bytes = same_answers(server, &rest[0], &calls[0]).await?;
    for requests in [&rest, &calls] {
        load::run(&server.address, requests, CONNECTIONS, WARM_UP).await?;
    }
    let (mut tool, mut plain, mut ratios, mut p99) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let (cpu, outcome) = cpu_of(server.pid()?, &server.address, &calls, CONNECTIONS).await?;
        let (rest_cpu, _) = cpu_of(server.pid()?, &server.address, &rest, CONNECTIONS).await?;
        tool.push(cpu);
        plain.push(rest_cpu);
        ratios.push(cpu / rest_cpu);
        p99.push(outcome.percentile(0.99));
    }
    Ok(vec![
        Figure::new(format!("CPU of tools/call, for example {} bytes", bytes[1]), median(tool), "µs"),
        Figure::new(format!("CPU of the same over REST, {} bytes", bytes[0]), median(plain), "µs"),
        Figure::new("CPU of tools/call against REST", median(ratios), "times").at_most(1.5),
        Figure::new(format!("p99 of tools/call over {CONNECTIONS} connections"), median(p99), "ms")
            .at_most(5.0),
    ])
}

fn call(query: &str) -> Request {
    let params = json!({"name": "search_projects", "arguments": {"query": query}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    Request::post("/mcp", &body.to_string())
}

/// Returns the sizes of one answer over REST and MCP; fails if the results differ.
async fn same_answers(server: &Server, rest: &Request, call: &Request) -> Result<[usize; 2]> {
    let mut connection = Connection::open(&server.address).await?;
    let (plain, tool) = (connection.send(rest).await?, connection.send(call).await?);
    let (one, other): (Value, Value) =
        (serde_json::from_slice(&plain.body)?, serde_json::from_slice(&tool.body)?);
    if one["results"] != other["result"]["structuredContent"]["results"] {
        bail!("the tool answers otherwise than REST: {other}");
    }
    Ok([plain.body.len(), tool.body.len()])
}
