//! Payments: where they are told of, and their end.

use std::sync::Arc;
use std::time::Duration;

use api::{CommandClient, PaymentWebhook};
use payments::{Offers, Payments};
use write::service::{CommandDispatcher, PaymentService, Settlement};

use super::NodeBuilder;

impl NodeBuilder {
    /// Returns the webhook of Stripe; `None` if its secret is not set.
    pub(super) fn payment_webhook(&self, client: &async_nats::Client) -> Option<PaymentWebhook> {
        let secrets = self.config.payments.secret.clone()?;
        if self.config.payments.prices.tiers().next().is_none() {
            tracing::warn!(
                "stripe_secret is set and stripe_prices is not, so a payment raises a key only where its metadata names a \
                 tier; set stripe_prices, as price_123=studio"
            );
        }
        let terms = self.config.payments.terms(&self.config.access.tiers);
        let (payments, commands) = (Payments { secrets, terms }, CommandClient::new(client.clone()));
        Some(PaymentWebhook { payments, commands })
    }

    /// Returns the prices and checkout addresses of the tiers.
    pub(super) fn offers(&self) -> Offers {
        let access = &self.config.access;
        Offers { prices: access.prices.clone(), checkouts: access.checkout.clone() }
    }

    /// Ends what was paid for when its time comes.
    pub(super) fn settling(&self, payments: Arc<PaymentService>, commands: Arc<CommandDispatcher>) {
        // Readers need not wait for it: a key keeps the tier that it has.
        let health = self.health.component("payments").patience(Duration::MAX);
        let settling = Settlement::new(payments, commands).run(self.lifecycle.stop.clone(), health);
        self.lifecycle.spawn("the end of what is paid for", async move {
            settling.await;
            Ok(())
        });
    }
}
