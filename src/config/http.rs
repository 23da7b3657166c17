//! Which web pages and proxies are trusted.

use api::{Origins, TrustedProxies};

use super::section::{Value, section};

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
