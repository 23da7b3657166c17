//! Pictures and vectors of the write side that keeps them.

use std::sync::Arc;

use anyhow::{Context, Result};
use embeddings::{Encoder, EncoderChoice};
use media::server;
use media::uploads::Uploads;
use workers::collector::{Collector, PictureSource};
use workers::vectors::worker::Describer;
use write::service::CommandService;

use super::NodeBuilder;
use crate::compose::gauges;
use crate::config::Vectors;

/// Draws the pictures of the demo catalog.
const DEMO: PictureSource =
    PictureSource { actor: demo::ACTOR, prefix: demo::pictures::SOURCE, picture: demo::pictures::picture_of };

impl NodeBuilder {
    /// Takes pictures, and gives them to read nodes.
    pub(super) async fn pictures(&mut self, service: &CommandService) -> Result<()> {
        let pictures = service.pictures().context("this write side keeps no pictures")?;
        let store = pictures.store().clone();
        let uploads = Arc::new(Uploads::open(store.clone(), self.clock.clone())?);
        let collector = Collector::new(service.clone(), Some(DEMO))?;
        gauges::register_pictures(&mut self.registry, collector.counts());
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let background = self.background().await?;
        let client = background.client().clone();
        let ending = stop.clone();
        let serving = async move { Ok(server::serve(&client, store, uploads, &ending).await?) };
        lifecycle.spawn_on("the media store", serving, background.handle());
        let collector = collector.run(stop);
        let collecting = async move {
            collector.await;
            Ok(())
        };
        lifecycle.spawn_on("the collector of pictures", collecting, background.handle());
        self.vectors(service).await
    }

    /// Describes what brings no vectors, as it is set.
    async fn vectors(&mut self, service: &CommandService) -> Result<()> {
        let choice = match self.config.media.vectors.clone() {
            Vectors::Off => return Ok(()),
            Vectors::BuiltIn => EncoderChoice::BuiltIn,
            Vectors::Models(folder) => EncoderChoice::Folder(folder),
        };
        let encoder = tokio::task::spawn_blocking(move || Encoder::open(&choice)).await??;
        let describer = Describer::new(service.clone(), encoder)?;
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let describing = async move {
            describer.run(stop).await;
            Ok(())
        };
        lifecycle.spawn_on("the worker for vectors", describing, self.background().await?.handle());
        Ok(())
    }
}
