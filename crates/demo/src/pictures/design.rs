//! Design objects on a ground, with their shadow.

mod flat_objects;
mod furniture;
mod lamps;
mod vessels;

use schemas::taste::Dimension;
use tiny_skia::Path;

use super::brief::Brief;
use super::canvas::Fill;
use super::colour::{Colour, lch};
use super::drawing::Drawing;
use super::geometry::Part::{Bend, Close};
use super::geometry::{Point, curve, lerp, outline, rect_quad, shares};
use super::motif::Format::{self, Square, Tall, Wide};
use super::motif::{Motif, Setting};
use super::style::Light;
use crate::rng::DrawingRng;

const fn object(noun: &'static str, format: Format, draw: fn(&mut Drawing)) -> Motif {
    Motif { noun, setting: Setting::Indoors, format, draw }
}

const CHAIR: Motif = object("chair", Tall, |drawing| standing(drawing, 1.24, furniture::chair));
const STOOL: Motif = object("stool", Square, |drawing| standing(drawing, 1.24, furniture::stool));
const BENCH: Motif = object("bench", Wide, |drawing| standing(drawing, 1.12, furniture::bench));
const TABLE: Motif = object("table", Wide, |drawing| standing(drawing, 1.12, furniture::table));
const SHELF: Motif = object("shelf", Square, |drawing| standing(drawing, 1.12, furniture::shelf));
const TABLE_LAMP: Motif = object("table lamp", Square, |drawing| standing(drawing, 1.12, lamps::table_lamp));
const PENDANT: Motif = object("hanging lamp", Tall, |drawing| standing(drawing, 1.0, lamps::pendant));
const FLOOR_LAMP: Motif =
    object("lamp on a tall stand", Tall, |drawing| standing(drawing, 1.0, lamps::floor_lamp));
const VESSELS: Motif = object("group of vessels", Wide, |drawing| standing(drawing, 1.12, vessels::group));
const BOWLS: Motif =
    object("set of bowls and plates", Wide, |drawing| standing(drawing, 1.0, vessels::bowls));
const TEAPOT: Motif = object("pot with a spout", Square, |drawing| standing(drawing, 1.0, vessels::teapot));
const BASKET: Motif = object("woven basket", Square, |drawing| standing(drawing, 1.18, vessels::basket));
const BOXES: Motif =
    object("group of small solids", Square, |drawing| standing(drawing, 1.04, vessels::solids));
const BOOK: Motif = object("stack of books", Square, |drawing| standing(drawing, 1.18, flat_objects::books));
const CLOTH: Motif = object("hanging cloth", Tall, |drawing| hanging(drawing, flat_objects::cloth));
const POSTER: Motif =
    object("pair of posters without words", Wide, |drawing| hanging(drawing, flat_objects::posters));
const CLOCK: Motif = object("wall clock", Square, |drawing| hanging(drawing, flat_objects::clock));
const MIRROR: Motif = object("round mirror", Square, |drawing| hanging(drawing, flat_objects::mirror));

/// Objects by the words of texts; of two words at one place, the earlier row counts.
const NAMED: &[(&[&str], Motif)] = &[
    (&["armchair", "chair"], CHAIR),
    (&["stool"], STOOL),
    (&["bench", "bed"], BENCH),
    (&["table lamp"], TABLE_LAMP),
    (&["pendant lamp", "pendant"], PENDANT),
    (&["floor lamp", "coat stand"], FLOOR_LAMP),
    (&["desk", "table"], TABLE),
    (&["shelf", "cabinet"], SHELF),
    (&["candlestick", "vase", "carafe"], VESSELS),
    (&["tableware", "cutlery", "knife"], BOWLS),
    (&["cooking pot", "teapot", "watering can", "tap"], TEAPOT),
    (&["folding screen", "blanket", "rug", "curtain"], CLOTH),
    (&["basket", "bag"], BASKET),
    (&["typeface", "poster", "visual identity", "wayfinding", "map"], POSTER),
    (&["book"], BOOK),
    (&["packaging", "radio", "toy", "chess"], BOXES),
    (&["clock"], CLOCK),
    (&["mirror"], MIRROR),
];

/// Chooses by the object that the texts name, else by the subject; unknown ones become a still life.
pub(super) fn motif(brief: &Brief, rng: &mut DrawingRng) -> Motif {
    let any = rng.choose(&[VESSELS, BOWLS, BOXES]);
    brief.first_mentioned(NAMED).unwrap_or(match brief.first_phrase(Dimension::Subject) {
        "seating" => CHAIR,
        "light" => TABLE_LAMP,
        "vessel" => VESSELS,
        "textile" => CLOTH,
        "lettering" | "map" => POSTER,
        "reading" => BOOK,
        "time" => CLOCK,
        "storage" => SHELF,
        "carrying" => BASKET,
        _ => any,
    })
}

/// The height at which wall and ground meet.
const EDGE: f32 = 70.0;

/// Draws an object on a floor, enlarged by `near`.
fn standing(drawing: &mut Drawing, near: f32, object: fn(&mut Drawing)) {
    let palette = drawing.palette;
    let wall = backdrop(drawing);
    drawing.wall(wall, EDGE, (0.025, -0.03));
    let floor = wall.mix(palette.second.with_lightness(wall.light), 0.45).lighter(-0.075);
    drawing.band(EDGE, EDGE + 32.0, Fill::down(EDGE, 100.0, floor, floor.lighter(0.04)));
    let foot = rect_quad(-1.0, EDGE, drawing.width() + 2.0, 5.0);
    drawing.fading_shade(&foot, (0.0, EDGE), (0.0, EDGE + 5.0), 0.35);
    wall_light(drawing);
    let middle = drawing.width() / 2.0;
    drawing.canvas.zoom(near, (middle, 86.0));
    object(drawing);
    drawing.canvas.zoom(1.0, (0.0, 0.0));
}

