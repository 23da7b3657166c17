//! Measures the time for one vector and the cosine of texts: `cargo run --release -p embeddings --features models --example encode -- [FOLDER|built-in]
//! [TEXT...]`, where FOLDER holds the models.
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::time::{Duration, Instant};

use embeddings::{Document, Encoder, EncoderChoice, Field};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let choice = match arguments.next().as_deref() {
        None | Some("built-in") => EncoderChoice::BuiltIn,
        Some(folder) => EncoderChoice::Folder(folder.into()),
    };
    let encoder = Encoder::open(&choice)?;
    println!("encoder {}", encoder.name());
    let texts: Vec<String> = arguments.collect();
    let vectors: Vec<_> = texts
        .iter()
        .map(|text| encoder.semantic(&document(text)).map_err(Into::into))
        .collect::<Result<_, Box<dyn Error>>>()?;
    for (at, one) in vectors.iter().enumerate() {
        for (with, other) in vectors.iter().enumerate().skip(at + 1) {
            if let (Some(one), Some(other)) = (one, other) {
                let cosine: f32 = one.iter().zip(other).map(|(a, b)| a * b).sum();
                println!("{cosine:.4}  {:?} / {:?}", texts[at], texts[with]);
            }
        }
    }
    let text = "The stair turns twice before the landing, where a window looks over the harbour. ".repeat(3);
    let long = document(&text);
    let rounds = if choice == EncoderChoice::BuiltIn { 2_000 } else { 10 };
    time("a document", rounds, || {
        encoder.semantic(&long).map(|vector| vector.is_some()).map_err(Into::into)
    })?;
    for (width, height) in [(128, 192), (640, 480), (1280, 960)] {
        let picture =
            image::RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, (x ^ y) as u8]));
        let what = format!("a picture of {width} x {height}");
        time(&what, rounds.min(200), || {
            encoder.visual(&picture).map(|vector| vector.is_some()).map_err(Into::into)
        })?;
    }
    Ok(())
}

/// Returns a document of one text.
fn document(text: &str) -> Document<'_> {
    let field = Field { name: "text", texts: vec![text], weight: 1.0, has_phrases: false };
    Document { fields: vec![field], passages: vec![text], ..Document::default() }
}

/// Prints the time of the fastest round: other load on the machine only makes rounds slower.
fn time(
    what: &str,
    rounds: u32,
    mut work: impl FnMut() -> Result<bool, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (mut fastest, mut made) = (Duration::MAX, false);
    for _ in 0..rounds {
        let start = Instant::now();
        made = work()?;
        fastest = fastest.min(start.elapsed());
    }
    let micros = fastest.as_secs_f64() * 1e6;
    println!("{micros:10.1} µs  {what}{}", if made { "" } else { ": not supported by this encoder" });
    Ok(())
}
