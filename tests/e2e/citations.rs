//! Citations do not change with the project or with the models that show it.

use std::path::Path;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::json;

use crate::started::{Started, ready};

const FORMATS: [&str; 5] = ["jsonld", "bibtex", "ris", "csl", "text"];

fn picture(path: &Path, shade: u8) {
    RgbImage::from_pixel(400, 300, Rgb([shade, 90, 60])).save_with_format(path, ImageFormat::Png).unwrap();
}

/// Returns the first revision as every URL of a slug shows it.
async fn said(started: &Started, slug: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for format in FORMATS {
        let answer = started.http.get(&format!("/cite/{slug}/1?format={format}")).await;
        assert_eq!(answer.status, 200, "{slug} {format}: {answer:?}");
        answers.push(answer.text().to_owned());
    }
    answers
}

#[tokio::test]
async fn a_citation_is_unchanged_after_revisions_a_rename_a_withdrawal_and_a_rebuild() {
    let Some(mut started) = Started::empty().await else { return };
    let folder = started.folder.path().to_owned();
    picture(&folder.join("front.png"), 200);
    let record = json!({
        "slug": "stair-house", "name": "Stair House", "category": "architecture", "studio": "Atelier Łoś",
        "city": "Zürich, Switzerland", "year": "2019", "pictures": [{"source": "front.png", "alt": "The front"}],
    });
    started.import(&[record]).await;
    let expected = said(&started, "stair-house").await;
    let record = started.http.get("/v1/project/stair-house?revision=1").await;
    assert!(
        expected[0].contains("/media/")
            && record.text() == started.http.get("/v1/project/stair-house").await.text()
    );

    for number in 2..=21 {
        started.json(&["curate", "revise", "stair-house", "--set", &format!("name=Stair House {number}")]);
    }
    // Another picture of the same name, and one more.
    picture(&folder.join("front.png"), 100);
    picture(&folder.join("back.png"), 50);
    for file in ["front.png", "back.png"] {
        let path = folder.join(file);
        started.json(&["curate", "attach", "stair-house", path.to_str().unwrap(), "--alt", "Later"]);
    }
    started.json(&["curate", "rename", "stair-house", "house-on-a-stair"]);
    started.json(&["curate", "withdraw", "house-on-a-stair", "--reason", "The owners asked for it."]);
    started.until("/v1/project/house-on-a-stair", "the withdrawal", |status, _| status == 410).await;

    let check = async |started: &Started, what: &str| {
        for slug in ["stair-house", "house-on-a-stair"] {
            assert_eq!(said(started, slug).await, expected, "{what}: {slug}");
            let again = started.http.get(&format!("/v1/project/{slug}?revision=1")).await;
            assert_eq!((again.status, again.text()), (200, record.text()), "{what}: {slug}");
            let page = started.http.get(&format!("/cite/{slug}/1")).await;
            assert_eq!(page.status, 200);
            assert!(page.text().contains("The owners asked for it."), "{}", page.text());
        }
    };
    check(&started, "as it went").await;
    started.json(&["rebuild", "all"]);
    let verified = started.json(&["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    check(&started, "rebuilt").await;

    // A model with the layout of another version is rebuilt at the next start.
    assert!(started.loggia.terminate().await.success());
    std::fs::write(folder.join("models/catalog/g000002/layout"), "1\n").unwrap();
    started.loggia = kit::process::Loggia::up(crate::started::LOGGIA, &folder, &["--no-demo"]).await;
    started.http = started.loggia.http().await;
    ready(&started.http).await;
    assert_eq!(std::fs::read_to_string(folder.join("models/catalog/current")).unwrap(), "g000003");
    let told = started.loggia.stderr() + &started.loggia.stdout();
    assert!(told.contains("the model was made in layout 1"), "{told}");
    check_new_address(&started, &expected).await;
}

/// The node may have a new port, which a citation does not promise to keep.
async fn check_new_address(started: &Started, expected: &[String]) {
    let port = |text: &str| {
        let mut parts = text.split("http://127.0.0.1:");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.trim_start_matches(|c: char| c.is_ascii_digit()))
    };
    let now: Vec<String> = said(started, "stair-house").await.iter().map(|text| port(text)).collect();
    let before: Vec<String> = expected.iter().map(|text| port(text)).collect();
    assert_eq!(now, before, "made anew");
}
