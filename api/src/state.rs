//! What every endpoint answers from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use payments::{Offers, Payments};
use read::archive::Listing;
use read::catalog::CatalogReader;
use read::counters::CountersReader;
use read::keys::KeysReader;
use read::media::MediaReader;
use read::models::{Opened, ReadModels};
use read::search::SearchReader;
use schemas::clock::Clock;
use schemas::control::ProjectionStatus;
use tokio::sync::watch;

use crate::auth::access::Access;
use crate::auth::origins::Origins;
use crate::command_client::CommandClient;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::site::Site;

/// Whether the node may be sent requests, as whoever follows the projections sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    /// Whether every projection has caught up, and the node is not about to stop.
    pub ready: bool,
    /// Whether calls are answered all the same: a node that never caught up refuses them, one that did once does not.
    pub answers: bool,
    /// Why not, as a sentence; anything where it is ready.
    pub reason: String,
}

impl Readiness {
    /// A node that may be sent requests.
    pub const READY: Readiness = Readiness { ready: true, answers: true, reason: String::new() };
}

/// Everything the API knows; clones share it.
#[derive(Clone)]
pub struct ApiState {
    sources: Arc<Sources>,
    /// Whether the node was once seen to answer calls: from then on it does.
    open: Arc<AtomicBool>,
}

/// What a node answers from, and to whom.
pub struct Sources {
    /// The read models; someone else keeps them fresh.
    pub models: ReadModels,
    /// The kept pictures.
    pub media: MediaReader,
    /// The address under which the node is reached.
    pub site: Site,
    /// Whether the models are ready, as someone else sees it.
    pub readiness: watch::Receiver<Readiness>,
    /// Whether the node is about to stop: each reply then ends its connection.
    pub leaving: Arc<AtomicBool>,
    /// Where requests are counted for operators.
    pub metrics: Metrics,
    /// Who may call.
    pub access: Access,
    /// Which web pages may speak to the MCP endpoint.
    pub origins: Origins,
    /// The webhook of the payment provider; `None` if there is no such endpoint.
    pub payments: Option<PaymentWebhook>,
    /// Prices and checkout addresses of the tiers.
    pub offers: Offers,
    /// How far the projections of this node are; none where it has none of its own.
    pub projections: Arc<dyn Fn() -> Vec<ProjectionStatus> + Send + Sync>,
    /// What time it is.
    pub clock: Clock,
}

/// Receives payment notices and has the write side record them.
#[derive(Debug)]
pub struct PaymentWebhook {
    /// Verifies and parses the notices.
    pub payments: Payments,
    /// Sends their commands.
    pub commands: CommandClient,
}

impl std::fmt::Debug for ApiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiState").field("access", &self.sources.access).finish_non_exhaustive()
    }
}

impl ApiState {
    /// Answers from these.
    pub fn new(sources: Sources) -> ApiState {
        ApiState { sources: Arc::new(sources), open: Arc::default() }
    }

    pub(crate) fn access(&self) -> &Access {
        &self.sources.access
    }

    /// Which web pages may speak to the MCP endpoint.
    pub(crate) fn origins(&self) -> &Origins {
        &self.sources.origins
    }

    pub(crate) fn payments(&self) -> Option<&PaymentWebhook> {
        self.sources.payments.as_ref()
    }

    pub(crate) fn offers(&self) -> &Offers {
        &self.sources.offers
    }

    pub(crate) fn projections(&self) -> Vec<ProjectionStatus> {
        (self.sources.projections)()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.sources.clock.now()
    }

    pub(crate) fn models(&self) -> &ReadModels {
        &self.sources.models
    }

    /// The records of all projects, if they are there.
    pub(crate) fn catalog(&self) -> Result<Arc<Opened<CatalogReader>>, ApiError> {
        filled(self.models().catalog(), "The catalog is still being filled.")
    }

    /// The search index, if it is there.
    pub(crate) fn search(&self) -> Result<Arc<Opened<SearchReader>>, ApiError> {
        filled(self.models().search(), "The search index is still being filled.")
    }

    /// The archive of this moment with the summaries of its projects, if it is there.
    pub(crate) fn listing(&self) -> Result<Listing, ApiError> {
        let now = self.models().archive().map(|archive| archive.reader.listing());
        filled(now.filter(Listing::has_summaries), "The archive is still being filled.")
    }

    /// The slug of the newest project, for examples that work on this catalog; none while nothing is listed.
    pub(crate) fn newest_slug(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Head {
            slug: String,
        }
        let (archive, search) = (self.models().archive()?, self.models().search()?);
        let newest = archive.reader.listing().newest(None, 1, None).ok()?;
        let view = search.reader.view();
        let mut summary = view.summary_of(*newest.ordinals.first()?)?.to_vec();
        // A summary is kept without its last brace, and with a byte that JSON has not where the site's address belongs.
        summary.push(b'}');
        summary.retain(|byte| *byte != schemas::api::site::MARK);
        serde_json::from_slice::<Head>(&summary).ok().map(|head| head.slug)
    }

    /// The keys, if they are there.
    pub(crate) fn keys(&self) -> Result<Arc<Opened<KeysReader>>, ApiError> {
        filled(self.models().keys(), "The keys are still being read.")
    }

    /// The counters, if they are there.
    pub(crate) fn counters(&self) -> Result<Arc<Opened<CountersReader>>, ApiError> {
        filled(self.models().counters(), "The counters are still being read.")
    }

    pub(crate) fn media(&self) -> &MediaReader {
        &self.sources.media
    }

    pub(crate) fn site(&self) -> &Site {
        &self.sources.site
    }

    pub(crate) fn readiness(&self) -> Readiness {
        self.sources.readiness.borrow().clone()
    }

    /// Refuses calls while the node is new and has not caught up; asked for every call, so it is cheap once it has.
    pub(crate) fn check_open(&self) -> Result<(), ApiError> {
        if self.open.load(Ordering::Relaxed) {
            return Ok(());
        }
        let readiness = self.readiness();
        if !readiness.answers {
            return Err(ApiError::unavailable(readiness.reason));
        }
        self.open.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the node is about to stop, and connections are to end behind their next reply.
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.sources.leaving.load(Ordering::Relaxed)
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.sources.metrics
    }
}

fn filled<T>(model: Option<T>, otherwise: &'static str) -> Result<T, ApiError> {
    model.ok_or_else(|| ApiError::unavailable(otherwise))
}
