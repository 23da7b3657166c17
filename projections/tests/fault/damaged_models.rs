//! Read models with damaged files are quarantined and rebuilt from the log, while the others continue.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use kit::{TIMEOUT, wait_until};
use read::generation::Generations;
use read::models::ReadModels;
use schemas::ids::StreamId;
use schemas::key::KeyHash;
use serde_json::json;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use crate::running_projections::{RunningProjections, digests, keep_ledger};
use crate::test_stream::{REVISED, SELECTED, TestStream, project, selected};

/// The models and their files.
const FILES: [(&str, &str); 6] = [
    ("catalog", "catalog.db"),
    ("search", "meta.json"),
    ("neighbours", "neighbours.db"),
    ("archive", "archive.db"),
    ("keys", "keys.db"),
    ("counters", "counters.db"),
];

/// Returns a log of some projects and a key.
async fn log() -> Option<TestStream> {
    let mut stream = TestStream::start().await?;
    for number in 1..=3 {
        stream.publish(&project(number), SELECTED, selected(&format!("house-{number}"))).await;
    }
    let account: StreamId = format!("account-{}", project(1)).parse().unwrap();
    let key = json!({"key_id": "Ab3dEf9h", "hash": KeyHash::of(b"a key"), "hint": "wxyz", "name": null, "tier": "free"});
    stream.publish_in(account.clone(), "loggia.account.account_opened.v1", json!({})).await;
    stream.publish_in(account, "loggia.account.key_issued.v1", key).await;
    Some(stream)
}

/// A way to damage a file.
type Damage = fn(&Path);

/// Damages the file of every model; its write-ahead log was removed when its worker stopped.
fn damage_all(models: &Path, damage: Damage) {
    for (model, name) in FILES {
        let layout = match model {
            "catalog" => read::catalog::LAYOUT,
            "search" => read::search::LAYOUT,
            "archive" => read::archive::LAYOUT,
            "keys" => read::keys::LAYOUT,
            "neighbours" => read::neighbours::LAYOUT,
            "counters" => read::counters::LAYOUT,
            other => panic!("{other} is not a model"),
        };
        let generations = Generations::in_layout(models.join(model), layout);
        let folder = generations.current().unwrap().unwrap().path;
        for beside in ["-wal", "-shm"] {
            let _ = fs::remove_file(folder.join(format!("{name}{beside}")));
        }
        damage(&folder.join(name));
    }
}

fn overwrite_the_first_page(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let end = bytes.len().min(4_096);
    bytes[..end].fill(0xa5);
    fs::write(file, bytes).unwrap();
}

fn cut_in_half(file: &Path) {
    let length = fs::metadata(file).unwrap().len();
    fs::File::options().write(true).open(file).unwrap().set_len(length / 2).unwrap();
}

#[tokio::test]
async fn every_damaged_model_is_rebuilt_from_the_log() {
    let Some(stream) = log().await else { return };
    let (client, head) = (&stream.client, stream.position);
    keep_ledger(client).await;
    let folder = tempfile::tempdir().unwrap();
    let running = RunningProjections::on(folder.path(), client);
    running.all_at("g000001", head).await;
    running.end().await;
    let before = digests(folder.path()).await;
    let damages: [(&str, Damage); 4] = [
        ("g000002", overwrite_the_first_page),
        ("g000003", cut_in_half),
        ("g000004", |file| fs::write(file, "").unwrap()),
        ("g000005", |file| fs::remove_file(file).unwrap()),
    ];
    for (generation, damage) in damages {
        damage_all(folder.path(), damage);
        let running = RunningProjections::on(folder.path(), client);
        running.all_at(generation, head).await;
        running.end().await;
        assert_eq!(digests(folder.path()).await, before, "{generation}");
    }
}