/// Draws an object on a wall.
fn hanging(drawing: &mut Drawing, object: fn(&mut Drawing)) {
    let wall = backdrop(drawing);
    drawing.wall(wall, 108.0, (0.025, -0.03));
    wall_light(drawing);
    object(drawing);
}

/// Returns a colour in contrast to the body.
fn backdrop(drawing: &Drawing) -> Colour {
    let palette = drawing.palette;
    let body = palette.body;
    let light = match (palette.lamps_on, body.light) {
        (true, light) if light > 0.5 => 0.36,
        (true, light) if light > 0.36 => 0.27,
        (true, _) => 0.5,
        (false, light) if light > 0.8 => light - 0.23,
        (false, light) => (light + 0.24).clamp(0.76, 0.93),
    };
    if body.chroma < 0.06 && drawing.style.second.is_none() {
        // A pale grey object gets a coloured ground.
        return lch(light, if light > 0.72 { 0.02 } else { 0.034 }, drawing.style.accent);
    }
    let relative = palette.backdrop_bottom.mix(palette.second, 0.35);
    body.mix(relative, 0.5).with_lightness(light).muted(0.7)
}

/// Draws the light of a window or lamp, or the shadow of leaves, on the wall.
fn wall_light(drawing: &mut Drawing) {
    let (palette, width) = (drawing.palette, drawing.width());
    let lean = if drawing.style.from_left { 14.0 } else { -14.0 };
    let middle = width * if drawing.style.from_left { 0.62 } else { 0.38 };
    match drawing.style.light {
        Light::Morning | Light::Evening | Light::Side | Light::Noon => {
            for x in [middle - 13.0, middle + 1.0] {
                drawing.shine(&[(x, 6.0), (x + 11.5, 9.0), (x + 11.5 + lean, 62.0), (x + lean, 59.0)], 0.24);
            }
        }
        Light::Dapple => (0..4).for_each(|_| twig(drawing)),
        Light::Top => {
            let paper = palette.lightest;
            drawing.canvas.fill_all(Fill::Linear((0.0, 0.0), (0.0, 80.0), (paper, 0.4), (paper, 0.0)));
        }
        Light::Lamp | Light::Dusk | Light::Night => {
            drawing.canvas.fill_all(Fill::Radial((middle, 34.0), 60.0, palette.glow, 0.42));
        }
        _ => {
            let at = (if drawing.style.from_left { 0.0 } else { width }, 10.0);
            drawing.canvas.fill_all(Fill::Radial(at, 95.0, palette.lightest, 0.3));
        }
    }
}

/// Draws the shadow of a twig with leaves on the wall.
fn twig(drawing: &mut Drawing) {
    let width = drawing.width();
    let out = if drawing.style.from_left { 1.0 } else { -1.0 };
    let from = (if out > 0.0 { -3.0 } else { width + 3.0 }, drawing.rng.range(-6.0, 34.0));
    let (long, fall) = (width * drawing.rng.range(0.34, 0.66), drawing.rng.range(4.0, 24.0));
    let along = |share: f32| (from.0 + out * long * share, from.1 + fall * share * share);
    let veil = Fill::Alpha(drawing.palette.shadow, 0.1);
    let stem: Vec<Point> = shares(0..9, 8).map(along).collect();
    drawing.canvas.stroke(curve(&stem).finish(), 0.5, veil);
    for leaf in 1..15 {
        let at = along(leaf as f32 / 15.0);
        let (size, side) = (drawing.rng.range(2.6, 4.6), if leaf % 2 == 0 { 1.0 } else { -1.0 });
        let parts = [Bend(0.84, 0.25, 1.0, 1.1), Bend(0.16, 0.85, 0.0, 0.0), Close];
        drawing.canvas.fill(outline(at, (out * size, side * size), (0.0, 0.0), &parts), veil);
    }
}

/// Draws the shadow on the ground of an object on `base`, from `left` to `right`, of height `high`.
fn shadow(drawing: &mut Drawing, base: f32, left: f32, right: f32, high: f32) {
    let (dx, dy) = (drawing.shadow_reach() * 0.75 * high, -(high * 0.16).min(7.0));
    let from = lerp((left, base), (right, base), 0.5);
    let narrow = (right - left) * 0.1;
    let points =
        [(left, base), (right, base), (right + dx - narrow, base + dy), (left + dx + narrow, base + dy)];
    drawing.fading_shade(&points, from, (from.0 + dx, base + dy), 0.95);
    drawing.contact_shadow(from, (right - left) / 2.0 + 1.6, 1.4);
}

/// Shades a round body: the side away from the light is darker towards its edge.
fn round(drawing: &mut Drawing, path: Option<Path>, left: f32, right: f32, colour: Colour) {
    let (bright, dark) = if drawing.style.from_left { (left, right) } else { (right, left) };
    let turn = Fill::across(bright, dark, colour.lighter(0.07), colour.lighter(-0.13));
    drawing.canvas.fill(path.clone(), turn);
    let at = (bright + (dark - bright) * 0.3, 40.0);
    drawing.canvas.fill(path, Fill::Radial(at, (right - left) * 0.35, drawing.palette.lightest, 0.14));
}
