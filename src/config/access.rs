//! Who may call, how often, and for what price.

use std::str::FromStr;

use payments::{Checkouts, Prices};
use schemas::tier::Tiers;

use super::section::{Value, section};

section! {
    /// Who may call, and the tiers of keys.
    Access {
        auth: Auth = Value::required => "auth"
            "Who may call: keys; or off, which admits everybody and counts nothing, for trusted networks." {
                shape: "keys|off",
                example: "off",
                default: Some("keys"),
            },
        tiers: Tiers = Value::required => "tiers"
            "The tiers with their calls per UTC calendar month; new keys get the first." {
                shape: "TIER=CALLS,…",
                example: "free=200, studio=5000",
                default: Some("free=200, studio=5000, pro=25000"),
            },
        prices: Prices = Value::required => "prices"
            "Prices and terms of the tiers, shown on the pricing page." {
                shape: "TIER=PRICE: TERMS;…",
                example: "free=0 EUR: Personal use; studio=29 EUR: Commercial use",
                default: Some("free=0 EUR: Personal use and evaluation; studio=29 EUR: Commercial use; \
             pro=99 EUR: Commercial use, priority support"),
            },
        checkout: Checkouts = Value::or_default => "checkout"
            "Payment pages of the tiers, as studio=https://…, pro=https://… (Stripe payment links)." {
                shape: "TIER=URL,…",
                example: "studio=https://buy.stripe.com/…",
            },
    }
}

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Whoever has a key; calls are counted.
    Keys,
    /// Everybody; nothing is counted.
    Off,
}

impl FromStr for Auth {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "keys" => Ok(Auth::Keys),
            "off" => Ok(Auth::Off),
            _ => Err("keys or off is wanted"),
        }
    }
}
