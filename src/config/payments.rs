//! Payments by Stripe.

use payments::{Mode, Secrets, StripePrices, Terms};
use schemas::tier::Tiers;
use settings::{SettingError, Value, section};

section! {
    /// The webhook of Stripe and the meaning of its events.
    Payments {
        secret: Option<Secrets> = Value::optional => "stripe_secret"
            "The secret that Stripe signs its webhook with (whsec_…), several separated by commas during a change; unset: no webhook." {
                shape: "SECRET,…",
                example: "whsec_TheSecretOfTheEndpoint",
                hidden: true,
            },
        prices: StripePrices = Value::or_default => "stripe_prices"
            "The tier of each Stripe price, as price_123=studio, price_456=pro; metadata that name a tier work too." {
                shape: "PRICE=TIER,…",
                example: "price_123=studio",
            },
        mode: Mode = Value::required => "stripe_mode"
            "Which Stripe events take effect: live, or test." {
                shape: "live|test",
                example: "test",
                default: Some("live"),
            },
    }
}

impl Payments {
    /// Checks that the tier of every price exists.
    pub(super) fn check(&self, tiers: &Tiers, prices: &Value<'_>) -> Result<(), SettingError> {
        match self.prices.tiers().find(|tier| tiers.get(tier).is_none()) {
            Some(unknown) => {
                Err(prices
                    .invalid(format_args!("; there is no tier “{unknown}”, the setting tiers has {tiers}")))
            }
            None => Ok(()),
        }
    }

    /// Returns the meaning of Stripe's events if these tiers are sold.
    pub fn terms(&self, tiers: &Tiers) -> Terms {
        Terms { prices: self.prices.clone(), tiers: tiers.clone(), mode: self.mode }
    }
}
