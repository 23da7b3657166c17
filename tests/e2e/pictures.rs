//! `loggia pictures`: what became of the pictures that records name, another try, and smaller forms made again.

use std::path::{Path, PathBuf};
use std::process::Output;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use crate::started::{PATIENCE, Started};

const WITH_PORT: &str = "https://pictures.example:8443/back.jpg";
const WITH_PORT_REASON: &str = "Its address names port 8443; give one without a port.";
const WITH_PASSWORD: &str = "https://me:secret@pictures.example/a.jpg";
const WITH_PASSWORD_REASON: &str = "Its address holds a user or a password; give one without.";

/// A service with a kept picture and two that are refused without a connection to their hosts, once both are refused.
async fn with_refused() -> Option<Started> {
    let started = Started::empty().await?;
    let front = started.folder.path().join("front.png");
    RgbImage::from_pixel(400, 300, Rgb([200, 90, 60])).save_with_format(front, ImageFormat::Png).unwrap();
    let record = |slug: &str, pictures: Value| json!({"slug": slug, "name": slug, "category": "art", "pictures": pictures});
    let house =
        json!([{"source": "front.png", "alt": "The front"}, {"source": WITH_PORT, "alt": "The back"}]);
    let plain = json!([{"source": WITH_PASSWORD, "alt": "A door"}]);
    started.import(&[record("stair-house", house), record("plain", plain)]).await;
    kit::wait_until(PATIENCE, "two refused pictures", async || {
        started.json(&["pictures", "list", "--refused"]).len() == 2
    })
    .await;
    Some(started)
}

fn refused(slug: &str, source: &str, reason: &str) -> Value {
    json!({"state": "refused", "slug": slug, "source": source, "picture": null, "reason": reason})
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The folder of a kept picture.
fn folder_of(data: &Path, id: &str) -> PathBuf {
    data.join("media").join(&id[..2]).join(id)
}

#[tokio::test]
async fn refused_pictures_are_listed_with_the_reason_and_tried_again() {
    let Some(started) = with_refused().await else { return };
    let plain = refused("plain", WITH_PASSWORD, WITH_PASSWORD_REASON);
    let house = refused("stair-house", WITH_PORT, WITH_PORT_REASON);
    let listed = [plain, house];
    assert_eq!(started.json(&["pictures", "list", "--refused"]), listed);
    let all = started.json(&["pictures", "list"]);
    let kept = all.iter().find(|row| row["state"] == "kept").unwrap();
    let wanted = json!({"state": "kept", "slug": "stair-house", "source": "front.png", "picture": kept["picture"],
        "reason": null});
    assert_eq!(all, [listed[0].clone(), wanted, listed[1].clone()]);
    let (status, table, _) = said(&started.run(&["pictures", "list", "--refused"]));
    let wanted = format!(
        "state    project      source                                    picture or reason\n\
         refused  plain        {WITH_PASSWORD}  {WITH_PASSWORD_REASON}\n\
         refused  stair-house  {WITH_PORT}    {WITH_PORT_REASON}\n"
    );
    assert_eq!((status, table), (Some(0), wanted));

    let of_plain = format!("plain: {WITH_PASSWORD}: {WITH_PASSWORD_REASON}\n");
    let of_house = format!("stair-house: {WITH_PORT}: {WITH_PORT_REASON}\n");
    let (status, text, _) = said(&started.run(&["pictures", "retry"]));
    assert_eq!((status, text), (Some(1), format!("{of_plain}{of_house}0 fetched, 2 refused again\n")));
    let (status, text, _) = said(&started.run(&["pictures", "retry", "plain"]));
    assert_eq!((status, text), (Some(1), format!("{of_plain}0 fetched, 1 refused again\n")));
    let (status, text, told) = said(&started.run(&["pictures", "retry", "no-house"]));
    assert_eq!((status, text.as_str()), (Some(1), ""), "{told}");
    assert!(told.contains("no listed project has the slug no-house"), "{told}");

    // What a record no longer names is not tried again.
    started.json(&["curate", "revise", "plain", "--unset", "pictures"]);
    assert_eq!(started.json(&["pictures", "retry", "plain"]), [json!({"fetched": 0, "refused": []})]);
    assert_eq!(started.json(&["pictures", "list", "--refused"]), [listed[1].clone()]);
}

#[tokio::test]
async fn forms_are_made_again_and_unused_pictures_are_listed() {
    let Some(started) = with_refused().await else { return };
    let all = started.json(&["pictures", "list"]);
    let id = all.iter().find_map(|row| row["picture"].as_str()).unwrap();
    let folder = folder_of(started.folder.path(), id);
    let same = json!({"pictures": 1, "changed": 0, "projects": 0, "faults": []});
    assert_eq!(started.json(&["pictures", "remake"]), std::slice::from_ref(&same));
    let width = folder.join("320.webp");
    let bytes = std::fs::read(&width).unwrap();
    std::fs::write(&width, "").unwrap();
    let changed = json!({"pictures": 1, "changed": 1, "projects": 0, "faults": []});
    assert_eq!(started.json(&["pictures", "remake"]), [changed]);
    assert_eq!(std::fs::read(&width).unwrap(), bytes);
    assert_eq!(started.json(&["pictures", "remake"]), [same]);

    let (status, text, told) = said(&started.run(&["pictures", "list", "--unused"]));
    assert_eq!((status, text.as_str()), (Some(0), ""), "{told}");
    assert!(told.contains("every kept picture is shown by a project"), "{told}");
    started.json(&["curate", "revise", "stair-house", "--unset", "pictures"]);
    assert_eq!(started.json(&["pictures", "list", "--unused"]), [json!({"picture": id})]);
    let (status, text, _) = said(&started.run(&["pictures", "list", "--unused"]));
    assert_eq!((status, text), (Some(0), format!("{id}\n")));

    // No form is made of an original that is not what it was.
    std::fs::write(folder.join("original"), "x").unwrap();
    let (status, text, told) = said(&started.run(&["pictures", "remake"]));
    assert_eq!(status, Some(1), "{text}{told}");
    assert!(text.contains("its bytes are not those that its name is made of"), "{text}{told}");
    assert!(text.ends_with("1 made again, 0 changed, in 0 projects\n"), "{text}");
    assert_eq!(std::fs::read(&width).unwrap(), bytes);
}
