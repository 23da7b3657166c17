//! Serves snapshots of this node's models on the operators' listener: `GET /snapshot` takes one and returns its manifest,
//! `GET /snapshot/{sha256}` returns a file of it, from any byte on.
//!
//! The models hold the hashes of all keys, so both require the token of this node; access to metrics is not enough.

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
use schemas::clock::Clock;
use schemas::hash::Hash;
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A snapshot that was used this recently is served again instead of a new one.
const FRESH: Duration = Duration::from_secs(60);
/// A snapshot that was not used for this long is removed.
const KEPT: Duration = Duration::from_secs(600);
/// The number of bytes of a file that are read at once.
const CHUNK: usize = 256 << 10;

/// Serves the snapshots of one node; there is one at a time. Clones share it.
#[derive(Clone)]
pub struct SnapshotServer {
    shared: Arc<Shared>,
}

struct Shared {
    token: Hash,
    models: PathBuf,
    folder: PathBuf,
    clock: Clock,
    tracker: TaskTracker,
    taken: Mutex<Option<Taken>>,
}

struct Taken {
    manifest: Manifest,
    used: Instant,
    /// Cloned for each file that is being read.
    readers: Arc<()>,
}

impl Taken {
    fn is_used_within(&self, since: Duration) -> bool {
        self.used.elapsed() < since || Arc::strong_count(&self.readers) > 1
    }
}

impl SnapshotServer {
    /// Returns a server of snapshots of these models, for requests with the token. It keeps snapshots in `folder`, which nothing
    /// else may use, and takes them on `tracker`.
    pub fn new(
        models: PathBuf,
        folder: PathBuf,
        token: &str,
        clock: Clock,
        tracker: TaskTracker,
    ) -> SnapshotServer {
        let token = hash(token.as_bytes());
        let taken = Mutex::default();
        SnapshotServer { shared: Arc::new(Shared { token, models, folder, clock, tracker, taken }) }
    }

    /// Returns the routes.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/snapshot", get(manifest))
            .route("/snapshot/{sha256}", get(file))
            .route_layer(middleware::from_fn_with_state(self.clone(), with_token))
            .with_state(self.clone())
    }

    /// Returns whether a request has the token, as a bearer token.
    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (scheme, token) = value.split_once(' ').unwrap_or_default();
        // Hashes are compared, so the time reveals nothing about the token.
        scheme.eq_ignore_ascii_case("bearer") && hash(token.trim().as_bytes()) == self.shared.token
    }

    /// Removes snapshots that are no longer used; when stopped, all of them.
    pub async fn remove_unused(self, stop: CancellationToken) {
        self.remove();
        while stop.run_until_cancelled(tokio::time::sleep(FRESH)).await.is_some() {
            let mut taken = self.shared.taken.lock().await;
            if taken.as_ref().is_some_and(|taken| !taken.is_used_within(KEPT)) {
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

    /// Returns the manifest of a recent snapshot, and takes one if there is none.
    async fn recent(&self) -> Result<Manifest, SnapshotError> {
        let mut taken = self.shared.taken.lock().await;
        if let Some(taken) = taken.as_mut().filter(|taken| taken.is_used_within(FRESH)) {
            taken.used = Instant::now();
            return Ok(taken.manifest.clone());
        }
        *taken = None;
        self.remove();
        let manifest = take(&self.shared.models, &self.shared.folder, self.shared.clock.now()).await?;
        *taken = Some(Taken { manifest: manifest.clone(), used: Instant::now(), readers: Arc::default() });
        Ok(manifest)
    }

    /// Opens a file of the snapshot. Returns it with its size, and a guard that keeps the snapshot.
    async fn open(&self, sha256: &str) -> Option<(File, u64, Arc<()>)> {
        let mut taken = self.shared.taken.lock().await;
        let taken = taken.as_mut()?;
        let (model, file) = taken.manifest.models.iter().find_map(|model| {
            let file = model.files.iter().find(|file| file.sha256.to_string() == sha256)?;
            Some((model, file))
        })?;
        let path: &FilePath = &self.shared.folder.join(&model.name).join(&file.name);
        taken.used = Instant::now();
        Some((File::open(path).await.ok()?, file.size, taken.readers.clone()))
    }
}

fn hash(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

async fn with_token(State(snapshots): State<SnapshotServer>, request: Request, next: Next) -> Response {
    if snapshots.is_authorized(request.headers()) {
        return next.run(request).await;
    }
    let mut reply = error_response(
        StatusCode::UNAUTHORIZED,
        "a snapshot requires the token of this node; it is in the file snapshot.token of its data folder",
    );
    reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    reply
}

async fn manifest(State(snapshots): State<SnapshotServer>) -> Response {
    // A client that disconnects does not interrupt it; the next request uses the snapshot.
    let tracker = snapshots.shared.tracker.clone();
    match tracker.spawn(async move { snapshots.recent().await }).await {
        Ok(Ok(manifest)) => {
            let kind = [(CONTENT_TYPE, "application/json")];
            match serde_json::to_vec(&manifest) {
                Ok(body) => (kind, body).into_response(),
                Err(error) => error_response(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
            }
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "a snapshot cannot be taken");
            error_response(StatusCode::SERVICE_UNAVAILABLE, &error.to_string())
        }
        Err(error) => error_response(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

async fn file(
    State(snapshots): State<SnapshotServer>,
    Path(sha256): Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some((mut file, size, guard)) = snapshots.open(&sha256).await else {
        return error_response(
            StatusCode::NOT_FOUND,
            "no snapshot with this file is kept; request /snapshot again",
        );
    };
    let from = match first_byte(&headers) {
        Some(from) if from < size => from,
        None => 0,
        Some(_) => {
            return error_response(
                StatusCode::RANGE_NOT_SATISFIABLE,
                "the file ends before this range begins",
            );
        }
    };
    if let Err(error) = file.seek(SeekFrom::Start(from)).await {
        return error_response(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string());
    }
    let chunks = stream::try_unfold((file, guard), async |(mut file, guard)| -> std::io::Result<_> {
        let mut chunk = BytesMut::with_capacity(CHUNK);
        let read = file.read_buf(&mut chunk).await?;
        let chunk: Bytes = chunk.freeze();
        Ok((read > 0).then_some((chunk, (file, guard))))
    });
    let is_part = headers.contains_key(RANGE) && size > 0;
    let mut reply = Response::new(Body::from_stream(chunks));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, (size - from).into());
    if is_part && let Ok(range) = format!("bytes {from}-{}/{size}", size - 1).parse() {
        headers.insert(CONTENT_RANGE, range);
        *reply.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    reply
}

/// Returns the first byte of a header `Range: bytes=N-`; other ranges are ignored.
fn first_byte(headers: &HeaderMap) -> Option<u64> {
    headers.get(RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}

fn error_response(status: StatusCode, reason: &str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{reason}\n")).into_response()
}
