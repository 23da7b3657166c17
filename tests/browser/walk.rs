//! From a search to a key, and on to what it has used.

use serde_json::json;

use crate::brought::Browser;
use crate::served::Served;

#[tokio::test]
async fn a_reader_finds_cites_takes_a_key_calls_and_sees_it_counted() {
    let Some(browser) = Browser::here() else { return };
    let Some(served) = Served::shared().await else { return };
    let walked = browser.report("walk.mjs", &json!({"base": served.base, "slug": served.pictured})).await;
    let expected = json!({
        "found": served.pictured,
        "copied": true,
        "called": {"rest": 200, "mcp": 200},
        "usage": {"used": "3", "remaining": "197", "limit": "200", "tier": "Free", "bars": ["rest", "mcp"], "table": ["2", "1"]},
    });
    assert_eq!(walked, expected);
}
