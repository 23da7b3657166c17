//! Gives snapshots of this node's models to others, over the operators' listener: `GET /snapshot` takes one and answers its
//! manifest, `GET /snapshot/{sha256}` is a file of it, from any byte on.
//!
//! The models hold the hashes of all keys, so whoever asks shows the token of this node; to collect metrics is not enough.

use std::io::SeekFrom;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, RANGE, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::{Bytes, BytesMut};
use futures::stream;
use projections::snapshot::{Manifest, SnapshotError, take};
use schemas::hash::Hash;
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::now;

/// A snapshot that is no older than this, or was asked for since, is given to the next who asks too.
const FRESH: Duration = Duration::from_secs(60);
/// One that nobody asked for since is removed.
const KEPT: Duration = Duration::from_secs(600);
/// Bytes of a file that are read at once.
const PART: usize = 256 << 10;

/// The snapshots of one node; there is one at a time. Clones share it.
#[derive(Clone)]
pub struct Snapshots {
    shared: Arc<Shared>,
}

struct Shared {
    token: Hash,
    models: PathBuf,
    folder: PathBuf,
    tracker: TaskTracker,
    taken: Mutex<Option<Taken>>,
}

struct Taken {
    manifest: Manifest,
    used: Instant,
    /// Shared by the files that are being read.
    reading: Arc<()>,
}

impl Taken {
    fn is_in_use(&self, since: Duration) -> bool {
        self.used.elapsed() < since || Arc::strong_count(&self.reading) > 1
    }
}

impl Snapshots {
    /// Returns snapshots of these models for those who show the token, kept in a folder meanwhile that nothing else uses.
    pub fn new(models: PathBuf, folder: PathBuf, token: &str, tracker: TaskTracker) -> Snapshots {
        let token = hash(token.as_bytes());
        Snapshots { shared: Arc::new(Shared { token, models, folder, tracker, taken: Mutex::default() }) }
    }

    /// The addresses under which others ask for them.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/snapshot", get(manifest))
            .route("/snapshot/{sha256}", get(file))
            .route_layer(middleware::from_fn_with_state(self.clone(), with_token))
            .with_state(self.clone())
    }

    /// Whether a request shows the token, as a bearer.
    fn admits(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (scheme, token) = shown.split_once(' ').unwrap_or_default();
        // Hashes are compared, so the time tells nothing of the token.
        scheme.eq_ignore_ascii_case("bearer") && hash(token.trim().as_bytes()) == self.shared.token
    }

    /// Removes what nobody asks for any more, and at the end everything.
    pub async fn clear(self, stop: CancellationToken) {
        self.remove();
        while stop.run_until_cancelled(tokio::time::sleep(FRESH)).await.is_some() {
            let mut taken = self.shared.taken.lock().await;
            if taken.as_ref().is_some_and(|taken| !taken.is_in_use(KEPT)) {
                *taken = None;
                self.remove();
            }
        }
        self.remove();
    }

    fn remove(&self) {
        match std::fs::remove_dir_all(&self.shared.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, folder = %self.shared.folder.display(), "a snapshot cannot be removed");
            }
            _ => {}
        }
    }

    /// The manifest of a fresh snapshot.
    async fn fresh(&self) -> Result<Manifest, SnapshotError> {
        let mut taken = self.shared.taken.lock().await;
        if let Some(taken) = taken.as_mut().filter(|taken| taken.is_in_use(FRESH)) {
            taken.used = Instant::now();
            return Ok(taken.manifest.clone());
        }
        *taken = None;
        self.remove();
        let manifest = take(&self.shared.models, &self.shared.folder, now()).await?;
        *taken = Some(Taken { manifest: manifest.clone(), used: Instant::now(), reading: Arc::default() });
        Ok(manifest)
    }

    /// A file of the snapshot, its size, and what keeps the snapshot meanwhile.
    async fn open(&self, sha256: &str) -> Option<(File, u64, Arc<()>)> {
        let mut taken = self.shared.taken.lock().await;
        let taken = taken.as_mut()?;
        let (model, file) = taken.manifest.models.iter().find_map(|model| {
            let file = model.files.iter().find(|file| file.sha256.to_string() == sha256)?;
            Some((model, file))
        })?;
        let path: &FilePath = &self.shared.folder.join(&model.name).join(&file.name);
        taken.used = Instant::now();
        Some((File::open(path).await.ok()?, file.size, taken.reading.clone()))
    }
}

fn hash(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

async fn with_token(State(snapshots): State<Snapshots>, request: Request, next: Next) -> Response {
    if snapshots.admits(request.headers()) {
        return next.run(request).await;
    }
    let mut reply = refused(
        StatusCode::UNAUTHORIZED,
        "a snapshot wants the token of this node; it is in the file snapshot.token of its data folder",
    );
    reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    reply
}

async fn manifest(State(snapshots): State<Snapshots>) -> Response {
    // Whoever goes away while it is taken does not end that; the next to ask finds it.
    let taking = snapshots.shared.tracker.clone();
    match taking.spawn(async move { snapshots.fresh().await }).await {
        Ok(Ok(manifest)) => {
            let kind = [(CONTENT_TYPE, "application/json")];
            match serde_json::to_vec(&manifest) {
                Ok(body) => (kind, body).into_response(),
                Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
            }
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "a snapshot could not be taken");
            refused(StatusCode::SERVICE_UNAVAILABLE, &error.to_string())
        }
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

async fn file(
    State(snapshots): State<Snapshots>,
    Path(sha256): Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some((mut file, size, reading)) = snapshots.open(&sha256).await else {
        return refused(
            StatusCode::NOT_FOUND,
            "no snapshot with such a file is kept; ask for /snapshot anew",
        );
    };
    let from = match first_byte(&headers) {
        Some(from) if from < size => from,
        None => 0,
        Some(_) => {
            return refused(StatusCode::RANGE_NOT_SATISFIABLE, "the file ends before this range begins");
        }
    };
    if let Err(error) = file.seek(SeekFrom::Start(from)).await {
        return refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string());
    }
    let parts = stream::try_unfold((file, reading), async |(mut file, reading)| -> std::io::Result<_> {
        let mut part = BytesMut::with_capacity(PART);
        let read = file.read_buf(&mut part).await?;
        let part: Bytes = part.freeze();
        Ok((read > 0).then_some((part, (file, reading))))
    });
    let is_part = headers.contains_key(RANGE) && size > 0;
    let mut reply = Response::new(Body::from_stream(parts));
    let told = reply.headers_mut();
    told.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    told.insert(CONTENT_LENGTH, (size - from).into());
    if is_part && let Ok(range) = format!("bytes {from}-{}/{size}", size - 1).parse() {
        told.insert(CONTENT_RANGE, range);
        *reply.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    reply
}

/// Where the reply begins, by a header `Range: bytes=N-`; others are not known here.
fn first_byte(headers: &HeaderMap) -> Option<u64> {
    headers.get(RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}

fn refused(status: StatusCode, reason: &str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{reason}\n")).into_response()
}
