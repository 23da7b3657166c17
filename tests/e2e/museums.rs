//! Real records of three museums: imported, found, exported.

use serde_json::json;

use crate::started::Started;

#[tokio::test]
async fn real_records_are_imported_whole_and_found() {
    let Some(shared) = kit::shared_data() else { return };
    let Some(started) = Started::empty().await else { return };
    let rejects = started.folder.path().join("rejects.ndjson");
    // Nineteen of the museums' titles are longer than a name may be.
    for (file, records, too_long) in [("museums-2500.ndjson", 2_481, 19), ("usda-pictured.ndjson", 330, 0)] {
        let path = shared.join(file);
        let args = ["import", path.to_str().unwrap(), "--rejects", rejects.to_str().unwrap()];
        let counts = started.json(&args).pop().unwrap();
        assert_eq!(
            (&counts["new"], &counts["rejected"]),
            (&json!(records), &json!(too_long)),
            "{file}: {counts}"
        );
        for line in std::fs::read_to_string(&rejects).unwrap().lines() {
            let reject: serde_json::Value = serde_json::from_str(line).unwrap();
            let faults = reject["faults"].as_array().unwrap();
            assert_eq!((faults.len(), &faults[0]["field"]), (1, &json!("name")), "{line}");
        }
        let again = started.json(&["import", path.to_str().unwrap()]).pop().unwrap();
        assert_eq!(again["same"], records, "{file}: {again}");
        started.caught_up(again["position"].as_u64().unwrap()).await;
    }
    let turner = started.http.get("/v1/search?q=adieu%20fontainebleau").await.json();
    let first = &turner["results"][0];
    assert_eq!(first["name"], "Adieu Fontainebleau");
    assert!(
        first["url"].as_str().unwrap().starts_with("http://www.tate.org.uk/"),
        "a record keeps its own address"
    );
    let verified = started.json(&["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
}
