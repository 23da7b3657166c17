//! The state that every endpoint answers from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use embeddings::TextModel;
use jiff::Timestamp;
use payments::{Offers, Payments};
use read::archive::Listing;
use read::catalog::CatalogReader;
use read::counters::CountersReader;
use read::keys::KeysReader;
use read::media::MediaReader;
use read::models::{OpenModel, ReadModels};
use read::search::SearchReader;
use schemas::clock::Clock;
use schemas::control::ProjectionStatus;
use tokio::sync::watch;

use crate::auth::access::Access;
use crate::auth::origins::Origins;
use crate::command_client::CommandClient;
use crate::command_line::CommandLine;
use crate::daily_figures::DailyFigures;
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::site::Site;
use crate::term_meanings::TermMeanings;
use crate::turns::Turns;

/// Whether the node should receive requests, as determined by the observer of its projections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    /// Whether every projection has caught up and the node is not shutting down.
    pub ready: bool,
    /// Whether calls are answered even if it is not ready: a node that never caught up refuses them, one that once did does not.
    pub answers: bool,
    /// Why it is not ready, as a sentence; meaningless if it is.
    pub reason: String,
}

impl Readiness {
    /// A node that is ready.
    pub const READY: Readiness = Readiness { ready: true, answers: true, reason: String::new() };
}

/// Everything that endpoints answer from; clones share it.
#[derive(Clone)]
pub struct ApiState {
    sources: Arc<Sources>,
    /// Set once the node has answered calls: from then on it always does.
    open: Arc<AtomicBool>,
    /// The turns of dear reads.
    turns: Arc<Turns>,
    /// The meanings of recorded words.
    term_meanings: Arc<TermMeanings>,
    /// When the node began to serve.
    started: Timestamp,
    /// How commands are typed on this machine; `None` where others than its users may see the pages.
    command_line: Option<Arc<CommandLine>>,
    /// The figures of this node by day.
    daily_figures: DailyFigures,
}

/// The parts of an [`ApiState`].
pub struct Sources {
    /// The read models; the caller keeps them fresh.
    pub models: ReadModels,
    /// The model of the meaning of texts; `None` if the node has none.
    pub text_model: Option<Arc<TextModel>>,
    /// The stored pictures.
    pub media: MediaReader,
    /// The site's public address and texts.
    pub site: Site,
    /// The readiness of the node; the caller keeps it current.
    pub readiness: watch::Receiver<Readiness>,
    /// Whether the node is shutting down: each reply then ends its connection.
    pub shutting_down: Arc<AtomicBool>,
    /// Counts requests for operators.
    pub metrics: Metrics,
    /// Who may call.
    pub access: Access,
    /// The web pages that may use the MCP endpoint.
    pub origins: Origins,
    /// The webhook of the payment provider; `None` if there is no such endpoint.
    pub payments: Option<PaymentWebhook>,
    /// Prices and checkout addresses of the tiers.
    pub offers: Offers,
    /// Returns the state of this node's projections; empty if it has none of its own.
    pub projections: Arc<dyn Fn() -> Vec<ProjectionStatus> + Send + Sync>,
    /// The clock.
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

/// The members of the newest project that examples and the page of the state use.
#[derive(Debug, serde::Deserialize)]
pub struct NewestProject {
    /// Its slug.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// When it was added to the catalog.
    pub added_at: Option<Timestamp>,
}

impl std::fmt::Debug for ApiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiState").field("access", &self.sources.access).finish_non_exhaustive()
    }
}

impl ApiState {
    /// Returns the state made of these parts.
    pub fn new(sources: Sources) -> ApiState {
        let (open, turns, term_meanings, command_line) = <_>::default();
        let started = sources.clock.now();
        let daily_figures = DailyFigures::in_memory(sources.clock.clone());
        let sources = Arc::new(sources);
        ApiState { sources, open, turns, term_meanings, started, command_line, daily_figures }
    }

    /// Adds how commands are typed on this machine, with its paths: for a listener that only its users reach.
    #[must_use]
    pub fn with_command_line(self, command_line: CommandLine) -> ApiState {
        ApiState { command_line: Some(Arc::new(command_line)), ..self }
    }

    /// Adds the figures by day that outlive the process; without them they end with it.
    #[must_use]
    pub fn with_daily_figures(self, daily_figures: DailyFigures) -> ApiState {
        ApiState { daily_figures, ..self }
    }

    /// Returns the figures of this node by day.
    pub fn daily_figures(&self) -> &DailyFigures {
        &self.daily_figures
    }

    /// Returns how commands are typed on this machine; `None` where others than its users may see the pages.
    pub fn command_line(&self) -> Option<&CommandLine> {
        self.command_line.as_deref()
    }

    /// Returns who may call.
    #[inline]
    pub fn access(&self) -> &Access {
        &self.sources.access
    }

    /// Returns the web pages that may use the MCP endpoint.
    #[inline]
    pub fn origins(&self) -> &Origins {
        &self.sources.origins
    }

