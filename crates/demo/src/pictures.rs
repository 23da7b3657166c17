//! Pictures of the demo projects, drawn by code from the material, light, colour, mood, composition and subject of their
//! records. Projects that share a taste look alike, and no two are the same.
//!
//! A plan decides everything before anything is drawn; the sentence that describes the picture comes from the same plan.
//! The same record and seed give the same picture.

mod alt;
mod architecture;
mod art;
mod brief;
mod canvas;
mod colour;
mod design;
mod finish;
mod hand;
mod interiors;
mod look;
mod outdoors;
mod palette;
mod photography;
mod plan;
mod sheet;
mod texture;

use image::RgbImage;
use schemas::record::Record;
use serde_json::{Map, Value};

use brief::Brief;
use canvas::Canvas;
use look::Material;
use palette::Palette;
use plan::{Motif, Plan};
use sheet::Sheet;

/// What the sources of demo pictures begin with; the slug and `.jpg` follow.
pub const SOURCE: &str = "demo/";

/// The picture of a project under `seed`, about 960 by 720 pixels, or upright, or square.
pub fn draw(record: &Record, seed: u64) -> RgbImage {
    let plan = Plan::of(&Brief::of_record(record), seed);
    let (width, height) = plan.size;
    let Some(canvas) = Canvas::new(width, height) else { return RgbImage::new(width, height) };
    let mut sheet = Sheet { canvas, palette: Palette::of(&plan.look), look: &plan.look, hand: plan.hand };
    match plan.motif {
        Motif::Building(building) => architecture::draw(&mut sheet, building),
        Motif::Room(room) => interiors::draw(&mut sheet, room),
        Motif::Object(object) => design::draw(&mut sheet, object),
        Motif::Shot(shot) => photography::draw(&mut sheet, shot),
        Motif::Work(work) => art::draw(&mut sheet, work),
    }
    sheet.finish();
    let grain = if plan.look.material == Material::Film { 10 } else { 6 };
    let corners = sheet.corners();
    finish::printed(sheet.canvas, grain, corners, seed)
}

/// The picture of a project under `seed` as JPEG, below 200 KB.
pub fn picture(record: &Record, seed: u64) -> Vec<u8> {
    finish::jpeg(&draw(record, seed))
}

/// The picture that a demo record names, as JPEG; `None` where the record names no demo picture.
pub fn picture_of(record: &Record) -> Option<Vec<u8>> {
    let named = record.pictures.iter().any(|picture| picture.source.starts_with(SOURCE));
    named.then(|| picture(record, super::DEMO_SEED))
}

/// The `pictures` member of a record in the import format: one picture, with a sentence that describes it.
pub(super) fn pictures(record: &Map<String, Value>) -> Value {
    let slug = record.get("slug").and_then(Value::as_str).unwrap_or_default();
    let plan = Plan::of(&Brief::of_import(record), super::DEMO_SEED);
    serde_json::json!([{ "source": format!("{SOURCE}{slug}.jpg"), "alt": alt::sentence(&plan) }])
}

/// What [`pictures`] says of the picture of a record that is kept.
#[cfg(test)]
pub(super) fn alt_of(record: &Record) -> String {
    alt::sentence(&Plan::of(&Brief::of_record(record), super::DEMO_SEED))
}

/// A colour by its name, as lightness, chroma and hue.
#[cfg(test)]
pub(super) fn colour_named(name: &str) -> Option<[f32; 3]> {
    colour::Colour::named(name).map(|colour| [colour.light, colour.chroma, colour.hue])
}

/// The chroma and hue of three bytes.
#[cfg(test)]
pub(super) fn colour_seen([r, g, b]: [u8; 3]) -> [f32; 2] {
    let colour = colour::Colour::from_hex(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b));
    [colour.chroma, colour.hue]
}
