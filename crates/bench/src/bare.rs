//! The bare route that search is compared with: axum, one route, the same bytes every time, nothing else.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use axum::Router;
use axum::http::header;
use axum::routing::get;
use bytes::Bytes;

/// Serves the file's bytes as JSON on a free port, which it prints, until it is killed.
pub async fn run(body: &Path) -> Result<ExitCode> {
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
