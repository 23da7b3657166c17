//! The site with a keyboard, without JavaScript, with hostile content; a board that the browser collects,
//! pictures alone, and calls of the reference.

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
        .assert_without_faults(
            "without_script.mjs",
            &json!({"base": served.base, "slug": served.pictured, "plain": served.plain}),
        )
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
async fn the_pictures_of_a_project_are_looked_at_alone() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    browser
        .assert_without_faults("pictures.mjs", &json!({"base": served.base, "slug": served.pictured}))
        .await;
}

#[tokio::test]
async fn the_forms_of_the_reference_send_calls() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let arguments = json!({"base": served.base, "key": served.key, "slug": served.pictured});
    browser.assert_without_faults("try_it.mjs", &arguments).await;
}

#[tokio::test]
async fn a_board_is_collected_by_the_browser() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let arguments = json!({"base": served.base, "slugs": [served.pictured, served.plain]});
    browser.assert_without_faults("board.mjs", &arguments).await;
}

#[tokio::test]
async fn hostile_names_are_rendered_as_text() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    browser.assert_without_faults("hostile.mjs", &json!({"base": served.base, "names": HOSTILE})).await;
}
