//! Mails of the write side.

use anyhow::Result;
use workers::mail::{MailWorker, Mailer};
use write::service::CommandService;

use super::NodeBuilder;

impl NodeBuilder {
    /// Mails the letters that wait, where there are any.
    pub async fn mails(&mut self, service: &CommandService) -> Result<()> {
        if !service.keeps_accounts() {
            return Ok(());
        }
        let (mailer, site) = (
            Mailer::new(&self.config.accounts.mail, self.config.accounts.mail_from.as_ref())?,
            self.site_address(),
        );
        if self.config.accounts.mail.delivers() && self.config.site.public_url.is_none() {
            tracing::warn!("public_url is not set, so the links in mails lead to {site}");
        }
        let worker = MailWorker::new(service, self.clock.clone(), mailer, site)?;
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let mailing = async move {
            worker.run(stop).await;
            Ok(())
        };
        lifecycle.spawn_on("the postman", mailing, self.background().await?.handle());
        Ok(())
    }
}
