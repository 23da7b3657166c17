//! Citations do not change with the project or with the models that show it.

use std::path::Path;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::json;

use crate::service::Service;

const FORMATS: [&str; 5] = ["jsonld", "bibtex", "ris", "csl", "text"];

fn picture(path: &Path, shade: u8) {
    RgbImage::from_pixel(400, 300, Rgb([shade, 90, 60])).save_with_format(path, ImageFormat::Png).unwrap();
}

/// Returns the first revision as every URL of a slug shows it.
async fn citation_texts(service: &Service, slug: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for format in FORMATS {
        let answer = service.http.get(&format!("/cite/{slug}/1?format={format}")).await;
        assert_eq!(answer.status, 200, "{slug} {format}: {answer:?}");
        answers.push(answer.text().to_owned());
    }
    answers
}

#[tokio::test]
async fn a_citation_is_unchanged_after_revisions_a_rename_a_withdrawal_and_a_rebuild() {
    let Some(mut service) = Service::empty().await else { return };
    let folder = service.folder.path().to_owned();
    picture(&folder.join("front.png"), 200);
    let record = json!({
        "slug": "stair-house", "name": "Stair House", "category": "architecture", "studio": "Atelier Łoś",
        "city": "Zürich, Switzerland", "year": "2019", "pictures": [{"source": "front.png", "alt": "The front"}],
    });
    service.import(&[record]).await;
    let expected = citation_texts(&service, "stair-house").await;
    let record = service.http.get("/v1/project/stair-house?revision=1").await;
    assert!(
        expected[0].contains("/media/")
            && record.text() == service.http.get("/v1/project/stair-house").await.text()
    );

    for number in 2..=21 {
        service.json(&["curate", "revise", "stair-house", "--set", &format!("name=Stair House {number}")]);
    }
    // Another picture of the same name, and one more.
    picture(&folder.join("front.png"), 100);
    picture(&folder.join("back.png"), 50);
    for file in ["front.png", "back.png"] {
        let path = folder.join(file);
        service.json(&["curate", "attach", "stair-house", path.to_str().unwrap(), "--alt", "Later"]);
    }
    service.json(&["curate", "rename", "stair-house", "house-on-a-stair"]);
    service.json(&["curate", "withdraw", "house-on-a-stair", "--reason", "The owners asked for it."]);
    service
        .wait_for_response("/v1/project/house-on-a-stair", "the withdrawal", |status, _| status == 410)
        .await;

    let check = async |service: &Service, what: &str| {
        for slug in ["stair-house", "house-on-a-stair"] {
            assert_eq!(citation_texts(service, slug).await, expected, "{what}: {slug}");
            let again = service.http.get(&format!("/v1/project/{slug}?revision=1")).await;
            assert_eq!((again.status, again.text()), (200, record.text()), "{what}: {slug}");
            let page = service.http.get(&format!("/cite/{slug}/1")).await;
            assert_eq!(page.status, 200);
            assert!(page.text().contains("The owners asked for it."), "{}", page.text());
        }
    };
    check(&service, "as it went").await;
    service.json(&["rebuild", "all"]);
    let verified = service.json(&["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    check(&service, "rebuilt").await;

    // A model with the layout of another version is rebuilt at the next start.
    assert!(service.loggia.terminate().await.success());
    std::fs::write(folder.join("models/catalog/g000002/layout"), "1\n").unwrap();
    service.loggia = kit::process::Loggia::up(&crate::service::LOGGIA, &folder, &["--no-demo"]).await;
    service.http = service.loggia.ready().await;
    assert_eq!(std::fs::read_to_string(folder.join("models/catalog/current")).unwrap(), "g000003");
    let output = service.loggia.stderr() + &service.loggia.stdout();
    assert!(output.contains("the model was written in layout 1"), "{output}");
    check_new_address(&service, &expected).await;
}

/// The node may have a new port, which a citation does not promise to keep.
async fn check_new_address(service: &Service, expected: &[String]) {
    let port = |text: &str| {
        let mut parts = text.split("http://127.0.0.1:");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.trim_start_matches(|c: char| c.is_ascii_digit()))
    };
    let now: Vec<String> =
        citation_texts(service, "stair-house").await.iter().map(|text| port(text)).collect();
    let before: Vec<String> = expected.iter().map(|text| port(text)).collect();
    assert_eq!(now, before, "after the model was rebuilt");
}
