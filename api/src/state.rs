//! What every endpoint answers from.

use std::sync::Arc;

use jiff::Timestamp;
use read::media::MediaReader;
use read::models::ReadModels;
use tokio::sync::watch;

use crate::access::Access;
use crate::clock::Clock;
use crate::mcp::Origins;
use crate::metrics::Metrics;
use crate::site::Site;

/// Whether the node may be sent requests, as whoever follows the projections sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    /// Whether every projection has caught up.
    pub ready: bool,
    /// Why not, as a sentence; anything where it is ready.
    pub reason: String,
}

/// Everything the API knows; clones share it.
#[derive(Clone)]
pub struct ApiState {
    inner: Arc<Inner>,
}

struct Inner {
    models: ReadModels,
    media: MediaReader,
    site: Site,
    readiness: watch::Receiver<Readiness>,
    metrics: Metrics,
    access: Access,
    clock: Clock,
    origins: Origins,
}

impl std::fmt::Debug for ApiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiState").field("access", &self.inner.access).finish_non_exhaustive()
    }
}

impl ApiState {
    /// Answers from these models and pictures, under this address, to whom `access` lets in. Someone else keeps the models fresh and
    /// says whether they are ready.
    pub fn new(
        models: ReadModels,
        media: MediaReader,
        site: Site,
        readiness: watch::Receiver<Readiness>,
        metrics: Metrics,
        access: Access,
        clock: Clock,
        origins: Origins,
    ) -> ApiState {
        let inner = Inner { models, media, site, readiness, metrics, access, clock, origins };
        ApiState { inner: Arc::new(inner) }
    }

    pub(crate) fn access(&self) -> &Access {
        &self.inner.access
    }

    /// Which web pages may speak to the MCP endpoint.
    pub(crate) fn origins(&self) -> &Origins {
        &self.inner.origins
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.inner.clock)()
    }

    pub(crate) fn models(&self) -> &ReadModels {
        &self.inner.models
    }

    pub(crate) fn media(&self) -> &MediaReader {
        &self.inner.media
    }

    pub(crate) fn site(&self) -> &Site {
        &self.inner.site
    }

    pub(crate) fn readiness(&self) -> Readiness {
        self.inner.readiness.borrow().clone()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }
}
