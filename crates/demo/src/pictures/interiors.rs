//! Rooms in one-point perspective, with windows and furniture.

mod built_in;
mod furniture;
mod vistas;
mod windows;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::{Fill, Point};
use super::drawing::Drawing;
use super::style::{Layout, Light, Material, Style};
use super::texture::{Quad, point_on, sub_quad};
use crate::rng::DrawingRng;

/// A kind of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Table,
    Shelves,
    Stair,
    Bed,
    Counter,
    Enfilade,
    Vault,
    Bench,
}

impl Room {
    pub(super) fn of(brief: &Brief, style: &Style, rng: &mut DrawingRng) -> Self {
        let other = rng.chance(50);
        let any = rng.choose(&[Self::Table, Self::Bench, Self::Shelves, Self::Stair]);
        let composed = brief.taste(Dimension::Composition).split(',').next().unwrap_or_default();
        match (composed, style.layout) {
            ("vault", _) => return Self::Vault,
            ("enfilade" | "threshold" | "frame within a frame" | "room within a room", _) if other => {
                return Self::Enfilade;
            }
            ("gallery" | "platform", _) => return Self::Stair,
            (_, Layout::Stack) => return Self::Stair,
            _ => {}
        }
        let spoken = [
            ("café", Self::Counter),
            ("wine bar", Self::Counter),
            ("bakery", Self::Counter),
            ("pharmacy", Self::Counter),
            ("foyer", Self::Counter),
            ("flower shop", Self::Counter),
            ("hotel", Self::Bed),
            ("guest room", Self::Bed),
            ("attic", Self::Bed),
            ("bookshop", Self::Shelves),
            ("library", Self::Shelves),
            ("law office", Self::Shelves),
            ("reading room", Self::Shelves),
            ("ceramic studio", Self::Shelves),
            ("restaurant", Self::Table),
            ("kitchen", Self::Table),
            ("canteen", Self::Table),
            ("office", Self::Table),
            ("tea room", Self::Bench),
            ("exhibition", Self::Bench),
            ("practice", Self::Bench),
            ("music room", Self::Bench),
            ("shop", Self::Shelves),
        ];
        brief.first_mentioned(&spoken).unwrap_or(any)
    }

    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Table => "room with a long table",
            Self::Shelves => "room with shelves along its wall",
            Self::Stair => "room with an open stair",
            Self::Bed => "room with a low bed",
            Self::Counter => "room with a counter and hanging lamps",
            Self::Enfilade => "row of rooms one behind the other",
            Self::Vault => "vaulted room",
            Self::Bench => "bare room with a bench",
        }
    }
}

/// The surfaces of a room.
pub(super) struct Space {
    pub(super) back: Quad,
    pub(super) floor: Quad,
    pub(super) ceiling: Quad,
    pub(super) left: Quad,
    pub(super) right: Quad,
}

impl Space {
    fn of(drawing: &mut Drawing) -> Self {
        let width = drawing.width();
        let centred = matches!(drawing.style.layout, Layout::Symmetric | Layout::Frame | Layout::Roof);
        let sway = if centred { 0.0 } else { drawing.rng.range(-9.0, 9.0) };
        let half = drawing.rng.range(0.27, 0.33) * width;
        let (left, right) = (width / 2.0 - half + sway, width / 2.0 + half + sway);
        let (top, base) = (drawing.rng.range(14.0, 20.0), drawing.rng.range(66.0, 71.0));
        let (l, r, t, b) = (-2.0, width + 2.0, -8.0, 106.0);
        Self {
            back: [(left, top), (right, top), (right, base), (left, base)],
            floor: [(left, base), (right, base), (r, b), (l, b)],
            ceiling: [(l, t), (r, t), (right, top), (left, top)],
            left: [(l, t), (left, top), (left, base), (l, b)],
            right: [(right, top), (r, t), (r, b), (right, base)],
        }
    }
}

/// Draws a room.
pub(super) fn draw(drawing: &mut Drawing, room: Room) {
    let space = Space::of(drawing);
    shell(drawing, &space);
    match room {
        Room::Enfilade => vistas::enfilade(drawing, &space),
        Room::Vault => vistas::vault(drawing, &space),
        _ => {
            let side = !matches!(room, Room::Shelves | Room::Stair) && drawing.rng.chance(55);
            if side || drawing.style.light == Light::Side {
                windows::side_window(drawing, &space)
            } else {
                windows::back_window(drawing, &space, room)
            }
        }
    }
    match room {
        Room::Table => furniture::table(drawing, &space),
        Room::Shelves => built_in::shelves(drawing, &space),
        Room::Stair => built_in::stair(drawing, &space),
        Room::Bed => furniture::bed(drawing, &space),
        Room::Counter => built_in::counter(drawing, &space),
        Room::Bench => furniture::bench(drawing, &space),
        Room::Enfilade | Room::Vault => {
            let at = (point_on(&space.floor, drawing.rng.range(0.3, 0.7), 0.3).0, space.back[2].1 + 9.0);
            drawing.person(at, 24.0);
        }
    }
    lamp_glow(drawing, &space);
}

/// Returns whether the style's material covers the floor, and not the walls.
fn is_floor(drawing: &Drawing) -> bool {
    matches!(
        drawing.style.material,
        Material::Terrazzo
            | Material::Timber
            | Material::Marble
            | Material::Tile
            | Material::Stone
            | Material::Wicker
    )
}

/// Draws walls, floor and ceiling.
fn shell(drawing: &mut Drawing, space: &Space) {
    let palette = drawing.palette;
    let wall = palette.body;
    let floor = if is_floor(drawing) {
        palette.body.lighter(-0.05)
    } else {
        palette.ground.mix(palette.second, 0.35)
    };
    let wall = if is_floor(drawing) {
        palette.body.mix(palette.lightest.with_lightness(palette.backdrop_bottom.light), 0.55)
    } else {
        wall
    };
    drawing.canvas.poly(
        &space.ceiling,
        wall.mix(palette.lightest, 0.4).lighter(if palette.lamps_on { -0.3 } else { 0.02 }),
    );
    drawing.canvas.poly(&space.floor, floor);
    let on_floor = is_floor(drawing);
    let material = drawing.style.material;
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
    drawing.fading_shade(
        &sub_quad(&back, (0.0, 0.12), (0.0, 1.0)),
        back[0],
        point_on(&back, 0.12, 0.0),
        0.28,
    );
    drawing.fading_shade(
        &sub_quad(&back, (0.88, 1.0), (0.0, 1.0)),
        back[1],
        point_on(&back, 0.88, 0.0),
        0.28,
    );
    drawing.fading_shade(
        &sub_quad(&space.floor, (0.0, 1.0), (0.0, 0.2)),
        back[3],
        (back[3].0, back[3].1 + 8.0),
        0.5,
    );
    let skirting = wall.lighter(-0.1);
    drawing.canvas.line(back[3], back[2], 0.7, skirting);
    drawing.canvas.line(back[3], space.left[3], 0.7, skirting);
    drawing.canvas.line(back[2], space.right[2], 0.7, skirting);
}

/// Draws lamplight over the middle of a dark room.
fn lamp_glow(drawing: &mut Drawing, space: &Space) {
    if drawing.palette.lamps_on {
        let at: Point = point_on(&space.back, 0.5, 0.55);
        let glow = drawing.palette.glow;
        drawing.canvas.fill_all(Fill::Radial(at, 66.0, (glow, 0.34), (glow, 0.0)));
    }
}
