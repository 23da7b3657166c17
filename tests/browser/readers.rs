//! The site with a keyboard, without JavaScript, and with hostile content.

use serde_json::json;

use crate::installed::Browser;
use crate::served::{HOSTILE, Served};

#[tokio::test]
async fn the_site_works_with_a_keyboard() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    browser.assert_without_faults("keyboard.mjs", &json!({"base": served.base})).await;
}

#[tokio::test]
async fn the_site_works_without_javascript() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    browser
        .assert_without_faults("without_script.mjs", &json!({"base": served.base, "key": served.key}))
        .await;
}

#[tokio::test]
async fn the_search_box_is_completed_by_keyboard_and_mouse() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let arguments = json!({"base": served.base, "slug": served.pictured, "hostile": HOSTILE[0]});
    browser.assert_without_faults("combobox.mjs", &arguments).await;
}

#[tokio::test]
async fn hostile_names_are_rendered_as_text() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    browser.assert_without_faults("hostile.mjs", &json!({"base": served.base, "names": HOSTILE})).await;
}
