//! Measures how fast the ledger appends and verifies calls: fills a new one and recounts it.
//!
//! `cargo run --release -p ledger --example ledger_verify -- 10000000`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement for people"
)]

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use ledger::{CopiedBatch, Ledger};
use schemas::month::Month;
use schemas::usage::{Call, CallId, Surface};
use uuid::Uuid;

/// The number of calls by default.
const CALLS: u64 = 200_000;

/// The number of calls appended at once, as the copier does while it lags.
const BATCH: u64 = 2_000;

const KEYS: u64 = 5_000;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns the call of this number; calls are spread over all keys and about half a year.
fn call(number: u64, all: u64) -> Call {
    let start: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
    let step = 180 * 24 * 3_600 * 1_000_000 / i64::try_from(all.max(1)).unwrap();
    let time = start + SignedDuration::from_micros(i64::try_from(number).unwrap() * step);
    let key = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % KEYS;
    let mut id = [b'0'; 8];
    for (place, character) in id.iter_mut().enumerate() {
        *character = ALPHABET[(key.wrapping_mul(2_654_435_761) >> (4 * place)) as usize % 62];
    }
    let milliseconds = u128::try_from(time.as_millisecond()).unwrap();
    let random = u128::from(number.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    Call {
        id: CallId(Uuid::from_u128(milliseconds << 80 | 7 << 76 | 2 << 62 | random >> 2)),
        key_id: id.as_slice().try_into().unwrap(),
        tier: ["free", "studio", "pro"][(key % 3) as usize].parse().unwrap(),
        month: Month::of(time),
        time,
        surface: if number.is_multiple_of(4) { Surface::Mcp } else { Surface::Rest },
        operation: ["search", "get_project", "similar"][(number % 3) as usize].to_owned(),
    }
}

#[tokio::main]
async fn main() {
    let all: u64 = std::env::args().nth(1).map_or(CALLS, |number| number.parse().unwrap());
    let folder = std::env::temp_dir().join(format!("loggia-ledger-{}", std::process::id()));
    let ledger = Ledger::open(&folder).await.unwrap();
    let begun = Instant::now();
    for first in (1..=all).step_by(usize::try_from(BATCH).unwrap()) {
        let last = (first + BATCH - 1).min(all);
        let calls: Vec<(u64, Call)> = (first..=last).map(|number| (number, call(number, all))).collect();
        let batch = CopiedBatch {
            stream: "USAGE_FREE".to_owned(),
            created: Timestamp::UNIX_EPOCH,
            sequence: last,
            last: calls.last().map(|(_, call)| call.id),
            calls,
        };
        ledger.append(batch).await.unwrap();
    }
    report("appended", all, begun);
    let begun = Instant::now();
    let recount = ledger.verify(|_| {}).await.unwrap().unwrap();
    assert_eq!(recount.entries, all);
    report("verified and recounted", all, begun);
    let size = std::fs::metadata(ledger.path()).unwrap().len();
    println!("{} allowances; {} bytes, {} a call", recount.totals.len(), size, size / all.max(1));
    ledger.close().await;
    std::fs::remove_dir_all(&folder).unwrap();
}

fn report(what: &str, count: u64, begun: Instant) {
    let seconds = begun.elapsed().as_secs_f64();
    println!("{count} calls {what} in {seconds:.1} s, {:.0}/s", count as f64 / seconds);
}
