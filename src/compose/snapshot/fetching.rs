//! Fetches a snapshot from the operators' listener of another node; what breaks off is gone on with.

use std::path::Path;
use std::time::Duration;

use projections::snapshot::{FileCopy, Manifest, SnapshotError};
use reqwest::header::RANGE;
use reqwest::{Client, RequestBuilder, StatusCode, redirect};
use tokio::io::AsyncWriteExt;

use crate::tls;

/// How long the other node may take to make a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long it may leave a file lying.
const SILENCE: Duration = Duration::from_secs(30);
/// How long it may take to copy its models.
const TAKEN_WITHIN: Duration = Duration::from_secs(600);
/// How often in a row nothing may come.
const ATTEMPTS: u32 = 5;
/// How long to wait then.
const PAUSE: Duration = Duration::from_millis(500);

/// The way to another node.
pub(super) struct Fetching {
    address: String,
    token: Option<String>,
    client: Client,
}

/// Why a file did not come whole.
enum Broken {
    /// It may come at another time.
    Off(String),
    /// It will not.
    For(SnapshotError),
}

impl Fetching {
    /// The node at this address, and what it asks of those who want a snapshot.
    pub(super) fn from(address: &str, token: Option<&str>) -> Result<Fetching, SnapshotError> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls::trusting(tls::authorities()).map_err(unfetched)?)
            .http1_only()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_WITHIN)
            .user_agent(concat!("Loggia/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(unfetched)?;
        Ok(Fetching { address: address.to_owned(), token: token.map(str::to_owned), client })
    }

    fn ask(&self, url: &str) -> RequestBuilder {
        let request = self.client.get(url);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// What it holds. The other node takes its snapshot now, unless it has a fresh one.
    pub(super) async fn manifest(&self) -> Result<Manifest, SnapshotError> {
        let url = format!("{}/snapshot", self.address);
        let answer = self.ask(&url).timeout(TAKEN_WITHIN).send().await.map_err(unfetched)?;
        let status = answer.status();
        let body = answer.bytes().await.map_err(unfetched)?;
        if status == StatusCode::UNAUTHORIZED {
            return Err(SnapshotError::Unavailable(format!(
                "{url} wants its token: write http://TOKEN@…, with what is in the file snapshot.token of that node"
            )));
        }
        if status != StatusCode::OK {
            let said = String::from_utf8_lossy(&body);
            return Err(SnapshotError::Unavailable(format!("{url} answers {status}: {}", said.trim())));
        }
        Manifest::parse(&body)
    }

    /// Brings a file.
    pub(super) async fn file(&self, file: &FileCopy, to: &Path) -> Result<(), SnapshotError> {
        let disk = |source| SnapshotError::File { path: to.to_owned(), source };
        let mut written = tokio::fs::File::create_new(to).await.map_err(disk)?;
        let (mut have, mut failures) = (0, 0);
        while have < file.size {
            let before = have;
            match self.part(file, &mut have, &mut written, to).await {
                Ok(()) => {}
                Err(Broken::For(error)) => return Err(error),
                Err(Broken::Off(_)) if have > before => failures = 0,
                Err(Broken::Off(_)) if failures < ATTEMPTS => {
                    failures += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(Broken::Off(reason)) => return Err(SnapshotError::Unavailable(reason)),
            }
        }
        written.flush().await.map_err(disk)
    }

    /// Brings what is missing of a file, as far as it comes.
    async fn part(
        &self,
        file: &FileCopy,
        have: &mut u64,
        written: &mut tokio::fs::File,
        to: &Path,
    ) -> Result<(), Broken> {
        let off = |error: reqwest::Error| Broken::Off(told(&error));
        let url = format!("{}/snapshot/{}", self.address, file.sha256);
        let asked = self.ask(&url).header(RANGE, format!("bytes={have}-")).send();
        let late = |_| Broken::Off(format!("{url} sent nothing within {SILENCE:?}"));
        let mut answer = tokio::time::timeout(SILENCE, asked).await.map_err(late)?.map_err(off)?;
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            let reason = format!("{url} answers {}; the snapshot may be gone by now", answer.status());
            return Err(Broken::For(SnapshotError::Unavailable(reason)));
        }
        while let Some(bytes) =
            tokio::time::timeout(SILENCE, answer.chunk()).await.map_err(late)?.map_err(off)?
        {
            *have += bytes.len() as u64;
            if *have > file.size {
                let reason = format!("{} is longer than its manifest says", file.name);
                return Err(Broken::For(SnapshotError::Damaged(reason)));
            }
            let disk = |source| Broken::For(SnapshotError::File { path: to.to_owned(), source });
            written.write_all(&bytes).await.map_err(disk)?;
        }
        if *have < file.size {
            return Err(Broken::Off(format!("{url} ended early")));
        }
        Ok(())
    }
}

fn unfetched(error: impl std::error::Error) -> SnapshotError {
    SnapshotError::Unavailable(told(&error))
}

/// An error with all its causes; that of the client says only where it was.
fn told(error: &dyn std::error::Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
