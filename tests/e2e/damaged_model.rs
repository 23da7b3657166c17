//! A damaged read model, with a service running and without one.

use std::path::Path;

use kit::http::Http;
use kit::process::{Loggia, run};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT, json as run_json};

/// Overwrites the first 4 KiB of the current catalog.
fn damage(data: &Path) {
    let models = data.join("models/catalog");
    let current = std::fs::read_to_string(models.join("current")).unwrap();
    let file = models.join(current.trim()).join("catalog.db");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[..4_096].fill(0xa5);
    std::fs::write(file, bytes).unwrap();
}

/// Runs `loggia rebuild catalog`, which must succeed quickly.
async fn rebuild(data: &Path) {
    let mut rebuild = Loggia::spawn(&LOGGIA, data, &["rebuild", "catalog"]);
    let status = rebuild.ended(TIMEOUT).await;
    assert!(status.success(), "{}", rebuild.stderr());
    assert!(rebuild.stdout().contains("is live at 20"), "{}", rebuild.stdout());
}

async fn answers(http: &Http) {
    http.ready().await;
    assert_eq!(http.get("/v1/project/shelf-7").await.status, 200);
    assert_eq!(http.get("/v1/search?q=shelf").await.json()["total"], 20);
}

#[tokio::test]
async fn a_damaged_catalog_is_rebuilt_automatically_and_by_command() {
    let Some(mut service) = Service::empty().await else { return };
    let records: Vec<Value> =
        (0..20).map(|n| json!({"name": format!("Shelf {n}"), "category": "design"})).collect();
    service.import(&records).await;
    let data = service.folder.path().to_owned();
    assert!(service.loggia.terminate().await.success());

    damage(&data);
    rebuild(&data).await;
    damage(&data);
    let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    let http = loggia.http().await;
    rebuild(&data).await;
    answers(&http).await;
    assert!(loggia.terminate().await.success());

    damage(&data);
    let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    answers(&loggia.http().await).await;
    let log = loggia.stderr();
    assert_eq!(log.matches("the model is quarantined until it is rebuilt from the log").count(), 1, "{log}");
    let verified = run_json(&data, &["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    let status = run(&LOGGIA, &data, &["status"]);
    assert!(!status.stdout.contains("quarantined"));
    assert!(loggia.terminate().await.success());
}
