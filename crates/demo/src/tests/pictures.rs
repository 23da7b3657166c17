//! Pictures are deterministic, differ between records, show the colours that the record names, and have an alternative text.

use std::collections::HashSet;
use std::sync::LazyLock;

use schemas::record::Record;
use schemas::taste::Dimension;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::super::DEMO_SEED;
use super::super::pictures::{alt_of, chroma_and_hue, colour_named, draw, picture, picture_of};
use super::super::wording::takes_an;
use super::DEMO;

/// The largest file of a picture, in bytes.
const LIMIT: usize = 200_000;

/// Converts to a stored record, which has no slug.
fn stored(record: &Map<String, Value>) -> Record {
    let mut record = record.clone();
    record.remove("slug");
    serde_json::from_value(record.into()).unwrap()
}

/// What the tests need of a picture; 260 complete ones would take too much memory.
struct Drawn {
    record: Record,
    digest: [u8; 32],
    size: (u32, u32),
    /// Every 61st pixel.
    pixels: Vec<[u8; 3]>,
}

/// The pictures of the first records, drawn once for all tests.
static DRAWN: LazyLock<Vec<Drawn>> = LazyLock::new(|| {
    let drawn = |record: Record| {
        let picture = draw(&record, DEMO_SEED);
        let pixels = picture.pixels().step_by(61).map(|pixel| pixel.0).collect();
        Drawn { record, digest: digest(picture.as_raw()), size: picture.dimensions(), pixels }
    };
    DEMO[..260].iter().map(stored).map(drawn).collect()
});

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[test]
fn the_same_record_gives_the_same_picture() {
    for record in DEMO.iter().step_by(520).map(stored) {
        let bytes = picture(&record, DEMO_SEED);
        assert_eq!(digest(&bytes), digest(&picture(&record, DEMO_SEED)));
        assert_eq!(picture_of(&record), Some(bytes), "{}", record.name);
        assert_ne!(digest(&picture(&record, 1)), digest(&picture(&record, 2)), "{}", record.name);
    }
}

#[test]
fn only_a_record_that_names_a_demo_picture_has_one() {
    let mut record = stored(&DEMO[0]);
    record.pictures[0].source = "house.jpg".to_owned();
    assert_eq!(picture_of(&record), None);
    record.pictures.clear();
    assert_eq!(picture_of(&record), None);
}

#[test]
fn pictures_are_distinct_and_never_uniform() {
    let mut seen = HashSet::new();
    for Drawn { record, digest, size, pixels } in DRAWN.iter() {
        assert!(seen.insert(digest), "{} looks like another one", record.name);
        assert!(size.0 >= 700 && size.1 >= 700, "{size:?}");
        let luma = |[r, g, b]: [f64; 3]| 0.299 * r + 0.587 * g + 0.114 * b;
        let lumas: Vec<f64> = pixels.iter().map(|pixel| luma(pixel.map(f64::from))).collect();
        let mean = lumas.iter().sum::<f64>() / lumas.len() as f64;
        let variance = lumas.iter().map(|luma| (luma - mean).powi(2)).sum::<f64>() / lumas.len() as f64;
        assert!(variance > 60.0, "{} is nearly uniform: {variance:.0}", record.name);
    }
}

#[test]
fn pictures_are_small_files() {
    for record in DEMO[..260].iter().step_by(9).map(stored) {
        let bytes = picture(&record, DEMO_SEED);
        assert!(bytes.starts_with(&[0xff, 0xd8, 0xff]), "JPEG");
        assert!((8_000..LIMIT).contains(&bytes.len()), "{}: {} bytes", record.name, bytes.len());
    }
}

/// The hue that most of the colourful pixels have, in degrees.
fn hue(pixels: &[[u8; 3]]) -> f32 {
    let (mut x, mut y) = (0.0_f32, 0.0_f32);
    for pixel in pixels {
        let [chroma, hue] = chroma_and_hue(*pixel);
        let (sin, cos) = hue.to_radians().sin_cos();
        x += chroma * cos;
        y += chroma * sin;
    }
    y.atan2(x).to_degrees()
}

#[test]
fn a_single_named_colour_sets_the_hue() {
    let mut checked = 0;
    let mut near = 0;
    for Drawn { record, pixels, .. } in DRAWN.iter() {
        let Some(name) = record.taste.get(Dimension::Color).filter(|name| !name.contains(',')) else {
            continue;
        };
        let Some([_, chroma, named]) = colour_named(name) else { panic!("{name} is not a known colour") };
        if chroma > 0.05 {
            checked += 1;
            let difference = (hue(pixels) - named).rem_euclid(360.0);
            near += usize::from(difference.min(360.0 - difference) < 40.0);
        }
    }
    assert!(checked > 40, "{checked} of a single strong colour");
    assert!(near * 10 >= checked * 9, "{near} of {checked} are near their colour");
}

#[test]
fn every_colour_name_of_records_is_known() {
    for record in DEMO.iter() {
        for name in
            record["taste"].get("color").and_then(Value::as_str).into_iter().flat_map(|text| text.split(", "))
        {
            assert!(colour_named(name).is_some(), "{name}");
        }
    }
}

#[test]
fn every_picture_has_an_alternative_text() {
    let mut sentences = HashSet::new();
    for record in DEMO.iter() {
        let [picture] = record["pictures"].as_array().unwrap().as_slice() else { panic!("one picture") };
        let slug = record["slug"].as_str().unwrap();
        assert_eq!(picture["source"], format!("demo/{slug}.jpg"));
        let alt = picture["alt"].as_str().unwrap();
        assert!(alt.ends_with('.') && (30..=220).contains(&alt.chars().count()), "{alt}");
        assert!(!["  ", " ,", " .", "..", ",,"].iter().any(|wrong| alt.contains(wrong)), "{alt}");
        let words: Vec<&str> = alt.split(' ').collect();
        assert!(["A", "An"].contains(&words[0]), "{alt}");
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{alt}");
        for pair in words.windows(2) {
            match pair[0] {
                "a" | "A" => assert!(!takes_an(pair[1]), "{alt}"),
                "an" | "An" => assert!(takes_an(pair[1]), "{alt}"),
                _ => {}
            }
        }
        if let Some(color) = record["taste"].get("color").and_then(Value::as_str) {
            assert!(alt.contains(color.split(", ").next().unwrap()), "{color} is not in: {alt}");
        }
        sentences.insert(alt);
    }
    assert!(sentences.len() > 1_500, "{} different sentences", sentences.len());
}

#[test]
fn a_stored_record_has_the_picture_of_its_import() {
    for record in DEMO.iter().step_by(97) {
        let alt = alt_of(&stored(record));
        assert_eq!(record["pictures"][0]["alt"], alt);
    }
}
