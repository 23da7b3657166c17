//! Measures the memory per key and the time of a lookup with N keys (1,000,000 by default).
//!
//! ```sh
//! cargo run --release -p read --features apply --example keys_memory -- 1000000
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints its results")]

use std::time::Instant;

use kit::samples::recorded;
use read::checkpoint::Checkpoint;
use read::keys::{KeysReader, KeysWriter};
use schemas::account::{AccountEvent, KeyIssued};
use schemas::event::Event;
use schemas::ids::{AccountId, Position, StreamId};
use schemas::key::KeyHash;

/// The number of keys in one commit.
const BATCH: u64 = 5_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let keys: u64 = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut writer = KeysWriter::open(folder.path()).await.unwrap();
    let began = Instant::now();
    for start in (0..keys).step_by(BATCH as usize) {
        let batch: Vec<(u64, AccountId, AccountEvent)> =
            (start..(start + BATCH).min(keys)).map(|n| (n, account(n), issued(n))).collect();
        writer.load(batch.iter().map(|(_, account, event)| (*account, event))).await.unwrap();
        let mut checkpoint = Checkpoint::default();
        for (number, account, event) in batch {
            let whole = Event::Account(event.clone());
            let recorded = recorded(Position(number + 1), StreamId::account(account), &whole);
            checkpoint.position = recorded.position;
            writer.apply(&recorded, account, event).unwrap();
        }
        writer.commit(checkpoint).await.unwrap();
    }
    writer.close().await.unwrap();
    println!("{keys} keys written in {:.1} s", began.elapsed().as_secs_f64());

    let before = resident();
    let began = Instant::now();
    let reader = KeysReader::open(folder.path()).await.unwrap();
    println!("loaded in {:.2} s", began.elapsed().as_secs_f64());
    println!("{:.0} bytes a key", (resident() - before) as f64 / keys as f64);

    // A stride that is coprime to the number of keys, so that consecutive lookups are not adjacent in memory.
    let hashes: Vec<KeyHash> = (0..keys).map(|n| hash(n * 7_919 % (2 * keys))).collect();
    let began = Instant::now();
    let found = hashes.iter().filter(|hash| reader.find(hash).is_some()).count();
    let each = began.elapsed().as_nanos() as f64 / keys as f64;
    println!("{each:.0} ns a lookup, {found} of {keys} found");

    let began = Instant::now();
    for _ in 0..100 {
        reader.refresh().await.unwrap();
    }
    println!("{:.0} µs a refresh that finds nothing new", began.elapsed().as_micros() as f64 / 100.0);
}

fn account(number: u64) -> AccountId {
    format!("{:026}", number / 3).parse().unwrap()
}

fn hash(number: u64) -> KeyHash {
    KeyHash::of(&number.to_be_bytes())
}

fn issued(number: u64) -> AccountEvent {
    AccountEvent::KeyIssued(KeyIssued {
        key_id: format!("{number:08}").parse().unwrap(),
        hash: hash(number),
        hint: "abcd".into(),
        name: None,
        sealed_name: None,
        tier: "free".parse().unwrap(),
    })
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}
