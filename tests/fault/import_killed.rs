//! kill -9 at a random moment of an import: everything acknowledged is stored exactly once, and the read models equal a
//! fresh replay.

use std::time::Duration;

use kit::process::{self, Loggia};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{LOGGIA, caught_up, exported_slugs, rounds, verified, write_houses};

/// Enough for an import to be under way when it is killed.
const RECORDS: usize = 3_000;

/// The number of kills in continuous integration; `LOGGIA_TEST_ROUNDS=50` for the long run.
const ROUNDS: usize = 4;

#[tokio::test]
async fn an_import_survives_being_killed() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let mut random = ChaCha8Rng::seed_from_u64(kit::seed());
    let (data, file) = (folder.path().join("data"), folder.path().join("in.ndjson"));
    write_houses(&file, RECORDS);
    for round in 0..rounds(ROUNDS) {
        let wait = Duration::from_millis(u64::from(random.next_u32() % 700));
        let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
        let mut import = Loggia::spawn(&LOGGIA, &data, &["import", file.to_str().unwrap(), "--json"]);
        tokio::time::sleep(wait).await;
        // Either the client or the server of the command is killed.
        if random.next_u32() % 4 == 0 {
            import.kill9();
        }
        loggia.kill9();
        println!("round {round}: killed after {wait:?}");
        drop(import);
    }
    let _up = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    let counts = process::run(&LOGGIA, &data, &["import", file.to_str().unwrap(), "--json"]).success().json();
    let number = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!(
        (number("new") + number("same"), number("changed"), number("rejected")),
        (RECORDS as u64, 0, 0)
    );
    // One event per project: a record written twice would cause a conflict or a second event.
    assert_eq!(number("position"), RECORDS as u64, "nothing is there twice");
    caught_up(&data).await;
    verified(&data);
    let mut expected: Vec<String> = (0..RECORDS).map(|n| format!("house-{n}")).collect();
    expected.sort();
    assert_eq!(exported_slugs(&data), expected);
}

#[tokio::test]
async fn acknowledged_commands_survive_a_kill() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let data = folder.path().join("data");
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
        for n in 0..4 {
            let slug = format!("act-{round}-{n}");
            let record = folder.path().join("record.json");
            std::fs::write(&record, format!("{{\"slug\":\"{slug}\",\"name\":\"Act\",\"category\":\"art\"}}"))
                .unwrap();
            process::run(&LOGGIA, &data, &["curate", "select", record.to_str().unwrap()]).success();
            acknowledged.push(slug);
        }
        loggia.kill9();
        assert_eq!(exported_slugs(&data), acknowledged, "round {round}");
    }
    let _up = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    caught_up(&data).await;
    verified(&data);
}
