//! Who may call, how often and for what price, and which web pages and proxies are trusted.

use api::{Origins, TrustedProxies};
use payments::{Checkouts, Prices};
use schemas::tier::Tiers;
use settings::{Value, section};

section! {
    /// Who may call, and the tiers of keys.
    Access {
        auth: Auth = |value| value.one_of([("keys", Auth::Keys), ("off", Auth::Off)]) => "auth"
            "Who may call: keys; or off, which admits every client and counts nothing, for trusted networks." {
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

section! {
    /// Trusted origins and proxies of requests.
    Http {
        mcp_origins: Origins = Value::required => "mcp_origins"
            "Origins of web pages that may call /mcp besides the site's own and local ones: own, any, or origins separated by commas." {
                shape: "own|any|ORIGIN,…",
                example: "https://agent.example.org",
                default: Some("own"),
            },
        trusted_proxies: TrustedProxies = Value::or_default => "trusted_proxies"
            "Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is trusted, separated by commas." {
                shape: "NET,…",
                example: "10.0.0.0/8",
            },
    }
}

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Holders of API keys; calls are counted.
    Keys,
    /// Every client; nothing is counted.
    Off,
}
