//! Pictures of the demo projects, drawn from the taste of their records: projects with a similar taste look similar, and no two
//! pictures are the same. The same record and seed give the same bytes.
//!
//! `brief` selects the texts; `style`, `motif` and `plan` decide what is drawn, and `alt_text` describes that plan; `palette` and
//! `colour` derive the colours; `geometry`, `canvas`, `drawing`, `texture` and `outdoors` are the tools; `architecture`, `interiors`,
//! `design`, `photography` and `art` draw the motifs; `finish` adds grain and encodes the JPEG.

mod alt_text;
mod architecture;
mod art;
mod brief;
mod canvas;
mod colour;
mod design;
mod drawing;
mod finish;
mod geometry;
mod interiors;
mod motif;
mod outdoors;
mod palette;
mod photography;
mod plan;
mod style;
mod texture;

use image::RgbImage;
use schemas::record::Record;
use serde_json::{Map, Value};

use brief::Brief;
use canvas::Canvas;
use drawing::Drawing;
use palette::Palette;
use plan::Plan;
use style::Material;

/// The prefix of the sources of demo pictures; slug and `.jpg` follow.
pub const SOURCE: &str = schemas::picture::DRAWN;

/// Draws the picture of a project under `seed`: 960 by 720 pixels, 720 by 960, or 832 by 832.
pub fn draw(record: &Record, seed: u64) -> RgbImage {
    let plan = Plan::of(&Brief::of_record(record), seed);
    let (width, height) = plan.size;
    let Some(canvas) = Canvas::new(width, height) else { return RgbImage::new(width, height) };
    let palette = Palette::of(&plan.style);
    let mut drawing = Drawing { canvas, palette, style: &plan.style, rng: plan.rng };
    (plan.motif.draw)(&mut drawing);
    drawing.finish();
    let grain = if plan.style.material == Material::Film { 10 } else { 6 };
    let vignette = drawing.vignette();
    finish::with_grain_and_vignette(drawing.canvas, grain, vignette, seed)
}

/// Draws the picture of a project under `seed` as JPEG, below 200 KB.
pub fn picture(record: &Record, seed: u64) -> Vec<u8> {
    finish::jpeg(&draw(record, seed))
}

/// Draws the picture that a demo record names, as JPEG; `None` if the record names no demo picture.
pub fn picture_of(record: &Record) -> Option<Vec<u8>> {
    let named = record.pictures.iter().any(|picture| picture.source.starts_with(SOURCE));
    named.then(|| picture(record, super::DEMO_SEED))
}

/// Returns the `pictures` member of a record in the import format: one picture with its alternative text.
pub(super) fn pictures(record: &Map<String, Value>) -> Value {
    let slug = record.get("slug").and_then(Value::as_str).unwrap_or_default();
    let plan = Plan::of(&Brief::of_import(record), super::DEMO_SEED);
    serde_json::json!([{ "source": format!("{SOURCE}{slug}.jpg"), "alt": alt_text::sentence(&plan) }])
}

/// Returns the alternative text for a stored record.
#[cfg(test)]
pub(super) fn alt_of(record: &Record) -> String {
    alt_text::sentence(&Plan::of(&Brief::of_record(record), super::DEMO_SEED))
}

/// Returns a named colour as lightness, chroma and hue.
#[cfg(test)]
pub(super) fn colour_named(name: &str) -> Option<[f32; 3]> {
    colour::Colour::named(name).map(|colour| [colour.light, colour.chroma, colour.hue])
}

/// Returns chroma and hue of an sRGB pixel.
#[cfg(test)]
pub(super) fn chroma_and_hue([r, g, b]: [u8; 3]) -> [f32; 2] {
    let colour = colour::Colour::from_hex(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b));
    [colour.chroma, colour.hue]
}
