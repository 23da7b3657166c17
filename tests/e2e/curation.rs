//! From an editor's command to what readers see.

use serde_json::{Value, json};

use crate::service::Service;

fn stair_house() -> Value {
    json!({"name": "Stair House", "category": "architecture", "studio": "Atelier Nørd", "city": "Zürich, Switzerland",
        "year": 2019, "intro": "Two rooms to a floor.", "published": "2020-02-29",
        "provenance": {"curated_by": "Ada Pelt", "selected": "2020-03-01", "in_archive_since": 2020},
        "taste": {"material": "oak", "light": "dusk"}})
}

#[tokio::test]
async fn a_selected_project_is_found_and_shown_completely() {
    let Some(service) = Service::empty().await else { return };
    let counts = service.import(&[stair_house()]).await;
    assert_eq!((&counts["new"], &counts["rejected"]), (&json!(1), &json!(0)));
    let base = service.base();
    let summary = json!({
        "slug": "stair-house", "name": "Stair House", "studio": "Atelier Nørd", "city": "Zürich, Switzerland",
        "year": "2019", "category": "Architecture", "intro": "Two rooms to a floor.", "published": "2020-02-29",
        "thumbnail": null, "thumbnail_state": null, "url": format!("{base}/projects/stair-house"),
        "citation_url": format!("{base}/cite/stair-house/1"),
        "provenance": {"curated_by": "Ada Pelt", "selected": "2020-03-01", "in_archive_since": 2020, "note": null},
        "revision_url": format!("{base}/cite/stair-house/1"),
    });
    let found = service.http.get("/v1/search?q=zurich%20stair").await;
    assert_eq!(found.status, 200);
    let mut body = found.json();
    let score = body["results"][0].as_object_mut().unwrap().remove("score").unwrap();
    assert!(score.as_f64().unwrap() > 0.0, "{score}");
    let mut summary = summary;
    summary["added_at"] = body["results"][0]["added_at"].clone();
    assert!(summary["added_at"].is_string(), "{body}");
    assert_eq!(
        body,
        json!({
            "query": "zurich stair", "count": 1, "total": 1, "approximate": false, "missing_words": [], "replaced": [],
            "did_you_mean": null, "note": null, "results": [summary], "next_cursor": null,
        })
    );
    let record = service.http.get("/v1/project/stair-house").await.json();
    let mut expected = summary;
    let rest = json!({
        "description": null, "design_language": null, "details": [],
        "taste": {"material": "oak", "light": "dusk", "color": null, "mood": null, "composition": null, "subject": null},
        "images": [], "revision": 1, "revision_url": format!("{base}/cite/stair-house/1"),
        "updated_at": record["updated_at"],
    });
    expected.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    assert_eq!(record, expected);
}

#[tokio::test]
async fn every_command_of_an_editor_is_visible_to_readers() {
    let Some(service) = Service::empty().await else { return };
    service.import(&[stair_house()]).await;
    let act = |args: &[&str]| service.json(args).pop().unwrap();

    let done = act(&["curate", "revise", "stair-house", "--set", "city=Łódź", "--set", "taste.color=ochre"]);
    assert_eq!((&done["revision"], &done["changed"]), (&json!(2), &json!(true)));
    let found =
        service.wait_for_response("/v1/search?q=lodz", "the revision", |_, body| body["total"] == 1).await;
    assert_eq!(found["results"][0]["citation_url"], format!("{}/cite/stair-house/2", service.base()));
    let again = act(&["curate", "revise", "stair-house", "--set", "city=Łódź"]);
    assert_eq!((&again["revision"], &again["changed"]), (&json!(2), &json!(false)));

    act(&["curate", "rename", "stair-house", "house-on-a-stair"]);
    service
        .wait_for_response("/v1/project/house-on-a-stair", "the new slug", |status, _| status == 200)
        .await;
    let moved = service.http.get("/v1/project/stair-house").await;
    assert_eq!(moved.status, 308);
    assert!(
        moved.header("location").unwrap().ends_with("/v1/project/house-on-a-stair"),
        "{:?}",
        moved.headers
    );

    act(&["curate", "withdraw", "stair-house", "--reason", "The owners asked for it."]);
    let gone = service
        .wait_for_response("/v1/project/house-on-a-stair", "the withdrawal", |status, _| status == 410)
        .await;
    assert_eq!(gone["reason"], "The owners asked for it.");
    assert_eq!(gone["citation_url"], format!("{}/cite/stair-house/2", service.base()));
    service.wait_for_response("/v1/search?q=lodz", "the empty search", |_, body| body["total"] == 0).await;

    act(&["curate", "restore", "house-on-a-stair"]);
    service.wait_for_response("/v1/project/house-on-a-stair", "the return", |status, _| status == 200).await;
    service
        .wait_for_response("/v1/search?q=lodz", "the return in search", |_, body| body["total"] == 1)
        .await;

    let history = service.json(&["curate", "history", "stair-house"]);
    let kinds: Vec<&str> = history.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "loggia.curation.project_selected.v1",
            "loggia.curation.project_revised.v1",
            "loggia.curation.project_renamed.v1",
            "loggia.curation.project_withdrawn.v1",
            "loggia.curation.project_restored.v1",
        ]
    );
}

#[tokio::test]
async fn impossible_commands_are_rejected_with_a_sentence() {
    let Some(service) = Service::empty().await else { return };
    let mut other = stair_house();
    other["slug"] = "other".into();
    service.import(&[stair_house(), other]).await;
    let refused = |args: &[&str]| service.run(args).ended(1).stderr;
    let taken = refused(&["curate", "rename", "stair-house", "other"]);
    assert!(taken.contains("other"), "{taken}");
    let unknown = refused(&["curate", "withdraw", "nothing", "--reason", "x"]);
    assert!(unknown.contains("nothing"), "{unknown}");
    let restored = refused(&["curate", "restore", "stair-house"]);
    assert!(restored.contains("stair-house"), "{restored}");
    let wrong = refused(&["curate", "revise", "stair-house", "--set", "category=film", "--set", "year=19"]);
    assert!(wrong.contains("category is “film”") && wrong.contains("year is “19”"), "{wrong}");
    assert_eq!((wrong.matches("film").count(), wrong.matches("“19”").count()), (1, 1), "{wrong}");
    service.run(&["curate", "rename", "stair-house"]).ended(2);
}
