//! Rebuilding and verifying models, with and without a running node.

use kit::process::{self, Loggia};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT, json as run_json};

fn records(count: usize) -> Vec<Value> {
    (0..count)
        .map(|n| json!({"name": format!("Shelf number {n}"), "category": "design", "city": "Malmö"}))
        .collect()
}

#[tokio::test]
async fn a_rebuild_swaps_without_one_failed_request() {
    let Some(service) = Service::empty().await else { return };
    service.import(&records(1_500)).await;
    let (http, stop) = (service.http.clone(), tokio_util::sync::CancellationToken::new());
    let stopped = stop.clone();
    let asking = tokio::spawn(async move {
        let mut answers = 0;
        while !stopped.is_cancelled() {
            let answer = http.get("/v1/search?q=malmo%20shelf").await;
            assert_eq!((answer.status, &answer.json()["total"]), (200, &json!(1_500)));
            assert_eq!(http.get("/v1/project/shelf-number-7").await.status, 200);
            answers += 1;
        }
        answers
    });
    let folder = service.folder.path().to_owned();
    let rebuilt = tokio::task::spawn_blocking(move || run_json(&folder, &["rebuild", "all"])).await.unwrap();
    stop.cancel();
    assert!(asking.await.unwrap() > 0);
    let generations: Vec<(&Value, &Value, &Value)> = rebuilt
        .iter()
        .map(|swapped| &swapped["swapped"])
        .map(|swapped| (&swapped["model"], &swapped["generation"], &swapped["position"]))
        .collect();
    assert_eq!(
        generations,
        [
            (&json!("catalog"), &json!("g000002"), &json!(1500)),
            (&json!("search"), &json!("g000002"), &json!(1500)),
            (&json!("neighbours"), &json!("g000002"), &json!(1500)),
            (&json!("archive"), &json!("g000002"), &json!(1500)),
            (&json!("keys"), &json!("g000002"), &json!(1500)),
            (&json!("counters"), &json!("g000002"), &json!(0))
        ]
    );
    let verified = service.json(&["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    // Edits still arrive after the swap.
    service.json(&["curate", "revise", "shelf-number-7", "--set", "city=Kiruna"]);
    service
        .wait_for_response("/v1/search?q=kiruna", "an edit behind the swap", |_, body| body["total"] == 1)
        .await;
}

#[tokio::test]
async fn models_of_another_log_are_rebuilt_while_nothing_runs() {
    let Some(mut other) = Service::empty().await else { return };
    other.import(&records(30)).await;
    assert!(other.loggia.terminate().await.success());
    let Some(mut service) = Service::empty().await else { return };
    service.import(&records(3)).await;
    assert!(service.loggia.terminate().await.success());
    let (folder, models) = (service.folder.path(), service.folder.path().join("models"));
    std::fs::remove_dir_all(&models).unwrap();
    std::fs::rename(other.folder.path().join("models"), &models).unwrap();

    let mut command = process::command(&LOGGIA, folder);
    command.args(["up", "--no-demo"]);
    let mut refused = Loggia::spawn_command(command, folder);
    assert_eq!(refused.ended(TIMEOUT).await.code(), Some(1));
    let stderr = refused.stderr();
    assert!(stderr.contains("or rebuild the model with `loggia rebuild "), "{stderr}");
    drop(refused);
    let rebuilt = run_json(folder, &["rebuild", "all"]);
    assert_eq!(rebuilt.len(), 6, "{rebuilt:?}");
    assert_eq!(rebuilt[0]["swapped"]["position"], 3);
    let verified = run_json(folder, &["verify"]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
}

#[tokio::test]
async fn verify_detects_a_tampered_read_model() {
    let Some(mut service) = Service::empty().await else { return };
    service.import(&records(20)).await;
    assert!(service.loggia.terminate().await.success());
    assert!(service.json(&["verify"]).iter().all(|model| model["equal"] == true), "without a running node");
    let catalog = service.folder.path().join("models/catalog/g000001/catalog.db");
    let tampered = std::process::Command::new("python3")
        .args(["-c", "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute(\"UPDATE projects SET answer=replace(answer,'Malm','Palm') WHERE slug='shelf-number-7'\"); c.commit()"])
        .arg(&catalog)
        .status()
        .unwrap();
    assert!(tampered.success());
    let lines = service.run(&["verify", "--json"]).ended(3).json_lines();
    let equal: Vec<(&Value, &Value)> = lines.iter().map(|l| (&l["model"], &l["equal"])).collect();
    assert_eq!(
        equal,
        [
            (&json!("catalog"), &json!(false)),
            (&json!("search"), &json!(true)),
            (&json!("neighbours"), &json!(true)),
            (&json!("archive"), &json!(true)),
            (&json!("keys"), &json!(true)),
            (&json!("counters"), &json!(true))
        ]
    );
    service.json(&["rebuild", "catalog"]);
    assert!(service.json(&["verify", "catalog"]).iter().all(|model| model["equal"] == true), "mended");
}
