//! Payments: where they are told of, and their end.

use std::time::Duration;

use api::CommandClient;
use api::payments::Payments;
use write::service::CommandService;

use super::NodeBuilder;

impl NodeBuilder {
    /// Where Stripe's notices arrive, if they do.
    pub(super) fn payments(&self, client: &async_nats::Client) -> Option<Payments> {
        let secrets = self.config.payments.secret.clone()?;
        if self.config.payments.prices.tiers().next().is_none() {
            tracing::warn!(
                "stripe_secret is set and stripe_prices is not, so a payment raises a key only where its metadata names a \
                 tier; set stripe_prices, as price_123=studio"
            );
        }
        Some(Payments {
            secrets,
            terms: self.config.payments.terms(&self.config.access.tiers),
            commands: CommandClient::new(client.clone()),
        })
    }

    /// Ends what was paid for when its time comes.
    pub(super) fn settling(&self, service: &CommandService) {
        // Readers need not wait for it: a key keeps the tier that it has.
        let health = self.health.component("payments").patience(Duration::MAX);
        let settling = service.clone().settle_payments(self.lifecycle.stop.clone(), health);
        self.lifecycle.spawn("the end of what is paid for", async move {
            settling.await;
            Ok(())
        });
    }
}
