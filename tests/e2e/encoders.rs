//! What a service with weights finds, and what it answers while another encoder replaces the one that made its vectors.

use std::collections::BTreeMap;
use std::path::Path;

use image::{ImageFormat, Rgb, RgbImage};
use kit::ProgramOutput;
use kit::process::{self, Loggia};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT};

const BUILT_IN: &str = "loggia-1";
const WITH_WEIGHTS: &str = "loggia-1+efficientnet-lite0+potion-base-8m";

/// The projects: slug, name, category and introduction. All but the last one have a picture.
const PROJECTS: [(&str, &str, &str, &str); 7] = [
    ("boats", "Boats at the quay", "photography", "Fishing boats with sails in a harbour."),
    ("chapel", "Village church", "architecture", "A church with a bell tower and a graveyard."),
    ("chair", "Chair of oak", "design", "A dining chair of oak with a seat of cane."),
    ("bathroom", "Bath house", "interiors", "A bath with green tiles and steam."),
    ("portrait", "Woman reading", "art", "A painting of a woman who reads a letter."),
    ("ferry", "Evening crossing", "photography", "A ferry with passengers under way."),
    ("bridge", "Bridge over a stream", "architecture", "A foot bridge of steel over a stream."),
];
const PICTURED: usize = PROJECTS.len() - 1;

/// Whether a project has a picture.
fn is_pictured(slug: &str) -> bool {
    PROJECTS[..PICTURED].iter().any(|(pictured, ..)| *pictured == slug)
}

/// Draws a picture of stripes and colours of its own.
fn draw(number: u32, file: &Path) {
    let pixels = RgbImage::from_fn(96, 64, |x, y| {
        let shade = |of: u32| u8::try_from(of * number % 256).unwrap();
        let is_stripe = (x * (number + 1) + y) % 17 < 6;
        if is_stripe { Rgb([255 - shade(30), shade(20), 128]) } else { Rgb([shade(40), 200 - shade(30), 90]) }
    });
    pixels.save_with_format(file, ImageFormat::Png).unwrap();
}

/// Imports the projects, and waits until each is compared with all others.
async fn import(service: &Service, encoder: &str) -> Lists {
    let record = |(number, (slug, name, category, intro)): (u32, (&str, &str, &str, &str))| {
        let mut record = json!({"slug": slug, "name": name, "category": category, "intro": intro});
        if is_pictured(slug) {
            let file = format!("{slug}.png");
            draw(number, &service.folder.path().join(&file));
            record["pictures"] = json!([{"source": file, "alt": name}]);
        }
        record
    };
    let lines: Vec<Value> = (0..).zip(PROJECTS).map(record).collect();
    let counts = service.import(&lines).await;
    assert_eq!((&counts["new"], &counts["pictures"]), (&json!(PROJECTS.len()), &json!(PICTURED)), "{counts}");
    kit::wait_for(TIMEOUT, "all lists", async || {
        let lists = lists(service).await;
        is_complete(&lists, encoder).then_some(lists)
    })
    .await
}

/// What is similar to each project: of each result its slug, its score and what that rests on.
type Lists = BTreeMap<&'static str, Vec<Value>>;

async fn lists(service: &Service) -> Lists {
    let mut all = Lists::new();
    for (slug, ..) in PROJECTS {
        let answer = service.http.get(&format!("/v1/similar/{slug}?limit=50")).await.json();
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{slug}: {answer}"));
        let told = results.iter().map(|one| json!([one["slug"], one["score"], one["basis"]]));
        all.insert(slug, told.collect());
    }
    all
}

/// Whether each list has all other projects, compared by vectors of this encoder.
fn is_complete(lists: &Lists, encoder: &str) -> bool {
    lists.iter().all(|(slug, list)| {
        let is_of_encoder = |result: &Value| {
            let (other, basis) = (result[0].as_str().unwrap(), &result[2]);
            let visual = (is_pictured(slug) && is_pictured(other)).then_some(encoder);
            basis["visual"].is_number() == visual.is_some()
                && basis["visual_encoder"] == json!(visual)
                && basis["semantic_encoder"] == encoder
        };
        list.len() == PROJECTS.len() - 1 && list.iter().all(is_of_encoder)
    })
}

/// Starts the service again with the weights that are in its folder.
async fn start(service: &mut Service) {
    let folder = service.folder.path();
    service.loggia = Loggia::up(&LOGGIA, folder, &["--no-demo", "--vectors", "auto"]).await;
    service.http = service.loggia.ready().await;
}

