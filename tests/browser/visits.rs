//! What visitors come for, in how many steps, and what they see of the pictures.

use serde_json::{Map, Value, json};

use crate::installed::Browser;
use crate::pages::{KEY_FORM, USAGE_FORM};
use crate::served::{ARABIC, ARABIC_NAME, SOUGHT, Served};

/// The maximum size of a first page with pictures on a telephone in bytes over the wire, pictures and all.
const PICTURED_VISIT: u64 = 130_000;

/// What the project documents of the steps.
const DOCUMENTED: &str = include_str!("../../docs/visitor-tasks.md");

/// Returns the tasks of the document with their steps now.
fn documented() -> Value {
    let rows = DOCUMENTED.lines().filter(|line| line.starts_with("| ")).skip(1);
    let tasks = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (cells[1].to_owned(), json!(cells[4].parse::<u64>().expect("a number of steps")))
    });
    tasks.collect::<Map<_, _>>().into()
}

#[tokio::test]
async fn visitors_do_what_they_come_for_in_the_documented_steps() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let leaving = "leaves@example.org";
    let arguments = json!({
        "base": served.base, "slug": served.pictured, "sought": SOUGHT, "email": "visitor@example.org",
        "leaving": leaving, "claim": served.claim(leaving),
    });
    let counted = browser.report("tasks.mjs", &arguments).await;
    let expected = json!({
        "find a timber house in Japan": 3,
        "find projects like one": 1,
        "have the BibTeX of a project": 2,
        "get a key": 3,
        "make a first call": 1,
        "set up a client of MCP": 2,
        "get a larger tier": 2,
        "see what a key has used": 1,
        "have an address deleted": 5,
    });
    assert_eq!(counted, expected);
    assert_eq!(documented(), expected, "docs/visitor-tasks.md");
}

#[tokio::test]
async fn pictures_are_shown_whole_within_their_pixels_and_in_rows_of_equal_height() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let arguments = json!({"base": served.base, "slugs": [served.pictured, served.portrait]});
    let checked = browser.assert_without_faults("shown.mjs", &arguments).await;
    assert_eq!(checked.len(), 2 * 4, "each project at each width");
}

#[tokio::test]
async fn what_was_asked_for_stands_in_the_first_screen_and_pictures_weigh_little() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let results = ["/?has_picture=true", "/?q=house&has_picture=true"];
    let paths = ["/", results[0], results[1]];
    let firsts = ["#key", "#remaining"];
    let sent = [
        json!({"first": firsts[0], "path": "/keys", "form": KEY_FORM, "fill": {"#email": "screenVISIT@example.org"}}),
        json!({"first": firsts[1], "path": "/usage", "form": USAGE_FORM, "fill": {"#key": served.key}}),
    ];
    let seen =
        browser.report("first_screen.mjs", &json!({"base": served.base, "paths": paths, "sent": sent})).await;
    for path in paths {
        let telephones = seen[path]["telephones"].as_array().unwrap();
        assert_eq!(telephones.len(), 3, "{path}: {seen}");
        for telephone in telephones {
            assert!(telephone["bytes"].as_u64().unwrap() < PICTURED_VISIT, "{path}: {seen}");
            assert_eq!(telephone["wide"], json!([]), "{path}: {seen}");
        }
    }
    for path in results {
        for telephone in seen[path]["telephones"].as_array().unwrap() {
            assert!(telephone["pictures"].as_u64().unwrap() > 0, "{path}: {seen}");
        }
    }
    for path in paths {
        // In percent of the height of the first row.
        assert!(seen[path]["390"].as_u64().unwrap() >= 33, "{path}: {seen}");
        let whole = ["768", "1280", "1920"].map(|width| seen[path][width].as_u64().unwrap());
        assert_eq!(whole, [100; 3], "{path}: {seen}");
    }
    for first in firsts {
        let widths = ["390", "768", "1280", "1920"].map(|width| seen[first][width].as_u64().unwrap());
        assert_eq!(widths, [100; 4], "{first}: {seen}");
    }
}

#[tokio::test]
async fn pages_work_in_forced_colours_on_paper_and_from_right_to_left() {
    let Some(browser) = Browser::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let arguments = json!({
        "base": served.base, "pictured": served.pictured, "plain": served.plain, "arabic": ARABIC,
        "arabicName": ARABIC_NAME,
        "issued": {"path": "/keys", "form": KEY_FORM, "fill": {"#email": "prints@example.org"}},
        "used": {"path": "/usage", "form": USAGE_FORM, "fill": {"#key": served.key}},
    });
    browser.assert_without_faults("media.mjs", &arguments).await;
}
