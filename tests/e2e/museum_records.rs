//! Real records of three museums: imported, found, exported.

use std::path::Path;

use serde_json::json;

use crate::service::Service;

/// The number of works in `museums-2500.ndjson`.
const WORKS: usize = 2_500;

/// Imports a file twice: all of its records are new and then the same, and the read models equal a fresh replay.
async fn assert_imported_completely(service: &Service, file: &Path, records: usize) {
    let file = file.to_str().unwrap();
    let counts = service.json(&["import", file, "--repair-text"]).pop().unwrap();
    // Nineteen titles have more than 300 characters; none has a control character.
    let outcome = (&counts["new"], &counts["rejected"], &counts["repaired_records"]);
    assert_eq!(outcome, (&json!(records), &json!(0), &json!(0)), "{counts}");
    let again = service.json(&["import", file]).pop().unwrap();
    assert_eq!(again["same"], records, "{again}");
    service.caught_up(again["position"].as_u64().unwrap()).await;
    let verified = service.json(&["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
}

/// Starts a service that fetches no pictures from the museums.
async fn started() -> Option<Service> {
    Service::with(&["--no-demo", "--picture-hosts", "museums.example"]).await
}

/// Imports half of the works, from this one on; `None` if the records or a nats-server are absent.
async fn with_half_of_the_works(first: usize) -> Option<Service> {
    let shared = kit::shared_data()?;
    let service = started().await?;
    let works = std::fs::read_to_string(shared.join("museums-2500.ndjson")).unwrap();
    assert_eq!(works.lines().count(), WORKS);
    let half: String = works.lines().skip(first).take(WORKS / 2).map(|line| format!("{line}\n")).collect();
    let file = service.folder.path().join("works.ndjson");
    std::fs::write(&file, half).unwrap();
    assert_imported_completely(&service, &file, WORKS / 2).await;
    Some(service)
}

// Three tests, so that they run at the same time.

#[tokio::test]
async fn half_of_the_works_are_imported_completely_and_found() {
    let Some(service) = with_half_of_the_works(0).await else { return };
    let turner = service.http.get("/v1/search?q=adieu%20fontainebleau").await.json();
    let first = &turner["results"][0];
    assert_eq!(first["name"], "Adieu Fontainebleau");
    assert!(
        first["url"].as_str().unwrap().starts_with("http://www.tate.org.uk/"),
        "a record keeps its own address"
    );
}

#[tokio::test]
async fn the_other_half_of_the_works_is_imported_completely() {
    with_half_of_the_works(WORKS / 2).await;
}

#[tokio::test]
async fn records_with_pictures_are_imported_completely() {
    let Some(shared) = kit::shared_data() else { return };
    let Some(service) = started().await else { return };
    assert_imported_completely(&service, &shared.join("usda-pictured.ndjson"), 330).await;
}