    /// Returns the webhook of the payment provider, if there is one.
    pub fn payments(&self) -> Option<&PaymentWebhook> {
        self.sources.payments.as_ref()
    }

    /// Returns prices and checkout addresses of the tiers.
    pub fn offers(&self) -> &Offers {
        &self.sources.offers
    }

    /// Returns the state of this node's projections.
    pub fn projections(&self) -> Vec<ProjectionStatus> {
        (self.sources.projections)()
    }

    /// Returns the time by the clock of the node.
    #[inline]
    pub fn now(&self) -> Timestamp {
        self.sources.clock.now()
    }

    /// Returns when the node began to serve.
    pub fn started(&self) -> Timestamp {
        self.started
    }

    /// Returns the read models.
    #[inline]
    pub fn models(&self) -> &ReadModels {
        &self.sources.models
    }

    /// Returns the catalog.
    ///
    /// # Errors
    ///
    /// If the node has no catalog yet.
    pub fn catalog(&self) -> Result<Arc<OpenModel<CatalogReader>>, ApiError> {
        filled(self.models().catalog(), "The catalog is still being filled.")
    }

    /// Returns the search index.
    ///
    /// # Errors
    ///
    /// If the node has no search index yet.
    pub fn search(&self) -> Result<Arc<OpenModel<SearchReader>>, ApiError> {
        filled(self.models().search(), "The search index is still being filled.")
    }

    /// Returns the archive of this moment with the summaries of its projects.
    ///
    /// # Errors
    ///
    /// If the node has no archive yet, or no summaries.
    pub fn listing(&self) -> Result<Listing, ApiError> {
        let now = self.models().archive().map(|archive| archive.reader.listing());
        filled(now.filter(Listing::has_summaries), "The archive is still being filled.")
    }

    /// Returns the slug of the newest project, for examples that work on this catalog; `None` while nothing is listed.
    pub fn newest_slug(&self) -> Option<String> {
        self.newest().map(|newest| newest.slug)
    }

    /// Returns the newest project, for examples; `None` while nothing is listed.
    pub fn newest(&self) -> Option<NewestProject> {
        let (archive, search) = (self.models().archive()?, self.models().search()?);
        let newest = archive.reader.listing().newest(None, 1, None).ok()?;
        let view = search.reader.view();
        let mut summary = view.summary_of(*newest.ordinals.first()?)?.to_vec();
        // A summary is stored without its last brace, and with a byte that is not JSON in place of the site's address.
        summary.push(b'}');
        summary.retain(|byte| *byte != schemas::api::site::MARK);
        serde_json::from_slice(&summary).ok()
    }

    /// Returns the model of the meaning of texts, if the node has one.
    #[inline]
    pub fn text_model(&self) -> Option<&TextModel> {
        self.sources.text_model.as_deref()
    }

    /// Returns the keys.
    ///
    /// # Errors
    ///
    /// If the node has no keys yet.
    pub fn keys(&self) -> Result<Arc<OpenModel<KeysReader>>, ApiError> {
        filled(self.models().keys(), "The keys are still being read.")
    }

    /// Returns the counters.
    ///
    /// # Errors
    ///
    /// If the node has no counters yet.
    pub fn counters(&self) -> Result<Arc<OpenModel<CountersReader>>, ApiError> {
        filled(self.models().counters(), "The counters are still being read.")
    }

    /// Returns the stored pictures.
    pub fn media(&self) -> &MediaReader {
        &self.sources.media
    }

    /// Returns the site's public address and texts.
    #[inline]
    pub fn site(&self) -> &Site {
        &self.sources.site
    }

    /// Returns the readiness of the node.
    pub fn readiness(&self) -> Readiness {
        self.sources.readiness.borrow().clone()
    }

    /// Waits until the node is not ready, for example because it is about to stop.
    pub async fn until_not_ready(&self) {
        // Without a sender nothing changes any more.
        let mut readiness = self.sources.readiness.clone();
        if readiness.wait_for(|readiness| !readiness.ready).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Refuses calls until the node has caught up once. Called for every request; one atomic load after that.
    #[inline]
    pub(crate) fn check_open(&self) -> Result<(), ApiError> {
        if self.open.load(Ordering::Relaxed) {
            return Ok(());
        }
        let readiness = self.readiness();
        if !readiness.answers {
            return Err(ApiError::not_ready(readiness.reason));
        }
        self.open.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether the node is shutting down, so that connections end after their next reply.
    #[inline]
    pub fn is_shutting_down(&self) -> bool {
        self.sources.shutting_down.load(Ordering::Relaxed)
    }

    /// Returns the turns of dear reads.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Returns the meanings of recorded words.
    pub(crate) fn term_meanings(&self) -> &TermMeanings {
        &self.term_meanings
    }

    /// Returns the counters for operators.
    #[inline]
    pub fn metrics(&self) -> &Metrics {
        &self.sources.metrics
    }
}

fn filled<T>(model: Option<T>, otherwise: &'static str) -> Result<T, ApiError> {
    model.ok_or_else(|| ApiError::not_ready(otherwise))
}
