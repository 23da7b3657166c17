//! A full disk: commands are rejected with a sentence, reading continues, and writing resumes once there is space.

use std::process::Command;

use kit::SmallDisk;
use kit::process::{self, Loggia};

use crate::{LOGGIA, TIMEOUT, caught_up, verified, write_houses};

#[tokio::test]
async fn a_full_disk_stops_only_commands() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk"), 96) else { return };
    let data = disk.path().join("data");
    let file = folder.path().join("in.ndjson");
    write_houses(&file, 200);
    let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    let http = loggia.http().await;
    process::run(&LOGGIA, &data, &["import", file.to_str().unwrap()]).success();
    caught_up(&data).await;

    let ballast = disk.path().join("ballast");
    let began = std::time::Instant::now();
    let filled =
        Command::new("dd").args(["if=/dev/zero", "bs=64k"]).arg(format!("of={}", ballast.display())).output();
    assert!(!filled.unwrap().status.success(), "the disk was filled to its end");
    // Small writes may still fit into allocated pages; a large one does not.
    let large =
        format!("{{\"name\":\"Large\",\"category\":\"art\",\"description\":\"{}\"}}\n", "x".repeat(40_000));
    std::fs::write(&file, &large).unwrap();
    let refused = kit::wait_for(TIMEOUT, "a refused command", async || {
        let output = process::run(&LOGGIA, &data, &["import", file.to_str().unwrap()]);
        (!output.status.success()).then_some(output.stderr)
    })
    .await;
    assert!(refused.contains("full"), "{refused}");
    assert_eq!(http.get("/v1/project/house-7").await.status, 200, "reading continues");
    assert_eq!(http.get("/v1/search?q=house&limit=50").await.json()["total"], 200);

    // Load balancers and monitoring see it, and the log is rate-limited.
    let answer = kit::wait_for(TIMEOUT, "an unready answer", async || {
        let answer = http.get("/readyz").await;
        (answer.status == 503).then(|| answer.text().to_owned())
    })
    .await;
    assert!(answer.contains("event store has failed for"), "{answer}");
    for _ in 0..10 {
        process::run(&LOGGIA, &data, &["import", file.to_str().unwrap()]);
    }
    let lines = loggia.stderr();
    let lines = lines.lines().filter(|line| line.contains("event store")).count();
    let minutes = began.elapsed().as_secs() / 60;
    assert!(
        lines as u64 <= 5 + minutes,
        "one line at once and one a minute, not one for each command: {lines} within {minutes} minutes"
    );

    std::fs::remove_file(&ballast).unwrap();
    kit::wait_until(TIMEOUT, "readiness without any command", async || {
        http.get("/readyz").await.status == 200
    })
    .await;
    kit::wait_until(TIMEOUT, "the same command to be taken", async || {
        process::run(&LOGGIA, &data, &["import", file.to_str().unwrap()]).status.success()
    })
    .await;
    kit::wait_until(TIMEOUT, "the project to be shown", async || {
        http.get("/v1/project/large").await.status == 200
    })
    .await;
    caught_up(&data).await;
    verified(&data);
}