#[tokio::test]
async fn damage_found_while_applying_quarantines_the_model() {
    let Some(mut stream) = log().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let running = RunningProjections::on(folder.path(), &stream.client);
    running.all_at("g000001", stream.position).await;
    running.end().await;
    // The first page and the checkpoint stay intact, so that the model opens.
    let file = folder.path().join("catalog/g000001/catalog.db");
    let mut database = SqliteConnectOptions::new().filename(&file).connect().await.unwrap();
    let page: i64 = sqlx::query_scalar("SELECT rootpage FROM sqlite_schema WHERE name = 'projects'")
        .fetch_one(&mut database)
        .await
        .unwrap();
    sqlx::Connection::close(database).await.unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let start = usize::try_from(page - 1).unwrap() * 4_096;
    bytes[start..start + 4_096].fill(0xa5);
    fs::write(&file, bytes).unwrap();

    let running = RunningProjections::on(folder.path(), &stream.client);
    let models = ReadModels::new(folder.path(), schemas::clock::Clock::system());
    models.refresh().await.unwrap();
    assert_eq!(models.catalog().unwrap().generation.name, "g000001");
    let revised = json!({"record": {"name": "House", "category": "art"}});
    stream.publish(&project(1), REVISED, revised).await;
    wait_until(TIMEOUT, "the quarantine to reach readers", async || {
        models.refresh().await.unwrap();
        models.catalog().is_none_or(|catalog| catalog.generation.name == "g000002")
    })
    .await;
    wait_until(TIMEOUT, "the rebuilt catalog", async || {
        let status = running.status("catalog");
        status.generation == "g000002" && status.position == stream.position
    })
    .await;
    models.refresh().await.unwrap();
    let found = models.catalog().unwrap().reader.resolve("house-1").await.unwrap();
    assert!(format!("{found:?}").contains("House"), "{found:?}");
    assert_eq!(running.status("search").generation, "g000001", "the others continue");
    running.end().await;
}

#[tokio::test]
async fn damaged_segments_of_the_search_index_are_found_when_events_arrive() {
    let Some(mut stream) = log().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let running = RunningProjections::on(folder.path(), &stream.client);
    running.log_at("g000001", stream.position).await;
    running.end().await;
    let search = folder.path().join("search");
    let kinds: BTreeSet<String> = segment_files(&search.join("g000001")).into_keys().collect();
    assert!(kinds.contains("term") && kinds.contains("store"), "{kinds:?}");
    for (number, kind) in (1_u32..).zip(&kinds) {
        let current = fs::read_to_string(search.join("current")).unwrap();
        for file in &segment_files(&search.join(current.trim()))[kind] {
            let mut bytes = fs::read(file).unwrap();
            // All but the footer, by which tantivy recognises its files.
            let end = bytes.len() / 2;
            bytes[..end].fill(0xa5);
            fs::write(file, bytes).unwrap();
        }
        let running = RunningProjections::on(folder.path(), &stream.client);
        let revised = json!({"record": {"name": format!("House {number}"), "category": "art"}});
        for project_number in 1..=3 {
            stream.publish(&project(project_number), REVISED, revised.clone()).await;
        }
        let head = stream.position;
        wait_until(TIMEOUT, &format!("the index after damage of {kind}"), async || {
            let status = running.status("search");
            status.position == head && status.quarantined.is_none()
        })
        .await;
        running.end().await;
        let models = ReadModels::new(folder.path(), schemas::clock::Clock::system());
        models.refresh().await.unwrap();
        assert_eq!(models.search().unwrap().reader.documents(), 3, "{kind}");
    }
}

/// Returns the files of an index's segments by content.
fn segment_files(folder: &Path) -> HashMap<String, Vec<PathBuf>> {
    let mut files: HashMap<String, Vec<PathBuf>> = HashMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_of_a_segment = path.file_stem().is_some_and(|stem| stem.len() >= 32);
        if let Some(kind) = path.extension().filter(|_| is_of_a_segment) {
            files.entry(kind.to_string_lossy().into_owned()).or_default().push(path);
        }
    }
    files
}
