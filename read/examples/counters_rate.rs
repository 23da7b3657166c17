//! Measures how many calls per second the counters process: counts N calls (300,000 by default) of 10,000 keys in batches of the size
//! that a worker receives at 15,000 calls per second, then in larger ones, as in a rebuild.
//!
//! ```sh
//! cargo run --release -p read --features apply --example counters_rate -- 300000
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints its results")]

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use read::counters::{CountersReader, CountersWriter, Metered};
use schemas::month::Month;
use schemas::usage::{Call, CallId, Surface};
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let calls: u64 = std::env::args().nth(1).map_or(300_000, |text| text.parse().unwrap());
    let calls: Vec<Metered> = (0..calls).map(call).collect();
    for batch in [750, 5_000, 20_000] {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = CountersWriter::open(folder.path()).await.unwrap();
        let began = Instant::now();
        for batch in calls.chunks(batch) {
            let progress = writer.progress().clone();
            writer.commit(batch, progress, batch[0].call.month).await.unwrap();
        }
        let rate = calls.len() as f64 / began.elapsed().as_secs_f64();
        println!(
            "batches of {batch}: {rate:.0} calls/s, so 15,000 calls/s keep {:.0} % of a core busy",
            1.5e6 / rate
        );
        let began = Instant::now();
        let reader = CountersReader::open(folder.path(), calls[0].call.month).await.unwrap();
        println!("  loaded in {:.0} ms", began.elapsed().as_secs_f64() * 1e3);
        let (key, tier, month) = (calls[0].call.key_id, &calls[0].call.tier, calls[0].call.month);
        let began = Instant::now();
        let used: u64 = (0..1_000_000).map(|_| reader.counted(key, tier, month).used).sum();
        println!("  {:.0} ns a lookup ({used})", began.elapsed().as_secs_f64() * 1e3);
    }
}

fn call(number: u64) -> Metered {
    let start: Timestamp = "2026-11-20T08:00:00Z".parse().unwrap();
    let time = start + SignedDuration::from_micros((number * 66).cast_signed());
    // The key is spread as a hash would, the id is ordered in time as a UUIDv7 is.
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let call = Call {
        id: CallId(Uuid::from_u128(u128::from(number) << 64 | u128::from(spread))),
        key_id: format!("Key{:05}", (spread >> 32) % 10_000).parse().unwrap(),
        tier: "pro".parse().unwrap(),
        month: Month::of(time),
        time,
        surface: Surface::Rest,
        operation: "search".into(),
    };
    let received = call.month;
    Metered { call, overrun: false, sequence: Some(number + 1), recreated: false, received }
}
