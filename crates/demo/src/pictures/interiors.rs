//! Rooms, seen straight on: walls that meet far away, a window, and what the room is for.

mod cases;
mod furniture;
mod vistas;
mod windows;

use schemas::taste::Dimension;

use super::brief::Brief;
use super::canvas::{At, Ink};
use super::hand::Hand;
use super::look::{Layout, Light, Look, Material};
use super::sheet::Sheet;
use super::texture::{Quad, on, part};

/// What room is drawn.
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
    pub(super) fn of(brief: &Brief, look: &Look, hand: &mut Hand) -> Self {
        let other = hand.chance(50);
        let any = hand.one(&[Self::Table, Self::Bench, Self::Shelves, Self::Stair]);
        let composed = brief.taste(Dimension::Composition).split(',').next().unwrap_or_default();
        match (composed, look.layout) {
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
        brief.spoken(&spoken).unwrap_or(any)
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
pub(super) struct Box {
    pub(super) back: Quad,
    pub(super) floor: Quad,
    pub(super) ceiling: Quad,
    pub(super) left: Quad,
    pub(super) right: Quad,
}

impl Box {
    fn of(sheet: &mut Sheet) -> Self {
        let width = sheet.width();
        let centred = matches!(sheet.look.layout, Layout::Symmetric | Layout::Frame | Layout::Roof);
        let sway = if centred { 0.0 } else { sheet.hand.between(-9.0, 9.0) };
        let half = sheet.hand.between(0.27, 0.33) * width;
        let (left, right) = (width / 2.0 - half + sway, width / 2.0 + half + sway);
        let (top, base) = (sheet.hand.between(14.0, 20.0), sheet.hand.between(66.0, 71.0));
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
pub(super) fn draw(sheet: &mut Sheet, room: Room) {
    let space = Box::of(sheet);
    shell(sheet, &space);
    match room {
        Room::Enfilade => vistas::enfilade(sheet, &space),
        Room::Vault => vistas::vault(sheet, &space),
        _ => {
            let side = !matches!(room, Room::Shelves | Room::Stair) && sheet.hand.chance(55);
            if side || sheet.look.light == Light::Side {
                windows::side_window(sheet, &space)
            } else {
                windows::back_window(sheet, &space, room)
            }
        }
    }
    match room {
        Room::Table => furniture::table(sheet, &space),
        Room::Shelves => cases::shelves(sheet, &space),
        Room::Stair => cases::stair(sheet, &space),
        Room::Bed => furniture::bed(sheet, &space),
        Room::Counter => cases::counter(sheet, &space),
        Room::Bench => furniture::bench(sheet, &space),
        Room::Enfilade | Room::Vault => {
            let at = (on(&space.floor, sheet.hand.between(0.3, 0.7), 0.3).0, space.back[2].1 + 9.0);
            sheet.somebody(at, 24.0);
        }
    }
    lamp_glow(sheet, &space);
}

/// Whether the look's material lies on the floor instead of standing on the walls.
fn is_floor(sheet: &Sheet) -> bool {
    matches!(
        sheet.look.material,
        Material::Terrazzo
            | Material::Timber
            | Material::Marble
            | Material::Tile
            | Material::Stone
            | Material::Wicker
    )
}

/// Walls, floor and ceiling, each a tone of its own.
fn shell(sheet: &mut Sheet, space: &Box) {
    let palette = sheet.palette;
    let wall = palette.body;
    let floor =
        if is_floor(sheet) { palette.body.lit(-0.05) } else { palette.ground.mix(palette.second, 0.35) };
    let wall =
        if is_floor(sheet) { palette.body.mix(palette.paper.at(palette.low.light), 0.55) } else { wall };
    sheet
        .canvas
        .poly(&space.ceiling, wall.mix(palette.paper, 0.4).lit(if palette.lit { -0.3 } else { 0.02 }));
    sheet.canvas.poly(&space.floor, floor);
    let on_floor = is_floor(sheet);
    let material = sheet.look.material;
    if on_floor {
        sheet.texture(&space.floor, floor, material, 1.6);
    }
    let bright = if sheet.look.from_left { &space.right } else { &space.left };
    let dark = if sheet.look.from_left { &space.left } else { &space.right };
    for (surface, by) in [(&space.back, 0.0), (bright, 0.03), (dark, -0.06)] {
        sheet.canvas.poly(surface, wall.lit(by));
        if !on_floor {
            sheet.texture(surface, wall.lit(by), material, 1.2);
        }
    }
    sheet.shade(dark, 0.55);
    sheet.fading_shade(&space.ceiling, (0.0, 20.0), (0.0, -4.0), 0.35);
    // Corners gather dust and dark.
    let back = space.back;
    sheet.fading_shade(&part(&back, (0.0, 0.12), (0.0, 1.0)), back[0], on(&back, 0.12, 0.0), 0.28);
    sheet.fading_shade(&part(&back, (0.88, 1.0), (0.0, 1.0)), back[1], on(&back, 0.88, 0.0), 0.28);
    sheet.fading_shade(
        &part(&space.floor, (0.0, 1.0), (0.0, 0.2)),
        back[3],
        (back[3].0, back[3].1 + 8.0),
        0.5,
    );
    let skirting = wall.lit(-0.1);
    sheet.canvas.line(back[3], back[2], 0.7, skirting);
    sheet.canvas.line(back[3], space.left[3], 0.7, skirting);
    sheet.canvas.line(back[2], space.right[2], 0.7, skirting);
}

/// Lamplight lies over the middle of the room when it is dark.
fn lamp_glow(sheet: &mut Sheet, space: &Box) {
    if sheet.palette.lit {
        let at: At = on(&space.back, 0.5, 0.55);
        let glow = sheet.palette.glow;
        sheet.canvas.wash(Ink::Glow(at, 66.0, (glow, 0.34), (glow, 0.0)));
    }
}