/// Waits until all lists are of another encoder, and returns them. Until then each is the former one or the new one, and nothing between.
async fn replaced(service: &Service, former: &Lists, encoder: &str) -> Lists {
    let mut others = Vec::new();
    let new = kit::wait_for(TIMEOUT, &format!("lists of {encoder}"), async || {
        let now = lists(service).await;
        others.extend(now.clone().into_iter().filter(|(slug, list)| *list != former[slug]));
        is_complete(&now, encoder).then_some(now)
    })
    .await;
    for (slug, list) in others {
        assert_eq!(list, new[slug], "what is similar to {slug} before all vectors were replaced");
    }
    new
}

/// Returns the slugs of the results, and why they are results.
async fn found(service: &Service, path: &str) -> Vec<(String, Value)> {
    let answer = service.http.get(path).await;
    let body = answer.json();
    assert_eq!(answer.status, 200, "{path}: {body}");
    let results = body["results"].as_array().unwrap().iter();
    results.map(|one| (one["slug"].as_str().unwrap().to_owned(), one["matched"].clone())).collect()
}

/// Asserts what a service with weights finds by meaning.
async fn assert_meanings(service: &Service) {
    for (path, expected) in [
        ("/v1/similar?text=vessels+in+a+port", &[("boats", Value::Null), ("ferry", Value::Null)][..]),
        ("/v1/search?q=crossing&mode=both", &[("ferry", json!("words")), ("bridge", json!("meaning"))]),
        ("/v1/search?q=burial+ground&mode=both", &[("chapel", json!("meaning"))]),
        ("/v1/search?q=burial+ground", &[]),
    ] {
        let expected: Vec<(String, Value)> =
            expected.iter().map(|(slug, matched)| ((*slug).to_owned(), matched.clone())).collect();
        assert_eq!(found(service, path).await, expected, "{path}");
    }
}

/// Returns the report of `loggia models`.
fn models(data: &Path) -> Value {
    let mut command = process::command(&LOGGIA, data);
    ProgramOutput::of(command.env_remove("LOGGIA_VECTORS").args(["--json", "models"])).json()
}

#[tokio::test]
async fn a_service_with_weights_finds_by_meaning_and_names_its_encoder() {
    let Some(weights) = kit::weights() else { return };
    let args = ["--no-demo", "--vectors", "auto", "--weights", weights.to_str().unwrap()];
    let Some(service) = Service::with(&args).await else { return };
    import(&service, WITH_WEIGHTS).await;
    assert_meanings(&service).await;
}

#[tokio::test]
async fn lists_are_of_one_encoder_while_another_replaces_it_and_after_its_weights_are_removed() {
    let Some(weights) = kit::weights() else { return };
    let Some(mut service) = Service::with(&["--no-demo", "--vectors", "builtin"]).await else { return };
    let built_in = import(&service, BUILT_IN).await;

    let data = service.folder.path().to_owned();
    let folder = data.join("weights");
    std::fs::create_dir(&folder).unwrap();
    for file in ["efficientnet-lite0.f16", "potion-base-8m.i8"] {
        std::fs::copy(weights.join(file), folder.join(file)).unwrap();
    }
    assert!(service.loggia.terminate().await.success());
    start(&mut service).await;
    let with_weights = replaced(&service, &built_in, WITH_WEIGHTS).await;
    assert_meanings(&service).await;

    // The vectors are of an encoder that is removed.
    assert!(service.loggia.terminate().await.success());
    std::fs::remove_dir_all(&folder).unwrap();
    let report = models(&data);
    let counted =
        |encoder: &str| json!([{"encoder": encoder, "visual": PICTURED, "semantic": PROJECTS.len()}]);
    let said = (&report["encoder"]["name"], &report["encoder"]["fault"], &report["vectors"]);
    assert_eq!(said, (&json!(BUILT_IN), &Value::Null, &counted(WITH_WEIGHTS)), "{report}");
    start(&mut service).await;
    for path in ["/v1/search?q=crossing&mode=meaning", "/v1/similar?text=vessels+in+a+port"] {
        let refused = service.http.get(path).await;
        let detail = refused.json()["detail"].as_str().unwrap_or_default().to_owned();
        assert!(refused.status == 503 && detail.contains("bin/setup"), "{path}: {}", refused.text());
    }
    let by_words = service.http.get("/v1/search?q=crossing&mode=both").await.json();
    assert_eq!(
        by_words["note"], "This node has no text model, so these are results by words alone.",
        "{by_words}"
    );
    assert_eq!(
        found(&service, "/v1/search?q=crossing&mode=both").await,
        [("ferry".to_owned(), json!("words"))]
    );
    let again = replaced(&service, &with_weights, BUILT_IN).await;
    assert_eq!(again, built_in, "the built-in encoder gives the same as before");
    assert_eq!(models(&data)["vectors"], counted(BUILT_IN));
}
