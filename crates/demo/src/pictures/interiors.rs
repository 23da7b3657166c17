//! Rooms in one-point perspective, with windows and furniture.

mod built_in;
mod furniture;
mod vistas;
mod windows;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::Fill;
use super::drawing::Drawing;
use super::geometry::{Quad, point_on, rect_quad, sub_quad, taper};
use super::motif::{Format, Motif, Setting};
use super::style::{Layout, Light, Material, Style};
use crate::rng::DrawingRng;

const fn room(noun: &'static str, draw: fn(&mut Drawing)) -> Motif {
    Motif { noun, setting: Setting::Indoors, format: Format::Wide, draw }
}

const TABLE: Motif = room("room with a long table", |drawing| furnished(drawing, false, furniture::table));
const SHELVES: Motif =
    room("room with shelves along its wall", |drawing| furnished(drawing, true, built_in::shelves));
const STAIR: Motif = room("room with an open stair", |drawing| furnished(drawing, true, built_in::stair));
const BED: Motif = room("room with a low bed", |drawing| furnished(drawing, false, furniture::bed));
const COUNTER: Motif =
    room("room with a counter and hanging lamps", |drawing| furnished(drawing, false, built_in::counter));
const ENFILADE: Motif = room("row of rooms one behind the other", |drawing| vista(drawing, vistas::enfilade));
const VAULT: Motif = room("vaulted room", |drawing| vista(drawing, vistas::vault));
const BENCH: Motif = room("bare room with a bench", |drawing| furnished(drawing, false, furniture::bench));

const NAMED: &[(&[&str], Motif)] = &[
    (&["café", "wine bar", "bakery", "pharmacy", "foyer", "flower shop"], COUNTER),
    (&["hotel", "guest room", "attic"], BED),
    (&["bookshop", "library", "law office", "reading room", "ceramic studio", "shop"], SHELVES),
    (&["restaurant", "kitchen", "canteen", "office"], TABLE),
    (&["tea room", "exhibition", "practice", "music room"], BENCH),
];

/// Chooses by the composition, else by the use that the texts name.
pub(super) fn motif(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Motif {
    let other = rng.chance(50);
    let any = rng.choose(&[TABLE, BENCH, SHELVES, STAIR]);
    match brief.first_phrase(Dimension::Composition) {
        "vault" => VAULT,
        "enfilade" | "threshold" | "frame within a frame" | "room within a room" if other => ENFILADE,
        "gallery" | "platform" => STAIR,
        _ if style.layout == Layout::Stack => STAIR,
        _ => brief.first_mentioned(NAMED).unwrap_or(any),
    }
}

/// The surfaces of a room.
struct Space {
    back: Quad,
    floor: Quad,
    ceiling: Quad,
    left: Quad,
    right: Quad,
}

impl Space {
    fn of(drawing: &mut Drawing) -> Self {
        let width = drawing.width();
        let centred = matches!(drawing.style.layout, Layout::Symmetric | Layout::Frame | Layout::Roof);
        let sway = if centred { 0.0 } else { drawing.rng.range(-9.0, 9.0) };
        let half = drawing.rng.range(0.27, 0.33) * width;
        let middle = width / 2.0 + sway;
        let (top, base) = (drawing.rng.range(14.0, 20.0), drawing.rng.range(66.0, 71.0));
        let back = taper((middle, top), half, (middle, base), half);
        let near = rect_quad(-2.0, -8.0, width + 4.0, 114.0);
        Self {
            back,
            floor: [back[3], back[2], near[2], near[3]],
            ceiling: [near[0], near[1], back[1], back[0]],
            left: [near[0], back[0], back[3], near[3]],
            right: [back[1], near[1], near[2], back[2]],
        }
    }
}

/// Draws a room with a window; `against_back` is for furniture that takes the place of a side window.
fn furnished(drawing: &mut Drawing, against_back: bool, furniture: fn(&mut Drawing, &Space)) {
    let space = shell(drawing);
    let side = !against_back && drawing.rng.chance(55);
    if side || drawing.style.light == Light::Side {
        windows::side_window(drawing, &space)
    } else {
        windows::back_window(drawing, &space, against_back)
    }
    furniture(drawing, &space);
    lamp_glow(drawing, &space);
}

/// Draws a room that is a view, with a person.
fn vista(drawing: &mut Drawing, view: fn(&mut Drawing, &Space)) {
    let space = shell(drawing);
    view(drawing, &space);
    let at = (point_on(&space.floor, drawing.rng.range(0.3, 0.7), 0.3).0, space.back[2].1 + 9.0);
    drawing.person(at, 24.0);
    lamp_glow(drawing, &space);
}

/// Draws walls, floor and ceiling; the style's material covers either the floor or the walls.
fn shell(drawing: &mut Drawing) -> Space {
    let space = Space::of(drawing);
    let (palette, material) = (drawing.palette, drawing.style.material);
    let on_floor = matches!(
        material,
        Material::Terrazzo
            | Material::Timber
            | Material::Marble
            | Material::Tile
            | Material::Stone
            | Material::Wicker
    );
    let pale = palette.lightest.with_lightness(palette.backdrop_bottom.light);
    let (floor, wall) = if on_floor {
        (palette.body.lighter(-0.05), palette.body.mix(pale, 0.55))
    } else {
        (palette.ground.mix(palette.second, 0.35), palette.body)
    };
    let ceiling = wall.mix(palette.lightest, 0.4).lighter(if palette.lamps_on { -0.3 } else { 0.02 });
    drawing.canvas.poly(&space.ceiling, ceiling);
    drawing.canvas.poly(&space.floor, floor);
    if on_floor {
        drawing.texture(&space.floor, floor, material, 1.6);
    }
    let bright = if drawing.style.from_left { &space.right } else { &space.left };
    let dark = if drawing.style.from_left { &space.left } else { &space.right };
    for (surface, by) in [(&space.back, 0.0), (bright, 0.03), (dark, -0.06)] {
        drawing.canvas.poly(surface, wall.lighter(by));
        if !on_floor {
            drawing.texture(surface, wall.lighter(by), material, 1.2);
        }
    }
    drawing.shade(dark, 0.55);
    drawing.fading_shade(&space.ceiling, (0.0, 20.0), (0.0, -4.0), 0.35);
    // Corners are darker.
    let back = space.back;
    let (left, right) = (sub_quad(&back, (0.0, 0.12), (0.0, 1.0)), sub_quad(&back, (0.88, 1.0), (0.0, 1.0)));
    drawing.fading_shade(&left, left[0], left[1], 0.28);
    drawing.fading_shade(&right, right[1], right[0], 0.28);
    let foot = sub_quad(&space.floor, (0.0, 1.0), (0.0, 0.2));
    drawing.fading_shade(&foot, back[3], (back[3].0, back[3].1 + 8.0), 0.5);
    let skirting = [(back[3], back[2]), (back[3], space.left[3]), (back[2], space.right[2])];
    drawing.canvas.lines(skirting, 0.7, wall.lighter(-0.1));
    space
}

/// Draws lamplight over the middle of a dark room.
fn lamp_glow(drawing: &mut Drawing, space: &Space) {
    if drawing.palette.lamps_on {
        let at = point_on(&space.back, 0.5, 0.55);
        drawing.canvas.fill_all(Fill::Radial(at, 66.0, drawing.palette.glow, 0.34));
    }
}
