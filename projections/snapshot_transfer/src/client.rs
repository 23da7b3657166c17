//! Fetches a snapshot from the operators' listener of another node. An interrupted file is continued where it ended.

use std::path::Path;
use std::time::Duration;

use projections::snapshot::{FileCopy, MAX_MANIFEST_BYTES, Manifest, SnapshotError};
use reqwest::header::RANGE;
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use rustls::ClientConfig;
use tokio::io::AsyncWriteExt;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the node may send nothing of a file.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the node may take to copy its models.
const MANIFEST_TIMEOUT: Duration = Duration::from_secs(600);
/// How often in succession a request for a file may bring nothing.
const ATTEMPTS: u32 = 5;
/// The pause between two of these requests.
const PAUSE: Duration = Duration::from_millis(500);

/// Fetches snapshots from one node.
pub(super) struct SnapshotClient {
    address: String,
    token: Option<String>,
    client: Client,
}

/// Why a request did not bring the rest of a file.
enum Interruption {
    /// Another request may bring it.
    Temporary(String),
    /// No other request will.
    Permanent(SnapshotError),
}

impl SnapshotClient {
    /// Returns a client of the node at this address, with its snapshot token.
    pub(super) fn new(
        address: &str,
        token: Option<&str>,
        tls: impl FnOnce() -> Result<ClientConfig, rustls::Error>,
    ) -> Result<SnapshotClient, SnapshotError> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls().map_err(unfetched)?)
            .http1_only()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("Loggia/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(unfetched)?;
        Ok(SnapshotClient { address: address.to_owned(), token: token.map(str::to_owned), client })
    }

    fn get(&self, url: &str) -> RequestBuilder {
        let request = self.client.get(url);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Fetches the manifest. The node takes a snapshot now, unless it has a recent one.
    pub(super) async fn manifest(&self) -> Result<Manifest, SnapshotError> {
        let url = format!("{}/snapshot", self.address);
        let answer = self.get(&url).timeout(MANIFEST_TIMEOUT).send().await.map_err(unfetched)?;
        let status = answer.status();
        let body = bounded_body(answer, &url).await?;
        if status == StatusCode::UNAUTHORIZED {
            return Err(SnapshotError::Unavailable(format!(
                "{url} requires a token: write http://TOKEN@…, with the content of the file snapshot.token of that node"
            )));
        }
        if status != StatusCode::OK {
            let said = String::from_utf8_lossy(&body);
            return Err(SnapshotError::Unavailable(format!("{url} answers {status}: {}", said.trim())));
        }
        Manifest::parse(&body)
    }

    pub(super) async fn fetch(&self, file: &FileCopy, to: &Path) -> Result<(), SnapshotError> {
        let disk = |source| SnapshotError::File { path: to.to_owned(), source };
        let mut written = tokio::fs::File::create_new(to).await.map_err(disk)?;
        let (mut fetched, mut failures) = (0, 0);
        while fetched < file.size {
            let before = fetched;
            match self.fetch_rest(file, &mut fetched, &mut written, to).await {
                Ok(()) => {}
                Err(Interruption::Permanent(error)) => return Err(error),
                Err(Interruption::Temporary(_)) if fetched > before => failures = 0,
                Err(Interruption::Temporary(_)) if failures < ATTEMPTS => {
                    failures += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(Interruption::Temporary(reason)) => return Err(SnapshotError::Unavailable(reason)),
            }
        }
        written.flush().await.map_err(disk)
    }

    /// Fetches the rest of a file, up to an interruption.
    async fn fetch_rest(
        &self,
        file: &FileCopy,
        fetched: &mut u64,
        written: &mut tokio::fs::File,
        to: &Path,
    ) -> Result<(), Interruption> {
        let interrupted = |error: reqwest::Error| Interruption::Temporary(with_causes(&error));
        let url = format!("{}/snapshot/{}", self.address, file.sha256);
        let request = self.get(&url).header(RANGE, format!("bytes={fetched}-")).send();
        let late = |_| Interruption::Temporary(format!("{url} sent nothing within {READ_TIMEOUT:?}"));
        let mut answer =
            tokio::time::timeout(READ_TIMEOUT, request).await.map_err(late)?.map_err(interrupted)?;
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            let reason = format!("{url} answers {}; the snapshot may be removed by now", answer.status());
            return Err(Interruption::Permanent(SnapshotError::Unavailable(reason)));
        }
        while let Some(bytes) =
            tokio::time::timeout(READ_TIMEOUT, answer.chunk()).await.map_err(late)?.map_err(interrupted)?
        {
            *fetched += bytes.len() as u64;
            if *fetched > file.size {
                let reason = format!("{} is longer than its manifest says", file.name);
                return Err(Interruption::Permanent(SnapshotError::Damaged(reason)));
            }
            let disk = |source| Interruption::Permanent(SnapshotError::File { path: to.to_owned(), source });
            written.write_all(&bytes).await.map_err(disk)?;
        }
        if *fetched < file.size {
            return Err(Interruption::Temporary(format!("{url} ended early")));
        }
        Ok(())
    }
}

/// Returns the body of an answer, which may be as long as a manifest. Compressed answers are not asked for.
async fn bounded_body(mut answer: Response, url: &str) -> Result<Vec<u8>, SnapshotError> {
    let mut body = Vec::new();
    while let Some(bytes) = answer.chunk().await.map_err(unfetched)? {
        if (body.len() + bytes.len()) as u64 > MAX_MANIFEST_BYTES {
            let reason =
                format!("{url} sends more than {MAX_MANIFEST_BYTES} bytes, the most that a manifest has");
            return Err(SnapshotError::Damaged(reason));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

fn unfetched(error: impl std::error::Error) -> SnapshotError {
    SnapshotError::Unavailable(with_causes(&error))
}

/// Returns an error with all its causes: the error of the client alone says only where it was.
fn with_causes(error: &dyn std::error::Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use bytes::Bytes;
    use futures::stream;
    use rustls::RootCertStore;

    use super::*;

    #[tokio::test]
    #[allow(clippy::disallowed_methods, reason = "the server ends with its test")]
    async fn an_endless_manifest_is_refused() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let endless = async || {
            let blanks =
                || stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b' '; 4_096])));
            Body::from_stream(blanks())
        };
        let router = Router::new().route("/snapshot", get(endless));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = || {
            let config =
                ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
            Ok(config.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
        };
        let client = SnapshotClient::new(&address, None, tls).unwrap();
        assert_eq!(
            client.manifest().await.unwrap_err().to_string(),
            format!(
                "it is damaged: {address}/snapshot sends more than 4194304 bytes, the most that a manifest has"
            )
        );
    }
}
