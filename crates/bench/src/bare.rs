//! The reference server for search: axum with one route that returns the same bytes every time.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use axum::Router;
use axum::http::header;
use axum::routing::get;
use bytes::Bytes;

/// Serves the bytes of a file as JSON on a free port until it is killed; prints the address.
///
/// # Errors
///
/// If the file cannot be read or no port is free.
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
