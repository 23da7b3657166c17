//! A visit from a search to a key, its usage, and a paid tier.

use serde_json::json;

use crate::installed::Browser;
use crate::served::{STRIPE_SECRET, Served};

const WALKER: &str = "walker@example.org";

#[tokio::test]
async fn a_reader_searches_cites_gets_a_key_calls_sees_usage_and_pays() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let arguments = json!({
        "base": served.base, "slug": served.pictured, "email": WALKER, "claim": served.claim(WALKER),
        "stripe_secret": STRIPE_SECRET,
    });
    let report = browser.report("walk.mjs", &arguments).await;
    let expected = json!({
        "found": served.pictured,
        "cited": format!("{}/cite/{}/1", served.base, served.pictured),
        "copied": true,
        "called": {"rest": 200, "mcp": 200},
        "free": {
            "used": "3", "remaining": "197", "limit": "200", "tier": "Free",
            "bars": ["rest", "mcp"], "table": ["2", "1"],
        },
        "checkout": "https://pay.example.org/studio",
        "paid": {
            "used": "1", "remaining": "4,999", "limit": "5,000", "tier": "Studio",
            "bars": ["rest", "mcp"], "table": ["3", "1"],
        },
    });
    assert_eq!(report, expected);
}
