//! Mails of the write side.

use anyhow::Result;
use workers::mail_worker::{MailWorker, Mailer};

use super::NodeBuilder;
use crate::compose::write_side::WriteSide;

impl NodeBuilder {
    /// Starts the mail worker if this node has a vault.
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
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let running = async move {
            worker.run(stop).await;
            Ok(())
        };
        lifecycle.spawn_on("the mail worker", running, self.background().await?.handle());
        Ok(())
    }
}
