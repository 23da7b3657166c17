//! Pictures and vectors of the write side that keeps them.

use std::sync::Arc;

use anyhow::Result;
use embeddings::{Encoder, EncoderChoice};
use media::server;
use media::uploads::Uploads;
use workers::embedding_worker::EmbeddingWorker;
use workers::picture_fetcher::{PictureFetcher, PictureGenerator};
use write::service::PictureService;

use super::NodeBuilder;
use crate::compose::gauges;
use crate::config::Vectors;

/// Draws the pictures of the demo catalog.
const DEMO: PictureGenerator = PictureGenerator {
    actor: demo::ACTOR,
    prefix: demo::pictures::SOURCE,
    picture: demo::pictures::picture_of,
};

impl NodeBuilder {
    /// Takes pictures, and gives them to read nodes.
    pub(super) async fn pictures(&mut self, pictures: &Arc<PictureService>) -> Result<()> {
        let store = pictures.store().clone();
        let uploads = Arc::new(Uploads::open(store.clone(), self.clock.clone())?);
        let fetcher = PictureFetcher::new(pictures.clone(), Some(DEMO))?;
        gauges::register_pictures(&mut self.registry, fetcher.counts());
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let background = self.background().await?;
        let client = background.client().clone();
        let ending = stop.clone();
        let serving = async move { Ok(server::serve(&client, store, uploads, &ending).await?) };
        lifecycle.spawn_on("the media store", serving, background.handle());
        let fetching = fetcher.run(stop);
        let fetching = async move {
            fetching.await;
            Ok(())
        };
        lifecycle.spawn_on("the picture fetcher", fetching, background.handle());
        self.vectors(pictures).await
    }

    /// Starts the embedding worker with the configured encoder.
    async fn vectors(&mut self, pictures: &Arc<PictureService>) -> Result<()> {
        let choice = match self.config.media.vectors.clone() {
            Vectors::Off => return Ok(()),
            Vectors::BuiltIn => EncoderChoice::BuiltIn,
            Vectors::Models(folder) => EncoderChoice::Folder(folder),
        };
        let encoder = tokio::task::spawn_blocking(move || Encoder::open(&choice)).await??;
        let worker = EmbeddingWorker::new(pictures.clone(), encoder)?;
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let embedding = async move {
            worker.run(stop).await;
            Ok(())
        };
        lifecycle.spawn_on("the embedding worker", embedding, self.background().await?.handle());
        Ok(())
    }
}
