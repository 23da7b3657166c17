//! Readers with a keyboard, without script, and with bad intentions.

use serde_json::json;

use crate::brought::Browser;
use crate::served::{HOSTILE, Served};

#[tokio::test]
async fn a_keyboard_is_enough() {
    let Some(browser) = Browser::here() else { return };
    let Some(served) = Served::shared().await else { return };
    browser.faultless("keyboard.mjs", &json!({"base": served.base})).await;
}

#[tokio::test]
async fn script_is_not_needed() {
    let Some(browser) = Browser::here() else { return };
    let Some(served) = Served::shared().await else { return };
    browser.faultless("without_script.mjs", &json!({"base": served.base, "key": served.key})).await;
}

#[tokio::test]
async fn hostile_names_are_text_and_nothing_else() {
    let Some(browser) = Browser::here() else { return };
    let Some(served) = Served::shared().await else { return };
    browser.faultless("hostile.mjs", &json!({"base": served.base, "names": HOSTILE})).await;
}
