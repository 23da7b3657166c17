//! The workers of the keeper: mails, pictures, vectors, and payments that expire.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use daemon::resources::LowPriorityRuntime;
use data_folder::DataFolder;
use media::server;
use media::uploads::Uploads;
use workers::embedding_worker::EmbeddingWorker;
use workers::mail_worker::{MailWorker, Mailer};
use workers::picture_fetcher::{PictureFetcher, PictureGenerator};
use write::service::{CommandDispatcher, PaymentService, PictureService, Settlement};

use super::NodeBuilder;
use crate::compose::encoder::{OpenEncoder, open_encoder, weights_folder};
use crate::compose::gauges;
use crate::compose::write_side::WriteSide;

/// The niceness of the threads that compute vectors, the greatest there is: whatever else the process does has priority.
const ENCODING_NICENESS: i32 = 19;

/// Draws the pictures of the demo catalog.
const DEMO: PictureGenerator = PictureGenerator {
    actor: demo::ACTOR,
    prefix: demo::pictures::SOURCE,
    picture: demo::pictures::picture_of,
};

impl NodeBuilder {
    /// Starts the mail worker, if this write side is the keeper.
    pub async fn mails(&mut self, side: &WriteSide) -> Result<()> {
        let Some(kept) = &side.kept else { return Ok(()) };
        let (mailer, site) = (
            Mailer::new(&self.config.accounts.mail, self.config.accounts.mail_from.as_ref())?,
            self.site_address(),
        );
        if self.config.accounts.mail.delivers() && self.config.site.public_url.is_none() {
            tracing::warn!("public_url is not set, so the links in mails lead to {site}");
        }
        let worker = MailWorker::new(kept.accounts.clone(), self.clock.clone(), mailer, site);
        let lifecycle = self.lifecycle.clone();
        let mailing = worker.run(lifecycle.stop.clone());
        lifecycle.spawn_on("the mail worker", mailing, self.background().await?.handle());
        Ok(())
    }

    /// Starts the media store, which receives pictures and serves them to read nodes, and the workers of pictures.
    pub(super) async fn pictures(&mut self, pictures: &Arc<PictureService>) -> Result<()> {
        let store = pictures.store().clone();
        let uploads = Arc::new(Uploads::open(store.clone(), self.clock.clone())?);
        let fetcher = PictureFetcher::new(pictures.clone(), Some(DEMO))?;
        gauges::register_pictures(&mut self.registry, fetcher.counts());
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let background = self.background().await?;
        let client = background.client().clone();
        let fetching = fetcher.run(stop.clone());
        let serving = async move { server::serve(&client, store, uploads, &stop).await };
        lifecycle.spawn_on("the media store", serving, background.handle());
        lifecycle.spawn_on("the picture fetcher", fetching, background.handle());
        self.vectors(pictures).await
    }

    /// Starts the embedding worker, with the encoder that is set.
    async fn vectors(&mut self, pictures: &Arc<PictureService>) -> Result<()> {
        let Some(OpenEncoder { encoder, fault }) = open_encoder(&self.config).await? else {
            gauges::register_vectors(&mut self.registry, Arc::default());
            return Ok(());
        };
        let (name, weights) = (encoder.name(), weights_folder(&self.config));
        tracing::info!(encoder = name, weights = %weights.display(), "vectors are computed with this encoder");
        if let Some(fault) = fault {
            tracing::error!("{fault}; until then all vectors are computed with the built-in encoder");
        }
        // One thread more, for the tasks of the runtime: it does nothing.
        let threads = LowPriorityRuntime::start(1, ENCODING_NICENESS)
            .context("the threads that compute vectors cannot be started")?;
        let aside = DataFolder::new(&self.config.server.data).vectors_aside();
        let worker = EmbeddingWorker::new(pictures.clone(), encoder, threads.handle().clone(), &aside)?;
        gauges::register_vectors(&mut self.registry, worker.counts());
        let lifecycle = self.lifecycle.clone();
        let stop = lifecycle.stop.clone();
        let embedding = async move {
            worker.run(stop).await;
            drop(threads);
        };
        lifecycle.spawn_on("the embedding worker", embedding, self.background().await?.handle());
        Ok(())
    }

    /// Starts the task that ends tiers when the time that was paid for is over.
    pub(super) fn expiring_payments(&self, payments: Arc<PaymentService>, commands: Arc<CommandDispatcher>) {
        // Readers need not wait for it: a key keeps the tier that it has.
        let health = self.health.component("payments").grace_period(Duration::MAX);
        let expiring = Settlement::new(payments, commands).run(self.lifecycle.stop.clone(), health);
        self.lifecycle.spawn("the expiry of payments", expiring);
    }
}
