//! Pictures and similar projects, from an import to an answer.

use std::collections::HashMap;
use std::path::Path;

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use crate::service::Service;

/// Starts with an empty catalog and the embedding worker.
async fn described() -> Option<Service> {
    Service::with(&["--no-demo", "--vectors", "builtin"]).await
}

/// Returns a picture of one colour with a darker corner.
fn picture(path: &Path, colour: [u8; 3]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let pixels = RgbImage::from_fn(400, 300, |x, y| {
        let shade = if x < 100 && y < 80 { 2 } else { 1 };
        Rgb(colour.map(|part| part / shade))
    });
    pixels.save_with_format(path, ImageFormat::Png).unwrap();
}

/// Waits until a project has this many neighbours, and returns the answer.
async fn neighbours(service: &Service, slug: &str, count: u64) -> Value {
    let is_complete = |status, body: &Value| status == 200 && body["count"] == count;
    service
        .wait_for_response(
            &format!("/v1/similar/{slug}"),
            &format!("{count} neighbours of {slug}"),
            is_complete,
        )
        .await
}

fn slugs(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|result| result["slug"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn imported_pictures_are_stored_shown_and_compared() {
    let Some(service) = described().await else { return };
    let folder = service.folder.path();
    picture(&folder.join("pics/red.png"), [200, 40, 30]);
    picture(&folder.join("pics/ruby.png"), [180, 30, 40]);
    picture(&folder.join("pics/green.png"), [30, 160, 60]);
    std::fs::write(folder.join("pics/drawing.png"), "<svg xmlns='http://www.w3.org/2000/svg'/>").unwrap();
    let record = |slug: &str, picture: &str| json!({"slug": slug, "name": slug, "category": "art", "pictures": [{"source": picture, "alt": "A field"}]});
    let lines = [
        record("red", "pics/red.png"),
        record("ruby", "pics/ruby.png"),
        record("green", "pics/green.png"),
        record("drawing", "pics/drawing.png"),
        record("lost", "pics/lost.png"),
    ];
    let counts = service.import(&lines).await;
    let numbers =
        ["new", "rejected", "pictures", "pictures_refused"].map(|name| counts[name].as_u64().unwrap());
    assert_eq!(numbers, [5, 0, 3, 2], "{counts}");
    // Projects without a picture are compared only by their texts.
    let seen = |answer: &Value| -> Vec<Value> {
        let results = answer["results"].as_array().cloned().unwrap_or_default();
        results.into_iter().filter(|result| !result["basis"]["visual"].is_null()).collect()
    };
    let all = |_, body: &Value| body["count"] == 4 && seen(body).len() == 2;
    let near = service.wait_for_response("/v1/similar/red", "the neighbours of red", all).await;
    let basis = |result: &Value| (result["slug"].clone(), result["basis"]["visual"].as_f64().unwrap());
    let [(first, ruby), (second, green)] =
        <[_; 2]>::try_from(seen(&near).iter().map(basis).collect::<Vec<_>>()).unwrap();
    assert_eq!((first, second), (json!("ruby"), json!("green")));
    assert!(ruby > green && ruby > 0.8, "{ruby} {green}");

    let record = service
        .wait_for_response("/v1/project/red", "the picture", |_, body| body["images"] != json!([]))
        .await;
    let image = &record["images"][0];
    let base = service.base();
    let url = image["url"].as_str().unwrap();
    assert_eq!(
        (image["width"].as_u64(), image["height"].as_u64(), &image["alt"]),
        (Some(400), Some(300), &json!("A field"))
    );
    assert!(!image["color_palette"].as_array().unwrap().is_empty(), "{image}");
    assert_eq!(record["thumbnail"], image["url"]);
    let served = service.http.get(url.strip_prefix(&base).unwrap()).await;
    assert_eq!((served.status, served.header("content-type")), (200, Some("image/webp")));
    assert_eq!(&served.body[8..12], b"WEBP");
    let shown = |_, body: &Value| body["results"][0]["thumbnail"] == record["thumbnail"];
    service.wait_for_response("/v1/search?q=red", "the picture in a search", shown).await;
    let without = service.http.get("/v1/project/drawing").await.json();
    assert_eq!((&without["images"], &without["thumbnail"]), (&json!([]), &Value::Null));

    // The same import again attaches nothing.
    let head = service.json(&["status"])[0]["store"]["position"].clone();
    let again = service.import(&lines).await;
    assert_eq!((&again["same"], &again["pictures_same"], &again["position"]), (&json!(5), &json!(3), &head));
}

#[tokio::test]
async fn an_editor_attaches_pictures_one_by_one() {
    let Some(service) = described().await else { return };
    service.import(&[json!({"slug": "a", "name": "Door", "category": "design"})]).await;
    let file = service.folder.path().join("front.png");
    picture(&file, [90, 90, 200]);
    let attach = |what: &str| service.run(&["curate", "attach", "a", what, "--alt", "The front"]);
    attach(file.to_str().unwrap()).success();
    let record = service
        .wait_for_response("/v1/project/a", "the picture", |_, body| body["images"] != json!([]))
        .await;
    assert_eq!((&record["images"][0]["alt"], &record["revision"]), (&json!("The front"), &json!(2)));
    std::fs::write(service.folder.path().join("cut.png"), &std::fs::read(&file).unwrap()[..300]).unwrap();
    for (what, sentence) in [
        (service.folder.path().join("cut.png").to_str().unwrap(), "cut"),
        (service.folder.path().join("none.png").to_str().unwrap(), "There is no file"),
        ("https://127.0.0.1/p.png", "not on the public internet"),
        ("ftp://example.org/p.png", "https://"),
    ] {
        let refused = attach(what);
        assert!(!refused.status.success() && refused.stderr.contains(sentence), "{what}: {refused}");
    }
    assert_eq!(service.http.get("/v1/project/a").await.json()["images"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_withdrawn_project_is_not_similar_to_any_until_it_is_restored() {
    let Some(service) = described().await else { return };
    let record = |slug: &str, material: &str, light: &str| json!({"slug": slug, "name": format!("House {slug}"), "category": "architecture", "taste": {"material": material, "light": light}});
    service
        .import(&[
            record("one", "pale oak and linen", "low dusk"),
            record("two", "oak, pale and oiled", "dusk"),
            record("three", "black steel", "neon"),
        ])
        .await;
    assert_eq!(slugs(&neighbours(&service, "one", 2).await), ["two", "three"]);
    let curate = |args: &[&str]| service.run(&[&["curate"], args].concat()).success();
    curate(&["withdraw", "two", "--reason", "Sold."]);
    assert_eq!(slugs(&neighbours(&service, "one", 1).await), ["three"]);
    service
        .wait_for_response("/v1/similar/two", "the withdrawal", |status, body| {
            status == 410 && body["reason"] == "Sold."
        })
        .await;
    curate(&["restore", "two"]);
    assert_eq!(slugs(&neighbours(&service, "one", 2).await), ["two", "three"]);
    let verified = service.json(&["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
}

#[tokio::test]
async fn real_pictures_of_one_kind_are_similar() {
    let Some(shared) = kit::shared_data() else { return };
    let Some(service) = described().await else { return };
    let labels = std::fs::read_to_string(shared.join("pictures/labels.tsv")).unwrap();
    let labels: HashMap<&str, &str> = labels
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(file, label)| (file.trim_end_matches(".webp"), label))
        .collect();
    let file = shared.join("usda-pictured.ndjson");
    let counts = service.json(&["import", file.to_str().unwrap()]).pop().unwrap();
    assert_eq!((&counts["pictures"], &counts["pictures_refused"]), (&json!(330), &json!(0)), "{counts}");
    kit::wait_until(crate::service::TIMEOUT, "all are compared by their looks", async || {
        for slug in labels.keys() {
            let near = service.http.get(&format!("/v1/similar/{slug}")).await.json();
            let compared = |result: &Value| !result["basis"]["visual"].is_null();
            if near["count"] != 10 || !near["results"].as_array().unwrap().iter().all(compared) {
                return false;
            }
        }
        true
    })
    .await;
    let (mut same, mut all) = (0, 0);
    for (slug, label) in &labels {
        let near = service.http.get(&format!("/v1/similar/{slug}")).await.json();
        let near = slugs(&near);
        all += near.len();
        same += near.iter().filter(|slug| labels.get(*slug) == Some(label)).count();
    }
    assert_eq!(all, 10 * labels.len(), "each has its ten nearest");
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    labels.values().for_each(|label| *sizes.entry(label).or_default() += 1);
    let pairs = |n: usize| (n * n.saturating_sub(1)) as f64;
    let chance = sizes.values().map(|n| pairs(*n)).sum::<f64>() / pairs(labels.len());
    let share = same as f64 / all as f64;
    assert!(share >= 3.0 * chance, "the share is {share:.3}, by chance {chance:.3}");
}
