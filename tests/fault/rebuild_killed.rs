//! kill -9 at a random moment of a rebuild: the current generation stays in use, and the unfinished one is removed.

use std::path::Path;
use std::time::Duration;

use kit::process::{self, Loggia};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{LOGGIA, caught_up, rounds, verified, write_houses};

const RECORDS: usize = 1_000;

/// The number of kills in continuous integration; `LOGGIA_TEST_ROUNDS=50` for the long run.
const ROUNDS: usize = 3;

#[tokio::test]
async fn a_rebuild_survives_being_killed() {
    let Some(folder) = kit::nats::data_folder().await else { return };
    let mut random = ChaCha8Rng::seed_from_u64(kit::seed());
    let (data, file) = (folder.path().join("data"), folder.path().join("in.ndjson"));
    write_houses(&file, RECORDS);
    let mut loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
    process::run(&LOGGIA, &data, &["import", file.to_str().unwrap()]).success();
    caught_up(&data).await;
    for round in 0..rounds(ROUNDS) {
        let model = ["catalog", "search"][round % 2];
        let wait = Duration::from_millis(u64::from(random.next_u32() % 800));
        let rebuild = Loggia::spawn(&LOGGIA, &data, &["rebuild", model]);
        tokio::time::sleep(wait).await;
        loggia.kill9();
        let left = generations(&data, model);
        println!("round {round}: the rebuild of {model} was killed after {wait:?} and left {left:?}");
        drop(rebuild);
        loggia = Loggia::up(&LOGGIA, &data, &["--no-demo"]).await;
        caught_up(&data).await;
        let kept = generations(&data, model);
        assert!(kept.len() == 1 && left.contains(&kept[0]), "{kept:?} of {left:?}");
        verified(&data);
    }
    process::run(&LOGGIA, &data, &["rebuild", "all"]).success();
    verified(&data);
}

fn generations(data: &Path, model: &str) -> Vec<String> {
    let entries = std::fs::read_dir(data.join("models").join(model)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('g'))
        .collect();
    names.sort();
    names
}
