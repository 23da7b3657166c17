//! Real records of three museums: imported, found, exported.

use serde_json::json;

use crate::service::Service;

#[tokio::test]
async fn real_records_are_imported_completely_and_found() {
    let Some(shared) = kit::shared_data() else { return };
    // Pictures are not fetched from the museums.
    let settings = ["--no-demo", "--picture-hosts", "museums.example"];
    let Some(service) = Service::with(&settings).await else { return };
    for (file, records) in [("museums-2500.ndjson", 2_500), ("usda-pictured.ndjson", 330)] {
        let path = shared.join(file);
        let counts = service.json(&["import", path.to_str().unwrap(), "--repair-text"]).pop().unwrap();
        // Nineteen titles have more than 300 characters; none has a control character.
        let outcome = (&counts["new"], &counts["rejected"], &counts["repaired_records"]);
        assert_eq!(outcome, (&json!(records), &json!(0), &json!(0)), "{file}: {counts}");
        let again = service.json(&["import", path.to_str().unwrap()]).pop().unwrap();
        assert_eq!(again["same"], records, "{file}: {again}");
        service.caught_up(again["position"].as_u64().unwrap()).await;
    }
    let turner = service.http.get("/v1/search?q=adieu%20fontainebleau").await.json();
    let first = &turner["results"][0];
    assert_eq!(first["name"], "Adieu Fontainebleau");
    assert!(
        first["url"].as_str().unwrap().starts_with("http://www.tate.org.uk/"),
        "a record keeps its own address"
    );
    let verified = service.json(&["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
}
