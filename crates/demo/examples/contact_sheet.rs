//! A contact sheet of demo pictures for visual inspection: ten columns and six rows, in the order of the categories.
//!
//! `cargo run --release -p demo --example contact_sheet -- /tmp/sheet.png [words]`
//!
//! With words, only projects whose taste has all of them are shown, as in `brick "low evening sun"`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "an example for people"
)]

use std::time::Instant;

use demo::pictures::{draw, picture};
use demo::{DEMO_SEED, DEMO_SIZE, catalog};
use image::imageops::{FilterType, replace, resize};
use image::{Rgb, RgbImage};
use schemas::record::Record;

const COLUMNS: u32 = 10;
const ROWS: u32 = 6;
/// Width and height that one picture has on the sheet, in pixels.
const CELL: (u32, u32) = (192, 160);
const MARGIN: u32 = 8;

fn main() {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_else(|| "/tmp/sheet.png".to_owned());
    let words: Vec<String> = words.collect();
    let mut records: Vec<Record> = catalog(DEMO_SEED, DEMO_SIZE)
        .map(|mut record| {
            record.remove("slug");
            serde_json::from_value(record.into()).unwrap()
        })
        .filter(|record: &Record| {
            let taste = serde_json::to_string(&record.taste).unwrap();
            words.iter().all(|word| taste.contains(word.as_str()))
        })
        .collect();
    records.sort_by_key(|record| record.category);
    let shown = (COLUMNS * ROWS) as usize;
    let step = (records.len() / shown).max(1);
    let mut sheet = RgbImage::from_pixel(COLUMNS * CELL.0, ROWS * CELL.1, Rgb([250, 249, 247]));
    for (at, record) in (0..).zip(records.iter().step_by(step).take(shown)) {
        let drawn = draw(record, DEMO_SEED);
        let (room, high) = (CELL.0 - MARGIN, CELL.1 - MARGIN);
        let width = room.min(drawn.width() * high / drawn.height());
        let height = drawn.height() * width / drawn.width();
        let small = resize(&drawn, width, height, FilterType::Triangle);
        let (x, y) =
            (at % COLUMNS * CELL.0 + (CELL.0 - width) / 2, at / COLUMNS * CELL.1 + (CELL.1 - height) / 2);
        replace(&mut sheet, &small, x.into(), y.into());
    }
    sheet.save(&path).unwrap();
    let started = Instant::now();
    let sizes: Vec<usize> =
        records.iter().step_by(step).take(shown).map(|record| picture(record, DEMO_SEED).len()).collect();
    let (count, bytes) = (sizes.len().max(1), sizes.iter().sum::<usize>());
    println!("{path}: {} of {} projects", sizes.len(), records.len());
    println!(
        "{:.1} ms and {} bytes a picture",
        started.elapsed().as_secs_f64() * 1e3 / count as f64,
        bytes / count
    );
}
